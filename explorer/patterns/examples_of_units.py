"""Examples of ideas that tell residual blocks from one another, by the id of their pattern."""

from __future__ import annotations

#: the model without a header, and what its graph is told to be
EXAMPLES_OF_UNITS: dict[str, tuple[str, str]] = {
    "branched-convolution": (
        """
branches (float[1, 8, 16, 16] x) => (float[1, 8, 16, 16] y)
<int64[4] large = {8, 8, 3, 3}, int64[4] small = {8, 8, 1, 1}, int64[1] width = {8}>
{
  w1 = ConstantOfShape (large)  w2 = ConstantOfShape (small)
  scale = ConstantOfShape (width)  shift = ConstantOfShape (width)
  mean = ConstantOfShape (width)   variance = ConstantOfShape (width)
  a = Conv <pads = [1, 1, 1, 1]> (x, w1)
  b = Conv (x, w2)
  c = BatchNormalization (x, scale, shift, mean, variance)
  some = Add (a, b)
  all = Add (some, c)
  y = Relu (all)
}
""",
        "Multi-branch conv · ReLU, 3×3 + 1×1 + identity, 8 → 8",
    ),
    "computed-kernel": (
        """
dynamic (float[1, 8, 16, 16] x) => (float[1, 8, 16, 16] y)
<int64[4] down = {4, 8, 1, 1}, int64[2] bank = {4, 576}, int64[4] kernel = {8, 8, 3, 3},
 int64[2] flat = {1, 4}>
{
  w1 = ConstantOfShape (down)  stored = ConstantOfShape (bank)
  mean = GlobalAveragePool (x)
  logits = Conv (mean, w1)
  row = Reshape (logits, flat)
  shares = Softmax (row)
  mixed = MatMul (shares, stored)
  w = Reshape (mixed, kernel)
  y = Conv <pads = [1, 1, 1, 1], kernel_shape = [3, 3]> (x, w)
}
""",
        "Dynamic convolution, 4 kernels, 3×3",
    ),
    "local-filter": (
        """
involution (float[1, 8, 16, 16] x) => (float[1, 8, 16, 16] y)
<int64[4] down = {2, 8, 1, 1}, int64[4] span = {9, 2, 1, 1}, int64[8] border =
 {0, 0, 1, 1, 0, 0, 1, 1}, int64[2] places = {3, 16}, int64[5] cut = {1, 8, 9, 16, 16},
 int64[5] one = {1, 1, 9, 16, 16}, int64[1] axis = {2}>
{
  w1 = ConstantOfShape (down)  w2 = ConstantOfShape (span)
  index = ConstantOfShape <value = int64[1] {0}> (places)
  squeezed = Conv (x, w1)  bent = Relu (squeezed)  spanned = Conv (bent, w2)
  weights = Reshape (spanned, one)
  padded = Pad (x, border)
  rows = Gather <axis = 2> (padded, index)
  columns = Gather <axis = 4> (rows, index)
  turned = Transpose <perm = [0, 1, 2, 4, 3, 5]> (columns)
  neighbours = Reshape (turned, cut)
  product = Mul (weights, neighbours)
  y = ReduceSum <keepdims = 0> (product, axis)
}
""",
        "Involution, 3×3",
    ),
    "place-attention": (
        """
coordinates (float[1, 8, 16, 16] x) => (float[1, 8, 16, 16] y)
<int64[4] down = {4, 8, 1, 1}, int64[4] up = {8, 4, 1, 1}, int64[1] rows = {2},
 int64[1] columns = {3}, int64[2] halves = {16, 16}>
{
  w1 = ConstantOfShape (down)  w2 = ConstantOfShape (up)  w3 = ConstantOfShape (up)
  of_rows = ReduceMean (x, columns)
  of_columns = ReduceMean (x, rows)
  turned = Transpose <perm = [0, 1, 3, 2]> (of_columns)
  joined = Concat <axis = 2> (of_rows, turned)
  squeezed = Conv (joined, w1)  bent = Relu (squeezed)
  a, b = Split <axis = 2> (bent, halves)
  back = Transpose <perm = [0, 1, 3, 2]> (b)
  first = Conv (a, w2)  high = Sigmoid (first)
  second = Conv (back, w3)  wide = Sigmoid (second)
  once = Mul (x, high)
  y = Mul (once, wide)
}
""",
        "Coordinate attention",
    ),
    "branch-attention": (
        """
selective (float[1, 8, 16, 16] x) => (float[1, 8, 16, 16] y)
<int64[4] dims = {8, 8, 3, 3}, int64[4] down = {4, 8, 1, 1}, int64[4] up = {16, 4, 1, 1},
 int64[5] parts = {1, 2, 8, 1, 1}, int64[1] branch = {1}>
{
  k1 = ConstantOfShape (dims)  k2 = ConstantOfShape (dims)
  w1 = ConstantOfShape (down)  w2 = ConstantOfShape (up)
  near = Conv <pads = [1, 1, 1, 1]> (x, k1)
  far = Conv <pads = [2, 2, 2, 2], dilations = [2, 2]> (x, k2)
  one = Unsqueeze (near, branch)  two = Unsqueeze (far, branch)
  [both] both = Concat <axis = 1> (one, two)
  [total] total = ReduceSum <keepdims = 0> (both, branch)
  [mean] mean = GlobalAveragePool (total)
  [squeezed] squeezed = Conv (mean, w1)  [bent] bent = Relu (squeezed)
  [logits] logits = Conv (bent, w2)
  [shaped] shaped = Reshape (logits, parts)
  [shares] shares = Softmax <axis = 1> (shaped)
  [weighted] weighted = Mul (both, shares)
  [y] y = ReduceSum <keepdims = 0> (weighted, branch)
}
""",
        "Selective kernel attention, 2 branches",
    ),
    "convolutional-attention": (
        """
large (float[1, 8, 16, 16] x) => (float[1, 8, 16, 16] y)
<int64[4] near = {8, 1, 5, 5}, int64[4] far = {8, 1, 7, 7}, int64[4] point = {8, 8, 1, 1}>
{
  k1 = ConstantOfShape (near)  k2 = ConstantOfShape (far)  p = ConstantOfShape (point)
  a = Conv <pads = [2, 2, 2, 2], group = 8> (x, k1)
  b = Conv <pads = [9, 9, 9, 9], group = 8, dilations = [3, 3]> (a, k2)
  c = Conv (b, p)
  y = Mul (x, c)
}
""",
        "Large kernel attention, 5×5, 7×7 dilation 3",
    ),
    "gated-convolution": (
        """
recursive (float[1, 8, 16, 16] x) => (float[1, 8, 16, 16] y)
<int64[4] wide = {16, 8, 1, 1}, int64[4] deep = {12, 1, 7, 7}, int64[4] point = {8, 4, 1, 1},
 int64[2] first = {4, 12}, int64[2] parts = {4, 8}>
{
  w1 = ConstantOfShape (wide)  k = ConstantOfShape (deep)  w2 = ConstantOfShape (point)
  both = Conv (x, w1)
  p, rest = Split <axis = 1> (both, first)
  spread = Conv <pads = [3, 3, 3, 3], group = 12> (rest, k)
  g1, g2 = Split <axis = 1> (spread, parts)
  once = Mul (p, g1)
  projected = Conv (once, w2)
  y = Mul (projected, g2)
}
""",
        "Recursive gated convolution, order 2",
    ),
    "focal-modulation": (
        """
focal (float[1, 8, 16, 16] x) => (float[1, 8, 16, 16] y)
<int64[4] wide = {18, 8, 1, 1}, int64[4] near = {8, 1, 3, 3}, int64[4] far = {8, 1, 5, 5},
 int64[4] square = {8, 8, 1, 1}, int64[4] parts = {8, 8, 1, 1}>
{
  w1 = ConstantOfShape (wide)  k1 = ConstantOfShape (near)  k2 = ConstantOfShape (far)
  w2 = ConstantOfShape (square)
  all = Conv (x, w1)
  [query] query, context, gate1, gate2 = Split <axis = 1> (all, parts)
  [c1] c1 = Conv <pads = [1, 1, 1, 1], group = 8> (context, k1)  [a1] a1 = Gelu (c1)
  [c2] c2 = Conv <pads = [2, 2, 2, 2], group = 8> (a1, k2)  [a2] a2 = Gelu (c2)
  [g1] g1 = Mul (a1, gate1)
  [g2] g2 = Mul (a2, gate2)
  [total] total = Add (g1, g2)
  [modulator] modulator = Conv (total, w2)
  [y] y = Mul (query, modulator)
}
""",
        "Focal modulation, 2 levels",
    ),
    "modulation": (
        """
modulated (float[1, 8, 16, 16] x, float[1, 6] z) => (float[1, 8, 16, 16] y)
<int64[2] gamma = {6, 8}, int64[2] beta = {6, 8}, int64[4] dims = {1, 8, 1, 1},
 int64[4] kernel = {8, 8, 3, 3}>
{
  w1 = ConstantOfShape (gamma)  w2 = ConstantOfShape (beta)  k = ConstantOfShape (kernel)
  u = Conv <pads = [1, 1, 1, 1]> (x, k)
  [s] s = MatMul (z, w1)  [t] t = MatMul (z, w2)
  [scale] scale = Reshape (s, dims)  [shift] shift = Reshape (t, dims)
  [scaled] scaled = Mul (u, scale)
  [y] y = Add (scaled, shift)
}
""",
        "Feature-wise modulation",
    ),
    "snake": (
        """
snake (float[1, 8, 32] x) => (float[1, 8, 32] y)
<int64[3] dims = {1, 8, 1}, float two = {2}>
{
  a = ConstantOfShape (dims)  over = ConstantOfShape (dims)
  angle = Mul (a, x)
  wave = Sin (angle)
  square = Pow (wave, two)
  scaled = Mul (over, square)
  y = Add (x, scaled)
}
""",
        "Snake",
    ),
    "response-norm": (
        """
response (float[1, 16, 16, 8] x) => (float[1, 16, 16, 8] y)
<int64[1] dims = {8}, int64[2] places = {1, 2}, int64[1] features = {-1}, float least = {1e-6}>
{
  gamma = ConstantOfShape (dims)  beta = ConstantOfShape (dims)
  length = ReduceL2 (x, places)
  mean = ReduceMean (length, features)
  safe = Add (mean, least)
  ratio = Div (length, safe)
  normal = Mul (x, ratio)
  scaled = Mul (gamma, normal)
  shifted = Add (scaled, beta)
  y = Add (shifted, x)
}
""",
        "Global response norm",
    ),
    "ghost-module": (
        """
ghost (float[1, 8, 16, 16] x) => (float[1, 16, 16, 16] y)
<int64[4] point = {8, 8, 1, 1}, int64[4] deep = {8, 1, 3, 3}>
{
  w = ConstantOfShape (point)  k = ConstantOfShape (deep)
  first = Conv (x, w)  own = Relu (first)
  cheap = Conv <pads = [1, 1, 1, 1], group = 8> (own, k)  more = Relu (cheap)
  y = Concat <axis = 1> (own, more)
}
""",
        "Ghost module 8 → 16",
    ),
    "partial-convolution": (
        """
partial (float[1, 16, 16, 16] x) => (float[1, 16, 16, 16] y)
<int64[4] dims = {4, 4, 3, 3}, int64[2] parts = {4, 12}>
{
  k = ConstantOfShape (dims)
  some, others = Split <axis = 1> (x, parts)
  convolved = Conv <pads = [1, 1, 1, 1]> (some, k)
  y = Concat <axis = 1> (convolved, others)
}
""",
        "Partial convolution, 3×3, 4 channels",
    ),
    "scalar-quantizer": (
        """
finite (float[1, 4, 8, 8] x) => (float[1, 4, 8, 8] y)
<float[1, 4, 1, 1] half = {3.5, 2, 2, 2}, float[1, 4, 1, 1] width = {4, 2, 2, 2}>
{
  bounded = Tanh (x)
  scaled = Mul (bounded, half)
  codes = Round (scaled)
  y = Div (codes, width)
}
""",
        "Finite scalar quantizer, levels 8, 5, 5, 5",
    ),
    "global-context": (
        """
context (float[1, 8, 16, 16] x) => (float[1, 8, 16, 16] y)
<int64[4] one = {1, 8, 1, 1}, int64[4] down = {4, 8, 1, 1}, int64[4] up = {8, 4, 1, 1},
 int64[3] row = {1, 256, 1}, int64[3] rows = {1, 8, 256}, int64[4] point = {1, 8, 1, 1}>
{
  w0 = ConstantOfShape (one)  w1 = ConstantOfShape (down)  w2 = ConstantOfShape (up)
  scores = Conv (x, w0)
  column = Reshape (scores, row)
  shares = Softmax <axis = 1> (column)
  maps = Reshape (x, rows)
  mean = MatMul (maps, shares)
  shaped = Reshape (mean, point)
  squeezed = Conv (shaped, w1)  bent = Relu (squeezed)  told = Conv (bent, w2)
  y = Add (x, told)
}
""",
        "Global context",
    ),
    "style-norm": (
        """
style (float[1, 8, 16, 16] x, float[1, 8, 16, 16] z) => (float[1, 8, 16, 16] y)
<int64[2] places = {2, 3}, float two = {2}, float least = {1e-5}>
{
  m1 = ReduceMean (x, places)  c1 = Sub (x, m1)  q1 = Pow (c1, two)
  v1 = ReduceMean (q1, places)  e1 = Add (v1, least)  d1 = Sqrt (e1)
  m2 = ReduceMean (z, places)  c2 = Sub (z, m2)  q2 = Pow (c2, two)
  v2 = ReduceMean (q2, places)  e2 = Add (v2, least)  d2 = Sqrt (e2)
  normal = Div (c1, d1)
  scaled = Mul (normal, d2)
  y = Add (scaled, m2)
}
""",
        "Adaptive InstanceNorm",
    ),
}
