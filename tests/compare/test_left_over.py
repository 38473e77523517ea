"""Copies of a node that nothing tells apart: a model in another order has them all."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

from netloupe.explorer.compare import diff

_WEIGHT = np.random.default_rng(3).normal(size=(4, 4)).astype(np.float32)
#: operator, operands and attributes of what is there several times
COPIES: dict[str, tuple[str, list[str], dict[str, Any]]] = {
    "with a weight": ("MatMul", ["h", "w"], {}),
    "of a result": ("Mul", ["h", "h"], {}),
    "of an input": ("Neg", ["x"], {}),
    "of constants": ("Shape", ["w"], {}),
    "with attributes": ("ReduceMean", ["h"], {"axes": [0]}),
}


def make_model(
    kind: str,
    count: int,
    *,
    is_turned: bool = False,
    weight: np.ndarray[Any, Any] = _WEIGHT,
    as_node: bool = False,
) -> onnx.ModelProto:
    """Make a model with copies of a node, behind each of which stands one that nobody takes.

    Turned, these have other names and stand behind all others.
    """
    op_type, operands, attributes = COPIES[kind]
    stored = numpy_helper.from_array(weight, "w")
    nodes = [
        helper.make_node("Relu", ["x"], ["h"]),
        helper.make_node("Tanh", ["h"], ["y"]),
    ]
    copies = []
    for number in range(count):
        names = [f"{letter}{number}" for letter in ("uv" if is_turned else "ab")]
        copies += [
            helper.make_node(op_type, operands, names[:1], **attributes),
            helper.make_node("Abs", names[:1], names[1:]),
        ]
    place = 2 if is_turned else 1
    nodes[place:place] = copies
    if as_node:
        nodes.insert(0, helper.make_node("Constant", [], ["w"], value=stored))
    graph = helper.make_graph(
        nodes,
        "graph",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, [4, 4])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, [4, 4])],
        [] if as_node else [stored],
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8)


@pytest.mark.parametrize("kind", COPIES)
@pytest.mark.parametrize("as_node", [False, True])
def test_copies_in_another_order_and_with_other_names_are_the_same(
    kind: str, as_node: bool
) -> None:
    for count in (1, 2, 3):
        left = make_model(kind, count, as_node=as_node)
        right = make_model(kind, count, is_turned=True, as_node=as_node)
        found = diff(left, right)
        assert found.verdict == "cosmetic", count
        assert found.counts.added == found.counts.removed == 0, count


@pytest.mark.parametrize("kind", COPIES)
def test_one_copy_more_is_told(kind: str) -> None:
    for few, many in itertools.combinations((1, 2, 3), 2):
        found = diff(make_model(kind, few), make_model(kind, many))
        assert not found.left_alone
        assert len(found.right_alone) == 2 * (many - few)


def test_copies_with_another_weight_differ() -> None:
    found = diff(make_model("with a weight", 2), make_model("with a weight", 2, weight=2 * _WEIGHT))
    assert found.has_other_weights


@pytest.mark.parametrize("taker", ["Mul", "Max"])
def test_copies_that_others_take_are_no_copies(taker: str) -> None:
    """A filled constant of a node that is gone, and an equal one of a node that is new."""

    def make(operators: list[str]) -> onnx.ModelProto:
        nodes = []
        for place, operator in enumerate(operators):
            nodes += [
                helper.make_node("ConstantOfShape", ["shape"], [f"fill{place}"]),
                helper.make_node(operator, [f"v{place}", f"fill{place}"], [f"v{place + 1}"]),
            ]
        graph = helper.make_graph(
            nodes,
            "graph",
            [helper.make_tensor_value_info("v0", TensorProto.FLOAT, [4, 4])],
            [helper.make_tensor_value_info(f"v{len(operators)}", TensorProto.FLOAT, [4, 4])],
            [numpy_helper.from_array(np.array([4, 4]), "shape")],
        )
        imports = [helper.make_opsetid("", 17)]
        return helper.make_model(graph, opset_imports=imports, ir_version=8)

    left, right = make([taker, "Add", "Sub"]), make(["Add", "Sub", "PRelu"])
    found = diff(left, right)
    takers = [
        {each.users[0].op_type for node in side for each in node.outputs if each and each.users}
        for pair in found.matching.pairs
        for side in (pair.left, pair.right)
        if all(node.op_type == "ConstantOfShape" for node in side)
    ]
    assert takers[::2] == takers[1::2]
