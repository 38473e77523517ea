"""Soft decision trees, from the choice of features to what leaves hold."""

from __future__ import annotations

import pytest

from netloupe.explorer.patterns import recognise
from tests.onnx_text import load_text

_TEXT = """
g (float[4, 10] x, float[4, 6, 2] z) => (float[4, 6, 3] y)
<int64[2] dims = {10, 12}, int64[3] shape = {4, 6, 2}, int64[1] last = {3}, int64 n0 = {0},
 int64 n1 = {1}, int64[3] code = {2, 4, 2}, int64[3] held = {6, 3, 4}, int64[2] at = {6, 2},
 float half = {0.5}>
{
  w = ConstantOfShape (dims)  t = ConstantOfShape (at)  c = ConstantOfShape (code)
  r = ConstantOfShape (held)
  chosen = MatMul (x, w)
  split = Reshape (chosen, shape)
  apart = Sub (split, t)
  less = Neg (apart)
  left = Unsqueeze (less, last)  right = Unsqueeze (apart, last)
  both = Concat <axis = 3> (left, right)
  shares = Sigmoid (both)
  levels = Einsum <equation = "btds,dcs->btdc"> (shares, c)
  first = Gather <axis = 2> (levels, n0)  second = Gather <axis = 2> (levels, n1)
  reached = Mul (first, second)
  y = Einsum <equation = "btc,tdc->btd"> (reached, r)
}
"""
#: levels of another value than the first one's
_OTHER = """
  more = Einsum <equation = "btds,dcs->btdc"> (both, c)
  second = Gather <axis = 2> (more, n1)
"""


def tell(*edits: tuple[str, str]) -> str:
    text = _TEXT
    for old, new in edits:
        assert old in text, old
        text = text.replace(old, new)
    found = recognise([*load_text(text).graph.nodes])
    return found.text if found is not None else ""


@pytest.mark.parametrize(
    "edit",
    [
        ("n0 = {0}", "n0 = {0}"),
        ("shares = Sigmoid (both)", "scaled = Mul (both, half)  shares = Softmax (scaled)"),
        # a rectified square is one block: what it takes is followed, too
        ("shares = Sigmoid (both)", "bent = Relu (both)  shares = Mul (bent, bent)"),
    ],
)
def test_all_of_a_layer_of_trees_is_one_block(edit: tuple[str, str]) -> None:
    assert tell(edit) == "Soft decision trees, 6 trees, depth 2"


@pytest.mark.parametrize(
    "edits",
    [
        # both factors are the same level
        (("second = Gather <axis = 2> (levels, n1)", "second = Neg (first)"),),
        # a sum of levels
        (("reached = Mul (first, second)", "reached = Add (first, second)"),),
        # more leaves than two levels lead to
        (("code = {2, 4, 2}", "code = {2, 5, 2}"), ("held = {6, 3, 4}", "held = {6, 3, 5}")),
        # levels of two values
        (
            (
                "second = Gather <axis = 2> (levels, n1)",
                _OTHER,
            ),
        ),
    ],
)
def test_what_lacks_a_part_is_none(edits: tuple[tuple[str, str], ...]) -> None:
    assert "trees" not in tell(*edits)
