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
}
