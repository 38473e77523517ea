"""The inference worker: a process of its own that lets onnx infer the types of skeletons.

Run as a script, it reads orders from standard input: a line of JSON with the ``task`` ("infer" or
"judge"), the ``most_bytes`` and ``most_seconds`` that it may take, and the ``length`` of what
follows, the bytes of a ModelProto. To each it answers on standard output with frames, each a
letter, a 4-byte big-endian length, and its content:

- ``V``: the version of onnx, or ``X``: why it cannot be imported;
- ``G``: a GraphProto whose name is the number of a graph, and whose ``value_info`` lists the
  values of which more is known than the skeleton says;
- ``N``: where a type that the skeleton states cannot be, as JSON: [number of the graph, index of
  the node, text]; of a judgement, where inference refuses the model, with the index -1 for no node;
- ``M``: the main graph and those inside it are done; bodies of functions follow;
- ``D``: all is done, or ``E``: why nothing was inferred. It can be given the next order then, for
  which onnx need not be imported again; after a lack of memory and after ``X`` it ends.

It imports nothing of netloupe, so that it starts quickly, and it may be killed at any time: what
stands before ``M`` belongs together, and each graph of a function stands for itself. What a
skeleton is, ``explorer/readers/onnx/skeleton.py`` says.
"""

from __future__ import annotations

import contextlib
import json
import math
import os
import re
import select
import struct
import sys
from collections import ChainMap
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from graphlib import TopologicalSorter
from typing import Any

Send = Callable[[str, bytes], None]

#: a worker that nobody has asked anything for so long ends, and gives its memory back
IDLE_SECONDS = 60.0
#: as in a skeleton
CALL_DOMAIN = "netloupe.function"
HIDDEN_DOMAIN = "netloupe.hidden"

#: the operator that gives stored elements, as the catalogue of operators, not imported, has it
_CONSTANT = ("", "Constant")
#: nodes that onnx gives up on are hidden from it, so many at most
_MOST_HIDDEN = 20
_MOST_NOTES = 100
_LONGEST_NOTE = 500
#: a body is inferred together with all that it calls: so many functions at most, for all bodies
_MOST_REACHED = 100_000
#: what onnx writes before an error about a node; the names are those of a skeleton
_NODE_ERROR = re.compile(r"\(op_type:[^()]*, node name: (\d+):(\d+)\): ")
_NODE_NAME = re.compile(r"node name:? (\d+):(\d+)")
#: what onnx says where a type that is stated is not what it finds; its other errors follow from
#: others, or from what it does not know
_CONTRADICTION = re.compile(r"\bexisting\b")
#: the names that onnx gives to sizes that it does not know
_MADE_UP = re.compile(r"unk__\d+")


