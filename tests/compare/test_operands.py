"""Operands that change places are told, whatever they are: computed, constant, or both."""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations

import numpy as np
import onnx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from onnx import helper, numpy_helper

from netloupe.commands.diff import read_fail_on
from netloupe.explorer.compare import diff
from netloupe.explorer.readers.caffe2 import net as caffe2_net
from netloupe.explorer.readers.load import load
from netloupe.proto import caffe2_pb2

#: operator -> how many operands, and whether these may stand in any order
OPERATORS = {
    "Add": (2, True),
    "Mul": (2, True),
    "Max": (3, True),
    "Sum": (3, True),
    "Equal": (2, True),
    "Sub": (2, False),
    "Div": (2, False),
    "Pow": (2, False),
    "Greater": (2, False),
    "MatMul": (2, False),
    "PRelu": (2, False),
    "Concat": (3, False),
    "Gemm": (3, False),
    "Where": (3, False),
    "Clip": (3, False),
    "own.domain::Add": (2, False),
}
#: how operands are made, two letters or three: c constant, n a constant node, i input, v computed
MIXES = {2: ("vv", "cv", "vc", "nv", "cc", "ci", "nn"), 3: ("vvv", "cvv", "vcn", "ccc", "vic")}


def make(operator: str, mix: str, order: tuple[int, ...]) -> onnx.ModelProto:
    nodes, tensors = [], []
    names = []
    for number, kind in enumerate(mix):
        name = f"x{number}"
        values = np.arange(4, dtype=np.float32).reshape(2, 2) + 10 * number
        if kind == "c":
            tensors.append(numpy_helper.from_array(values, name))
        elif kind == "n":
            tensor = numpy_helper.from_array(values)
            nodes.append(helper.make_node("Constant", [], [name], value=tensor))
        elif kind == "v":
            nodes.append(helper.make_node(["Relu", "Tanh", "Exp"][number], [f"i{number}"], [name]))
        names.append(name)
    domain, _, op_type = operator.rpartition("::")
    taken = [names[place] for place in order]
    attributes = {"axis": 0} if operator == "Concat" else {}
    nodes.append(helper.make_node(op_type, taken, ["y"], "target", domain=domain, **attributes))
    inputs = [
        helper.make_tensor_value_info(f"{'x' if kind == 'i' else 'i'}{number}", 1, [2, 2])
        for number, kind in enumerate(mix)
        if kind in "iv"
    ]
    outputs = [helper.make_tensor_value_info("y", 1, [2, 2])]
    return helper.make_model(helper.make_graph(nodes, "g", inputs, outputs, tensors))


CASES = [
    (operator, mix, pair, may_turn)
    for operator, (count, may_turn) in OPERATORS.items()
    for mix in MIXES[count]
    for pair in combinations(range(count), 2)
]


@pytest.mark.parametrize(("operator", "mix", "pair", "may_turn"), CASES)
def test_operands_that_change_places_are_told(
    operator: str, mix: str, pair: tuple[int, int], may_turn: bool
) -> None:
    order = [*range(OPERATORS[operator][0])]
    left = make(operator, mix, tuple(order))
    order[pair[0]], order[pair[1]] = order[pair[1]], order[pair[0]]
    right = make(operator, mix, tuple(order))
    assert diff(load(left), load(left)).verdict == "identical"
    for found in (diff(load(left), load(right)), diff(load(right), load(left))):
        is_weights = {mix[place] for place in pair} <= {"c", "n"}
        if may_turn:
            if is_weights:  # which of both is which, their places tell
                assert found.verdict != "identical"
            else:
                assert (found.verdict, found.aspects) == ("cosmetic", ["order"])
        elif is_weights and found.verdict == "weights":
            assert len(found.tensors) == 2  # other numbers at both places
        else:
            assert found.verdict == "structure"
            assert read_fail_on("structure")[0].applies(found)
            told = [change.what for node in found.nodes for change in node.changes]
            assert {f"input {place}" for place in pair} <= {*told} or found.left_alone


