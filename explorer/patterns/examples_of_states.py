"""Examples of patterns whose state goes along a sequence; see `pattern_examples`."""

from __future__ import annotations

EXAMPLES_OF_STATES: dict[str, tuple[str, str]] = {
    "slice-attention": (
        """
slices (float[1, 200, 32] x) => (float[1, 200, 32] y)
<int64[2] square = {32, 32}, int64[2] few = {32, 16}, float root = {5.657},
 float least = {0.00001}, int64[1] tokens = {1}, int64[1] last = {2}>
{
  wf = ConstantOfShape (square)  ws = ConstantOfShape (few)     wo = ConstantOfShape (square)
  wq = ConstantOfShape (square)  wk = ConstantOfShape (square)  wv = ConstantOfShape (square)
  features = MatMul (x, wf)
  logits = MatMul (x, ws)
  shares = Softmax <axis = 2> (logits)
  turned = Transpose <perm = [0, 2, 1]> (shares)
  sums = MatMul (turned, features)
  totals = ReduceSum <keepdims = 0> (shares, tokens)
  each = Unsqueeze (totals, last)
  above = Add (each, least)
  slices = Div (sums, above)
  q = MatMul (slices, wq)  k = MatMul (slices, wk)  v = MatMul (slices, wv)
  keys = Transpose <perm = [0, 2, 1]> (k)
  products = MatMul (q, keys)
  scores = Div (products, root)
  weights = Softmax <axis = 2> (scores)
  mixed = MatMul (weights, v)
  back = MatMul (shares, mixed)
  y = MatMul (back, wo)
}
""",
        "Physics attention, 16 slices",
    ),
    "light-cell": (
        """
light (float[20, 1, 32] all, float[1, 16] h) => (float[1, 16] next_h)
<int64[2] u_dims = {16, 32}, float one = {1.0}, int64 place = {3}>
{
  u = ConstantOfShape (u_dims)
  x = Gather <axis = 0> (all, place)
  of_h = MatMul (h, u)
  gates = Add (x, of_h)
  fresh, update = Split <axis = 1, num_outputs = 2> (gates)
  z = Sigmoid (update)
  new = Relu (fresh)
  kept = Mul (z, h)
  rest = Sub (one, z)
  taken = Mul (rest, new)
  next_h = Add (kept, taken)
}
""",
        "Light GRU cell, width 16",
    ),
    "fourier-filter": (
        """
filter (float[1, 16, 8, 1] x) => (float[1, 16, 8, 2] y)
<int64 tokens = {1}, int64[3] dims = {16, 8, 1}, int64[1] a = {0}, int64[1] b = {1},
 int64[1] last = {3}>
{
  wr = ConstantOfShape (dims)  wi = ConstantOfShape (dims)
  frequencies = DFT (x, , tokens)
  real = Gather <axis = 3> (frequencies, a)
  imaginary = Gather <axis = 3> (frequencies, b)
  rr = Mul (real, wr)  ii = Mul (imaginary, wi)  r = Sub (rr, ii)
  ri = Mul (real, wi)  ir = Mul (imaginary, wr)  i = Add (ri, ir)
  weighted = Concat <axis = 3> (r, i)
  y = DFT <inverse = 1> (weighted, , tokens)
}
""",
        "Fourier filter",
    ),
    "pointwise-attention": (
        """
unit (float[1, 17, 64] x) => (float[1, 17, 64] y)
<int64[2] dims = {64, 288}, int64[2] out = {128, 64}, int64[3] parts = {128, 128, 32},
 int64[1] width = {32}, float root = {5.657}, float two = {2}>
{
  w = ConstantOfShape (dims)    wo = ConstantOfShape (out)
  gq = ConstantOfShape (width)  bq = ConstantOfShape (width)
  gk = ConstantOfShape (width)  bk = ConstantOfShape (width)
  all = MatMul (x, w)
  hidden = Swish (all)
  u, v, base = Split <axis = 2> (hidden, parts)
  q0 = Mul (base, gq)  q = Add (q0, bq)
  k0 = Mul (base, gk)  k = Add (k0, bk)
  turned = Transpose <perm = [0, 2, 1]> (k)
  products = MatMul (q, turned)
  scores = Div (products, root)
  positive = Relu (scores)
  weights = Pow (positive, two)
  mixed = MatMul (weights, v)
  gated = Mul (u, mixed)
  y = MatMul (gated, wo)
}
""",
        "Gated attention unit",
    ),
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
