"""Examples of units of sequences, signals and games, by the id of their pattern."""

from __future__ import annotations

#: the model without a header, and what its graph is told to be
EXAMPLES_OF_STREAMS: dict[str, tuple[str, str]] = {
    "gated-skip": (
        """
skip (float[4, 9, 8] x, float[4, 9, 8] z) => (float[4, 9, 8] y)
<int64[2] twice = {8, 16}, int64[1] width = {8}>
{
  w = ConstantOfShape (twice)  s = ConstantOfShape (width)
  both = MatMul (z, w)
  value, logits = Split <axis = -1, num_outputs = 2> (both)
  gate = Sigmoid (logits)
  gated = Mul (value, gate)
  total = Add (x, gated)
  y = LayerNormalization (total, s)
}
""",
        "Gated skip connection",
    ),
    "attention-flow": (
        """
flow (float[1, 9, 8] context, float[1, 5, 8] query) => (float[1, 9, 32] y)
<int64[1] last = {2}, int64[1] row = {1}>
{
  turned = Transpose <perm = [0, 2, 1]> (query)
  scores = MatMul (context, turned)
  shares = Softmax <axis = 2> (scores)
  asked = MatMul (shares, query)
  best = ReduceMax <keepdims = 0> (scores, last)
  weights = Softmax <axis = 1> (best)
  line = Unsqueeze (weights, row)
  summed = MatMul (line, context)
  first = Mul (context, asked)
  second = Mul (context, summed)
  y = Concat <axis = 2> (context, asked, first, second)
}
""",
        "Bidirectional attention flow",
    ),
    "joint-network": (
        """
joint (float[1, 20, 8] frames, float[1, 5, 6] labels) => (float[1, 20, 5, 30] y)
<int64[2] of_frames = {8, 12}, int64[2] of_labels = {6, 12}, int64[2] out = {12, 30},
 int64[1] second = {2}, int64[1] first = {1}>
{
  w1 = ConstantOfShape (of_frames)  w2 = ConstantOfShape (of_labels)  w3 = ConstantOfShape (out)
  f = MatMul (frames, w1)  g = MatMul (labels, w2)
  rows = Unsqueeze (f, second)  columns = Unsqueeze (g, first)
  total = Add (rows, columns)
  bent = Tanh (total)
  y = MatMul (bent, w3)
}
""",
        "Joint network 12 → 30",
    ),
    "short-convolution": (
        """
gated (float[1, 16, 8] x) => (float[1, 16, 8] y)
<int64[2] thrice = {8, 24}, int64[2] square = {8, 8}, int64[3] deep = {8, 1, 3},
 int64[1] begin = {0}, int64[1] end = {16}, int64[1] axis = {2}>
{
  w1 = ConstantOfShape (thrice)  w2 = ConstantOfShape (square)  k = ConstantOfShape (deep)
  all = MatMul (x, w1)
  turned = Transpose <perm = [0, 2, 1]> (all)
  b, c, u = Split <axis = 1, num_outputs = 3> (turned)
  opened = Mul (b, u)
  spread = Conv <group = 8, pads = [2, 2]> (opened, k)
  causal = Slice (spread, begin, end, axis)
  closed = Mul (c, causal)
  back = Transpose <perm = [0, 2, 1]> (closed)
  y = MatMul (back, w2)
}
""",
        "Gated short convolution, kernel 3",
    ),
    "nearest-code": (
        """
search (float[2, 16, 8] x) => (int64[2, 16] y)
<int64[2] turned = {8, 512}, int64[1] count = {512}, float two = {2}, int64[1] last = {2}>
{
  columns = ConstantOfShape (turned)  lengths = ConstantOfShape (count)
  squares = Pow (x, two)
  own = ReduceSum (squares, last)
  product = MatMul (x, columns)
  twice = Mul (product, two)
  partly = Sub (own, twice)
  distances = Add (partly, lengths)
  y = ArgMin <axis = 2, keepdims = 0> (distances)
}
""",
        "Nearest code, 512 codes",
    ),
    "summed-embeddings": (
        """
codes (int64[2, 3, 16] codes) => (float[2, 16, 8] y)
<int64[2] dims = {64, 8}, int64 n0 = {0}, int64 n1 = {1}, int64 n2 = {2}>
{
  first = ConstantOfShape (dims)  second = ConstantOfShape (dims)
  third = ConstantOfShape (dims)
  c0 = Gather <axis = 1> (codes, n0)  e0 = Gather (first, c0)
  c1 = Gather <axis = 1> (codes, n1)  e1 = Gather (second, c1)
  c2 = Gather <axis = 1> (codes, n2)  e2 = Gather (third, c2)
  total = Add (e0, e1)
  y = Add (total, e2)
}
""",
        "Summed embeddings, 3 tables of 64 × 8",
    ),
    "averaged-heads": (
        """
heads (float[1, 9, 16] x) => (float[1, 9, 16] y)
<int64[2] square = {16, 16}, int64[2] narrow = {16, 4}, int64[2] wide = {4, 16},
 int64[4] parts = {1, 9, 4, 4}, int64[1] axis = {1}, float scale = {0.5}>
{
  wq = ConstantOfShape (square)  wk = ConstantOfShape (square)  wv = ConstantOfShape (narrow)
  wo = ConstantOfShape (wide)
  q0 = MatMul (x, wq)  q1 = Reshape (q0, parts)  q = Transpose <perm = [0, 2, 1, 3]> (q1)
  k0 = MatMul (x, wk)  k1 = Reshape (k0, parts)  k = Transpose <perm = [0, 2, 3, 1]> (k1)
  v = MatMul (x, wv)
  products = MatMul (q, k)
  scores = Mul (products, scale)
  shares = Softmax <axis = 3> (scores)
  mean = ReduceMean <keepdims = 0> (shares, axis)
  mixed = MatMul (mean, v)
  y = MatMul (mixed, wo)
}
""",
        "Interpretable multi-head attention, 4 heads",
    ),
    "band-split": (
        """
bands (float[1, 12, 20] x) => (float[1, 3, 12, 6] y)
<int64[1] b0 = {0}, int64[1] b1 = {4}, int64[1] b2 = {10}, int64[1] b3 = {20},
 int64[1] axis = {2}, int64[2] d1 = {4, 6}, int64[2] d2 = {6, 6}, int64[2] d3 = {10, 6},
 int64[1] n1 = {4}, int64[1] n2 = {6}, int64[1] n3 = {10}, int64[1] row = {1}>
{
  w1 = ConstantOfShape (d1)  w2 = ConstantOfShape (d2)  w3 = ConstantOfShape (d3)
  s1 = ConstantOfShape (n1)  s2 = ConstantOfShape (n2)  s3 = ConstantOfShape (n3)
  p1 = Slice (x, b0, b1, axis)  m1 = LayerNormalization (p1, s1)  o1 = MatMul (m1, w1)
  p2 = Slice (x, b1, b2, axis)  m2 = LayerNormalization (p2, s2)  o2 = MatMul (m2, w2)
  p3 = Slice (x, b2, b3, axis)  m3 = LayerNormalization (p3, s3)  o3 = MatMul (m3, w3)
  r1 = Unsqueeze (o1, row)  r2 = Unsqueeze (o2, row)  r3 = Unsqueeze (o3, row)
  y = Concat <axis = 1> (r1, r2, r3)
}
""",
        "Band split, 3 bands",
    ),
    "mixture-density": (
        """
mixture (float[2, 16] x) => (float[2, 5] shares, float[2, 15] middles, float[2, 15] widths)
<int64[2] of_shares = {16, 5}, int64[2] of_each = {16, 15}>
{
  w1 = ConstantOfShape (of_shares)  w2 = ConstantOfShape (of_each)
  w3 = ConstantOfShape (of_each)
  logits = MatMul (x, w1)  shares = Softmax <axis = 1> (logits)
  middles = MatMul (x, w2)
  logarithms = MatMul (x, w3)  widths = Exp (logarithms)
}
""",
        "Mixture density head, 5 components",
    ),
}