def test_operands_of_caffe2_that_change_places_are_told() -> None:
    def write(first: str, second: str, engine: str = "", waits: str = "") -> bytes:
        net = caffe2_pb2.NetDef(name="n", external_input=["x", "w"], external_output=["y"])
        net.op.add(type="Relu", input=["x"], output=["r"])
        net.op.add(type="Sub", input=[first, second], output=["y"], engine=engine)
        if waits:
            net.op[1].control_input.append(waits)
        return net.SerializeToString()

    init = caffe2_pb2.NetDef(name="i")
    fill = init.op.add(type="GivenTensorFill", output=["w"])
    fill.arg.add(name="shape", ints=[2])
    fill.arg.add(name="values", floats=[1.0, 2.0])
    base = load(write("r", "w"), init.SerializeToString())
    for other, what in (
        (write("w", "r"), "input 0"),
        (write("r", "w", "CUDNN"), "engine"),
        (write("r", "w", waits="r"), "number of control inputs"),
    ):
        found = diff(base, load(other, init.SerializeToString()))
        assert found.verdict == "structure"
        assert what in [change.what for node in found.nodes for change in node.changes]
    assert diff(base, load(write("r", "w"), init.SerializeToString())).verdict == "identical"
    fill.arg.add(name="more", i=1)
    found = diff(base, load(write("r", "w"), init.SerializeToString()))
    assert found.verdict == "structure"


def make_layers_of_fills(
    scale: float, *, more: int = 0, kind: str = "GivenTensorFill", order: int = 1
) -> tuple[bytes, bytes]:
    """Return a net with an init net: a product a layer, its weights listed as what it takes."""
    net = caffe2_pb2.NetDef(name="n", external_input=["x"], external_output=["y"])
    init = caffe2_pb2.NetDef(name="i")
    last = "x"
    for number in range(3 + more):
        given = "y" if number == 2 + more else f"r{number}"
        weight = f"w{number}" if number < 2 else f"w{number - more}" if given == "y" else "new"
        net.op.add(type="FC", input=[last, weight, f"b{weight}"], output=[given])
        last = given
        for name, dims in ((weight, [4, 4]), (f"b{weight}", [4])):
            fill = init.op.add(type=kind, output=[name])
            fill.arg.add(name="shape", ints=dims)
            count = dims[0] * dims[-1] if len(dims) > 1 else dims[0]
            if kind == "ConstantFill":
                fill.arg.add(name="value", f=scale * (number + 1))
            elif "Int" in kind:
                fill.arg.add(name="values", ints=range(int(scale), int(scale) + count))
            else:
                fill.arg.add(name="values", floats=[scale * (each + 1) for each in range(count)])
    names = [name for op in init.op for name in op.output]
    net.external_input.extend(names[::order])
    return net.SerializeToString(), init.SerializeToString()


@pytest.mark.parametrize("kind", ["GivenTensorFill", "GivenTensorIntFill", "ConstantFill"])
def test_fills_of_other_numbers_are_other_weights_and_no_other_structure(kind: str) -> None:
    left, right = (load(*make_layers_of_fills(scale, kind=kind)) for scale in (1.0, 2.0))
    found = diff(left, right)
    assert found.verdict == "weights"
    assert not read_fail_on("structure")[0].applies(found)
    assert [one.changes for one in found.tensors] == [()] * 6
    assert all(one.numbers is not None and one.numbers.changed for one in found.tensors)
    assert diff(left, load(*make_layers_of_fills(1.0, kind=kind))).verdict == "identical"


def test_fills_of_other_dimensions_and_arguments_are_told_once() -> None:
    net, init = make_layers_of_fills(1.0)
    other = caffe2_pb2.NetDef.FromString(init)
    other.op[0].arg[0].ints[:] = [2, 8]
    other.op[1].arg.add(name="values", floats=[1.0])
    other.op[2].arg[1].ints.append(3)
    found = diff(load(net, init), load(net, other.SerializeToString()))
    told = {one.left.name: [change.what for change in one.changes] for one in found.tensors}
    assert told == {"w0": ["dims"], "bw0": ["attribute values#"], "w1": ["attribute values"]}
    assert found.verdict == "structure"


