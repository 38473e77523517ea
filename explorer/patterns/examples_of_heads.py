"""Examples of patterns of labels, trees, flows, states and gated layers, by their id."""

from __future__ import annotations

#: the model without a header, and what its graph is told to be
EXAMPLES_OF_HEADS: dict[str, tuple[str, str]] = {
    "stored-basis": (
        """
forecast (float[4, 3] theta) => (float[4, 8] y)
<float[3, 8] powers = {1, 1, 1, 1, 1, 1, 1, 1,
  0, 0.125, 0.25, 0.375, 0.5, 0.625, 0.75, 0.875,
  0, 0.015625, 0.0625, 0.140625, 0.25, 0.390625, 0.5625, 0.765625}>
{
  y = MatMul (theta, powers)
}
""",
        "Polynomial basis 3 → 8",
    ),
    "masked-mlp": (
        """
made (float[4, 3] x) => (float[4, 6] y)
<float[3, 4] before = {1, 1, 1, 1, 0, 0, 1, 1, 0, 0, 0, 0}, int64[2] up = {3, 4},
 float[4, 6] behind = {0, 1, 1, 0, 1, 1, 0, 1, 1, 0, 1, 1, 0, 0, 1, 0, 0, 1, 0, 0, 1, 0, 0, 1},
 int64[2] down = {4, 6}>
{
  w1 = ConstantOfShape (up)    w2 = ConstantOfShape (down)
  masked = Mul (w1, before)    other = Mul (w2, behind)
  hidden = MatMul (x, masked)
  active = Relu (hidden)
  y = MatMul (active, other)
}
""",
        "Autoregressive MLP 3 → 4 → 6, ReLU",
    ),
    "autoregressive-step": (
        """
step (float[4, 3] x) => (float[4, 3] y)
<float[3, 4] before = {1, 1, 1, 1, 0, 0, 1, 1, 0, 0, 0, 0}, int64[2] up = {3, 4},
 float[4, 6] behind = {0, 1, 1, 0, 1, 1, 0, 1, 1, 0, 1, 1, 0, 0, 1, 0, 0, 1, 0, 0, 1, 0, 0, 1},
 int64[2] down = {4, 6}>
{
  w1 = ConstantOfShape (up)    w2 = ConstantOfShape (down)
  masked = Mul (w1, before)    other = Mul (w2, behind)
  hidden = MatMul (x, masked)
  active = Relu (hidden)
  made = MatMul (active, other)
  mean, logarithm = Split <axis = 1, num_outputs = 2> (made)
  apart = Sub (x, mean)
  negative = Neg (logarithm)
  factor = Exp (negative)
  y = Mul (apart, factor)
}
""",
        "Autoregressive flow step 3 → 4 → 6",
    ),
    "label-chain": (
        """
viterbi (float[2, 5] e0, float[2, 5] e1, float[2, 5] e2) => (float[2, 5] y)
<int64[2] dims = {5, 5}, int64[1] two = {2}, int64[1] one = {1}>
{
  t = ConstantOfShape (dims)
  u0 = Unsqueeze (e0, two)
  s1 = Add (u0, t)
  b1 = ReduceMax <keepdims = 0> (s1, one)
  a1 = Add (b1, e1)
  u1 = Unsqueeze (a1, two)
  s2 = Add (u1, t)
  b2 = ReduceMax <keepdims = 0> (s2, one)
  y = Add (b2, e2)
}
""",
        "Viterbi decoding, 5 labels, 2 steps",
    ),
    "biaffine": (
        """
pairs (float[2, 9, 8] x) => (float[2, 9, 9] y)
<int64[2] dims = {8, 6}, int64[2] square = {6, 6}>
{
  w1 = ConstantOfShape (dims)  w2 = ConstantOfShape (dims)  u = ConstantOfShape (square)
  first = MatMul (x, w1)       a = Relu (first)
  second = MatMul (x, w2)      b = Relu (second)
  [weights] weighted = MatMul (a, u)
  [turns] turned = Transpose <perm = [0, 2, 1]> (b)
  [compares] y = MatMul (weighted, turned)
}
""",
        "Biaffine scores 6 → 6",
    ),
    "copying": (
        """
copy (float[2, 50] words, float[2, 12] source, float[2, 1] gate, int64[2, 12] which)
 => (float[2, 50] y)
<float one = {1}>
{
  shares = Softmax (words)
  attention = Softmax (source)
  [makes] made = Mul (gate, shares)
  [shuts] shut = Sub (one, gate)
  [copies] copied = Mul (shut, attention)
  [adds] y = ScatterElements <axis = 1, reduction = "add"> (made, which, copied)
}
""",
        "Copy mechanism",
    ),
    "sparsemax": (
        """
shares (float[4, 8] z) => (float[4, 8] y)
<int64[1] all = {8}, int64 last = {1}, int64[1] axis = {1}, float one = {1},
 float[8] ranks = {1, 2, 3, 4, 5, 6, 7, 8}, int64 first = {1}>
{
  ordered, order = TopK (z, all)
  sums = CumSum (ordered, last)
  less = Sub (sums, one)
  scaled = Mul (ordered, ranks)
  inside = Greater (scaled, less)
  counted = Cast <to = 7> (inside)
  size = ReduceSum (counted, axis)
  place = Sub (size, first)
  sum = GatherElements <axis = 1> (less, place)
  number = Cast <to = 1> (size)
  threshold = Div (sum, number)
  apart = Sub (z, threshold)
  y = Relu (apart)
}
""",
        "Sparsemax",
    ),
    "soft-trees": (
        """
trees (float[4, 6, 2, 4] choices) => (float[4, 6] y)
<int64[1] axis = {2}, int64[2] dims = {6, 4}>
{
  stored = ConstantOfShape (dims)
  reached = ReduceProd <keepdims = 0> (choices, axis)
  y = Einsum <equation = "btl,tl->bt"> (reached, stored)
}
""",
        "Soft decision trees, 6 trees, depth 2",
    ),
    "auto-correlation": (
        """
correlation (float[2, 16, 1] x, float[2, 16, 1] z) => (float[2, 16, 2] y)
<int64 axis = {1}, int64[1] re = {0}, int64[1] im = {1}>
{
  a = DFT (x, , axis)
  b = DFT (z, , axis)
  ar = Gather <axis = 2> (a, re)   ai = Gather <axis = 2> (a, im)
  br = Gather <axis = 2> (b, re)   bi = Gather <axis = 2> (b, im)
  rr = Mul (ar, br)                ii = Mul (ai, bi)
  real = Add (rr, ii)
  ir = Mul (ai, br)                ri = Mul (ar, bi)
  imaginary = Sub (ir, ri)
  both = Concat <axis = 2> (real, imaginary)
  y = DFT <inverse = 1> (both, , axis)
}
""",
        "Correlation, by FFT",
    ),
    "value-iteration": (
        """
plan (float[1, 1, 8, 8] r, float[1, 1, 8, 8] v0) => (float[1, 1, 8, 8] y)
<int64[4] dims = {6, 2, 3, 3}, int64[1] channels = {1}>
{
  w = ConstantOfShape (dims)
  j1 = Concat <axis = 1> (r, v0)
  q1 = Conv <pads = [1, 1, 1, 1]> (j1, w)
  v1 = ReduceMax (q1, channels)
  j2 = Concat <axis = 1> (r, v1)
  q2 = Conv <pads = [1, 1, 1, 1]> (j2, w)
  v2 = ReduceMax (q2, channels)
  j3 = Concat <axis = 1> (r, v2)
  q3 = Conv <pads = [1, 1, 1, 1]> (j3, w)
  y = ReduceMax (q3, channels)
}
""",
        "Value iteration, 3 steps",
    ),
    "highway": (
        """
layer (float[4, 8] x) => (float[4, 8] y)
<int64[2] dims = {8, 8}, float one = {1}>
{
  w1 = ConstantOfShape (dims)  w2 = ConstantOfShape (dims)
  logits = MatMul (x, w1)
  gate = Sigmoid (logits)
  inner = MatMul (x, w2)
  hidden = Relu (inner)
  changed = Mul (hidden, gate)
  shut = Sub (one, gate)
  kept = Mul (x, shut)
  y = Add (changed, kept)
}
""",
        "Highway layer",
    ),
    "linear-recurrence": (
        """
states (float[2, 4, 8] a, float[2, 4, 8] b, float[2, 8] h0) => (float[2, 8] y)
<int64 n0 = {0}, int64 n1 = {1}, int64 n2 = {2}, int64 n3 = {3}>
{
  a0 = Gather <axis = 1> (a, n0)  b0 = Gather <axis = 1> (b, n0)
  m0 = Mul (a0, h0)               h1 = Add (m0, b0)
  a1 = Gather <axis = 1> (a, n1)  b1 = Gather <axis = 1> (b, n1)
  m1 = Mul (a1, h1)               h2 = Add (m1, b1)
  a2 = Gather <axis = 1> (a, n2)  b2 = Gather <axis = 1> (b, n2)
  m2 = Mul (a2, h2)               h3 = Add (m2, b2)
  a3 = Gather <axis = 1> (a, n3)  b3 = Gather <axis = 1> (b, n3)
  m3 = Mul (a3, h3)               y = Add (m3, b3)
}
""",
        "Linear recurrence, 4 steps",
    ),
    "gated-residual-network": (
        """
layer (float[4, 9, 8] x) => (float[4, 9, 8] y)
<int64[2] dims = {8, 8}, int64[2] twice = {8, 16}, int64[1] width = {8}>
{
  w1 = ConstantOfShape (dims)  w2 = ConstantOfShape (dims)  w3 = ConstantOfShape (twice)
  s = ConstantOfShape (width)
  one = MatMul (x, w1)
  active = Elu (one)
  two = MatMul (active, w2)
  both = MatMul (two, w3)
  value, logits = Split <axis = -1, num_outputs = 2> (both)
  gate = Sigmoid (logits)
  gated = Mul (value, gate)
  total = Add (x, gated)
  y = LayerNormalization (total, s)
}
""",
        "Gated residual network",
    ),
    "variable-selection": (
        """
select (float[4, 2, 8] x, float[4, 2, 8] z, float[4, 2, 16] all) => (float[4, 2, 8] y)
<int64[2] d = {8, 8}, int64[2] t = {8, 16}, int64[1] width = {8}, int64[2] n = {16, 2},
 int64[2] f = {2, 4}, int64[2] q = {2, 2}, int64[1] two = {2}, int64[1] last = {3},
 int64[1] row = {2}>
{
  w = ConstantOfShape (d)  v = ConstantOfShape (t)  s = ConstantOfShape (width)
  w0 = ConstantOfShape (n)  v0 = ConstantOfShape (f)
  s0 = ConstantOfShape (two)  q0 = ConstantOfShape (q)
  a1 = MatMul (x, w)    e1 = Elu (a1)    r1 = MatMul (e1, w)
  b1 = MatMul (r1, v)
  c1, g1 = Split <axis = -1, num_outputs = 2> (b1)
  o1 = Sigmoid (g1)     m1 = Mul (c1, o1)     t1 = Add (x, m1)
  y1 = LayerNormalization (t1, s)
  a2 = MatMul (z, w)    e2 = Elu (a2)    r2 = MatMul (e2, w)
  b2 = MatMul (r2, v)
  c2, g2 = Split <axis = -1, num_outputs = 2> (b2)
  o2 = Sigmoid (g2)     m2 = Mul (c2, o2)     t2 = Add (z, m2)
  y2 = LayerNormalization (t2, s)
  skip = MatMul (all, w0)
  a3 = MatMul (all, w0)    e3 = Elu (a3)    r3 = MatMul (e3, q0)
  b3 = MatMul (r3, v0)
  c3, g3 = Split <axis = -1, num_outputs = 2> (b3)
  o3 = Sigmoid (g3)     m3 = Mul (c3, o3)     t3 = Add (skip, m3)
  y3 = LayerNormalization (t3, s0)
  shares = Softmax (y3)  aside = Unsqueeze (shares, row)
  u1 = Unsqueeze (y1, last)  u2 = Unsqueeze (y2, last)
  stack = Concat <axis = 3> (u1, u2)
  weighted = Mul (stack, aside)
  y = ReduceSum <keepdims = 0> (weighted, last)
}
""",
        "Variable selection, 2 variables",
    ),
    "matrix-memory": (
        """
memory (float[2, 4, 9, 8] q, float[2, 4, 8, 9] k, float[2, 4, 9, 8] v, float[2, 4, 9, 9] gates,
        float[2, 4, 9, 1] largest) => (float[2, 4, 9, 8] y)
<int64[1] last = {-1}>
{
  alike = MatMul (q, k)
  apart = Sub (gates, largest)
  decay = Exp (apart)
  scores = Mul (alike, decay)
  total = ReduceSum (scores, last)
  size = Abs (total)
  turned = Neg (largest)
  floor = Exp (turned)
  limit = Max (size, floor)
  shares = Div (scores, limit)
  y = MatMul (shares, v)
}
""",
        "mLSTM",
    ),
    "target-attention": (
        """
interest (float[4, 1, 8] target, float[4, 10, 8] history) => (float[4, 8] y)
<int64[3] dims = {4, 10, 8}, int64[2] up = {24, 6}, int64[2] down = {6, 1}, int64[1] rows = {1}>
{
  w1 = ConstantOfShape (up)  w2 = ConstantOfShape (down)
  each = Expand (target, dims)
  met = Mul (each, history)
  joined = Concat <axis = 2> (each, history, met)
  hidden = MatMul (joined, w1)
  active = Sigmoid (hidden)
  weight = MatMul (active, w2)
  weighted = Mul (weight, history)
  y = ReduceSum <keepdims = 0> (weighted, rows)
}
""",
        "Target attention",
    ),
    "soft-mixture": (
        """
mixture (float[16, 8] x) => (float[16, 8] y)
<int64[2] dims = {8, 4}, int64[2] up = {8, 6}, int64[2] down = {6, 8}, int64[2] halves = {2, 2}>
{
  phi = ConstantOfShape (dims)
  u = ConstantOfShape (up)  d = ConstantOfShape (down)
  logits = MatMul (x, phi)
  columns = Softmax <axis = 0> (logits)
  rows = Softmax <axis = 1> (logits)
  turned = Transpose <perm = [1, 0]> (columns)
  slots = MatMul (turned, x)
  s1, s2 = Split <axis = 0> (slots, halves)
  h1 = MatMul (s1, u)  a1 = Relu (h1)  o1 = MatMul (a1, d)
  h2 = MatMul (s2, u)  a2 = Relu (h2)  o2 = MatMul (a2, d)
  made = Concat <axis = 0> (o1, o2)
  y = MatMul (rows, made)
}
""",
        "Soft mixture of experts, 2 experts",
    ),
    "generated-weights": (
        """
layer (float[4, 5] context, float[4, 1, 3] x) => (float[4, 1, 2] y)
<int64[2] dims = {5, 6}, int64[3] matrix = {4, 3, 2}>
{
  w = ConstantOfShape (dims)
  made = MatMul (context, w)
  weights = Reshape (made, matrix)
  y = MatMul (x, weights)
}
""",
        "Hypernetwork layer 3 → 2",
    ),
    "squashed-draw": (
        """
policy (float[4, 8] state, float[4, 2] noise) => (float[4, 2] y)
<int64[2] dims = {8, 2}, float low = {-20}, float high = {2}>
{
  w1 = ConstantOfShape (dims)  w2 = ConstantOfShape (dims)
  mean = MatMul (state, w1)
  logarithm = MatMul (state, w2)
  [limits] within = Clip (logarithm, low, high)
  [deviates] deviation = Exp (within)
  [draws] drawn = Mul (deviation, noise)
  [adds] total = Add (mean, drawn)
  [squashes] y = Tanh (total)
}
""",
        "Squashed Gaussian, tanh(mean + deviation · noise)",
    ),
    "runge-kutta": (
        """
step (float[4, 8] x) => (float[4, 8] y)
<int64[2] up = {8, 6}, int64[2] down = {6, 8}, float half = {0.05}, float whole = {0.1},
 float two = {2}, float sixth = {0.0167}>
{
  u = ConstantOfShape (up)  d = ConstantOfShape (down)
  h1 = MatMul (x, u)   a1 = Tanh (h1)  k1 = MatMul (a1, d)
  m1 = Mul (k1, half)  x1 = Add (x, m1)
  h2 = MatMul (x1, u)  a2 = Tanh (h2)  k2 = MatMul (a2, d)
  m2 = Mul (k2, half)  x2 = Add (x, m2)
  h3 = MatMul (x2, u)  a3 = Tanh (h3)  k3 = MatMul (a3, d)
  m3 = Mul (k3, whole) x3 = Add (x, m3)
  h4 = MatMul (x3, u)  a4 = Tanh (h4)  k4 = MatMul (a4, d)
  t2 = Mul (k2, two)   t3 = Mul (k3, two)
  s1 = Add (k1, t2)    s2 = Add (s1, t3)  s3 = Add (s2, k4)
  change = Mul (s3, sixth)
  y = Add (x, change)
}
""",
        "Runge-Kutta step 8 → 6 → 8",
    ),
    "point-attention": (
        """
attention (float[9, 4] q, float[4, 9] k, float[9, 4] v, float[9, 1, 3] from, float[1, 9, 3] to,
           float[9, 6] points) => (float[9, 4] y, float[9, 6] moved)
<float two = {2}, int64[1] last = {-1}, float half = {0.5}>
{
  [matches] alike = MatMul (q, k)
  [differs] apart = Sub (from, to)
  [squares] square = Pow (apart, two)
  [adds] distance = ReduceSum <keepdims = 0> (square, last)
  [halves] less = Mul (distance, half)
  [scores] scores = Sub (alike, less)
  [shares] shares = Softmax (scores)
  [mixes] y = MatMul (shares, v)
  moved = MatMul (shares, points)
}
""",
        "Invariant point attention",
    ),
}
