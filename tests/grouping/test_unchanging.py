"""What follows from constants and shapes alone is preparation; what is made of weights is not."""

from __future__ import annotations

from .test_spilled_ideas import build, list_operators

_MASKED = """
    masked (float[1, 8, 16] x) => (float[1, 8, 16] y)
    <int64[2] square = {16, 16}, float one = {1}, float most = {-10000}, int64[1] two = {2}>
    {
      [a] w = ConstantOfShape (square)
      [first__MatMul] h = MatMul (x, w)  [first__Relu] r = Relu (h)
      [Constant] ones = Constant <value = float[1, 8] {1, 1, 1, 1, 1, 1, 1, 1}> ()
      [Sub] away = Sub (one, ones)
      [Mul] mask = Mul (away, most)
      [Exp] kept = Exp (mask)
      [Unsqueeze] wide = Unsqueeze (kept, two)
      [Mul_1] some = Mul (r, wide)
      [last__MatMul] l = MatMul (some, w)  [last__Relu] s = Relu (l)
      [Neg] t = Neg (s)  [Abs] u = Abs (t)  [Sqrt] v = Sqrt (u)  [Floor] y = Floor (v)
    }
"""


def test_a_mask_of_ones_is_preparation() -> None:
    (found,) = (g for g in build(_MASKED).groups.values() if g.kind == "preparation")
    assert {"Exp", "Mul", "Sub"} <= {*list_operators(found)}


def test_what_is_made_of_weights_is_none() -> None:
    text = _MASKED.replace("{1, 1, 1,", "{1, 2, 1,")
    groups = build(text).groups.values()
    assert not any({"Exp"} <= {*list_operators(g)} for g in groups if g.kind == "preparation")
