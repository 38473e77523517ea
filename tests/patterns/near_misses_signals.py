"""Examples of units of signals, memories and noise levels that lack one part of what they are."""

from __future__ import annotations

TEXT = """
[gaussian-windows]
the numbers of places
  places = {0, 1, 2, 3, 4} => places = {0, 1, 2, 3, 9}
centres that move, they are stored
  apart = Sub (k, places) => apart = Sub (places, fixed)  spare = Identity (k)
  float two => float[1, 6, 1] fixed = {0, 1, 2, 3, 4, 5}, float two
a sum of windows = Formula, with square, exp, maximum, sum
  shares = ReduceSum <keepdims = 0> (weighted, first)
    => shares = ReduceMax <keepdims = 0> (weighted, first)
[memory-addressing]
a power
  sharp = Pow (weights, power) => sharp = Mul (weights, power)
one less the gate
  rest = Sub (one, gate) => rest = Sub (gate, one)
shares by likeness
  content = Softmax <axis = 1> (scores) => content = Sigmoid (scores)
[learned-memory]
values that are stored
  y = MatMul (shares, values) => y = MatMul (shares, z)
  float[1, 9, 8] x) => float[1, 9, 8] x, float[1, 32, 6] z)
shares
  shares = Softmax <axis = -1> (scaled) => shares = Sigmoid (scaled)
shares of the entries
  Softmax <axis = -1> => Softmax <axis = 1>
[preconditioning]
a network of the same value
  inside = Div (x, root) => inside = Div (z, root)
  float[1, 3, 8, 8] x, => float[1, 3, 8, 8] x, float[1, 3, 8, 8] z,
a sum of squares
  total = Add (squared, variance) => total = Max (squared, variance)
one noise level
  noisy = Mul (sigma, deviation) => noisy = Mul (other, deviation)
  float[1, 1, 1, 1] sigma) => float[1, 1, 1, 1] sigma, float[1, 1, 1, 1] other)
[polar-spectrum]
one phase
  s = Sin (phase) => s = Sin (logarithm)
a magnitude that is positive
  size = Exp (logarithm) => size = Tanh (logarithm)
[channel-energies]
the value that is smoothed = Formula, √(a / (b + ε)^0.98 + 2) − 1.41
  ratio = Div (x, gain) => ratio = Div (z, gain)
  float[1, 40, 50] x) => float[1, 40, 50] x, float[1, 40, 50] z)
a power of what is smoothed = Formula, √(x / √(y + ε) + 2) − 1.41
  gain = Pow (above, power) => gain = Sqrt (above)
[cosine-embedding]
multiples of one number
  {1, 2, 3, 4, 5, 6} => {1, 2, 3, 4, 5, 9}
cosines = Formula, sin(π · x · c)
  y = Cos (angles) => y = Sin (angles)
half a turn = Formula, cos(x · c)
  float pi = {3.1415927} => float pi = {1}
[text-pooling]
several lengths
  int64[3] of_4 = {4, 16, 4} => int64[3] of_4 = {4, 16, 3}
one value
  c4 = Conv (x, k4) => c4 = Conv (z, k4)
  float[2, 16, 20] x) => float[2, 16, 20] x, float[2, 16, 20] z)
maxima
  m4 = ReduceMax => m4 = ReduceMean
[pair-relations]
pairs, each stands beside itself
  column = Unsqueeze (x, second)  columns = Tile (column, right)
    => column = Unsqueeze (x, first)  columns = Tile (column, down)
the same objects
  row = Unsqueeze (x, first) => row = Unsqueeze (z, first)
  float[1, 6, 8] x) => float[1, 6, 8] x, float[1, 6, 8] z)
a sum
  y = ReduceSum => y = ReduceMax
[backcast]
a forecast
  forecast = MatMul (h, w4) => forecast = Relu (z)
  float[2, 24] x) => float[2, 24] x, float[2, 8] z)
what is left of a series
  y = Sub (x, backcast) => y = Max (x, backcast)
the series itself
  y = Sub (x, backcast) => y = Sub (z, backcast)
  float[2, 24] x) => float[2, 24] x, float[2, 24] z)
[half-interaction]
even and odd places
  o = Slice (x, b1, end, axis, two) => o = Slice (x, b0, end, axis, two)
exponentials
  s1 = Exp (t1) => s1 = Sigmoid (t1)
one of them each time
  d = Mul (o, s1) => d = Mul (e, s1)
[random-features]
their squares
  q2 = Pow (q, two) => q2 = Pow (z, two)
  float[1, 9, 6] v) => float[1, 9, 6] v, float[1, 9, 8] z)
exponentials
  k6 = Exp (k5) => k6 = Tanh (k5)
sums of the keys
  total = ReduceSum (keys, tokens) => total = ReduceSum (k1, tokens)
"""

SPELLINGS = """
[weighted-sum]
exponentials, limited and divided by their sum = Additive attention, 8 units
  shares = Softmax <axis = 1> (scores) => high = ReduceMax (scores, tokens)
      less = Sub (scores, high)  e = Exp (less)  all = ReduceSum (e, tokens)
      some = Add (all, little)  shares = Div (e, some)
  int64[1] tokens = {1}> => int64[1] tokens = {1}, float little = {1e-5}>
exponentials alone = Additive attention, 8 units
  shares = Softmax <axis = 1> (scores) => e = Exp (scores)  all = ReduceSum (e, tokens)
      shares = Div (e, all)
all pairs of one sequence = Additive self-attention, 8 units
  asked = MatMul (query, wq) => asked0 = MatMul (keys, wk)  asked = Unsqueeze (asked0, tokens)
  given = MatMul (keys, wk) => given0 = MatMul (keys, wk)  given = Unsqueeze (given0, two)
  int64[1] tokens = {1}> => int64[1] tokens = {1}, int64[1] two = {2}, int64[1] last = {3}>
  scores = MatMul (squashed, v) => scores0 = MatMul (squashed, v)
      scores = Squeeze (scores0, last)
  shares = Softmax <axis = 1> (scores) => shares = Softmax <axis = 2> (scores)
  weighted = Mul (shares, keys) =>
  y = ReduceSum <keepdims = 0> (weighted, tokens) => y = MatMul (shares, keys)
  float[2, 12] y => float[2, 16, 12] y
a convolution of the shares before = Location-sensitive attention, 8 units
  float[2, 16, 12] keys) => float[2, 16, 12] keys, float[2, 1, 16] before)
  int64[1] tokens = {1}> => int64[1] tokens = {1}, int64[3] kernel = {4, 1, 5},
      int64[2] of_places = {4, 8}>
  given = MatMul (keys, wk) => given = MatMul (keys, wk)  k = ConstantOfShape (kernel)
      spread = Conv <pads = [2, 2]> (before, k)  u = ConstantOfShape (of_places)
      turned = Transpose <perm = [0, 2, 1]> (spread)  placed = MatMul (turned, u)
  both = Add (asked, given) => first = Add (asked, placed)  both = Add (first, given)
[channel-energies]
an exponential of logarithms
  [gain] gain = Pow (above, power) => [low] low = Log (above)  [less] less = Mul (low, slope)
      [gain] gain = Exp (less)
  ratio = Div (x, gain) => ratio = Mul (x, gain)
  float power = {0.98} => float slope = {-0.98}
[learned-memory]
shares of tokens first = External attention, 32 entries
  Softmax <axis = -1> (scaled) => Softmax <axis = 1> (scaled)
  y = MatMul (shares, values)
    => total = ReduceSum (shares, last)  parts = Div (shares, total)  y = MatMul (parts, values)
  float scale => int64[1] last = {2}, float scale
"""
