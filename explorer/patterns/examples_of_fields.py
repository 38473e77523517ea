"""Examples of patterns of series, molecules, tables and games, by the id of their pattern."""

from __future__ import annotations

#: the model without a header, and what its graph is told to be
EXAMPLES_OF_FIELDS: dict[str, tuple[str, str]] = {
    "edge-attention": (
        """
shares (float[64, 16] messages, float[64, 1] scores, int64[64, 1] to, int64[64] ends,
        int64[64, 16] places) => (float[24, 16] y)
<int64[2] one = {24, 1}, int64[2] all = {24, 16}>
{
  none = ConstantOfShape (one)
  nothing = ConstantOfShape (all)
  positive = Exp (scores)
  sums = ScatterElements <axis = 0, reduction = "add"> (none, to, positive)
  of_edges = Gather (sums, ends)
  shares = Div (positive, of_edges)
  weighted = Mul (messages, shares)
  y = ScatterElements <axis = 0, reduction = "add"> (nothing, places, weighted)
}
""",
        "Graph attention, over edges",
    ),
    "coordinate-update": (
        """
update (float[24, 3] places, float[64, 1] factor, int64[64] from, int64[64] to,
        int64[64, 3] ends) => (float[24, 3] y)
<int64[2] all = {24, 3}>
{
  nothing = ConstantOfShape (all)
  here = Gather (places, to)
  there = Gather (places, from)
  apart = Sub (here, there)
  moved = Mul (apart, factor)
  total = ScatterElements <axis = 0, reduction = "add"> (nothing, ends, moved)
  y = Add (places, total)
}
""",
        "Equivariant coordinate update",
    ),
    "gaussian-basis": (
        """
basis (float[64, 1] distances) => (float[64, 5] y)
<float[5] places = {0, 1, 2, 3, 4}, float two = {2}, float narrow = {-10}>
{
  apart = Sub (distances, places)
  square = Pow (apart, two)
  scaled = Mul (square, narrow)
  y = Exp (scaled)
}
""",
        "Gaussian basis, 5 centres",
    ),
    "bessel-basis": (
        """
basis (float[64, 1] distances) => (float[64, 4] y)
<float[4] frequencies = {0.6, 1.3, 1.9, 2.5}>
{
  angles = Mul (distances, frequencies)
  waves = Sin (angles)
  y = Div (waves, distances)
}
""",
        "Bessel basis, 4 waves",
    ),
    "series-decomposition": (
        """
decomposition (float[2, 7, 96] x) => (float[2, 7, 96] seasonal, float[2, 7, 96] trend)
{
  trend = AveragePool <kernel_shape = [25], pads = [12, 12]> (x)
  seasonal = Sub (x, trend)
}
""",
        "Series decomposition, moving average 25",
    ),
    "chosen-queries": (
        """
attention (float[1, 2, 16, 8] q, float[1, 2, 16, 8] k, float[1, 2, 16, 8] v)
 => (float[1, 2, 16, 8] y)
<int64[4] few = {0, 5, 9, 13}, int64[1] last = {-1}, int64[1] one = {4}, float number = {16},
 int64[4] all = {1, 2, 4, 8}, int64[4] dims = {1, 2, 16, 8}, float root = {2.83},
 int64[1] places = {2}>
{
  some = Gather <axis = 2> (k, few)
  t1 = Transpose <perm = [0, 1, 3, 2]> (some)
  rough = MatMul (q, t1)
  largest = ReduceMax <keepdims = 0> (rough, last)
  total = ReduceSum <keepdims = 0> (rough, last)
  mean = Div (total, number)
  apart = Sub (largest, mean)
  best, which = TopK (apart, one)
  w1 = Unsqueeze (which, last)
  w2 = Expand (w1, all)
  asked = GatherElements <axis = 2> (q, w2)
  t2 = Transpose <perm = [0, 1, 3, 2]> (k)
  scores = MatMul (asked, t2)
  scaled = Div (scores, root)
  shares = Softmax (scaled)
  mixed = MatMul (shares, v)
  averaged = ReduceMean (v, places)
  others = Expand (averaged, dims)
  y = ScatterElements <axis = 2> (others, w2, mixed)
}
""",
        "ProbSparse attention, 4 queries",
    ),
    "differential-attention": (
        """
attention (float[2, 4, 9, 8] q, float[2, 4, 8, 9] k, float[2, 2, 9, 16] v)
 => (float[2, 2, 9, 16] y)
<int64[5] dims = {2, 2, 2, 9, 9}, int64 none = {0}, int64 one = {1}, float[1] factor = {0.4}>
{
  scores = MatMul (q, k)
  shares = Softmax (scores)
  pairs = Reshape (shares, dims)
  first = Gather <axis = 2> (pairs, none)
  second = Gather <axis = 2> (pairs, one)
  less = Mul (second, factor)
  apart = Sub (first, less)
  y = MatMul (apart, v)
}
""",
        "Differential attention",
    ),
    "graph-network": (
        """
block (float[10, 8] x, float[30, 8] edge, int64[30] from, int64[30] to, int64[30, 8] places)
 => (float[10, 8] y, float[30, 8] next)
<int64[2] three = {24, 8}, int64[2] two = {16, 8}, int64[2] square = {8, 8},
 int64[2] all = {10, 8}>
{
  w1 = ConstantOfShape (three)  w2 = ConstantOfShape (square)
  w3 = ConstantOfShape (two)    w4 = ConstantOfShape (square)
  nothing = ConstantOfShape (all)
  source = Gather (x, from)
  target = Gather (x, to)
  ends = Concat <axis = 1> (edge, source, target)
  a = MatMul (ends, w1)  b = Relu (a)  changed = MatMul (b, w2)
  next = Add (edge, changed)
  sums = ScatterElements <axis = 0, reduction = "add"> (nothing, places, changed)
  both = Concat <axis = 1> (x, sums)
  c = MatMul (both, w3)  d = Relu (c)  e = MatMul (d, w4)
  y = Add (x, e)
}
""",
        "Graph network block",
    ),
    "vector-messages": (
        """
messages (float[10, 12] phi, float[30, 6] radial, float[10, 3, 4] vectors, float[30, 3, 1] way,
          int64[30] from, int64[30, 4] to, int64[30, 3, 4] places)
 => (float[10, 4] y, float[10, 3, 4] moved)
<int64[2] dims = {6, 12}, int64[2] few = {10, 4}, int64[3] all = {10, 3, 4}, int64[1] one = {1}>
{
  w = ConstantOfShape (dims)  none = ConstantOfShape (few)  nothing = ConstantOfShape (all)
  filter = MatMul (radial, w)
  sent = Gather (phi, from)
  product = Mul (sent, filter)
  a, b, c = Split <axis = 1, num_outputs = 3> (product)
  y = ScatterElements <axis = 0, reduction = "add"> (none, to, a)
  there = Gather (vectors, from)
  b1 = Unsqueeze (b, one)  first = Mul (there, b1)
  c1 = Unsqueeze (c, one)  second = Mul (c1, way)
  both = Add (first, second)
  moved = ScatterElements <axis = 0, reduction = "add"> (nothing, places, both)
}
""",
        "Equivariant message passing, scalars and vectors",
    ),
    "vector-update": (
        """
update (float[10, 4] x, float[10, 3, 4] vectors)
 => (float[10, 3, 4] y, float[10, 4] z, float[10, 4] t)
<int64[2] square = {4, 4}, int64[2] wide = {8, 8}, int64[2] three = {8, 12}, int64[1] one = {1}>
{
  wu = ConstantOfShape (square)  wv = ConstantOfShape (square)
  w1 = ConstantOfShape (wide)    w2 = ConstantOfShape (three)
  u = MatMul (vectors, wu)
  v = MatMul (vectors, wv)
  product = Mul (u, v)
  alike = ReduceSum <keepdims = 0> (product, one)
  length = ReduceL2 <keepdims = 0> (v, one)
  both = Concat <axis = 1> (x, length)
  a = MatMul (both, w1)  b = Relu (a)  c = MatMul (b, w2)
  first, second, third = Split <axis = 1, num_outputs = 3> (c)
  wide1 = Unsqueeze (first, one)
  y = Mul (wide1, u)
  z = Mul (second, alike)
  t = Identity (third)
}
""",
        "Equivariant update, scalars and vectors",
    ),
}