class SkeletonInference:
    """Infers the types of a skeleton, and sends what comes of it."""

    def __init__(self, onnx: Any, data: bytes, send: Send) -> None:
        self.onnx = onnx
        self._model = onnx.ModelProto.FromString(data)
        self._send = send
        #: symbols of the file that look like those that onnx makes up
        self._symbols = _find_symbols(self._model) if b"unk__" in data else frozenset()
        self._notes: set[tuple[int, int, str]] = set()
        self._hidden = 0

    def run(self) -> None:
        """Infer everything."""
        model = self._model
        inferred = self.infer(model)
        for number, before, after in _pair_graphs(model.graph, inferred.graph):
            self.write(number, _read_stated(before), _list_infos(after))
        self._send("M", b"")
        if model.functions:
            _Bodies(self, model).infer(inferred.graph)
        self._send("D", b"")

    def judge(self) -> None:
        """Say at which nodes the strictest inference refuses the model."""
        inference = self.onnx.shape_inference
        try:
            inference.infer_shapes(
                self._model.SerializeToString(), check_type=True, strict_mode=True, data_prop=True
            )
        except Exception as error:  # whatever it says is its opinion
            text = str(error)
            places = [*_NODE_ERROR.finditer(text)][:_MOST_NOTES]
            ends = [place.start() for place in places[1:]] + [len(text)]
            for place, end in zip(places, ends, strict=True):
                said = text[place.end() : end].strip()[:_LONGEST_NOTE]
                self._send("N", json.dumps((int(place[1]), int(place[2]), said)).encode())
            if not places:
                self._send("N", json.dumps((0, -1, text[:_LONGEST_NOTE])).encode())
        self._send("M", b"")
        self._send("D", b"")

    def infer(self, model: Any) -> Any:
        """Return a model with types; nodes that onnx gives up on as a whole are hidden from it."""
        while True:
            try:
                return self._infer_once(model)
            except Exception as error:
                names = [*_NODE_NAME.finditer(str(error))]
                if not names or self._hidden >= _MOST_HIDDEN or not _hide_node(model, names[-1]):
                    raise
                self._hidden += 1

    def _infer_once(self, model: Any) -> Any:
        inference, data = self.onnx.shape_inference, model.SerializeToString()
        try:
            return inference.infer_shapes(data, strict_mode=True, data_prop=True)
        except inference.InferenceError as error:
            self._note_contradictions(str(error))
        return inference.infer_shapes(data, data_prop=True)

    def _note_contradictions(self, text: str) -> None:
        """Note which of the nodes that an error of onnx names contradict what is stated."""
        places = [*_NODE_ERROR.finditer(text)]
        ends = [place.start() for place in places[1:]] + [len(text)]
        for place, end in zip(places, ends, strict=True):
            said = text[place.end() : end].strip()
            note = int(place[1]), int(place[2]), said[:_LONGEST_NOTE]
            is_new = note not in self._notes and len(self._notes) < _MOST_NOTES
            if is_new and _CONTRADICTION.search(said):
                self._notes.add(note)
                self._send("N", json.dumps(note).encode())

    def write(self, number: str, stated: Mapping[Any, bytes], infos: Iterable[Any]) -> None:
        """Send the types of values that say more than what is stated."""
        graph = self.onnx.GraphProto(name=number)
        cleaned: dict[bytes, Any] = {}  # there are few different types
        for info in infos:
            data = info.type.SerializeToString()
            before = stated.get(info.name)
            if not data or data == before:
                continue
            found = cleaned.get(data)
            if found is None:
                self.clean(info.type)
                found = cleaned[data] = info.type
            if before is None or found.SerializeToString() != before:
                graph.value_info.append(info)
                graph.value_info[-1].type.CopyFrom(found)
        if graph.value_info:
            self._send("G", graph.SerializeToString())

    def clean(self, type_proto: Any) -> None:
        """Take out of a type the names that onnx made up, and sizes that cannot be."""
        for dim in _list_dims(type_proto):
            if dim.HasField("dim_value"):
                if dim.dim_value < 0:
                    dim.ClearField("dim_value")
            elif _MADE_UP.fullmatch(dim.dim_param) and dim.dim_param not in self._symbols:
                dim.ClearField("dim_param")


@dataclass(slots=True)
class _Call:
    """What one call gives to a function: attributes by name, and of each operand its name."""

    attributes: dict[str, Any]
    operands: list[str]
    types: Mapping[str, Any]
    elements: Mapping[str, Any]


