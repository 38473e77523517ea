"""Positions that are compared are known where an exporter stored them, and other numbers not."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from onnx import TensorProto, helper, numpy_helper

from netloupe.explorer.patterns.stored_positions import compares_stored_positions
from netloupe.explorer.readers.load import load

Array = np.ndarray[Any, Any]

_ROW, _COLUMN = np.arange(5)[None, :], np.arange(5)[:, None]


def compare(one: Array, two: Array) -> bool:
    """Return what is said of two stored operands of a comparison."""
    graph = helper.make_graph(
        [helper.make_node("LessOrEqual", ["one", "two"], ["y"])],
        "g",
        [],
        [helper.make_tensor_value_info("y", TensorProto.BOOL, None)],
        [numpy_helper.from_array(one, "one"), numpy_helper.from_array(two, "two")],
    )
    node = load(helper.make_model(graph)).graph.nodes[0]
    return compares_stored_positions(*node.inputs)


def test_a_row_and_a_column_of_positions_give_a_triangle() -> None:
    assert compare(_ROW, _COLUMN)
    assert compare(_COLUMN, _ROW)
    assert compare(_ROW[None, None] + 3, _COLUMN[None, None] + 3)


@pytest.mark.parametrize(
    ("one", "two"),
    [
        (_ROW, _ROW),
        (_ROW, _COLUMN[:4]),
        (_ROW, _COLUMN * 2),
        (_ROW, _COLUMN + 1),
        (_ROW, np.array(3)),
        (_ROW.astype(np.float32), _COLUMN.astype(np.float32)),
        (_ROW[:, :1], _COLUMN[:1]),
        (np.broadcast_to(_ROW, (2, 5)).copy(), _COLUMN),
    ],
)
def test_other_numbers_are_no_positions(one: Array, two: Array) -> None:
    assert not compare(one, two)
