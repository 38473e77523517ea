"""A Slice for rows and one for columns cut an image to size: one box."""

from __future__ import annotations

import pytest
from onnx import parser

from netloupe.explorer.grouping import find_tree
from netloupe.explorer.readers.load import load

_TEXT = """<ir_version: 10, opset_import: ["": 21]>
g (float[1, 3, 80, 80] x) => (float[1, 3, 64, 64] y)
<int64[1] zero = {0}, int64[1] end = {64}, int64[1] rows = {2}, int64[1] columns = {3},
 int64[1] step = {1}>
{
  a = Exp (x)
  b = Slice (a, zero, end, rows, step)
  c = Slice (b, zero, end, columns, step)
  y = Sin (c)
}"""


def list_crops(old: str = "", new: str = "") -> list[tuple[str, ...]]:
    """Return the facts of the crops in a small network in which something is replaced."""
    model = load(parser.parse_model(_TEXT.replace(old, new)).SerializeToString())
    groups = find_tree(model, model.graph).root.inner_groups()
    return [tuple(group.facts) for group in groups if group.label == "Crop"]


def test_slices_of_rows_and_columns_are_one_crop() -> None:
    assert list_crops() == [("to 64 × 64",)]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("columns = {3}", "columns = {2}"),  # the same axis twice
        ("rows = {2}", "rows = {0}"),  # examples
        ("step = {1}", "step = {2}"),  # every second place
        ("Sin (c)", "Add (b, c)"),  # another takes the rows
    ],
)
def test_other_slices_are_none(old: str, new: str) -> None:
    assert list_crops(old, new) == []
