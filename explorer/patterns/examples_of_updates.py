"""Examples of ideas of papers that put several values together, by the id of their pattern."""

from __future__ import annotations

#: the model without a header, and what its graph is told to be
EXAMPLES_OF_UPDATES: dict[str, tuple[str, str]] = {
    "gumbel-softmax": (
        """
choice (float[2, 8] logits, float[2, 8] uniform) => (float[2, 8] y)
<float temperature = {0.5}>
{
  rate = Log (uniform)
  positive = Neg (rate)
  extreme = Log (positive)
  noise = Neg (extreme)
  drawn = Add (logits, noise)
  sharp = Div (drawn, temperature)
  y = Softmax <axis = -1> (sharp)
}
""",
        "Gumbel-softmax",
    ),
    "residual-quantizer": (
        """
quantizers (float[2, 16, 8] x) => (float[2, 16, 8] y)
<int64[2] dims = {256, 8}, int64[2] turned = {8, 256}, int64[1] count = {256}, float two = {2}>
{
  codes = ConstantOfShape (dims)    columns = ConstantOfShape (turned)
  squares = ConstantOfShape (count)
  p1 = MatMul (x, columns)  t1 = Mul (p1, two)  d1 = Sub (squares, t1)
  n1 = ArgMin <axis = -1, keepdims = 0> (d1)  q1 = Gather (codes, n1)
  rest = Sub (x, q1)
  p2 = MatMul (rest, columns)  t2 = Mul (p2, two)  d2 = Sub (squares, t2)
  n2 = ArgMin <axis = -1, keepdims = 0> (d2)  q2 = Gather (codes, n2)
  y = Add (q1, q2)
}
""",
        "Residual vector quantizer, 2 levels, 256 codes × 8",
    ),
    "distances": (
        """
neighbours (float[1, 64, 3] x) => (float[1, 64, 8] distances, int64[1, 64, 8] y)
<float two = {2}, float minus = {-2}, int64[1] last = {-1}, int64[1] count = {8}>
{
  turned = Transpose <perm = [0, 2, 1]> (x)
  twice = Mul (x, minus)
  products = MatMul (twice, turned)
  squares = Pow (x, two)
  lengths = ReduceSum (squares, last)
  below = Neg (lengths)
  half = Sub (below, products)
  others = Transpose <perm = [0, 2, 1]> (lengths)
  near = Sub (half, others)
  distances, y = TopK (near, count)
}
""",
        "Nearest neighbours, 8 of each",
    ),
    "factorization-machine": (
        """
pairs (float[2, 10, 16] features) => (float[2, 1] y)
<int64[1] over = {1}, float two = {2}, float half = {0.5}>
{
  total = ReduceSum <keepdims = 0> (features, over)
  first = Pow (total, two)
  squares = Pow (features, two)
  second = ReduceSum <keepdims = 0> (squares, over)
  rest = Sub (first, second)
  together = ReduceSum (rest, over)
  y = Mul (together, half)
}
""",
        "Factorization machine",
    ),
    "cross-network": (
        """
crossing (float[2, 80] x) => (float[2, 80] y)
<int64[2] dims = {80, 1}, int64[1] width = {80}>
{
  w1 = ConstantOfShape (dims)  b1 = ConstantOfShape (width)
  w2 = ConstantOfShape (dims)  b2 = ConstantOfShape (width)
  s1 = MatMul (x, w1)  p1 = Mul (x, s1)  t1 = Add (p1, b1)  x1 = Add (t1, x)
  s2 = MatMul (x1, w2)  p2 = Mul (x, s2)  t2 = Add (p2, b2)  y = Add (t2, x1)
}
""",
        "Cross network, 2 layers",
    ),
    "pyramid-pooling": (
        """
pyramid (float[1, 8, 32, 32] x) => (float[1, 4, 32, 32] y)
<int64[4] dims = {4, 8, 1, 1}, int64[4] all = {4, 16, 3, 3}, float[4] by4 = {1, 1, 4, 4},
 float[4] by8 = {1, 1, 8, 8}>
{
  w = ConstantOfShape (dims)  j = ConstantOfShape (all)
  p1 = AveragePool <kernel_shape = [4, 4], strides = [4, 4]> (x)
  c1 = Conv (p1, w)  r1 = Resize (c1, , by4)
  p2 = AveragePool <kernel_shape = [8, 8], strides = [8, 8]> (x)
  c2 = Conv (p2, w)  r2 = Resize (c2, , by8)
  joined = Concat <axis = 1> (x, r1, r2)
  y = Conv <pads = [1, 1, 1, 1]> (joined, j)
}
""",
        "Pyramid pooling, 2 scales",
    ),
    "soft-routing": (
        """
routing (float[4, 8] x) => (float[4, 8] y)
<int64[2] square = {8, 8}, int64[2] dims = {8, 2}, int64[3] apart = {4, 1, 8},
 int64[3] shares = {4, 2, 1}, int64[1] over = {1}>
{
  w1 = ConstantOfShape (square)  w2 = ConstantOfShape (square)  wg = ConstantOfShape (dims)
  one = MatMul (x, w1)  a = Reshape (one, apart)
  two = MatMul (x, w2)  b = Reshape (two, apart)
  [join] both = Concat <axis = 1> (a, b)
  [gate] logits = MatMul (x, wg)
  [soft] chances = Softmax <axis = -1> (logits)
  [view] each = Reshape (chances, shares)
  [mul] weighted = Mul (each, both)
  [sum] y = ReduceSum <keepdims = 0> (weighted, over)
}
""",
        "Routing, 2 experts, weighted sum",
    ),
    "affine-coupling": (
        """
coupling (float[4, 8] x) => (float[4, 8] y)
<int64[2] first = {4, 64}, int64[2] second = {64, 8}>
{
  w1 = ConstantOfShape (first)  w2 = ConstantOfShape (second)
  a, b = Split <axis = 1, num_outputs = 2> (x)
  hidden = MatMul (a, w1)  positive = Relu (hidden)  made = MatMul (positive, w2)
  scale, shift = Split <axis = 1, num_outputs = 2> (made)
  bound = Tanh (scale)
  factor = Exp (bound)
  scaled = Mul (b, factor)
  moved = Add (scaled, shift)
  y = Concat <axis = 1> (a, moved)
}
""",
        "Affine coupling 4 → 64 → 8",
    ),
    "dueling-heads": (
        """
duel (float[2, 64] x) => (float[2, 6] y)
<int64[2] one = {64, 1}, int64[2] six = {64, 6}, int64[1] over = {1}>
{
  wv = ConstantOfShape (one)  wa = ConstantOfShape (six)
  value = MatMul (x, wv)
  advantage = MatMul (x, wa)
  sum = Add (value, advantage)
  mean = ReduceMean (advantage, over)
  y = Sub (sum, mean)
}
""",
        "Dueling heads, value + advantage − mean",
    ),
    "expected-value": (
        """
expected (float[2, 6, 5] scores) => (float[2, 6] y)
<float[5] returns = {-2, -1, 0, 1, 2}, int64[1] last = {2}>
{
  shares = Softmax <axis = 2> (scores)
  weighted = Mul (shares, returns)
  y = ReduceSum <keepdims = 0> (weighted, last)
}
""",
        "Expected value, of 5 numbers −2 … 2",
    ),
    "statistics": (
        """
pooling (float[2, 64, 100] x) => (float[2, 128] y)
<int64[1] last = {2}, float least = {0.00001}>
{
  mean = ReduceMean <keepdims = 0> (x, last)
  means = ReduceMean (x, last)
  apart = Sub (x, means)
  squares = Mul (apart, apart)
  variance = ReduceMean <keepdims = 0> (squares, last)
  some = Clip (variance, least)
  deviation = Sqrt (some)
  y = Concat <axis = 1> (mean, deviation)
}
""",
        "Statistics pooling, mean and deviation",
    ),
    "rearrangement": (
        """
blocks (float[8, 16] x) => (float[4, 16, 4] y)
<int64[1] none = {0}, int64[1] four = {4}, int64[1] eight = {8}, int64[3] cut = {8, 4, 4}>
{
  parts = Reshape (x, cut)
  early = Slice (parts, none, four, none)
  late = Slice (parts, four, eight, none)
  y = Concat <axis = 1> (late, early, late, early)
}
""",
        "Rearrangement 8 × 16 → 4 × 16 × 4",
    ),
    "selection": (
        """
boxes (float[100, 4] places, float[100] scores) => (float[8, 4] y)
<int64[1] count = {8}, float half = {0.5}>
{
  sharp = Sub (scores, half)
  doubled = Add (sharp, sharp)
  best, which = TopK <axis = 0> (doubled, count)
  y = Gather (places, which)
}
""",
        "Selection, 8 largest",
    ),
    "formula": (
        """
squashed (float[2, 6] mean, float[2, 6] log_deviation, float[2, 6] noise) => (float[2, 6] y)
{
  deviation = Exp (log_deviation)
  shift = Mul (deviation, noise)
  drawn = Add (mean, shift)
  y = Tanh (drawn)
}
""",
        "Formula, tanh(x + exp(y) · z)",
    ),
    "masked-coupling": (
        """
coupling (float[4, 2] x) => (float[4, 2] y)
<int64[2] up = {2, 8}, int64[2] down = {8, 2}, float[2] mask = {1, 0}, float[2] rest = {0, 1}>
{
  w1 = ConstantOfShape (up)   w2 = ConstantOfShape (down)
  w3 = ConstantOfShape (up)   w4 = ConstantOfShape (down)
  kept = Mul (x, mask)
  h1 = MatMul (kept, w1)  a1 = Relu (h1)  s = MatMul (a1, w2)  scale = Exp (s)
  h2 = MatMul (kept, w3)  a2 = Relu (h2)  t = MatMul (a2, w4)
  scaled = Mul (x, scale)
  shifted = Add (scaled, t)
  moved = Mul (shifted, rest)
  y = Add (kept, moved)
}
""",
        "Masked coupling",
    ),
    "random-masking": (
        """
masking (float[1, 64, 32] tokens, float[1, 64] noise) => (float[1, 16, 32] y)
<int64[1] all = {64}, int64[1] none = {0}, int64[1] some = {16}, int64[1] second = {1},
 int64[1] last = {2}, int64[3] dims = {1, 16, 32}>
{
  sorted, order = TopK <largest = 0> (noise, all)
  kept = Slice (order, none, some, second)
  deep = Unsqueeze (kept, last)
  wide = Expand (deep, dims)
  y = GatherElements <axis = 1> (tokens, wide)
}
""",
        "Random masking",
    ),
    "standardization": (
        """
series (float[2, 96, 7] x) => (float[2, 96, 7] y, float[2, 1, 7] mean)
<int64[1] time = {1}, float two = {2}, float count = {96}>
{
  sum = ReduceSum (x, time)
  mean = Div (sum, count)
  apart = Sub (x, mean)
  squares = Pow (apart, two)
  total = ReduceSum (squares, time)
  variance = Div (total, count)
  deviation = Sqrt (variance)
  y = Div (apart, deviation)
}
""",
        "Standardization",
    ),
    "splines": (
        """
basis (float[4, 8] x) => (float[4, 8, 2] y)
<int64[1] last = {2}, int64[1] none = {0}, int64[1] one = {1}, int64[1] two = {2},
 int64[1] three = {3}, float[3] from = {0, 1, 2}, float[3] to = {1, 2, 3},
 float[2] start = {0, 1}, float[2] end = {2, 3}, float[2] length = {1, 1}>
{
  w = Unsqueeze (x, last)
  above = GreaterOrEqual (w, from)  below = Less (w, to)
  inside = And (above, below)  b = Cast <to = 1> (inside)
  r1 = Sub (w, start)  f1 = Div (r1, length)  b1 = Slice (b, none, two, last)  p1 = Mul (f1, b1)
  r2 = Sub (end, w)  f2 = Div (r2, length)  b2 = Slice (b, one, three, last)  p2 = Mul (f2, b2)
  y = Add (p1, p2)
}
""",
        "Splines, degree 1, 2 of each number",
    ),
    "softmax": (
        """
shares (float[4, 10] x) => (float[4, 10] y)
<int64[1] last = {1}, float least = {-1e30}>
{
  largest = ReduceMax (x, last)
  some = Max (largest, least)
  below = Sub (x, some)
  exponential = Exp (below)
  total = ReduceSum (exponential, last)
  y = Div (exponential, total)
}
""",
        "Softmax",
    ),
    "local-maxima": (
        """
peaks (float[1, 8, 32, 32] x) => (float[1, 8, 32, 32] y)
{
  largest = MaxPool <kernel_shape = [3, 3], pads = [1, 1, 1, 1], strides = [1, 1]> (x)
  same = Equal (x, largest)
  kept = Cast <to = 1> (same)
  y = Mul (x, kept)
}
""",
        "Local maxima, 3×3",
    ),
    "length-regulator": (
        """
alignment (float[1, 12] durations, int64 frames) => (float[1, 12, t] y)
<int64 none = {0}, int64 one = {1}, int64[1] first = {0}, int64[1] last = {2},
 int64[1] but = {-1}, int64[1] axis = {1}, int64[6] pads = {0, 1, 0, 0, 0, 0}>
{
  ends = CumSum (durations, one)
  wide = Unsqueeze (ends, last)
  places = Range (none, frames, one)
  numbers = Cast <to = 1> (places)
  before = Less (numbers, wide)
  mask = Cast <to = 1> (before)
  moved = Pad (mask, pads)
  shifted = Slice (moved, first, but, axis)
  y = Sub (mask, shifted)
}
""",
        "Length regulator",
    ),
}