class _Bodies:
    """Infers types inside functions: those that hold for every call of the model.

    onnx infers a body for each call and keeps nothing of it. Here a body is a graph whose inputs
    have what the types of all calls have in common. It is left alone where not every call is
    known, and its nodes are hidden where their attributes differ between calls.
    """

    def __init__(self, inference: SkeletonInference, model: Any) -> None:
        self._inference = inference
        self._onnx = inference.onnx
        self._functions = {function.name: function for function in model.functions}
        self._calls: dict[str, list[_Call]] = {name: [] for name in self._functions}

    def infer(self, graph: Any) -> None:
        """Infer all bodies; ``graph`` is the main one, with types."""
        called = {
            name: {node.op_type for node in _list_nodes(function.node) if _is_call(node)}
            for name, function in self._functions.items()
        }
        callees_first = [*TopologicalSorter(called).static_order()]
        reached: dict[str, set[str]] = {}
        total = 0
        for name in callees_first:
            reached[name] = called[name].union(*(reached[callee] for callee in called[name]))
            total += len(reached[name])
            if total > _MOST_REACHED:
                return
        self._note_calls(graph)
        for name in reversed(callees_first):
            calls = self._calls[name]
            # the documentation of a function tells how many calls there are
            if calls and str(len(calls)) == self._functions[name].doc_string:
                self._infer_body(self._functions[name], calls, reached[name])

    def _infer_body(self, function: Any, calls: list[_Call], reached: set[str]) -> None:
        onnx = self._onnx
        model = onnx.ModelProto(ir_version=onnx.IR_VERSION)
        model.opset_import.extend(function.opset_import)
        model.functions.extend(self._functions[name] for name in sorted(reached))
        body = model.graph
        body.name = function.name
        body.node.extend(function.node)
        body.value_info.extend(function.value_info)
        body.output.extend(onnx.ValueInfoProto(name=name) for name in function.output)
        _bind_attributes(model, function, calls)
        for position, name in enumerate(function.input):
            self._give(body, name, position, calls)
        try:
            inferred = self._inference.infer(model).graph
        except Exception:
            return  # the calls have their types nevertheless
        self._note_calls(inferred)
        for number, before, after in _pair_graphs(body, inferred):
            # what a body is given here is not what the file says
            stated = _read_stated(function if before is body else before)
            self._inference.write(number, stated, _list_infos(after))

    def _give(self, body: Any, name: str, position: int, calls: list[_Call]) -> None:
        """Give a body what all calls have in common of one operand."""
        operands = [
            call.operands[position] if position < len(call.operands) else "" for call in calls
        ]
        if not any(operands):
            for node in _list_nodes(body.node):
                for place, operand in enumerate(node.input):
                    if operand == name:
                        node.input[place] = ""
            return
        info = body.input.add(name=name)
        pairs = [*zip(operands, calls, strict=True)]
        common = _join([call.types.get(operand) for operand, call in pairs])
        if common is not None:
            info.type.CopyFrom(common)
        first, *others = (call.elements.get(operand) for operand, call in pairs)
        if first is not None and all(_are_same(first, other) for other in others):
            body.initializer.append(first)
            body.initializer[-1].name = name

    def _note_calls(self, graph: Any) -> None:
        """Note the calls in a graph with types, and in those inside it."""
        pending: list[tuple[Any, ChainMap[str, Any], ChainMap[str, Any]]]
        pending = [(graph, ChainMap(), ChainMap())]
        while pending:
            graph, types, elements = pending.pop()
            types, elements = types.new_child(), elements.new_child()
            for info in _list_infos(graph):
                if info.type.WhichOneof("value") is not None:
                    self._inference.clean(info.type)
                    types[info.name] = info.type
            for tensor in graph.initializer:
                types.setdefault(tensor.name, self._type_of(tensor))
                if _has_elements(tensor):
                    elements[tensor.name] = tensor
            for node in graph.node:
                tensor = self._find_constant(node)
                if tensor is not None:
                    elements[node.output[0]] = tensor
                if _is_call(node):
                    attributes = {attribute.name: attribute for attribute in node.attribute}
                    call = _Call(attributes, [*node.input], types, elements)
                    self._calls[node.op_type].append(call)
                pending += ((inner, types, elements) for inner in _list_subgraphs(node))

    def _type_of(self, tensor: Any) -> Any:
        found = self._onnx.TypeProto()
        found.tensor_type.elem_type = tensor.data_type
        found.tensor_type.shape.SetInParent()
        for dim in tensor.dims:
            found.tensor_type.shape.dim.add(dim_value=dim)
        return found

    def _find_constant(self, node: Any) -> Any:
        """Return the elements that a Constant gives; None where they are not kept."""
        if (node.domain, node.op_type) != _CONSTANT or not node.output:
            return None
        for attribute in node.attribute:
            if attribute.name == "value" and _has_elements(attribute.t):
                return attribute.t
            if attribute.name in ("value_int", "value_ints"):
                is_one = attribute.name == "value_int"
                numbers = [attribute.i] if is_one else [*attribute.ints]
                dims = [] if is_one else [len(numbers)]
                int64 = self._onnx.TensorProto.INT64
                return self._onnx.TensorProto(data_type=int64, dims=dims, int64_data=numbers)
        return None


