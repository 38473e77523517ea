"""Examples of units of signals, memories and noise levels, by the id of their pattern."""

from __future__ import annotations

#: the model without a header, and what its graph is told to be
EXAMPLES_OF_SIGNALS: dict[str, tuple[str, str]] = {
    "gaussian-windows": (
        """
window (float[1, 6, 1] a, float[1, 6, 1] b, float[1, 6, 1] k, float[1, 5, 8] text)
 => (float[1, 8] y)
<float[1, 1, 5] places = {0, 1, 2, 3, 4}, float two = {2}, int64[1] first = {1},
 int64[1] last = {2}>
{
  apart = Sub (k, places)
  squares = Pow (apart, two)
  less = Neg (b)
  scaled = Mul (less, squares)
  near = Exp (scaled)
  weighted = Mul (a, near)
  shares = ReduceSum <keepdims = 0> (weighted, first)
  column = Unsqueeze (shares, last)
  parts = Mul (column, text)
  y = ReduceSum <keepdims = 0> (parts, first)
}
""",
        "Gaussian window attention, 6 windows",
    ),
    "memory-addressing": (
        """
head (float[1, 8] h, float[1, 16, 6] memory, float[1, 16] before) => (float[1, 16] y)
<int64[2] of_key = {8, 6}, int64[2] of_one = {8, 1}, int64[2] of_kernel = {8, 3},
 int64[3] kernel = {1, 1, 3}, int64[3] row = {1, 1, 18}, int64[2] flat = {1, 16},
 float one = {1}, int64[1] b0 = {0}, int64[1] b1 = {1}, int64[1] e15 = {15},
 int64[1] e16 = {16}, int64[1] axis = {2}>
{
  w1 = ConstantOfShape (of_key)  w2 = ConstantOfShape (of_one)  w3 = ConstantOfShape (of_one)
  w4 = ConstantOfShape (of_one)  w5 = ConstantOfShape (of_kernel)
  key = MatMul (h, w1)  column = Unsqueeze (key, b1)
  products = Mul (memory, column)  alike = ReduceSum <keepdims = 0> (products, axis)
  f0 = MatMul (h, w2)  sharpness = Softplus (f0)
  scores = Mul (alike, sharpness)  content = Softmax <axis = 1> (scores)
  g0 = MatMul (h, w3)  gate = Sigmoid (g0)  rest = Sub (one, gate)
  new = Mul (gate, content)  old = Mul (rest, before)  mixed = Add (new, old)
  s0 = MatMul (h, w5)  shares = Softmax <axis = 1> (s0)  k = Reshape (shares, kernel)
  end = Slice (mixed, e15, e16, b1)  start = Slice (mixed, b0, b1, b1)
  ring = Concat <axis = 1> (end, mixed, start)  line = Reshape (ring, row)
  moved = Conv (line, k)  weights = Reshape (moved, flat)
  p0 = MatMul (h, w4)  p1 = Softplus (p0)  power = Add (p1, one)
  sharp = Pow (weights, power)
  total = ReduceSum <keepdims = 1> (sharp, b1)
  y = Div (sharp, total)
}
""",
        "NTM addressing",
    ),
    "learned-memory": (
        """
memory (float[1, 9, 8] x) => (float[1, 9, 6] y)
<int64[2] down = {8, 32}, int64[2] up = {32, 6}, float scale = {0.3}>
{
  keys = ConstantOfShape (down)  values = ConstantOfShape (up)
  scores = MatMul (x, keys)
  scaled = Mul (scores, scale)
  shares = Softmax <axis = -1> (scaled)
  y = MatMul (shares, values)
}
""",
        "Attention to a learned memory, 32 entries",
    ),
    "preconditioning": (
        """
denoise (float[1, 3, 8, 8] x, float[1, 1, 1, 1] sigma) => (float[1, 3, 8, 8] y)
<int64[4] dims = {3, 3, 3, 3}, float two = {2}, float variance = {0.25},
 float deviation = {0.5}>
{
  w = ConstantOfShape (dims)
  squared = Pow (sigma, two)
  total = Add (squared, variance)
  root = Sqrt (total)
  [kept] kept = Div (variance, total)
  [noisy] noisy = Mul (sigma, deviation)
  [out] out = Div (noisy, root)
  inside = Div (x, root)
  f = Conv <pads = [1, 1, 1, 1]> (inside, w)
  [skipped] skipped = Mul (kept, x)
  [made] made = Mul (out, f)
  [y] y = Add (skipped, made)
}
""",
        "Preconditioning",
    ),
    "polar-spectrum": (
        """
spectrum (float[1, 65, 20] logarithm, float[1, 65, 20] phase) => (float[1, 65, 20, 2] y)
<int64[1] last = {3}, float most = {100}>
{
  size = Exp (logarithm)
  limited = Clip (size, , most)
  c = Cos (phase)  s = Sin (phase)
  real = Mul (limited, c)  imaginary = Mul (limited, s)
  first = Unsqueeze (real, last)  second = Unsqueeze (imaginary, last)
  y = Concat <axis = 3> (first, second)
}
""",
        "Spectrum of magnitude and phase",
    ),
    "channel-energies": (
        """
energies (float[1, 40, 50] x) => (float[1, 40, 50] y)
<int64[3] dims = {40, 1, 9}, float least = {1e-6}, float power = {0.98}, float bias = {2},
 float root = {0.5}, float taken = {1.4142}>
{
  k = ConstantOfShape (dims)
  smooth = Conv <group = 40, pads = [8, 0]> (x, k)
  [above] above = Add (smooth, least)
  [gain] gain = Pow (above, power)
  [ratio] ratio = Div (x, gain)
  [moved] moved = Add (ratio, bias)
  [raised] raised = Pow (moved, root)
  [y] y = Sub (raised, taken)
}
""",
        "Per-channel energy normalization",
    ),
    "cosine-embedding": (
        """
quantiles (float[2, 8, 1] share) => (float[2, 8, 6] y)
<float[6] multiples = {1, 2, 3, 4, 5, 6}, float pi = {3.1415927}>
{
  turns = Mul (share, multiples)
  angles = Mul (turns, pi)
  y = Cos (angles)
}
""",
        "Cosine embedding, 6 cosines",
    ),
    "text-pooling": (
        """
lengths (float[2, 16, 20] x) => (float[2, 12] y)
<int64[3] of_3 = {4, 16, 3}, int64[3] of_4 = {4, 16, 4}, int64[3] of_5 = {4, 16, 5},
 int64[1] places = {2}>
{
  k3 = ConstantOfShape (of_3)  k4 = ConstantOfShape (of_4)  k5 = ConstantOfShape (of_5)
  c3 = Conv (x, k3)  a3 = Relu (c3)  m3 = ReduceMax <keepdims = 0> (a3, places)
  c4 = Conv (x, k4)  a4 = Relu (c4)  m4 = ReduceMax <keepdims = 0> (a4, places)
  c5 = Conv (x, k5)  a5 = Relu (c5)  m5 = ReduceMax <keepdims = 0> (a5, places)
  y = Concat <axis = 1> (m3, m4, m5)
}
""",
        "Convolutions with max-over-time pooling, kernels 3, 4, 5",
    ),
    "pair-relations": (
        """
relations (float[1, 6, 8] x) => (float[1, 1, 4] y)
<int64[1] first = {1}, int64[1] second = {2}, int64[4] down = {1, 6, 1, 1},
 int64[4] right = {1, 1, 6, 1}, int64[3] flat = {1, 36, 16}, int64[2] up = {16, 12},
 int64[2] out = {12, 4}>
{
  w1 = ConstantOfShape (up)  w2 = ConstantOfShape (out)
  row = Unsqueeze (x, first)    rows = Tile (row, down)
  column = Unsqueeze (x, second)  columns = Tile (column, right)
  pairs = Concat <axis = 3> (rows, columns)
  each = Reshape (pairs, flat)
  hidden = MatMul (each, w1)  bent = Relu (hidden)  told = MatMul (bent, w2)
  y = ReduceSum <keepdims = 1> (told, first)
}
""",
        "Relation network 16 → 12 → 4",
    ),
    "backcast": (
        """
block (float[2, 24] x) => (float[2, 24] y, float[2, 8] forecast)
<int64[2] up = {24, 16}, int64[2] square = {16, 16}, int64[2] back = {16, 24},
 int64[2] ahead = {16, 8}>
{
  w1 = ConstantOfShape (up)  w2 = ConstantOfShape (square)  w3 = ConstantOfShape (back)
  w4 = ConstantOfShape (ahead)
  one = MatMul (x, w1)  a = Relu (one)  two = MatMul (a, w2)  h = Relu (two)
  backcast = MatMul (h, w3)
  forecast = MatMul (h, w4)
  y = Sub (x, backcast)
}
""",
        "Backcast and forecast block, 2 layers of 16",
    ),
    "half-interaction": (
        """
halves (float[1, 8, 16] x) => (float[1, 8, 8] even, float[1, 8, 8] odd)
<int64[3] dims = {8, 8, 3}, int64[1] b0 = {0}, int64[1] b1 = {1}, int64[1] end = {16},
 int64[1] axis = {2}, int64[1] two = {2}>
{
  k1 = ConstantOfShape (dims)  k2 = ConstantOfShape (dims)  k3 = ConstantOfShape (dims)
  k4 = ConstantOfShape (dims)
  e = Slice (x, b0, end, axis, two)  o = Slice (x, b1, end, axis, two)
  c1 = Conv <pads = [1, 1]> (e, k1)  t1 = Tanh (c1)  s1 = Exp (t1)  d = Mul (o, s1)
  c2 = Conv <pads = [1, 1]> (o, k2)  t2 = Tanh (c2)  s2 = Exp (t2)  c = Mul (e, s2)
  c3 = Conv <pads = [1, 1]> (d, k3)  t3 = Tanh (c3)  even = Add (c, t3)
  c4 = Conv <pads = [1, 1]> (c, k4)  t4 = Tanh (c4)  odd = Sub (d, t4)
}
""",
        "Interaction of even and odd places",
    ),
    "random-features": (
        """
features (float[1, 9, 8] q, float[1, 9, 8] k, float[1, 9, 6] v) => (float[1, 9, 6] y)
<int64[2] dims = {8, 24}, float two = {2}, float least = {1e-4}, int64[1] last = {2},
 int64[1] tokens = {1}>
{
  w = ConstantOfShape (dims)
  q1 = MatMul (q, w)  q2 = Pow (q, two)  q3 = ReduceSum (q2, last)  q4 = Div (q3, two)
  q5 = Sub (q1, q4)   q6 = Exp (q5)      asked = Add (q6, least)
  k1 = MatMul (k, w)  k2 = Pow (k, two)  k3 = ReduceSum (k2, last)  k4 = Div (k3, two)
  k5 = Sub (k1, k4)   k6 = Exp (k5)      keys = Add (k6, least)
  turned = Transpose <perm = [0, 2, 1]> (keys)
  context = MatMul (turned, v)
  mixed = MatMul (asked, context)
  total = ReduceSum (keys, tokens)
  column = Transpose <perm = [0, 2, 1]> (total)
  sums = MatMul (asked, column)
  y = Div (mixed, sums)
}
""",
        "Linear attention, 24 random features",
    ),
    "box-decoding": (
        """
boxes (float[1, 3, 8, 8, 25] x) => (float[1, 3, 8, 8, 25] y)
<int64[4] parts = {1, 1, 2, 21}, float[1, 1, 1, 8, 1] columns = {0, 1, 2, 3, 4, 5, 6, 7},
 float[1, 1, 8, 1, 1] rows = {0, 1, 2, 3, 4, 5, 6, 7}, float stride = {16},
 float[1, 3, 1, 1, 2] anchors = {10, 13, 16, 30, 33, 23}>
{
  tx, ty, size, rest = Split <axis = 4> (x, parts)
  sx = Sigmoid (tx)  gx = Add (sx, columns)  cx = Mul (gx, stride)
  sy = Sigmoid (ty)  gy = Add (sy, rows)  cy = Mul (gy, stride)
  grown = Exp (size)
  wide = Mul (grown, anchors)
  scores = Sigmoid (rest)
  y = Concat <axis = 4> (cx, cy, wide, scores)
}
""",
        "Box decoding, 3 anchors",
    ),
}
