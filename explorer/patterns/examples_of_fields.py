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
        "Gaussian basis, 5 places",
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
}