def test_weights_that_are_added_are_not_told_as_other_inputs_as_well() -> None:
    left, right = (load(*make_layers_of_fills(1.0, more=more)) for more in (0, 1))
    told = [change.what for change in diff(left, right).about]
    assert "external_input" not in told
    turned = diff(left, load(*make_layers_of_fills(2.0, order=-1)))
    assert (turned.verdict, [change.what for change in turned.about]) == ("weights", [])
    net, init = make_layers_of_fills(1.0)
    other = caffe2_pb2.NetDef.FromString(net)
    other.external_input.remove("w1")
    unlisted = diff(left, load(other.SerializeToString(), init))
    assert [change.what for change in unlisted.about] == ["external_input"]


def test_fills_are_compared_without_looking_for_them_among_all(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    count, looked = 60, []
    net = caffe2_pb2.NetDef(name="n", external_input=["x"], external_output=["x"])
    init = caffe2_pb2.NetDef(name="i")
    for number in range(count):
        net.op.add(type="Add", input=["x", f"w{number}"], output=["x"])
        fill = init.op.add(type="GivenTensorFill", output=[f"w{number}"])
        fill.arg.add(name="shape", ints=[1])
        fill.arg.add(name="values", floats=[float(number)])
    left = load(net.SerializeToString(), init.SerializeToString())
    init.op[7].arg.add(name="more", i=1)
    right = load(net.SerializeToString(), init.SerializeToString())
    is_fill = caffe2_net.is_fill
    monkeypatch.setattr(
        caffe2_net, "is_fill", lambda operator: looked.append(1) or is_fill(operator)
    )
    (found,) = diff(left, right).tensors
    assert found.left.name == "w7"
    assert len(looked) <= 2 * count


def make_base() -> onnx.ModelProto:
    """Return a model with something of each kind: constants, a call, a sparse tensor, types."""
    model = onnx.parser.parse_model(
        """< ir_version: 10, opset_import: ["" : 18, "own" : 1] >
        g (float[N, 2] x, float[N, 2] z) => (float[N, 2] y, float[N, 2] u)
        <float[2, 2] w = {1, 2, 3, 4}, float[2] b = {1, 2}, float[N, 2] p, float[N, 2] q> {
            [a] p = MatMul (x, w)
            [b1] q = Sub (p, b)
            [k] c = Constant <value_float = 2.0> ()
            [d] r = Mul (q, c)
            [e] y = own.twice (r)
            [f] t = Sub (x, z)
            [g1] u = Relu (t)
        }
        < domain: "own", opset_import: ["" : 18] >
        twice (v) => (o) { two = Constant <value_float = 2.0> () o = Mul (v, two) }"""
    )
    values = numpy_helper.from_array(np.array([1.0, 2.0], np.float32), "s")
    indices = numpy_helper.from_array(np.array([0, 3]), "s_at")
    model.graph.sparse_initializer.append(helper.make_sparse_tensor(values, indices, [2, 2]))
    return model


def _set(model: onnx.ModelProto, node: int, inputs: list[str]) -> None:
    model.graph.node[node].input[:] = inputs


def _turn(entries: object) -> None:
    kept = [*entries][::-1]  # type: ignore[call-overload]
    del entries[:]  # type: ignore[attr-defined]
    entries.extend(kept)  # type: ignore[attr-defined]


def _input_type(model: onnx.ModelProto, name: str) -> onnx.TypeProto.Tensor:
    """Return the type of an input, wherever other edits have moved it."""
    return next(each.type.tensor_type for each in model.graph.input if each.name == name)


def _store_constant(model: onnx.ModelProto) -> None:
    node = model.graph.node[2]
    if node.op_type == "Constant":
        number = np.float32(node.attribute[0].f)
        model.graph.node.remove(node)
        model.graph.initializer.append(numpy_helper.from_array(np.array(number), "c"))


EDITS: dict[str, Callable[[onnx.ModelProto], object]] = {
    "swap constant": lambda m: _set(m, 1, ["b", "p"]),
    "swap values": lambda m: _set(m, 5, ["z", "x"]),
    "widen": lambda m: _input_type(m, "x").shape.dim[1].ClearField("dim_value"),
    "drop shape": lambda m: _input_type(m, "z").ClearField("shape"),
    "turn inputs": lambda m: _turn(m.graph.input),
    "turn outputs": lambda m: _turn(m.graph.output),
    "inner output": lambda m: m.graph.output.append(
        helper.make_tensor_value_info("q", 1, ["N", 2])
    ),
    "initializer as input": lambda m: m.graph.input.append(
        helper.make_tensor_value_info("b", 1, [2])
    ),
    "sparse value": lambda m: setattr(
        m.graph.sparse_initializer[0].values, "raw_data", np.float32([1, 9]).tobytes()
    ),
    "sparse place": lambda m: setattr(
        m.graph.sparse_initializer[0].indices, "raw_data", np.int64([0, 2]).tobytes()
    ),
    "function": lambda m: setattr(m.functions[0].node[0].attribute[0], "f", 3.0),
    "annotation": lambda m: m.graph.quantization_annotation.add(tensor_name="p"),
    "device": lambda m: m.graph.node[0].device_configurations.add(configuration_id="k"),
    "other sizes": lambda m: setattr(
        m.graph.output[0].type.tensor_type.shape.dim[0], "dim_param", "M"
    ),
    "unused constant": lambda m: m.graph.node.append(
        helper.make_node("Constant", [], ["unused"], value_float=1.0)
    ),
    "not a number": lambda m: (
        setattr(m.graph.initializer[1], "raw_data", np.float32([1, np.nan]).tobytes())
        or m.graph.initializer[1].ClearField("float_data")
    ),
    "minus zero": lambda m: setattr(m.graph.node[2].attribute[0], "f", -0.0),
}
#: edits of numbers that are stored, wherever
OF_NUMBERS = {"not a number", "sparse value", "sparse place", "minus zero", "function"}
COSMETIC: dict[str, Callable[[onnx.ModelProto], object]] = {
    "names": lambda m: setattr(m.graph.node[0], "name", "other"),
    "docs": lambda m: setattr(m.graph.node[1], "doc_string", "other"),
    "storage": _store_constant,
}


@pytest.mark.parametrize("edit", EDITS)
def test_what_was_called_identical_is_told(edit: str) -> None:
    left, right = make_base(), make_base()
    EDITS[edit](right)
    for found in (diff(load(left), load(right)), diff(load(right), load(left))):
        assert found.verdict == ("weights" if edit == "not a number" else "structure")
        assert read_fail_on("structure")[0].applies(found) == (edit != "not a number")
        assert read_fail_on("weights")[0].applies(found) == (edit in OF_NUMBERS)


@pytest.mark.parametrize("edit", COSMETIC)
def test_what_may_be_ignored_has_its_aspect(edit: str) -> None:
    left, right = make_base(), make_base()
    COSMETIC[edit](right)
    for found in (diff(load(left), load(right)), diff(load(right), load(left))):
        assert (found.verdict, found.aspects) == ("cosmetic", [edit])
    assert diff(load(left), load(right), ignore=[edit]).verdict == "identical"  # type: ignore[list-item]


@settings(max_examples=40, deadline=None)
@given(
    st.lists(st.sampled_from([*EDITS]), min_size=1, max_size=4, unique=True),
    st.lists(st.sampled_from([*COSMETIC]), max_size=3, unique=True),
)
def test_no_composition_of_edits_is_identical(edits: list[str], cosmetic: list[str]) -> None:
    left, right = make_base(), make_base()
    for name in edits:
        EDITS[name](right)
    for name in cosmetic:
        COSMETIC[name](right)
    found = diff(load(left), load(right))
    assert found.verdict in ("structure", "weights")
    # of a constant that is stored as an initializer the number is a weight
    weights = {"not a number", *(["minus zero"] if "storage" in cosmetic else [])}
    assert (found.verdict == "weights") == ({*edits} <= weights)
