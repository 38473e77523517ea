"""Examples of patterns of images that lack one part of what they are, and what they are then."""

from __future__ import annotations

TEXT = """
[pixel-shuffle]
squares, channels stay apart
  [0, 1, 4, 2, 5, 3] => [0, 2, 1, 4, 3, 5]
an order of rows between columns
  [0, 1, 4, 2, 5, 3] => [0, 1, 4, 5, 2, 3]
two axes that grow alike
  {1, 3, 2, 2, 8, 8} => {1, 3, 4, 1, 8, 8}
  {1, 3, 16, 16} => {1, 3, 32, 8}
  float[1, 3, 16, 16] y => float[1, 3, 32, 8] y
[convolution]
the order, the norm comes last = Conv · ReLU · BatchNorm, 3×3, 3 → 8, /2
  normal = BatchNormalization (convolved, s, s, s, s) => activated = Relu (convolved)
  y = Relu (normal) => y = BatchNormalization (activated, s, s, s, s)
the convolution for itself, others take it
  16, 16] y) => 16, 16] y, float[1, 8, 16, 16] convolved)
[excitation]
means, the largest count
  GlobalAveragePool => GlobalMaxPool
the value that the means are of
  8, 8] x) => 8, 8] x, float[1, 32, 8, 8] z)
  Mul (x, factors) => Mul (z, factors)
a number between 0 and 1 = Channel attention 32 → 8 → 32
  Sigmoid (excited) => Relu (excited)
a product = Residual block 32 → 32
  Mul (x, factors) => Add (x, factors)
means over all places, these are of windows
  mean = GlobalAveragePool (x)
    => mean = AveragePool <kernel_shape = [3, 3], pads = [1, 1, 1, 1]> (x)
means of channels, these are of places
  mean = GlobalAveragePool (x) => mean = ReduceMean (x, ax)
  <int64[4] fewer = {8, 32, 1, 1}, int64[4] more = {32, 8, 1, 1}>
    => <int64[1] ax = {1}, int64[4] fewer = {8, 1, 1, 1}, int64[4] more = {1, 8, 1, 1}>
two layers, there is one = Channel attention 32 → 32
  activated = Relu (squeezed) =>
  excited = Conv (activated, w2) =>
  Sigmoid (excited) => Sigmoid (squeezed)
  {8, 32, 1, 1} => {32, 32, 1, 1}
[separable-convolution]
one channel for each kernel = Conv · ReLU · Conv · ReLU 8 → 8 → 16
  group = 8,  =>
  {8, 1, 3, 3} => {8, 8, 3, 3}
single places behind = Conv · ReLU · Conv · ReLU 8 → 8 → 16
  {16, 8, 1, 1} => {16, 8, 3, 3}
that alone, others take it
  16, 16] y) => 16, 16] y, float[1, 8, 16, 16] spatial)
one channel in each group = Conv · ReLU · Conv · ReLU 8 → 8 → 16
  group = 8 => group = 4
  {8, 1, 3, 3} => {8, 2, 3, 3}
[residual-block]
its own operand, another value is added = Conv · ReLU · Conv · Add · ReLU 8 → 8 → 8
  16, 16] x) => 16, 16] x, float[1, 8, 16, 16] z)
  Add (second, x) => Add (second, z)
a sum
  Add (second, x) => Mul (second, x)
its own operand, it begins with others beside it
  16, 16] x) => 16, 16] x, float[1, 3, 16, 16] z)
  (x, w1) => (joined, w1)
  first = Conv => joined = Concat <axis = 1> (x, z)  first = Conv
  {8, 8, 3, 3} => {8, 11, 3, 3}, int64[4] inner = {8, 8, 3, 3}
  w2 = ConstantOfShape (dims) => w2 = ConstantOfShape (inner)
features, it corrects an estimate of one map = Conv · ReLU · Conv · Add · ReLU 1 → 8 → 1
  float[1, 8, 16, 16] x => float[1, 1, 16, 16] x
  float[1, 8, 16, 16] y => float[1, 1, 16, 16] y
  {8, 8, 3, 3} => {8, 1, 3, 3}, int64[4] back = {1, 8, 3, 3}
  w2 = ConstantOfShape (dims) => w2 = ConstantOfShape (back)
as many maps, one is added to all = Conv · ReLU · Conv · Add · ReLU 1 → 8 → 8
  float[1, 8, 16, 16] x => float[1, 1, 16, 16] x
  {8, 8, 3, 3} => {8, 1, 3, 3}, int64[4] inner = {8, 8, 3, 3}
  w2 = ConstantOfShape (dims) => w2 = ConstantOfShape (inner)
[transition]
the pool
  y = AveragePool <kernel_shape = [2, 2], strides = [2, 2]> (fewer) => y = Neg (fewer)
  4, 8, 8] y => 4, 16, 16] y
the mean = BatchNorm · ReLU · Conv · MaxPool, 1×1, 8 → 4, /2
  AveragePool => MaxPool
fewer channels = BatchNorm · ReLU · Conv · AveragePool, 1×1, 8 → 8, /2
  {4, 8, 1, 1} => {8, 8, 1, 1}
  float[1, 4, 8, 8] y => float[1, 8, 8, 8] y
single places = BatchNorm · ReLU · Conv · AveragePool, 3×3, 8 → 4, /2
  {4, 8, 1, 1} => {4, 8, 3, 3}
smaller maps = BatchNorm · ReLU · Conv · AveragePool, 1×1, 8 → 4
  strides = [2, 2] => strides = [1, 1]
[patches]
steps as long as the kernel = Conv · Add, 4×4, 3 → 48, /2
  strides = [4, 4] => strides = [2, 2]
a picture, these are features = Conv · Add, 4×4, 16 → 48, /4
  {48, 3, 4, 4} => {48, 16, 4, 4}
  float[1, 3, 32, 32] x => float[1, 16, 32, 32] x
[patch-merging]
four neighbours, all are the same
  (x, b, => (x, a,
  (x, c, => (x, a,
  (x, d, => (x, a,
neighbours, these are quarters
  steps = {2, 2} => steps = {1, 1}
  b = {1, 0} => b = {4, 0}
  c = {0, 1} => c = {0, 4}
  d = {1, 1} => d = {4, 4}
the projection
  y = MatMul (normal, weight) => y = Relu (normal)
  float[1, 4, 4, 32] y => float[1, 4, 4, 64] y
[partial-stage]
what goes around
  (around, through, total) => (total, total, total)
what goes around, both parts are convolved
  joined = Concat <axis = 1> (around, through, total)
    => l = Conv <pads = [1, 1, 1, 1]> (around, w2)  joined = Concat <axis = 1> (l, total, total)
the convolution before
  wider = Conv (x, w1) =>
  (wider) => (x)
  {16, 16, 3, 3} => {8, 8, 3, 3}
  {32, 48, 1, 1} => {32, 24, 1, 1}
[step-aggregation]
what a step takes
  two = Conv <pads = [1, 1, 1, 1]> (step, w2) => two = Conv <pads = [1, 1, 1, 1]> (through, w2)
what enters goes around
  wider = Conv (x, w1) =>
  (wider) => (x)
  {16, 16, 3, 3} => {8, 8, 3, 3}
  {32, 64, 1, 1} => {32, 32, 1, 1}
nothing mixes what is joined
  y = Conv (joined, w3) => y = Relu (joined)
  float[1, 32, 8, 8] y => float[1, 64, 8, 8] y
[prediction-heads]
one map alone
  (coarse, w) => (fine, w)
  float[1, 84, 80] y => float[1, 84, 128] y
results stay apart
  y = Concat <axis = 2> (f_flat, d_flat) => y = Relu (f_flat)
  float[1, 84, 80] y => float[1, 84, 64] y
both maps are of one size
  float[1, 16, 4, 4] coarse => float[1, 16, 8, 8] coarse
  float[1, 84, 80] y => float[1, 84, 128] y
one head more
  c_class = Conv (c2, c) => c_class = Conv (c2, c)  c_more = Conv (c2, c)
  d = Concat <axis = 1> (c_box, c_class) => d = Concat <axis = 1> (c_box, c_class, c_more)
[dense-layer]
norms before convolutions
  normal = BatchNormalization (joined, s, s, s, s) => mixed = Conv (joined, w1)
  activated = Relu (normal) =>
  mixed = Conv (activated, w1) =>
few new features
  {4, 16, 3, 3} => {24, 16, 3, 3}
  float[1, 4, 8, 8] y => float[1, 24, 8, 8] y
features side by side, they are added
  Concat <axis = 1> (before, new) => Add (before, new)
  float[1, 4, 8, 8] new => float[1, 8, 8, 8] new
  {12} => {8}
  {16, 12, 1, 1} => {16, 8, 1, 1}
channels side by side, these are rows
  axis = 1 => axis = 2
  float[1, 4, 8, 8] new => float[1, 8, 4, 8] new
  {12} => {8}
  {16, 12, 1, 1} => {16, 8, 1, 1}
  float[1, 4, 8, 8] y => float[1, 4, 12, 8] y
[shuffle-unit]
channels that change places = Residual block 16 → 16
  perm = [0, 2, 1, 3, 4] => perm = [0, 1, 2, 3, 4]
a depthwise convolution = Residual block 16 → 16
  group = 16,  =>
  {16, 1, 3, 3} => {16, 16, 3, 3}
what goes around = Conv · ReLU · Conv · Conv · ReLU 16 → 16 → 16 → 16
  total = Add (x, mixed) =>
  Relu (total) => Relu (mixed)
groups of channels = Residual block 16 → 16
  <group = 2>  =>
  {16, 8, 1, 1} => {16, 16, 1, 1}
channels that change places, these are rows = Residual block 16 → 16
  {1, 2, 8, 8, 8} => {1, 16, 8, 2, 4}
[branches]
the squeeze
  squeezed = Conv (x, w1) =>
  Relu (squeezed) => Relu (x)
  small = {8, 4, 1, 1} => small = {8, 16, 1, 1}
  large = {8, 4, 3, 3} => large = {8, 16, 3, 3}
two kernels
  {8, 4, 1, 1} => {8, 4, 3, 3}
  one = Conv ( => one = Conv <pads = [1, 1, 1, 1]> (
fewer channels before
  few = {4, 16, 1, 1} => few = {32, 16, 1, 1}
  {8, 4, 1, 1} => {8, 32, 1, 1}
  {8, 4, 3, 3} => {8, 32, 3, 3}
branches, one is behind the other
  (activated, w3) => (one_activated, w3)
  {8, 4, 3, 3} => {8, 8, 3, 3}
branches side by side, they are added
  Concat <axis = 1> ( => Add (
[pyramid-step]
single places on the way across
  Conv (fine, w1) => Conv <pads = [1, 1, 1, 1]> (fine, w2)
a convolution behind
  y = Conv <pads = [1, 1, 1, 1]> (total, w2) => y = Relu (total)
a sum
  Add (lateral, larger) => Mul (lateral, larger)
coarse features
  {1, 1, 2, 2} => {1, 1, 1, 1}
  <kernel_shape = [2, 2], strides = [2, 2]> => <kernel_shape = [3, 3], pads = [1, 1, 1, 1]>
[resampling]
fewer places = MaxPool · Conv · ReLU · Conv · ReLU 4 → 8 → 8
  kernel_shape = [2, 2], strides = [2, 2] => kernel_shape = [3, 3], pads = [1, 1, 1, 1]
  8, 8, 8] y => 8, 16, 16] y
places, one is left
  MaxPool <kernel_shape = [2, 2], strides = [2, 2]> (x) => GlobalMaxPool (x)
  8, 8, 8] y => 8, 1, 1] y
[joined-block]
features beside one another, they are added
  Concat <axis = 1> (stream, skip) => Add (stream, skip)
an older value on the way across
  Sigmoid (skip) => Sigmoid (x)
what was joined on the shortcut
  Add (joined, again) => Add (stream, again)
[row]
a row, the pool takes the first again
  strides = [2, 2]> (activated) => strides = [2, 2]> (x)
  16, 16] y) => 16, 16] y, float[1, 8, 32, 32] activated)
a row, two branches go on
  16, 16] y) => 16, 16] y, float[1, 8, 32, 32] normal)
[atrous-pyramid]
branches side by side
  12, 12, 12]> (x, w) => 12, 12, 12]> (a, w4)
  18, 18, 18]> (x, w) => 18, 18, 18]> (b, w4)
  w = ConstantOfShape (dims) => w = ConstantOfShape (dims)  w4 = ConstantOfShape (inner)
  <int64[4] dims => <int64[4] inner = {4, 4, 3, 3}, int64[4] dims
several rates
  12, 12 => 6, 6
  18, 18 => 6, 6
one value
  float[1, 8, 32, 32] x) => float[1, 8, 32, 32] x, float[1, 8, 32, 32] z)
  18]> (x, w) => 18]> (z, w)
branches beside one another, they are added
  joined = Concat <axis = 1> (near, a, b, c)
    => ab = Add (near, a)  abc = Add (ab, b)  joined = Add (abc, c)
  {8, 16, 1, 1} => {8, 4, 1, 1}
[pyramid-pooling]
several grids
  [8, 8], strides = [8, 8] => [4, 4], strides = [4, 4]
  by8 = {1, 1, 8, 8} => by8 = {1, 1, 4, 4}
the value itself
  (x, r1, r2) => (r1, r1, r2)
  {4, 16, 3, 3} => {4, 12, 3, 3}
one value
  float[1, 8, 32, 32] x) => float[1, 8, 32, 32] x, float[1, 8, 32, 32] z)
  strides = [8, 8]> (x) => strides = [8, 8]> (z)
[channel-attention]
maxima
  GlobalMaxPool => GlobalAveragePool
a sum of both
  Add (b1, b2) => Mul (b1, b2)
channels
  GlobalAveragePool (x) => ReduceMean (x, ax)
  GlobalMaxPool (x) => ReduceMax (x, ax)
  <int64[4] down = {4, 8, 1, 1}, int64[4] up = {8, 4, 1, 1}>
    => <int64[1] ax = {1}, int64[4] down = {4, 1, 1, 1}, int64[4] up = {1, 4, 1, 1}>
[local-maxima]
every place
  strides = [1, 1] => strides = [2, 2]
the map itself
  Equal (x, largest) => Equal (z, largest)
  float[1, 8, 32, 32] x) => float[1, 8, 32, 32] x, float[1, 8, 32, 32] z)
maxima
  MaxPool => AveragePool
[cost-volume]
both maps, one is not moved
  p1 = Mul (x, left)   c1 = ReduceMean (p1, over) => c1 = Concat <axis = 1> (x, z)
  p2 = Mul (x, same)   c2 = ReduceMean (p2, over) => c2 = Concat <axis = 1> (x, z)
  p3 = Mul (x, right)  c3 = ReduceMean (p3, over) => c3 = Concat <axis = 1> (x, z)
several displacements
  Slice (wide, b, e, axis) => Slice (z, a, d, axis)
  Mul (x, same) => Mul (x, left)
  Mul (x, right) => Mul (x, left)
two maps, each is moved alone
  Mul (x, left) => Mul (left, left)
  Mul (x, same) => Mul (same, same)
  Mul (x, right) => Mul (right, right)
products
  Mul (x, left) => Add (x, left)
  Mul (x, same) => Add (x, same)
  Mul (x, right) => Add (x, right)
results beside one another
  Concat <axis = 1> (c1, c2, c3) => Sum (c1, c2, c3)
  float[1, 3, 16, 16] y => float[1, 1, 16, 16] y
"""
