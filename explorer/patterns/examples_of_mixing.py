"""Examples of attention of special kinds, and of what compares maps, by the id of their pattern."""

from __future__ import annotations

#: the model without a header, and what its graph is told to be
EXAMPLES_OF_MIXING: dict[str, tuple[str, str]] = {
    "cascaded-attention": (
        """
cascade (float[1, 16, 8] x) => (float[1, 16, 8] y)
<int64[2] wide = {4, 12}, int64[2] square = {8, 8}>
{
  w1 = ConstantOfShape (wide)  w2 = ConstantOfShape (wide)  wo = ConstantOfShape (square)
  one, two = Split <axis = -1, num_outputs = 2> (x)
  p1 = MatMul (one, w1)
  q1, k1, v1 = Split <axis = -1, num_outputs = 3> (p1)
  t1 = Transpose <perm = [0, 2, 1]> (k1)
  s1 = MatMul (q1, t1)  a1 = Softmax (s1)  m1 = MatMul (a1, v1)
  next = Add (m1, two)
  p2 = MatMul (next, w2)
  q2, k2, v2 = Split <axis = -1, num_outputs = 3> (p2)
  t2 = Transpose <perm = [0, 2, 1]> (k2)
  s2 = MatMul (q2, t2)  a2 = Softmax (s2)  m2 = MatMul (a2, v2)
  joined = Concat <axis = -1> (m1, m2)
  y = MatMul (joined, wo)
}
""",
        "Cascaded group attention, 2 heads",
    ),
    "outlook-attention": (
        """
outlook (float[1, 6, 6, 8] x) => (float[1, 6, 6, 8] y)
<int64[2] square = {8, 8}, int64[2] wide = {8, 81}, int64[8] around = {0,0,1,1,0,0,1,1},
 int64[2, 6] places = {0,1,2,3,4,5, 2,3,4,5,6,7}, int64[3] apart = {36, 9, 9},
 int64[3] near = {36, 9, 8}, int64[3] folded = {1, 72, 36}, int64[2] image = {6, 6},
 int64[2] kernel = {3, 3}>
{
  wv = ConstantOfShape (square)  wa = ConstantOfShape (wide)  wo = ConstantOfShape (square)
  v = MatMul (x, wv)
  first = Transpose <perm = [0, 3, 1, 2]> (v)
  padded = Pad (first, around)
  rows = Gather <axis = 2> (padded, places)
  columns = Gather <axis = 4> (rows, places)
  neighbours = Reshape (columns, near)
  a = MatMul (x, wa)
  scores = Reshape (a, apart)
  shares = Softmax <axis = -1> (scores)
  mixed = MatMul (shares, neighbours)
  flat = Reshape (mixed, folded)
  map = Col2Im <pads = [1, 1, 1, 1]> (flat, image, kernel)
  last = Transpose <perm = [0, 2, 3, 1]> (map)
  y = MatMul (last, wo)
}
""",
        "Outlook attention, 3×3",
    ),
    "deformable-attention": (
        """
deformable (float[1, 16, 8] x, float[1, 16, 8] q) => (float[1, 16, 8] y)
<int64[2] square = {8, 8}, int64[2] toplaces = {8, 12}, int64[2] toshares = {8, 6},
 int64[5] moves = {1, 16, 2, 3, 2}, int64[4] grid = {2, 16, 3, 2},
 int64[4] split = {1, 16, 2, 4}, int64[4] maps = {2, 4, 4, 4},
 int64[4] weights = {1, 16, 2, 3}, int64[4] ofheads = {2, 1, 16, 3},
 int64[3] joined = {1, 8, 16}, int64[4] origin = {1, 16, 1, 2}, int64[1] last = {-1}>
{
  wv = ConstantOfShape (square)  wo = ConstantOfShape (square)  wp = ConstantOfShape (toplaces)
  ws = ConstantOfShape (toshares)  around = ConstantOfShape (origin)
  v = MatMul (x, wv)  v1 = Reshape (v, split)  v2 = Transpose <perm = [0, 2, 3, 1]> (v1)
  map = Reshape (v2, maps)
  o = MatMul (q, wp)  o1 = Reshape (o, moves)  o2 = Transpose <perm = [0, 2, 1, 3, 4]> (o1)
  o3 = Reshape (o2, grid)  places = Add (o3, around)
  found = GridSample (map, places)
  s = MatMul (q, ws)  s1 = Reshape (s, weights)  s2 = Softmax <axis = -1> (s1)
  s3 = Transpose <perm = [0, 2, 1, 3]> (s2)  shares = Reshape (s3, ofheads)
  weighed = Mul (found, shares)
  mixed = ReduceSum <keepdims = 0> (weighed, last)
  flat = Reshape (mixed, joined)  rows = Transpose <perm = [0, 2, 1]> (flat)
  y = MatMul (rows, wo)
}
""",
        "Cross-attention, deformable, 2 heads × 4, 3 points",
    ),
    "binarization": (
        """
binarization (float[1, 1, 8, 8] p0, float[1, 1, 8, 8] t0) => (float[1, 1, 8, 8] y)
<float steep = {-50}, float one = {1}>
{
  [] p = Sigmoid (p0)
  [] t = Sigmoid (t0)
  [d] difference = Sub (p, t)
  [s] scaled = Mul (difference, steep)
  [e] raised = Exp (scaled)
  [a] above = Add (raised, one)
  [y] y = Reciprocal (above)
}
""",
        "Differentiable binarization, k = 50",
    ),
    "rotation": (
        """
rotated (float[1, 16, 8] x) => (float[1, 16, 8] y)
<int64[3] all = {1, 16, 8}, int64[1] zero = {0}, int64[1] half = {4},
 int64[1] end = {9223372036854775807}, int64[1] last = {-1}>
{
  cos = ConstantOfShape (all)  sin = ConstantOfShape (all)
  plain = Mul (x, cos)
  first = Slice (x, zero, half, last)
  second = Slice (x, half, end, last)
  negated = Neg (second)
  turned = Concat <axis = -1> (negated, first)
  by_sin = Mul (turned, sin)
  y = Add (plain, by_sin)
}
""",
        "Rotary positions",
    ),
}
