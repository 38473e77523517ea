"""Examples of maps and their places that lack one part of what they are."""

from __future__ import annotations

TEXT = """
[box-decoding]
a size that is an exponential
  grown = Exp (size) => grown = Tanh (size)
places of a grid, it is one number
  gx = Add (sx, columns) => gx = Add (sx, stride)
  gy = Add (sy, rows) => gy = Add (sy, stride)
parts of one value
  size, rest = Split <axis = 4> (x, parts) => unused, rest = Split <axis = 4> (x, parts)
      a, b, size, d = Split <axis = 4> (z, parts)
  25] x) => 25] x, float[1, 3, 8, 8, 25] z)
[predicted-transform]
the identity
  unit = {1, 0, 0, 1} => unit = {1, 0, 1, 1}
a sum with it
  near = Add (given, unit) => near = Mul (given, unit)
a layer, the matrix is given
  near = Add (given, unit) => near = Add (links, unit)
  float[2, 8] features) => float[2, 8] features, float[2, 4] links)
[spatial-gate]
a layer over tokens
  g = Conv (normal, w) => g = Tanh (normal)
parts of one value
  y = Mul (kept, g) => y = Mul (other, g)
  float[2, 16, 8] x) => float[2, 16, 8] x, float[2, 16, 4] other)
[split-scales]
what came of the one before
  c1 = Add (two, c) => c1 = Add (one, c)
parts of one value
  b1 = Add (one, b) => b1 = Add (one, other)
  float[1, 12, 8, 8] x) => float[1, 12, 8, 8] x, float[1, 3, 8, 8] other)
[spatial-softmax]
places of a grid, one stands twice = Softmax · Linear 6 → 2
  0, 1, 1, 1}> => 0, 1, 0, 1}>
places at even distances = Softmax · Linear 6 → 2
  {-1, -1, 0, -1, 1, -1, -1, 1, 0, 1, 1, 1} => {-1, -1, 0.5, -1, 1, -1, -1, 1, 0.5, 1, 1, 1}
shares = tanh · Linear 6 → 2
  Softmax <axis = -1> (rows) => Tanh (rows)
[grid-scatter]
computed places
  (empty, each, features) => (empty, known, features)
  int64 first = {1} => int64[6, 1] known = {0, 1, 2, 3, 4, 5}, int64 first = {1}
  [row] row => row
  [column] column => column
  [wide] start => start
  [adds] index => index
  [each] each => each
a convolution of the grid
  y = Conv <pads = [1, 1, 1, 1]> (grid, w) => y = Relu (grid)
  float[1, 4, 16, 16] y => float[1, 8, 16, 16] y
[unpooling]
zeros around
  zeros = ConstantOfShape (all) => zeros = Expand (half, all)
  int64[2] none = {0, 0} => float half = {0.5}, int64[2] none = {0, 0}
places of a pool, they are computed otherwise
  places = Sub (where, begins) => places = Sub (other, begins)
  float[1, 4, 4, 4] deep) => float[1, 4, 4, 4] deep, int64[1, 4, 4, 4] other)
places put alone, values are added
  ScatterElements <axis = 2> => ScatterElements <axis = 2, reduction = "add">
[weighted-fusion]
shares that are 1 together = Formula, 0.4 · x + 0.9 · y
  float b = {0.6} => float b = {0.9}
maps of several sizes = Formula, 0.4 · x + 0.6 · y
  larger = Resize (coarse, , scales) => larger = Relu (coarse)
  float[1, 8, 8, 8] coarse => float[1, 8, 16, 16] coarse
[channel-shift]
channels that move back, both move forth
  s2 = Slice (sooner, b, c, channels) => s2 = Slice (later, b, c, channels)
one value
  rest = Slice (v, c, end, channels) => rest = Slice (z, c, end, channels)
  6, 6] x) => 6, 6] x, float[1, 4, 8, 6, 6] z)
[divisive-norm]
squares of the value itself
  square = Pow (x, two) => square = Pow (z, two)
  16, 16] x) => 16, 16] x, float[1, 8, 16, 16] z)
squares
  float two = {2} => float two = {3}
a root
  root = Sqrt (pool) => root = Abs (pool)
something added to the sums
  pool = Conv (square, gamma, beta) => pool = Conv (square, gamma)
[entropy-model]
a step of one = Formula, with absolute value
  float minus = {-0.5} => float minus = {-1.5}
one value = Formula, with absolute value
  below = Sub (minus, length) => below = Sub (minus, scale)
one distribution = Formula, with absolute value, tanh
  b2 = Erf (b1) => b2 = Tanh (b1)
one scale = Formula, with absolute value
  under = Div (below, scale) => under = Div (below, other)
  float[1, 8, 16, 16] scale) => float[1, 8, 16, 16] scale, float[1, 8, 16, 16] other)
[gaussian-density]
the constant of so many dimensions = Formula, −2 − Σ(0.5 · ((x − c) / w)² + k)
  constant = {-1.8378770} => constant = {-2}
a square, another power counts = Formula, −1.84 − Σ(0.5 · ((x − c) / w)⁴ + k)
  float two = {2} => float two = {4}
half of it = Formula, −1.84 − Σ(0.25 · ((x − c) / w)² + k)
  float half = {0.5} => float half = {0.25}
the other sign = Formula, Σ(0.5 · ((x − c) / w)² + k) − 1.84
  y = Sub (constant, all) => y = Add (constant, all)
a sum, a mean is taken = Formula, −1.84 − mean(0.5 · ((x − c) / w)² + k)
  ReduceSum => ReduceMean
[depthwise-gate]
a gate of the other half
  gated = Mul (active, b) => gated = Mul (active, z)
  16, 16] x) => 16, 16] x, float[1, 16, 16, 16] z)
neighbours
  near = Conv <pads = [1, 1, 1, 1], group = 32> (wide, k) => near = Relu (wide)
an activation
  active = Gelu (a) => active = Neg (a)
a layer behind
  y = Conv (gated, w) => y = Relu (gated)
  float[1, 8, 16, 16] y) => float[1, 16, 16, 16] y)
"""
