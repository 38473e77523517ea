"""Examples of patterns of layers and of arithmetic that lack one part of what they are."""

from __future__ import annotations

TEXT = """
[norm]
squares, other products are averaged
  square = Mul (x, x) => square = Mul (x, scale)
the value that it is of, another is divided
  float[2, 16, 64] x) => float[2, 16, 64] x, float[2, 16, 64] z)
  Div (x, root) => Div (z, root)
a mean, the largest square counts
  ReduceMean (square, last) => ReduceMax (square, last)
a division
  Div (x, root) => Mul (x, root)
a root
  Sqrt (above) => Exp (above)
statistics
  square = Mul (x, x) => square = Mul (x, scale)
  mean = ReduceMean (square, last) => mean = Add (square, scale)
  above = Add (mean, epsilon) => y = Relu (mean)
  root = Sqrt (above) =>
  normal = Div (x, root) =>
  y = Mul (normal, scale) =>
[linear]
a product, distances to rows
  product = MatMul (x, weight) => y = Sub (x, weight)
  y = Add (product, bias) =>
  float[2, 16, 32] y => float[2, 8, 8] y
  16, 8] x => 16, 32] x
a weight, both are computed
  float[2, 16, 8] x) => float[2, 16, 8] x, float[2, 8, 32] w)
  MatMul (x, weight) => MatMul (x, w)
[convolutional-mlp]
a depthwise convolution, that of all channels = Linear · Conv · ReLU · Linear 8 → 32 → 32 → 8
  {32, 1, 3, 3} => {32, 32, 3, 3}
  group = 32 => group = 1
an activation = Linear · Conv · Linear 8 → 32 → 32 → 8
  activated = Relu (tokens) =>
  MatMul (activated, w2) => MatMul (tokens, w2)
a layer behind it = Linear · Conv · ReLU 8 → 32 → 32
  y = MatMul (activated, w2) =>
  activated = Relu => y = Relu
  float[2, 16, 8] y => float[2, 16, 32] y
places that stay as many = Linear · Conv · ReLU · Linear 8 → 32 → 32 → 8, /2
  pads = [1, 1, 1, 1] => pads = [1, 1, 1, 1], strides = [2, 2]
  {2, 32, 16} => {2, 32, 4}
  float[2, 16, 8] y => float[2, 4, 8] y
what nothing else takes
  float[2, 16, 8] y) => float[2, 16, 8] y, float[2, 32, 4, 4] near)
[fixed-transform]
waves, the numbers are any = Linear 32 → 17
  waves = Cos (angles) =>
  angles = => waves =
as many rows as frequencies = Linear
  {32, 17} => {32, 20}
  float[8, 17] y => float[8, 20] y
[activation]
the value itself, another is gated = Formula, 0.5 · a · (erf(b / √2) + 1)
  float[2, 16, 32] x) => float[2, 16, 32] x, float[2, 16, 32] z)
  Mul (x, above) => Mul (z, above)
the root of two = Formula, 0.5 · x · (erf(x / 3) + 1)
  1.41421354 => 3.0
the half = Formula, 0.3 · x · (erf(x / √2) + 1)
  half = {0.5} => half = {0.3}
a sum = Formula, 0.5 · x · (erf(x / √2) − 1)
  Add (error, one) => Sub (error, one)
the error function, and a cube for its tanh = Formula, 0.5 · x · (tanh(x / √2) + 1)
  Erf => Tanh
[same]
one kind
  w = Relu (z) => w = Tanh (z)
anything else than activations
  w = Relu (z) => r = Relu (z)  w = Add (r, y)
[vector-quantizer]
distances, products alone
  twice = Mul (product, two) => distances = Relu (product)
  distances = Sub (squares, twice) =>
  ArgMin => ArgMax
the least, the farthest is searched
  ArgMin => ArgMax
the book that distances are to
  ConstantOfShape (dims) => ConstantOfShape (others)
  <int64[2] dims => <int64[2] others = {512, 32}, int64[2] dims
  float[2, 16, 8] y => float[2, 16, 32] y
an entry, its number is given
  y = Gather (codes, nearest) => y = Cast <to = 1> (nearest)
  float[2, 16, 8] y => float[2, 16] y
[gate]
a product
  Mul (content, gate) => Add (content, gate)
a number between 0 and 1
  Sigmoid (logits) => Tanh (logits)
[statistics]
the deviation
  (mean, deviation) => (mean, mean)
differences from the mean
  Sub (x, means) => Sub (x, x)
[standardization]
a division
  Div (apart, deviation) => Mul (apart, deviation)
differences
  Div (apart, deviation) => Div (x, deviation)
[reversible-standardization]
a division
  Div (centred, deviation) => Mul (centred, deviation)
what is used again behind = LayerNorm
  , float[2, 1, 7] mean, float[2, 1, 7] deviation) => )
[softmax]
a sum = Formula, with maximum, exp
  total = ReduceSum => total = ReduceMax
one axis = Formula, with maximum, exp, sum
  ReduceSum (exponential, last) => ReduceSum (exponential, first)
  <int64[1] last => <int64[1] first = {0}, int64[1] last
[soft-cap]
one number = Formula, 2 · tanh(x / 30)
  Mul (within, cap) => Mul (within, other)
  <float cap => <float other = {2}, float cap
a tanh = Formula, 30 · σ(x / 30)
  Tanh => Sigmoid
a division before = Formula, 30 · tanh(30 · x)
  Div (x, cap) => Mul (x, cap)
[masked-pool]
a mask, it is added = Formula, Σ(x + y) / max(Σy, ε)
  Mul (x, m) => Add (x, m)
a sum = Formula, max(x · y) / max(Σy, ε)
  total = ReduceSum => total = ReduceMax
[scaled-parts]
products
  Mul (a, width) => Add (a, width)
known numbers
  float[100, 4] x) => float[100, 4] x, float width)
  <float width = {2.5},  => <
[overlap-add]
a sum
  Add (left, right) => Mul (left, right)
other places
  before = {0, 0, 10, 0, 0, 0} => before = {0, 0, 0, 0, 0, 10}
[rearrangement]
elements as they are
  late = Slice => turned = Neg (early)  late = Slice
  (late, early, late, early) => (late, turned, late, early)
computed elements, some are stored
  int64[1] none = {0} => float[4, 2, 1] z = {1, 1, 1, 1, 1, 1, 1, 1}, int64[1] none = {0}
  int64[3] cut = {8, 4, 4} => int64[3] cut = {8, 16, 1}
  (late, early, late, early) => (late, early, late, z)
  float[4, 16, 4] y => float[4, 50, 1] y
[selection]
the largest
  best, which = TopK <axis = 0> (doubled, count) => which = Cast <to = 7> (doubled)
what was found, all is taken
  y = Gather (places, which) => y = Mul (places, half)
  float[8, 4] y => float[100, 4] y, int64[8] which
[formula]
signs of all operators
  Tanh (drawn) => Hardmax (drawn)
one result
  float[2, 6] y) => float[2, 6] y, float[2, 6] shift)
[length]
squares = Formula, √(ΣReLU(x))
  Mul (x, x) => Relu (x)
a root = Formula, exp(Σx²)
  Sqrt (total) => Exp (total)
[polynomials]
products, these are sums
  xy = Mul (x, y1) => xy = Add (x, y1)
  yz = Mul (y1, z) => yz = Tanh (y1)
coordinates side by side
  Concat <axis = 1> (h1, h2, h3, h4, h5) => Add (h1, h2)
  5] y => 1] y
[splines]
a sum of both sides
  y = Add (p1, p2) => y = Mul (p1, p2)
where it is inside of an interval = Formula, with tanh
  And (above, below) => Or (above, below)
  b = Cast <to = 1> (inside) => o = Cast <to = 1> (inside)  b = Tanh (o)
[scale-and-shift]
stored numbers, another value is added
  16, 64] x) => 16, 64] x, float[2, 16, 64] z)
  Add (scaled, shift) => Add (scaled, z)
a number for each feature
  shift = ConstantOfShape (width) => shift = ConstantOfShape (one)
  int64[1] width => int64[1] one = {1}, int64[1] width
a product before the sum
  scaled = Mul (x, scale) => scaled = Add (x, scale)
"""
