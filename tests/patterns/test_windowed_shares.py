"""Windows that masks of the places around each limit shares to."""

from __future__ import annotations

import pytest

from netloupe.explorer.patterns import recognise
from tests.onnx_text import load_text

_TEXT = """
g (float[1, 24, 16] x) => (float[1, 24, 16] y)
<int64[2] wide = {16, 32}, int64[2] one = {32, 1}, int64[1] first = {1}, int64[1] second = {2},
 int64[1] last = {3}, int64[1] low = {1}, int64[1] high = {0}, int64 start = {0}, int64 end = {24},
 int64 step = {1}, int64 back = {1}, int64 width = {3}, float little = {1e-5}>
{
  wq = ConstantOfShape (wide)  wk = ConstantOfShape (wide)  v = ConstantOfShape (one)
  q = MatMul (x, wq)  k = MatMul (x, wk)  qu = Unsqueeze (q, second)  ku = Unsqueeze (k, first)
  both = Add (qu, ku)  bent = Tanh (both)  s3 = MatMul (bent, v)  s = Squeeze (s3, last)
  most = ReduceMax (s, second)  less = Sub (s, most)  e = Exp (less)
  places = Range (start, end, step)  lows = Sub (places, back)
  lower = Unsqueeze (lows, low)  place = Unsqueeze (places, high)  upper = Add (lower, width)
  above = LessOrEqual (lower, place)  below = Less (place, upper)  near = And (above, below)
  mask = Cast <to = 1> (near)
  kept = Mul (e, mask)  total = ReduceSum (kept, second)  some = Add (total, little)
  shares = Div (kept, some)  y = MatMul (shares, x)
}
"""


def tell(*edits: tuple[str, str]) -> str:
    text = _TEXT
    for old, new in edits:
        assert old in text, old
        text = text.replace(old, new)
    found = recognise([*load_text(text).graph.nodes])
    return found.text if found is not None else ""


@pytest.mark.parametrize(
    ("edits", "window"),
    [
        ([], 3),
        ([("Less (place, upper)", "Greater (upper, place)")], 3),
        ([("Less (place, upper)", "LessOrEqual (place, upper)")], 4),
        ([("LessOrEqual (lower, place)", "Less (lower, place)")], 2),
        ([("width = {3}", "width = {5}")], 5),
    ],
)
def test_a_mask_between_two_bounds_is_a_window(edits: list[tuple[str, str]], window: int) -> None:
    assert tell(*edits) == f"Additive self-attention, 32 units, window {window}"


@pytest.mark.parametrize(
    "edits",
    [
        [("And (above, below)", "Or (above, below)")],
        [("upper = Add (lower, width)", "upper = Add (place, width)")],
        [("Less (place, upper)", "Greater (place, upper)")],
    ],
)
def test_other_masks_tell_no_window(edits: list[tuple[str, str]]) -> None:
    assert tell(*edits) == "Additive self-attention, 32 units"


def test_places_of_one_row_are_no_pairs() -> None:
    assert "attention" not in tell(("Unsqueeze (q, second)", "Unsqueeze (q, first)"))
