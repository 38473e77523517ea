"""Examples of patterns whose state goes along a sequence; see `pattern_examples`."""

from __future__ import annotations

EXAMPLES_OF_STATES: dict[str, tuple[str, str]] = {
    "delta-rule": (
        """
delta (float[1, 1, 16] x, float[1, 2, 8, 8] state)
 => (float[1, 1, 16] y, float[1, 2, 8, 8] next)
<int64[2] square = {16, 16}, int64[2] few = {16, 2}, int64[1] heads = {2},
 int64[4] column = {1, 2, 8, 1}, int64[4] row = {1, 2, 1, 8}, int64[4] each = {1, 2, 1, 1},
 int64[3] joined = {1, 1, 16}, int64[1] keys = {2}>
{
  wq = ConstantOfShape (square)  wk = ConstantOfShape (square)  wv = ConstantOfShape (square)
  wo = ConstantOfShape (square)  wb = ConstantOfShape (few)     wg = ConstantOfShape (few)
  a = ConstantOfShape (heads)
  q0 = MatMul (x, wq)  q = Reshape (q0, column)
  k0 = MatMul (x, wk)  k = Reshape (k0, column)
  v0 = MatMul (x, wv)  v = Reshape (v0, row)
  b0 = MatMul (x, wb)  b1 = Sigmoid (b0)   rate = Reshape (b1, each)
  g0 = MatMul (x, wg)  g1 = Softplus (g0)  g2 = Mul (g1, a)
  g3 = Exp (g2)        decay = Reshape (g3, each)
  kept = Mul (state, decay)
  recalled = Mul (kept, k)
  told = ReduceSum (recalled, keys)
  missing = Sub (v, told)
  change = Mul (missing, rate)
  written = Mul (k, change)
  next = Add (kept, written)
  read = Mul (next, q)
  result = ReduceSum (read, keys)
  rows = Reshape (result, joined)
  y = MatMul (rows, wo)
}
""",
        "Linear attention, gated delta rule, 2 heads × 8, causal",
    ),
}
