"""Axes counted from the first or the last are the same where the number of axes follows."""

from __future__ import annotations

from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

from netloupe.explorer.compare import diff

_RANK = 3
#: operator, further operands, attributes: what stands before, with a type that no file states
BEFORE: dict[str, tuple[str, list[str], dict[str, Any]]] = {
    "unary": ("Neg", [], {}),
    "turned": ("Transpose", [], {"perm": [0, 2, 1]}),
    "sum with a number": ("Add", ["number"], {}),
    "sum with an input": ("Add", ["x"], {}),
    "reduced": ("ReduceMean", [], {"axes": [1], "keepdims": 1}),
    "reshaped": ("Reshape", ["shape"], {}),
    "joined": ("Concat", ["x"], {"axis": 0}),
    "normalized": ("Softmax", [], {"axis": 0}),
}


def make_model(chain: list[str], axis: int, *, is_known: bool = True) -> onnx.ModelProto:
    nodes, value = [], "x"
    for number, kind in enumerate(chain):
        op_type, operands, attributes = BEFORE[kind]
        nodes.append(helper.make_node(op_type, [value, *operands], [f"v{number}"], **attributes))
        value = f"v{number}"
    nodes.append(helper.make_node("Concat", [value, value], ["y"], axis=axis))
    shape = ["a", "b", "c"] if is_known else None
    graph = helper.make_graph(
        nodes,
        "graph",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, shape)],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)],
        [
            numpy_helper.from_array(np.float32(2), "number"),
            numpy_helper.from_array(np.array([0, 0, -1], np.int64), "shape"),
        ],
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8)


@pytest.mark.parametrize("first", BEFORE)
@pytest.mark.parametrize("second", BEFORE)
def test_axes_are_counted_through_what_stands_before(first: str, second: str) -> None:
    chain = [first, second]
    for axis in range(_RANK):
        found = diff(make_model(chain, axis), make_model(chain, axis - _RANK))
        assert (found.verdict, found.aspects) == ("cosmetic", ["defaults"]), axis
        other = diff(make_model(chain, axis), make_model(chain, (axis + 1) % _RANK - _RANK))
        assert other.verdict == "structure", axis


def test_where_the_number_of_axes_does_not_follow_they_differ() -> None:
    sides = [make_model(["unary"], axis, is_known=False) for axis in (0, -_RANK)]
    assert diff(*sides).verdict == "structure"