def _bind_attributes(model: Any, function: Any, calls: list[_Call]) -> None:
    """Put attributes of the calls in the place of references; hide nodes where calls differ."""
    defaults = {attribute.name: attribute for attribute in function.attribute_proto}
    found: dict[str, Any] = {}
    differing = set()
    for name in {*function.attribute, *defaults}:
        given = [call.attributes.get(name, defaults.get(name)) for call in calls]
        found[name] = given[0]
        if any(each != given[0] or (each is not None and each.ref_attr_name) for each in given):
            differing.add(name)
    for node in [*_list_nodes(model.graph.node)]:
        bound = []
        for attribute in node.attribute:
            value = found.get(attribute.ref_attr_name) if attribute.ref_attr_name else attribute
            if value is not None:
                bound.append(type(value)())
                bound[-1].CopyFrom(value)
                bound[-1].name = attribute.name
        references = {attribute.ref_attr_name for attribute in node.attribute}
        if not differing.isdisjoint(references):
            _hide(node, model)
        elif any(references):
            node.ClearField("attribute")
            node.attribute.extend(bound)


def _join(types: list[Any]) -> Any:
    """Return what several types have in common; None where that is nothing."""
    first = types[0]
    if any(each is None for each in types) or all(each == first for each in types):
        return first
    kinds = {(each.WhichOneof("value"), each.tensor_type.elem_type) for each in types}
    if len(kinds) > 1 or first.WhichOneof("value") != "tensor_type":
        return None
    joined = type(first)()
    joined.tensor_type.elem_type = first.tensor_type.elem_type
    shapes = [each.tensor_type.shape.dim for each in types if each.tensor_type.HasField("shape")]
    if len(shapes) == len(types) and len({*map(len, shapes)}) == 1:
        joined.tensor_type.shape.SetInParent()
        for dims in zip(*shapes, strict=True):
            dim = joined.tensor_type.shape.dim.add()
            if all(each == dims[0] for each in dims):
                dim.CopyFrom(dims[0])
    return joined


def _are_same(first: Any, other: Any) -> bool:
    """Return whether two tensors are equal, whatever their names."""
    if other is None:
        return False
    return all(
        getattr(first, field) == getattr(other, field)
        for field in ("dims", "data_type", *_ELEMENT_FIELDS)
    )


_ELEMENT_FIELDS = (
    *("raw_data", "int32_data", "int64_data"),
    *("uint64_data", "float_data", "double_data"),
)


def _has_elements(tensor: Any) -> bool:
    return any(len(getattr(tensor, field)) for field in _ELEMENT_FIELDS)


def _is_call(node: Any) -> bool:
    return bool(node.domain == CALL_DOMAIN)


def _hide(node: Any, model: Any) -> None:
    """Make a node one of an operator that nobody knows."""
    node.domain, node.op_type = HIDDEN_DOMAIN, "Hidden"
    node.ClearField("attribute")
    for importer in (model, *model.functions):
        if all(entry.domain != HIDDEN_DOMAIN for entry in importer.opset_import):
            importer.opset_import.add(domain=HIDDEN_DOMAIN, version=0)


def _hide_node(model: Any, name: re.Match[str]) -> bool:
    """Hide the node that an error of onnx names; return whether it was there to be hidden."""
    wanted = f"{name[1]}:{name[2]}"
    for root in (model.graph, *model.functions):
        for node in _list_nodes(root.node):
            if node.name == wanted and node.domain != HIDDEN_DOMAIN:
                _hide(node, model)
                return True
    return False


# what messages hold


def _list_subgraphs(node: Any) -> Iterator[Any]:
    for attribute in node.attribute:
        if attribute.HasField("g"):
            yield attribute.g
        yield from attribute.graphs


def _list_nodes(nodes: Iterable[Any]) -> Iterator[Any]:
    """Yield nodes and those of the graphs inside them."""
    pending = [iter(nodes)]
    while pending:
        node = next(pending[-1], None)
        if node is None:
            pending.pop()
            continue
        yield node
        pending += (iter(graph.node) for graph in _list_subgraphs(node))


