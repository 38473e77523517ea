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
}
