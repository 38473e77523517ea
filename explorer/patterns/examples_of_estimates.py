"""Examples of points, warps, waves and estimates put together, by the id of their pattern."""

from __future__ import annotations

#: the model without a header, and what its graph is told to be
EXAMPLES_OF_ESTIMATES: dict[str, tuple[str, str]] = {
    "vector-attention": (
        """
vector (float[1, 16, 8] x, int64[1, 16, 4, 2] near) => (float[1, 16, 8] y)
<int64[2] square = {8, 8}, int64[1] middle = {2}>
{
  w1 = ConstantOfShape (square)  w2 = ConstantOfShape (square)  w3 = ConstantOfShape (square)
  w4 = ConstantOfShape (square)  w5 = ConstantOfShape (square)
  q = MatMul (x, w1)  k = MatMul (x, w2)  v = MatMul (x, w3)
  asked = Unsqueeze (q, middle)
  keys = GatherND <batch_dims = 0> (k, near)
  values = GatherND <batch_dims = 0> (v, near)
  apart = Sub (asked, keys)
  hidden = MatMul (apart, w4)  bent = Relu (hidden)  scores = MatMul (bent, w5)
  shares = Softmax <axis = 2> (scores)
  weighted = Mul (shares, values)
  y = ReduceSum <keepdims = 0> (weighted, middle)
}
""",
        "Vector attention",
    ),
    "set-abstraction": (
        """
abstraction (float[64, 3] points, int64[16, 8] near, float[16, 1, 3] centres)
 => (float[16, 12] y)
<int64[2] dims = {3, 12}, int64[1] middle = {1}>
{
  w = ConstantOfShape (dims)
  found = Gather (points, near)
  apart = Sub (found, centres)
  hidden = MatMul (apart, w)
  bent = Relu (hidden)
  y = ReduceMax <keepdims = 0> (bent, middle)
}
""",
        "Set abstraction",
    ),
    "warping": (
        """
warp (float[1, 8, 2, 2] x, float[1, 2, 2, 2] flow) => (float[1, 8, 2, 2] y)
<float[1, 2, 2, 2] places = {-1, 1, -1, 1, -1, -1, 1, 1}, float half = {0.5}>
{
  scaled = Mul (flow, half)
  moved = Add (scaled, places)
  grid = Transpose <perm = [0, 2, 3, 1]> (moved)
  y = GridSample (x, grid)
}
""",
        "Warping",
    ),
    "volume-rendering": (
        """
rendering (float[4, 16] density, float[4, 16, 3] colour) => (float[4, 3] y)
<float one = {1}, int64 ray = {1}, int64[1] samples = {1}, int64[1] last = {2}>
{
  less = Neg (density)
  alone = Exp (less)
  opacity = Sub (one, alone)
  sums = CumSum <exclusive = 1> (density, ray)
  turned = Neg (sums)
  left = Exp (turned)
  weights = Mul (opacity, left)
  wide = Unsqueeze (weights, last)
  seen = Mul (wide, colour)
  y = ReduceSum <keepdims = 0> (seen, samples)
}
""",
        "Volume rendering",
    ),
    "oscillators": (
        """
waves (float[1, 1, 64] frequency) => (float[1, 4, 64] y)
<float[1, 4, 1] multiples = {1, 2, 3, 4}, int64 time = {2}>
{
  phase = CumSum (frequency, time)
  angles = Mul (phase, multiples)
  y = Sin (angles)
}
""",
        "Oscillators, 4 multiples",
    ),
    "guidance": (
        """
guidance (float[2, 3, 16, 16] x) => (float[1, 3, 16, 16] y)
<int64[2] halves = {1, 1}, float scale = {7.5}>
{
  c, u = Split <axis = 0> (x, halves)
  apart = Sub (c, u)
  scaled = Mul (apart, scale)
  y = Add (u, scaled)
}
""",
        "Classifier-free guidance",
    ),
    "complex-mask": (
        """
mask (float[1, 2, 16, 16] x, float[1, 8, 16, 16] features) => (float[1, 2, 16, 16] y)
<int64[4] dims = {2, 8, 1, 1}, int64[2] parts = {1, 1}>
{
  w = ConstantOfShape (dims)
  masks = Conv (features, w)
  m1, m2 = Split <axis = 1> (masks, parts)
  real, imaginary = Split <axis = 1> (x, parts)
  [a] a = Mul (real, m1)
  [b] b = Mul (imaginary, m2)
  [c] c = Mul (real, m2)
  [d] d = Mul (imaginary, m1)
  [first] first = Sub (a, b)
  [second] second = Add (c, d)
  [y] y = Concat <axis = 1> (first, second)
}
""",
        "Complex mask",
    ),
    "general-mean": (
        """
general (float[1, 8, 16, 16] x) => (float[1, 8, 1, 1] y)
<float least = {1e-6}, float high = {4}, float low = {0.25}>
{
  positive = Clip (x, least)
  powers = Pow (positive, high)
  mean = GlobalAveragePool (powers)
  y = Pow (mean, low)
}
""",
        "Generalized-mean pooling, exponent 4",
    ),
    "bilinear-pooling": (
        """
bilinear (float[1, 3, 16, 16] x) => (float[1, 8, 8] y)
<int64[4] dims = {8, 3, 3, 3}, int64[3] flat = {1, 8, 256}, float count = {256}>
{
  k = ConstantOfShape (dims)
  maps = Conv <pads = [1, 1, 1, 1]> (x, k)
  [rows] rows = Reshape (maps, flat)
  [columns] columns = Transpose <perm = [0, 2, 1]> (rows)
  [pairs] pairs = MatMul (rows, columns)
  [y] y = Div (pairs, count)
}
""",
        "Bilinear pooling",
    ),
    "routing": (
        """
routing (float[1, 32, 10, 16] votes, float[1, 1, 10, 16] before, float[1, 32, 10, 1] logits)
 => (float[1, 1, 10, 16] y)
<int64[1] features = {3}, int64[1] parts = {1}>
{
  agreement = Mul (votes, before)
  told = ReduceSum (agreement, features)
  raised = Add (logits, told)
  shares = Softmax <axis = 2> (raised)
  weighted = Mul (shares, votes)
  y = ReduceSum (weighted, parts)
}
""",
        "Routing update",
    ),
    "residual-pooling": (
        """
vlad (float[1, 1, 8, 64] x) => (float[1, 4, 8] y)
<int64[4] all = {1, 4, 8, 1}, int64[2] dims = {4, 8}, int64[1] places = {3}>
{
  w = ConstantOfShape (dims)  centres = ConstantOfShape (all)
  scores = MatMul (w, x)
  shares = Softmax <axis = 2> (scores)
  turned = Transpose <perm = [0, 2, 1, 3]> (shares)
  apart = Sub (x, centres)
  weighted = Mul (apart, turned)
  y = ReduceSum <keepdims = 0> (weighted, places)
}
""",
        "NetVLAD pooling, 4 centres",
    ),
    "kernel-pooling": (
        """
pooled (float[2, 5, 9] alike) => (float[2, 3] y)
<float[3] places = {-0.5, 0, 0.5}, float width = {-50}, float two = {2}, float least = {1e-10},
 int64[1] last = {3}, int64[1] document = {2}, int64[1] query = {1}>
{
  wide = Unsqueeze (alike, last)
  apart = Sub (wide, places)
  square = Pow (apart, two)
  scaled = Mul (square, width)
  near = Exp (scaled)
  sums = ReduceSum <keepdims = 0> (near, document)
  some = Clip (sums, least)
  logarithms = Log (some)
  y = ReduceSum <keepdims = 0> (logarithms, query)
}
""",
        "Kernel pooling, 3 kernels",
    ),
    "sinkhorn": (
        """
pairs (float[2, 5, 6] scores) => (float[2, 5, 6] y)
<int64[1] rows = {1}, int64[1] columns = {2}>
{
  a = ReduceLogSumExp (scores, columns)  x1 = Sub (scores, a)
  b = ReduceLogSumExp (x1, rows)         x2 = Sub (x1, b)
  c = ReduceLogSumExp (x2, columns)      x3 = Sub (x2, c)
  d = ReduceLogSumExp (x3, rows)         x4 = Sub (x3, d)
  y = Exp (x4)
}
""",
        "Sinkhorn normalization, 2 iterations",
    ),
    "operator-product": (
        """
operator (float[4, 50] samples, float[30, 2] places) => (float[4, 30] y)
<int64[2] of_samples = {50, 16}, int64[2] of_places = {2, 16}, int64[2] square = {16, 16},
 float bias = {0.5}>
{
  w1 = ConstantOfShape (of_samples)  w2 = ConstantOfShape (square)
  w3 = ConstantOfShape (of_places)   w4 = ConstantOfShape (square)
  a = MatMul (samples, w1)  b = Tanh (a)  branch = MatMul (b, w2)
  c = MatMul (places, w3)   d = Tanh (c)  e = MatMul (d, w4)
  trunk = Tanh (e)
  turned = Transpose <perm = [1, 0]> (trunk)
  [p1] product = MatMul (branch, turned)
  [p2] y = Add (product, bias)
}
""",
        "Product of branch and trunk, 16 terms",
    ),
}
