"""Weights that Constant nodes hold and that are cut and put together before they are used."""

from __future__ import annotations

import re

import numpy as np
import onnx
import onnx.parser
import pytest
from onnx import helper, numpy_helper

from netloupe.explorer.model import Model
from netloupe.explorer.readers.load import load

_HIDDEN, _WIDTH = 8, 4


def make_lstm(*, as_constants: bool, in_branches: bool, operators: tuple[str, ...]) -> Model:
    """Return an LSTM whose gates are brought into another order as exporters write it."""
    arrays = {
        "w": np.ones((4 * _HIDDEN, _WIDTH), np.float32),
        "r": np.ones((4 * _HIDDEN, _HIDDEN), np.float32),
        "b": np.ones(8 * _HIDDEN, np.float32),
        "zero": np.array([0], np.int64),
        "half": np.array([2 * _HIDDEN], np.int64),
        "end": np.array([2**31], np.int64),
    }
    nodes, initializers = [], []
    for name, array in arrays.items():
        tensor = numpy_helper.from_array(array, name)
        if as_constants:
            nodes.append(helper.make_node("Constant", [], [name], value=tensor))
        else:
            initializers.append(tensor)
    for name in ("w", "r", "b"):
        if "Split" in operators:
            halves = [f"{name}0", f"{name}1"]
            nodes.append(helper.make_node("Split", [name], halves, num_outputs=2))
        else:
            halves = [f"{name}0", f"{name}1"]
            for half, ends in zip(halves, (("zero", "half"), ("half", "end")), strict=True):
                nodes.append(helper.make_node("Slice", [name, *ends, "zero"], [half]))
        nodes.append(helper.make_node("Concat", halves[::-1], [f"{name}c"], axis=0))
        nodes.append(helper.make_node("Unsqueeze", [f"{name}c", "zero"], [name.upper()]))
    nodes.append(
        helper.make_node("LSTM", ["x", "W", "R", "B"], ["y"], hidden_size=_HIDDEN, name="lstm")
    )
    x = helper.make_tensor_value_info("x", 1, [3, 1, _WIDTH])
    y = helper.make_tensor_value_info("y", 1, [3, 1, 1, _HIDDEN])
    if in_branches:
        body = helper.make_graph(nodes, "then", [], [helper.make_empty_tensor_value_info("y")])
        other = helper.make_graph(
            [helper.make_node("Neg", ["x"], ["z"])],
            "else",
            [],
            [helper.make_empty_tensor_value_info("z")],
        )
        body.initializer.extend(initializers)
        nodes = [
            helper.make_node("If", ["c"], ["y"], then_branch=body, else_branch=other, name="if")
        ]
        initializers = []
    c = helper.make_tensor_value_info("c", onnx.TensorProto.BOOL, [])
    graph = helper.make_graph(nodes, "g", [x, c], [y], initializers)
    return load(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)]))


@pytest.mark.parametrize("operators", [("Slice",), ("Split",)])
@pytest.mark.parametrize("in_branches", [False, True])
def test_constants_count_as_initializers_do(in_branches: bool, operators: tuple[str, ...]) -> None:
    found = [
        make_lstm(as_constants=as_constants, in_branches=in_branches, operators=operators)
        for as_constants in (True, False)
    ]
    expected = 4 * _HIDDEN * (_WIDTH + _HIDDEN + 2)
    assert [model.totals.parameters for model in found] == [expected, expected]
    constants, initializers = (model.totals.bytes for model in found)
    assert constants == 4 * expected
    assert initializers == constants + 3 * 8  # with where it is cut


#: what a product takes, computed of constants: calls, and what is stored of numbers and bytes
_COMPUTED = {
    "scaled": ("k = Mul (w, two)", 16),
    "turned": ("t = Transpose (w) k = Neg (t)", 16),
    "normalized": ("n = ReduceL2 <keepdims = 1> (w) d = Div (w, n) k = Mul (d, g)", 20),
    "repeated": ("k = Tile (r, times)", 4),
    "expanded": ("k = Expand (r, size)", 4),
    "filled up": ("c = Slice (w, zero, three, zero) k = Pad (c, pads)", 16),
    "summed": ("e = Exp (w) s = Sqrt (e) k = Sub (s, v)", 32),
}
_STORED = {
    "w": np.ones((4, 4), np.float32),
    "v": np.ones((4, 4), np.float32),
    "g": np.ones((1, 4), np.float32),
    "r": np.ones((1, 4), np.float32),
    "two": np.array(2, np.float32),
    "times": np.array([4, 1], np.int64),
    "size": np.array([4, 4], np.int64),
    "pads": np.array([0, 0, 1, 0], np.int64),
    "zero": np.array([0], np.int64),
    "three": np.array([3], np.int64),
}


