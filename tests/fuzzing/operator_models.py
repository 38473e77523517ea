"""Models of every operator that is known, with attributes and operands at odd values.

What is computed from a sound file, as rules, costs, roles, patterns and scales are, rarely sees
mutants of bytes: most of them do not open. So these models are sound as messages, and only what
they say is odd: attributes of the wrong kind, sizes that no machine has, tensors where numbers
are expected, numbers where tensors are, and nodes that take their own results.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from random import Random
from typing import Any

from google.protobuf.message import Message

from netloupe.proto import caffe2_pb2, onnx_pb2

from .seeds import Files

_TABLE = Path(__file__).resolve().parents[2] / "explorer" / "operators" / "table.json"
#: the domain under which the table lists what Caffe2 has
_CAFFE2 = "caffe2"

_INTS = (
    0, 1, 2, 3, 4, 7, 8, -1, -2, 64, 255, 2**20, 2**31 - 1, 2**31, -(2**31), 2**53 + 1, 2**62,
    2**63 - 1, -(2**63), 10**18,
)  # fmt: skip
_FLOATS = (0.0, 1.0, -0.5, 1e-45, 3.4e38, -3.4e38, float("nan"), float("inf"), -float("inf"), 1e308)
_TEXTS = (b"", b"NOTSET", b"SAME_UPPER", b"ij,jk->ik", b"...", b"relu", b"NHWC", b"\xff", b"a" * 99)
_DIMS: tuple[tuple[int | str | None, ...] | None, ...] = (
    None, (), (0,), (1,), (4,), (1, 4), (4, 4), (1, 3, 8, 8), (4, 3, 3, 3), ("N", 4), (None, 4),
    ("N", "N"), (2**62, 4), (2**31, 2**31, 2**31), (-1, 4), (-(2**63), 2), (1,) * 40, ("s1*s2", 3),
    (1, 8, 4), (2, 2, 2, 2, 2),
)  # fmt: skip
#: what blocks are recognised by: without these most operators are never looked at twice
_COMMON = (
    *("Add", "Mul", "Sub", "Div", "MatMul", "Gemm", "Conv", "Relu", "Softmax", "Transpose"),
    *("Reshape", "Concat", "Split", "Slice", "Gather", "ReduceMean", "Sqrt", "Pow", "Erf", "Cast"),
    *("Sigmoid", "Tanh", "Identity", "QuantizeLinear", "DequantizeLinear", "Shape", "Constant"),
    *("Unsqueeze", "Squeeze", "Expand", "Where", "BatchNormalization", "LayerNormalization"),
    *("MatMulInteger", "ConvInteger", "If", "Loop", "Scan", "LSTM", "Resize", "Pad", "Clip"),
)
#: element types with the field that holds their numbers
_STORED = ((1, "float_data"), (7, "int64_data"), (6, "int32_data"), (10, "int32_data"))


@cache
def list_operators(is_caffe2: bool) -> tuple[tuple[str, str, int, dict[str, Any]], ...]:
    """Return domain, name, version and what is declared, for each version of each operator."""
    found = []
    for domain, operators in json.loads(_TABLE.read_text())["operators"].items():
        if (domain == _CAFFE2) is not is_caffe2:
            continue
        for op_type, versions in operators.items():
            for version, declared in versions.items():
                schema = versions[str(declared)] if isinstance(declared, int) else declared
                found.append((domain, op_type, int(version), schema))
    return tuple(found)


def make_onnx(chance: Random, number: int) -> Files:
    """Return a model around one version of one operator, each in its turn, and a changed twin."""
    listed = list_operators(False)
    model = _OnnxMaker(chance, listed[number % len(listed)]).make()
    twin = onnx_pb2.ModelProto.FromString(model.SerializeToString())
    _change_nodes(chance, twin.graph.node)
    for tensor in twin.graph.initializer:
        if tensor.float_data and chance.random() < 0.3:
            tensor.float_data[0] = chance.choice(_FLOATS[:9])
    return {"model.onnx": model.SerializeToString(), "twin.onnx": twin.SerializeToString()}


def _change_nodes(chance: Random, nodes: Any) -> None:
    """Drop, repeat or rename some nodes, and exchange operands."""
    for place in reversed(range(len(nodes))):
        roll = chance.random()
        node = nodes[place]
        if roll < 0.1:
            del nodes[place]
        elif roll < 0.2:
            node.name = f"renamed_{place}"
        elif roll < 0.3 and len(node.input) > 1:
            node.input[0], node.input[1] = node.input[1], node.input[0]
        elif roll < 0.35:
            nodes.add().CopyFrom(node)


def make_caffe2(chance: Random, number: int) -> Files:
    """Return a net around one Caffe2 operator, each in its turn, and a changed twin."""
    listed = list_operators(True)
    net = caffe2_pb2.NetDef(name="odd")
    net.external_input.extend(["x", "y", "w", "b"])
    names = ["x", "y", "w", "b"]
    chosen = [listed[number % len(listed)], *chance.choices(listed, k=chance.randrange(5))]
    chance.shuffle(chosen)
    for place, (_, op_type, _, schema) in enumerate(chosen):
        node = net.op.add(type=op_type)
        outputs = [f"v{place}_{each}" for each in range(max(len(schema["outputs"]), 1))]
        pool = [*names, *outputs, *names]
        node.input.extend(chance.choices(pool, k=_count(chance, schema["inputs"])))
        node.output.extend(outputs if chance.random() < 0.9 else chance.choices(names, k=1))
        for name in _choose_attributes(chance, schema):
            _set_argument(chance, node.arg.add(name=name))
        names += outputs
    net.external_output.append(chance.choice(names))
    twin = caffe2_pb2.NetDef.FromString(net.SerializeToString())
    _change_nodes(chance, twin.op)
    return {"model.pb": net.SerializeToString(), "twin.pb": twin.SerializeToString()}


def _count(chance: Random, formal: Sequence[Any]) -> int:
    return max(0, len(formal) + chance.choice((0, 0, 0, 0, 0, -1, 1, 2)))


def _choose_attributes(chance: Random, schema: dict[str, Any]) -> list[str]:
    """Return names of attributes: mostly those that an operator declares."""
    declared = [name.rstrip("!") for name in schema.get("attributes", {})]
    share = chance.choice((0.2, 0.6, 1.0))
    names = [name for name in declared if chance.random() < share]
    return names if chance.random() < 0.9 else [*names, "axis", "perm"]


def _set_argument(chance: Random, argument: Any) -> None:
    kind = chance.randrange(6)
    if kind == 0:
        argument.i = chance.choice(_INTS)
    elif kind == 1:
        argument.f = chance.choice(_FLOATS[:9])
    elif kind == 2:
        argument.s = chance.choice(_TEXTS)
    elif kind == 3:
        argument.ints.extend(chance.choices(_INTS, k=chance.randrange(6)))
    elif kind == 4:
        argument.floats.extend(chance.choices(_FLOATS[:9], k=chance.randrange(6)))
    else:
        inner = argument.n.op.add(type=chance.choice(("Relu", "Sum", "Copy")))
        inner.input.append("x")
        inner.output.append("z")


class _OnnxMaker:
    """Makes one model; all that it chooses comes from one source of chance."""

    def __init__(self, chance: Random, operator: tuple[str, str, int, dict[str, Any]]) -> None:
        self._chance = chance
        self._operator = operator
        self._model = onnx_pb2.ModelProto(ir_version=10)
        self._made = 0

    def make(self) -> onnx_pb2.ModelProto:
        domain, _, version, _ = self._operator
        versions = {"": self._chance.choice((13, 18, 21, 23)), domain: version}
        for name, number in versions.items():
            self._model.opset_import.add(domain=name, version=number)
        names = self._fill(self._model.graph, [], 0, with_operator=True)
        if self._chance.random() < 0.1:
            function = self._model.functions.add(name="f", domain="local", input=["a"])
            function.output.append("b")
            function.opset_import.add(domain="", version=21)
            function.node.add(op_type=self._chance.choice(_COMMON), input=["a", "a"], output=["b"])
            self._model.opset_import.add(domain="local", version=1)
            call = self._model.graph.node.add(op_type="f", domain="local", output=["called"])
            call.input.append(self._chance.choice(names))
        return self._model

    def _fill(self, graph: Any, outer: list[str], depth: int, *, with_operator: bool) -> list[str]:
        """Give a graph inputs, tensors, nodes and outputs; return the names of its values."""
        chance = self._chance
        graph.name = f"g{depth}"
        names = [*outer]
        for _ in range(chance.choice((0, 1, 2, 3)) if depth else chance.choice((1, 1, 2, 3))):
            value = graph.input.add(name=self._name("x"))
            self._set_type(value)
            names.append(value.name)
        for _ in range(chance.randrange(4)):
            tensor = graph.initializer.add()
            self._set_tensor(tensor)
            tensor.name = self._name("w")
            names.append(tensor.name)
        count = chance.choice((0, 1, 2, 3, 6, 12) if depth == 0 else (0, 1, 2))
        pairs = [self._find_common() for _ in range(count)]
        if with_operator:
            pairs.insert(chance.randrange(len(pairs) + 1), self._operator)
        for domain, op_type, _, schema in pairs:
            names += self._add_node(graph, domain, op_type, schema, names, depth)
        for _ in range(chance.choice((0, 1, 1, 2))):
            output = graph.output.add(name=chance.choice(names or ["nothing"]))
            if chance.random() < 0.5:
                self._set_type(output)
        for _ in range(chance.choice((0, 0, 1, 2))):
            said = graph.value_info.add(name=chance.choice(names or ["nothing"]))
            self._set_type(said)
        return names

    def _name(self, letter: str) -> str:
        self._made += 1
        return f"{letter}{self._made}"

    def _find_common(self) -> tuple[str, str, int, dict[str, Any]]:
        op_type = self._chance.choice(_COMMON)
        listed = _versions_of(op_type)
        return listed[-1]

    def _add_node(
        self, graph: Any, domain: str, op_type: str, schema: Any, names: list[str], depth: int
    ) -> list[str]:
        chance = self._chance
        node = graph.node.add(op_type=op_type, domain=domain)
        outputs = [self._name("v") for _ in range(_count(chance, schema.get("outputs", "y")) or 1)]
        pool = [*names, *names[-3:], *names[-1:], ""]
        if chance.random() < 0.06:
            pool += outputs * 3
        if chance.random() < 0.03:
            pool += [f"v{self._made + chance.randrange(1, 4)}"]  # of a node that follows
        node.input.extend(chance.choices(pool, k=_count(chance, schema.get("inputs", "x"))))
        node.output.extend(outputs)
        if chance.random() < 0.2:
            node.name = chance.choice(("n", "/layers.0/n", "/layers.1/n", "a/b/c"))
        declared = {n.rstrip("!"): kind for n, kind in schema.get("attributes", {}).items()}
        for name in _choose_attributes(chance, schema):
            kind = declared.get(name, "int")
            attribute = node.attribute.add(name=name)
            self._set_attribute(attribute, kind if isinstance(kind, str) else kind[0], names, depth)
        return outputs

    def _set_attribute(self, attribute: Any, kind: str, names: list[str], depth: int) -> None:
        """Give an attribute a value, mostly of the kind that is declared."""
        chance = self._chance
        if chance.random() < 0.15:
            kind = chance.choice((*_SETTERS, "graph", "reference"))
        if kind == "graph" and depth < 3:
            attribute.type = onnx_pb2.AttributeProto.GRAPH
            self._fill(attribute.g, names, depth + 1, with_operator=chance.random() < 0.3)
        elif kind == "reference":
            attribute.type, attribute.ref_attr_name = onnx_pb2.AttributeProto.INT, "alpha"
        else:
            _SETTERS.get(kind, _SETTERS["int"])(self, attribute)
        if chance.random() < 0.02:
            attribute.type = chance.randrange(15)

    def _set_int(self, attribute: Any) -> None:
        attribute.type = onnx_pb2.AttributeProto.INT
        attribute.i = self._choose_int()

    def _set_ints(self, attribute: Any) -> None:
        attribute.type = onnx_pb2.AttributeProto.INTS
        attribute.ints.extend(self._choose_int() for _ in range(self._chance.randrange(6)))

    def _choose_int(self) -> int:
        return self._chance.choice(_INTS[:7] if self._chance.random() < 0.6 else _INTS)

    def _set_float(self, attribute: Any) -> None:
        attribute.type = onnx_pb2.AttributeProto.FLOAT
        attribute.f = self._chance.choice(_FLOATS[:9])

    def _set_floats(self, attribute: Any) -> None:
        attribute.type = onnx_pb2.AttributeProto.FLOATS
        attribute.floats.extend(self._chance.choices(_FLOATS[:9], k=self._chance.randrange(5)))

    def _set_string(self, attribute: Any) -> None:
        attribute.type = onnx_pb2.AttributeProto.STRING
        attribute.s = self._chance.choice(_TEXTS)

    def _set_strings(self, attribute: Any) -> None:
        attribute.type = onnx_pb2.AttributeProto.STRINGS
        attribute.strings.extend(self._chance.choices(_TEXTS, k=self._chance.randrange(5)))

    def _set_tensor_attribute(self, attribute: Any) -> None:
        attribute.type = onnx_pb2.AttributeProto.TENSOR
        self._set_tensor(attribute.t)

    def _set_sparse(self, attribute: Any) -> None:
        attribute.type = onnx_pb2.AttributeProto.SPARSE_TENSOR
        self._set_tensor(attribute.sparse_tensor.values)
        self._set_tensor(attribute.sparse_tensor.indices)
        attribute.sparse_tensor.dims.extend((self._choose_int(), 4))

    def _set_tensor(self, tensor: Any) -> None:
        """Make a small tensor, now and then one whose sizes are not those of its numbers."""
        chance = self._chance
        kind, field = chance.choice(_STORED)
        tensor.data_type = kind if chance.random() < 0.9 else chance.randrange(30)
        dims = chance.choice(((), (1,), (2,), (4,), (4, 4), (4, 3, 3, 3), (1, 1, 4), (0, 4)))
        count = 1
        for size in dims:
            count *= size
        if field == "float_data":
            choices: Sequence[float] = _FLOATS[:9] if chance.random() < 0.3 else (0.5, -1.25, 2.0)
        else:
            choices = (0, 1, 2, -1, 3) if field == "int32_data" else _INTS
        getattr(tensor, field).extend(chance.choices(choices, k=count))
        tensor.dims.extend(dims)
        if chance.random() < 0.05:
            tensor.dims.append(chance.choice((0, 2, 2**31, 2**62, -1, -(2**63))))

    def _set_type(self, value: Any) -> None:
        chance = self._chance
        dims = chance.choice(_DIMS)
        kind = value.type
        roll = chance.random()
        if roll < 0.05:
            kind = value.type.sequence_type.elem_type
        elif roll < 0.08:
            kind = value.type.optional_type.elem_type
        kind.tensor_type.elem_type = chance.choice((1, 1, 1, 7, 10, 3, 2, 9, 8, 16, 22, 0, 99))
        if dims is None:
            return
        kind.tensor_type.shape.SetInParent()
        for size in dims:
            dimension = kind.tensor_type.shape.dim.add()
            if isinstance(size, int):
                dimension.dim_value = size
            elif size is not None:
                dimension.dim_param = size


_SETTERS: dict[str, Callable[[_OnnxMaker, Message], None]] = {
    "int": _OnnxMaker._set_int,
    "ints": _OnnxMaker._set_ints,
    "float": _OnnxMaker._set_float,
    "floats": _OnnxMaker._set_floats,
    "string": _OnnxMaker._set_string,
    "strings": _OnnxMaker._set_strings,
    "tensor": _OnnxMaker._set_tensor_attribute,
    "sparse_tensor": _OnnxMaker._set_sparse,
}


@cache
def _versions_of(op_type: str) -> tuple[tuple[str, str, int, dict[str, Any]], ...]:
    return tuple(each for each in list_operators(False) if each[0] == "" and each[1] == op_type)
