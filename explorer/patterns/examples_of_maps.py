"""Examples of patterns of maps and their places, by the id of their pattern."""

from __future__ import annotations

#: the model without a header, and what its graph is told to be
EXAMPLES_OF_MAPS: dict[str, tuple[str, str]] = {
    "spatial-softmax": (
        """
keypoints (float[1, 8, 2, 3] maps) => (float[8, 2] y)
<int64[2] flat = {8, 6}, float[6, 2] places = {-1, -1, 0, -1, 1, -1, -1, 1, 0, 1, 1, 1}>
{
  rows = Reshape (maps, flat)
  shares = Softmax <axis = -1> (rows)
  y = MatMul (shares, places)
}
""",
        "Spatial softmax, 8 keypoints",
    ),
    "grid-scatter": (
        """
pillars (float[6, 8] features, int64[6, 3] places) => (float[1, 4, 16, 16] y)
<int64[2] dims = {256, 8}, int64 first = {1}, int64 second = {2}, int64 width = {16},
 int64[1] last = {1}, int64[4] picture = {1, 8, 16, 16}, int64[4] kernel = {4, 8, 3, 3}>
{
  empty = ConstantOfShape (dims)  w = ConstantOfShape (kernel)
  [row] row = Gather <axis = 1> (places, first)
  [column] column = Gather <axis = 1> (places, second)
  [wide] start = Mul (row, width)
  [adds] index = Add (start, column)
  [each] each = Unsqueeze (index, last)
  [puts] canvas = ScatterND (empty, each, features)
  turned = Transpose <perm = [1, 0]> (canvas)
  grid = Reshape (turned, picture)
  y = Conv <pads = [1, 1, 1, 1]> (grid, w)
}
""",
        "Scatter to a grid, 16 × 16",
    ),
    "unpooling": (
        """
segnet (float[1, 4, 8, 8] x, float[1, 4, 4, 4] deep)
 => (float[1, 4, 8, 8] y, float[1, 4, 4, 4] most)
<int64[3] flat = {1, 4, 16}, int64[3] all = {1, 4, 64}, int64[4] map = {1, 4, 8, 8},
 int64[2] none = {0, 0}, int64[2] one = {1, 1}, int64[2] axes = {2, 3}>
{
  most, where = MaxPool <kernel_shape = [2, 2], strides = [2, 2]> (x)
  [every] same, every = MaxPool <kernel_shape = [1, 1]> (x)
  [begins] begins = Slice (every, none, one, axes)
  [apart] places = Sub (where, begins)
  zeros = ConstantOfShape (all)
  [flat] index = Reshape (places, flat)
  [values] values = Reshape (deep, flat)
  [puts] back = ScatterElements <axis = 2> (zeros, index, values)
  y = Reshape (back, map)
}
""",
        "Max unpooling, 2×2, to 8 × 8",
    ),
    "weighted-fusion": (
        """
fusion (float[1, 8, 16, 16] fine, float[1, 8, 8, 8] coarse) => (float[1, 8, 16, 16] y)
<float a = {0.4}, float b = {0.6}, float[4] scales = {1, 1, 2, 2}>
{
  larger = Resize (coarse, , scales)
  [first] one = Mul (fine, a)
  [second] other = Mul (b, larger)
  [adds] y = Add (one, other)
}
""",
        "Weighted fusion, 2 maps",
    ),
    "channel-shift": (
        """
shift (float[4, 8, 6, 6] x) => (float[4, 8, 6, 6] y)
<int64[5] video = {1, 4, 8, 6, 6}, int64[5] one = {1, 1, 1, 6, 6},
 int64[4] frames = {4, 8, 6, 6}, int64[1] time = {1}, int64[1] channels = {2}, int64[1] a = {0},
 int64[1] b = {1}, int64[1] c = {2}, int64[1] last = {-1}, int64[1] end = {9223372036854775807}>
{
  none = ConstantOfShape (one)
  v = Reshape (x, video)
  later = Slice (v, b, end, time)   s1 = Slice (later, a, b, channels)
  back = Concat <axis = 1> (s1, none)
  sooner = Slice (v, a, last, time) s2 = Slice (sooner, b, c, channels)
  forth = Concat <axis = 1> (none, s2)
  rest = Slice (v, c, end, channels)
  all = Concat <axis = 2> (back, forth, rest)
  y = Reshape (all, frames)
}
""",
        "Temporal shift",
    ),
    "spatial-gate": (
        """
gating (float[2, 16, 8] x) => (float[2, 16, 4] y)
<int64[3] dims = {16, 16, 1}, int64[1] width = {4}>
{
  w = ConstantOfShape (dims)  s = ConstantOfShape (width)
  kept, gate = Split <axis = 2, num_outputs = 2> (x)
  normal = LayerNormalization (gate, s)
  g = Conv (normal, w)
  y = Mul (kept, g)
}
""",
        "Spatial gating unit, 16 tokens",
    ),
    "split-scales": (
        """
scales (float[1, 12, 8, 8] x) => (float[1, 12, 8, 8] y)
<int64[4] dims = {3, 3, 3, 3}>
{
  w1 = ConstantOfShape (dims)  w2 = ConstantOfShape (dims)  w3 = ConstantOfShape (dims)
  a, b, c, d = Split <axis = 1, num_outputs = 4> (x)
  one = Conv <pads = [1, 1, 1, 1]> (a, w1)
  b1 = Add (one, b)
  two = Conv <pads = [1, 1, 1, 1]> (b1, w2)
  c1 = Add (two, c)
  three = Conv <pads = [1, 1, 1, 1]> (c1, w3)
  y = Concat <axis = 1> (one, two, three, d)
}
""",
        "Res2Net module, scale 4",
    ),
    "predicted-transform": (
        """
aligned (float[2, 40, 2] points, float[2, 8] features) => (float[2, 40, 2] y)
<int64[2] dims = {8, 4}, float[4] unit = {1, 0, 0, 1}, int64[3] square = {2, 2, 2}>
{
  w = ConstantOfShape (dims)
  given = MatMul (features, w)
  near = Add (given, unit)
  matrix = Reshape (near, square)
  [turns] y = MatMul (points, matrix)
}
""",
        "Predicted transform, 2 × 2",
    ),
    "divisive-norm": (
        """
divisive (float[1, 8, 16, 16] x) => (float[1, 8, 16, 16] y)
<int64[4] dims = {8, 8, 1, 1}, int64[1] width = {8}, float two = {2}>
{
  gamma = ConstantOfShape (dims)  beta = ConstantOfShape (width)
  square = Pow (x, two)
  pool = Conv (square, gamma, beta)
  root = Sqrt (pool)  inverse = Reciprocal (root)
  y = Mul (x, inverse)
}
""",
        "GDN",
    ),
    "entropy-model": (
        """
likely (float[1, 8, 16, 16] x, float[1, 8, 16, 16] scale) => (float[1, 8, 16, 16] y)
<float half = {0.5}, float minus = {-0.5}, float by = {0.7071}, float one = {1}>
{
  length = Abs (x)
  above = Sub (half, length)   over = Div (above, scale)    a1 = Mul (over, by)
  a2 = Erf (a1)                a3 = Add (a2, one)           upper = Mul (a3, half)
  below = Sub (minus, length)  under = Div (below, scale)   b1 = Mul (under, by)
  b2 = Erf (b1)                b3 = Add (b2, one)           lower = Mul (b3, half)
  y = Sub (upper, lower)
}
""",
        "Entropy model, Gaussian",
    ),
    "gaussian-density": (
        """
likely (float[4, 2] x) => (float[4] y)
<float[2] mean = {1, 2}, float[2] deviation = {3, 4}, float[2] logarithm = {1.0986, 1.3863},
 float two = {2}, float half = {0.5}, float constant = {-1.8378770}, int64[1] last = {1}>
{
  apart = Sub (x, mean)           near = Div (apart, deviation)  square = Pow (near, two)
  halved = Mul (square, half)     each = Add (halved, logarithm)
  all = ReduceSum <keepdims = 0> (each, last)                    y = Sub (constant, all)
}
""",
        "Gaussian log-density, 2 dimensions",
    ),
    "depthwise-gate": (
        """
forward (float[1, 8, 16, 16] x) => (float[1, 8, 16, 16] y)
<int64[4] widen = {32, 8, 1, 1}, int64[4] deep = {32, 1, 3, 3}, int64[4] narrow = {8, 16, 1, 1},
 int64[2] halves = {16, 16}>
{
  u = ConstantOfShape (widen)  k = ConstantOfShape (deep)  w = ConstantOfShape (narrow)
  wide = Conv (x, u)
  near = Conv <pads = [1, 1, 1, 1], group = 32> (wide, k)
  a, b = Split <axis = 1> (near, halves)
  active = Gelu (a)
  gated = Mul (active, b)
  y = Conv (gated, w)
}
""",
        "Gated depthwise MLP 8 → 16 → 8, GELU",
    ),
    "step-aggregation": (
        """
elan (float[1, 16, 8, 8] x) => (float[1, 32, 8, 8] y)
<int64[4] first = {32, 16, 1, 1}, int64[4] inner = {16, 16, 3, 3},
 int64[4] last = {32, 64, 1, 1}>
{
  w1 = ConstantOfShape (first)
  w2 = ConstantOfShape (inner)
  w3 = ConstantOfShape (last)
  wider = Conv (x, w1)
  around, through = Split <axis = 1, num_outputs = 2> (wider)
  one = Conv <pads = [1, 1, 1, 1]> (through, w2)
  step = Relu (one)
  two = Conv <pads = [1, 1, 1, 1]> (step, w2)
  again = Relu (two)
  joined = Concat <axis = 1> (around, through, step, again)
  y = Conv (joined, w3)
}
""",
        "ELAN block 16 → 32, 2 steps, 1 convolution each",
    ),
    "prediction-heads": (
        """
heads (float[1, 16, 8, 8] fine, float[1, 16, 4, 4] coarse) => (float[1, 84, 80] y)
<int64[4] square = {16, 16, 3, 3}, int64[4] boxes = {4, 16, 1, 1},
 int64[4] classes = {80, 16, 1, 1}, int64[3] flat = {1, 84, -1}>
{
  w = ConstantOfShape (square)  b = ConstantOfShape (boxes)  c = ConstantOfShape (classes)
  f1 = Conv <pads = [1, 1, 1, 1]> (fine, w)    f2 = Relu (f1)
  f_box = Conv (f2, b)                         f_class = Conv (f2, c)
  f = Concat <axis = 1> (f_box, f_class)       f_flat = Reshape (f, flat)
  c1 = Conv <pads = [1, 1, 1, 1]> (coarse, w)  c2 = Relu (c1)
  c_box = Conv (c2, b)                         c_class = Conv (c2, c)
  d = Concat <axis = 1> (c_box, c_class)       d_flat = Reshape (d, flat)
  y = Concat <axis = 2> (f_flat, d_flat)
}
""",
        "Prediction heads, 2 maps, 4 + 80 channels",
    ),
}