def compute(text: str, *, as_constants: bool) -> Model:
    """Return a product with what is computed of all constants that the text names."""
    used = {name: array for name, array in _STORED.items() if re.search(rf"\b{name}\b", text)}
    model = onnx.parser.parse_model(
        '<ir_version: 10, opset_import: ["": 21]> g (float[4, 4] x) => (float[4, 4] y) '
        f"{{ {text} y = MatMul (x, k) }}"
    )
    for name, array in used.items():
        tensor = numpy_helper.from_array(array, name)
        if as_constants:
            model.graph.node.insert(0, helper.make_node("Constant", [], [name], value=tensor))
        else:
            model.graph.initializer.append(tensor)
    return load(model.SerializeToString())


@pytest.mark.parametrize("kind", _COMPUTED)
def test_weights_that_constants_are_computed_to_count_as_initializers_do(kind: str) -> None:
    text, count = _COMPUTED[kind]
    found = [compute(text, as_constants=each) for each in (True, False)]
    assert [model.totals.parameters for model in found] == [count, count]
    assert found[0].totals.bytes == 4 * count


def test_what_is_computed_is_no_weight() -> None:
    nodes = [
        helper.make_node(
            "Constant", [], ["w"], value=numpy_helper.from_array(np.ones((4, 4), np.float32))
        ),
        helper.make_node("Concat", ["w", "x"], ["both"], axis=0),
        helper.make_node("MatMul", ["x", "both"], ["y"]),
    ]
    x = helper.make_tensor_value_info("x", 1, [4, 4])
    graph = helper.make_graph(nodes, "g", [x], [helper.make_empty_tensor_value_info("y")])
    assert load(helper.make_model(graph)).totals.parameters == 0


def test_a_circle_of_pieces_ends() -> None:
    nodes = [
        helper.make_node("Concat", ["b", "a"], ["a"], axis=0),
        helper.make_node("Slice", ["a", "x", "x"], ["b"]),
        helper.make_node("MatMul", ["x", "a"], ["y"]),
    ]
    x = helper.make_tensor_value_info("x", 1, [4, 4])
    graph = helper.make_graph(nodes, "g", [x], [helper.make_empty_tensor_value_info("y")])
    assert load(helper.make_model(graph)).totals.parameters == 0


def make_choice(*, as_constants: bool) -> Model:
    """Return a product with one of two weights, which the branches of an If give."""
    branches = []
    for number in (1.0, 2.0):
        tensor = numpy_helper.from_array(np.full((4, 4), number, np.float32), "w")
        held = [helper.make_node("Constant", [], ["w"], value=tensor)] if as_constants else []
        nodes = [*held, helper.make_node("Transpose", ["w"], ["t"])]
        given = [helper.make_tensor_value_info("t", 1, [4, 4])]
        stored = [] if as_constants else [tensor]
        branches.append(helper.make_graph(nodes, f"b{number:g}", [], given, stored))
    then, other = branches
    nodes = [
        helper.make_node("If", ["c"], ["W"], "choice", then_branch=then, else_branch=other),
        helper.make_node("MatMul", ["x", "W"], ["y"], "product"),
    ]
    ends = [helper.make_tensor_value_info(name, 1, [2, 4]) for name in ("x", "y")]
    condition = helper.make_tensor_value_info("c", onnx.TensorProto.BOOL, [])
    return load(helper.make_model(helper.make_graph(nodes, "g", [ends[0], condition], ends[1:])))


def test_weights_that_branches_give_count_as_initializers_do() -> None:
    counts = [make_choice(as_constants=held).totals.parameters for held in (True, False)]
    assert counts == [32, 32]