def _list_infos(graph: Any) -> Iterator[Any]:
    """Yield what a graph says of values; a function has no more than ``value_info``."""
    for field in ("input", "value_info", "output"):
        infos = getattr(graph, field)
        if infos and not isinstance(infos[0], str | bytes):
            yield from infos


def _read_stated(graph: Any) -> dict[Any, bytes]:
    return {info.name: info.type.SerializeToString() for info in _list_infos(graph)}


def _pair_graphs(before: Any, after: Any) -> Iterator[tuple[str, Any, Any]]:
    """Yield the number of a graph and of each one inside it, without types and with them."""
    pending = [(before, after)]
    while pending:
        before, after = pending.pop()
        yield before.name, before, after
        for node, typed in zip(before.node, after.node, strict=True):
            if node.attribute:
                pending += zip(_list_subgraphs(node), _list_subgraphs(typed), strict=True)


def _list_dims(type_proto: Any) -> Iterator[Any]:
    """Yield the dimensions of a type, and of the types inside it."""
    while True:
        kind = type_proto.WhichOneof("value")
        if kind is None or kind == "opaque_type":
            return
        inner = getattr(type_proto, kind)
        if kind in ("tensor_type", "sparse_tensor_type"):
            yield from inner.shape.dim
            return
        type_proto = inner.value_type if kind == "map_type" else inner.elem_type


def _find_symbols(model: Any) -> frozenset[str]:
    """Return the names of sizes in a model that onnx could have made up."""
    found: set[str] = set()
    pending = [model.graph, *model.functions]
    while pending:
        graph = pending.pop()
        for info in _list_infos(graph):
            names = (dim.dim_param for dim in _list_dims(info.type))
            found.update(name for name in names if _MADE_UP.fullmatch(name))
        pending += (inner for node in graph.node for inner in _list_subgraphs(node))
    return frozenset(found)


# the process


def main() -> None:
    """Carry out the orders that standard input gives, until it is closed or silent for long."""
    answers = os.fdopen(os.dup(1), "wb")
    sink = os.open(os.devnull, os.O_WRONLY)  # whatever is printed is no answer
    os.dup2(sink, 1)
    os.dup2(sink, 2)
    with contextlib.suppress(AttributeError, OSError):
        os.nice(5)
    orders = sys.stdin.buffer

    def send(kind: str, content: bytes) -> None:
        answers.write(kind.encode() + struct.pack(">I", len(content)) + content)
        answers.flush()

    while line := orders.readline():
        order = json.loads(line)
        _limit(order["most_bytes"], order["most_seconds"])
        if not _answer(order["task"], orders.read(order["length"]), send):
            return
        # of the next order nothing has been read: it is not sent before this one is answered
        with contextlib.suppress(OSError):  # where only sockets can be waited for, it stays
            if not select.select([orders], [], [], IDLE_SECONDS)[0]:
                return


def _answer(task: str, data: bytes, send: Send) -> bool:
    """Infer the types of a skeleton, or judge it; return whether another one may follow."""
    try:
        import onnx
        import onnx.shape_inference
    except Exception as error:  # whatever a broken installation raises
        send("X", f"{type(error).__name__}: {error}".encode())
        return False
    send("V", onnx.__version__.encode())
    try:
        inference = SkeletonInference(onnx, data, send)
        inference.judge() if task == "judge" else inference.run()
    except Exception as error:  # whatever onnx says goes back as an answer
        send("E", f"{type(error).__name__}: {error}".encode(errors="replace")[:10_000])
        return not isinstance(error, MemoryError)
    return True


def _limit(most_bytes: int, most_seconds: int) -> None:
    """Bound memory and time, where the system can, also for when nobody is left to do so."""
    with contextlib.suppress(ImportError, OSError, ValueError):
        import resource

        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        used = resource.getrusage(resource.RUSAGE_SELF)
        seconds = math.ceil(used.ru_utime + used.ru_stime) + most_seconds
        # those of the next order may be higher
        for kind, most in ((resource.RLIMIT_CPU, seconds), (resource.RLIMIT_DATA, most_bytes)):
            highest = resource.getrlimit(kind)[1]
            is_free = highest == resource.RLIM_INFINITY
            resource.setrlimit(kind, (most if is_free else min(most, highest), highest))


if __name__ == "__main__":
    main()
