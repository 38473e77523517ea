"""Examples of ideas in residual blocks that lack one part of what they are."""

from __future__ import annotations

TEXT = """
[branched-convolution]
one value = Residual block 8 → 8
  b = Conv (x, w2) => b = Conv (z, w2)
  16, 16] x) => 16, 16] x, float[1, 8, 16, 16] z)
no activation before the sum = Residual block 8 → 8
  b = Conv (x, w2) => b0 = Conv (x, w2)  b = Relu (b0)
kernels of one reach, one is dilated = Residual block 8 → 8, dilation 2
  a = Conv <pads = [1, 1, 1, 1]> => a = Conv <pads = [2, 2, 2, 2], dilations = [2, 2]>
[computed-kernel]
shares of stored kernels, nothing squashes = Convolution by a computed kernel, 3×3
  Softmax (row) => Neg (row)
a kernel that is computed
  y = Conv <pads = [1, 1, 1, 1], kernel_shape = [3, 3]> (x, w)
    => y = Conv <pads = [1, 1, 1, 1], kernel_shape = [3, 3]> (x, fixed)
  float[1, 8, 16, 16] y) => float[1, 8, 16, 16] y, float[8, 8, 3, 3] w)
  stored = => fixed = ConstantOfShape (kernel)  stored =
[local-filter]
neighbours, single rows are looked up
  columns = Gather <axis = 4> (rows, index) => columns = Unsqueeze (rows, axis)
weights that are computed, they are stored
  product = Mul (weights, neighbours) => product = Mul (kept, neighbours)
  w1 = => kept = ConstantOfShape (one)  w1 =
  float[1, 8, 16, 16] y) => float[1, 8, 16, 16] y, float[1, 1, 9, 16, 16] weights)
a sum over neighbours
  ReduceSum => ReduceMax
the value itself, weights are of another = Local filter by computed weights, 3×3
  float[1, 8, 16, 16] x) => float[1, 8, 16, 16] x, float[1, 8, 16, 16] z)
  squeezed = Conv (x, w1) => squeezed = Conv (z, w1)
[place-attention]
means along both axes, one is along channels
  columns = {3} => columns = {1}
a number between 0 and 1
  wide = Sigmoid (second) => wide = Relu (second)
the value that the means are of
  float[1, 8, 16, 16] x) => float[1, 8, 16, 16] x, float[1, 8, 16, 16] z)
  once = Mul (x, high) => once = Mul (z, high)
[branch-attention]
shares
  Softmax <axis = 1> (shaped) => Tanh (shaped)
their own means
  mean = GlobalAveragePool (total) => mean = GlobalAveragePool (z)
  float[1, 8, 16, 16] x) => float[1, 8, 16, 16] x, float[1, 8, 16, 16] z)
a sum of branches
  y = ReduceSum => y = ReduceMax
[convolutional-attention]
depthwise kernels
  pads = [2, 2, 2, 2], group = 8 => pads = [2, 2, 2, 2], group = 4
  pads = [9, 9, 9, 9], group = 8 => pads = [9, 9, 9, 9], group = 4
  {8, 1, 5, 5} => {8, 2, 5, 5}
  {8, 1, 7, 7} => {8, 2, 7, 7}
a product = Residual block 8 → 8
  Mul (x, c) => Add (x, c)
a large kernel = Convolutional attention, 3×3, 3×3
  {8, 1, 5, 5} => {8, 1, 3, 3}
  {8, 1, 7, 7} => {8, 1, 3, 3}
  pads = [2, 2, 2, 2] => pads = [1, 1, 1, 1]
  pads = [9, 9, 9, 9], group = 8, dilations = [3, 3] => pads = [1, 1, 1, 1], group = 8
the same value
  Mul (x, c) => Mul (z, c)
  16, 16] x) => 16, 16] x, float[1, 8, 16, 16] z)
[gated-convolution]
a second product
  y = Mul (projected, g2) => y = Add (projected, g2)
a depthwise convolution
  group = 12> => group = 6>
  {12, 1, 7, 7} => {12, 2, 7, 7}
[focal-modulation]
gates
  g1 = Mul (a1, gate1) => g1 = Add (a1, gate1)
  g2 = Mul (a2, gate2) => g2 = Add (a2, gate2)
a product with queries
  y = Mul (query, modulator) => y = Add (query, modulator)
depthwise contexts
  {8, 1, 3, 3} => {8, 2, 3, 3}
  {8, 1, 5, 5} => {8, 2, 5, 5}
  pads = [1, 1, 1, 1], group = 8 => pads = [1, 1, 1, 1], group = 4
  pads = [2, 2, 2, 2], group = 8 => pads = [2, 2, 2, 2], group = 4
[modulation]
one value for both
  t = MatMul (z, w2) => t = MatMul (z2, w2)
  float[1, 6] z) => float[1, 6] z, float[1, 6] z2)
a projection, the scale is what is given
  scale = Reshape (s, dims) => scale = Reshape (z3, dims)
  float[1, 6] z) => float[1, 6] z, float[1, 8] z3)
[snake]
a square
  square = Pow (wave, two) => square = Abs (wave)
what the sine is of
  y = Add (x, scaled) => y = Add (z, scaled)
  float[1, 8, 32] x) => float[1, 8, 32] x, float[1, 8, 32] z)
[response-norm]
their own mean
  mean = ReduceMean (length, features) => mean = ReduceMean (z, features)
  16, 8] x) => 16, 8] x, float[1, 1, 1, 8] z)
a quotient
  ratio = Div (length, safe) => ratio = Sub (length, safe)
[ghost-module]
a depthwise convolution
  group = 8> (own, k) => group = 4> (own, k)
  {8, 1, 3, 3} => {8, 2, 3, 3}
of what the first gives
  (own, k) => (x, k)
[partial-convolution]
the others as they are
  (convolved, others) => (convolved, most)
  y = Concat => most = Relu (others)  y = Concat
one value
  (convolved, others) => (convolved, z)
  16, 16] x) => 16, 16] x, float[1, 12, 16, 16] z)
channels, these are places
  <axis = 1> (x, parts) => <axis = 2> (x, parts)
  Concat <axis = 1> => Concat <axis = 2>
  dims = {4, 4, 3, 3} => dims = {16, 16, 3, 3}
[scalar-quantizer]
between two limits = Formula, round(ReLU(x) · c) / w
  bounded = Tanh (x) => bounded = Relu (x)
whole numbers = Formula, ReLU(tanh(x) · c) / w
  codes = Round (scaled) => codes = Relu (scaled)
[global-context]
one number for each place = Residual block 8 → 8
  shares = Softmax <axis = 1> (column) => shares = Tanh (column)
the same value, another one is added to
  y = Add (x, told) => y = Add (z, told)
  16, 16] x) => 16, 16] x, float[1, 8, 16, 16] z)
[style-norm]
the deviation of the other
  scaled = Mul (normal, d2) => scaled = Mul (normal, x)
the mean of the other = Formula, with mean, square, root
  y = Add (scaled, m2) => y = Add (scaled, m1)
"""
