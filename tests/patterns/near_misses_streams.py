"""Examples of units of sequences, signals and games that lack one part of what they are."""

from __future__ import annotations

TEXT = """
[gated-skip]
a gate
  gate = Sigmoid (logits) => gate = Tanh (logits)
a norm
  y = LayerNormalization (total, s) => y = Tanh (total)
a sum
  total = Add (x, gated) => total = Max (x, gated)
[attention-flow]
the same scores
  best = ReduceMax <keepdims = 0> (scores, last) => others = MatMul (context, turned)
      best = ReduceMax <keepdims = 0> (others, last)
another sequence for the maxima
  summed = MatMul (line, context) => summed = MatMul (line, z)
  float[1, 5, 8] query) => float[1, 5, 8] query, float[1, 9, 8] z)
shares
  weights = Softmax <axis = 1> (best) => weights = Sigmoid (best)
[joint-network]
two axes, each place meets its own
  columns = Unsqueeze (g, first) => columns = Unsqueeze (g, second)
  labels) => labels0)
  float[1, 5, 6] => float[1, 20, 6]
  f = MatMul => labels = Tanh (labels0)  f = MatMul
  float[1, 20, 5, 30] => float[1, 20, 1, 30]
two sequences, one meets itself
  g = MatMul (labels, w2) => g = MatMul (frames, w1)
  float[1, 20, 5, 30] => float[1, 20, 20, 30]
an activation
  bent = Tanh (total) => bent = Ceil (total)
[short-convolution]
a depthwise convolution
  group = 8, pads => group = 4, pads
  {8, 1, 3} => {8, 2, 3}
parts of one projection
  closed = Mul (c, causal) => closed = Mul (z, causal)
  float[1, 16, 8] x) => float[1, 16, 8] x, float[1, 8, 16] z)
the second gate
  closed = Mul (c, causal) => closed = Add (c, causal)
[nearest-code]
the nearest, the furthest
  y = ArgMin => y = ArgMax
their own lengths
  partly = Sub (own, twice) => partly = Sub (z, twice)
  float[2, 16, 8] x) => float[2, 16, 8] x, float[2, 16, 1] z)
[summed-embeddings]
parts of one value
  c1 = Gather <axis = 1> (codes, n1) => c1 = Gather <axis = 1> (others, n1)
  int64[2, 3, 16] codes) => int64[2, 3, 16] codes, int64[2, 3, 16] others)
equal tables
  third = ConstantOfShape (dims) => third = ConstantOfShape (more)
  int64[2] dims => int64[2] more = {65, 8}, int64[2] dims
sums
  total = Add (e0, e1) => total = Mul (e0, e1)
[averaged-heads]
a mean over heads
  mean = ReduceMean <keepdims = 0> (shares, axis) => mean = ReduceMax <keepdims = 0> (shares, axis)
shares
  shares = Softmax <axis = 3> (scores) => shares = Sigmoid (scores)
heads, the mean is over queries
  int64[1] axis = {1} => int64[1] axis = {2}
[band-split]
all of a value, a part is left out
  p2 = Slice (x, b1, b2, axis) => p2 = Slice (x, b1, b9, axis)
  int64[1] b3 => int64[1] b9 = {9}, int64[1] b3
  int64[2] d2 = {6, 6} => int64[2] d2 = {5, 6}
  int64[1] n2 = {6} => int64[1] n2 = {5}
one value
  p2 = Slice (x, b1, b2, axis) => p2 = Slice (z, b1, b2, axis)
  float[1, 12, 20] x) => float[1, 12, 20] x, float[1, 12, 20] z)
[mixture-density]
shares
  shares = Softmax <axis = 1> (logits) => shares = Sigmoid (logits)
positive widths
  widths = Exp (logarithms) => widths = Tanh (logarithms)
as many middles
  float[2, 15] middles => float[2, 6] middles
  middles = MatMul (x, w2) => w4 = ConstantOfShape (others)  middles = MatMul (x, w4)
  int64[2] of_each => int64[2] others = {16, 6}, int64[2] of_each
"""

SPELLINGS = """
[split-scales]
norms behind activations = Res2Net module, scale 4
  one = Conv <pads = [1, 1, 1, 1]> (a, w1) => n1 = Conv <pads = [1, 1, 1, 1]> (a, w1)
      r1 = Relu (n1)  one = BatchNormalization (r1, s, s, s, s)
  two = Conv <pads = [1, 1, 1, 1]> (b1, w2) => n2 = Conv <pads = [1, 1, 1, 1]> (b1, w2)
      r2 = Relu (n2)  two = BatchNormalization (r2, s, s, s, s)
  three = Conv <pads = [1, 1, 1, 1]> (c1, w3) => n3 = Conv <pads = [1, 1, 1, 1]> (c1, w3)
      r3 = Relu (n3)  three = BatchNormalization (r3, s, s, s, s)
  w1 = ConstantOfShape (dims)  w2 => s = ConstantOfShape (width)  w1 = ConstantOfShape (dims)  w2
  int64[4] dims = {3, 3, 3, 3}> => int64[4] dims = {3, 3, 3, 3}, int64[1] width = {3}>
[box-decoding]
squares of sigmoids = Box decoding, 3 anchors
  grown = Exp (size) => bent = Sigmoid (size)  twice = Mul (bent, two)  grown = Mul (twice, twice)
  float stride = {16} => float stride = {16}, float two = {2}
sizes of one place = Box decoding
  wide = Mul (grown, anchors) => wide = Mul (grown, stride)
parts by slices = Box decoding, 3 anchors
  tx, ty, size, rest = Split <axis = 4> (x, parts) => tx = Slice (x, n0, n1, axis)
      ty = Slice (x, n1, n2, axis)  size = Slice (x, n2, n4, axis)  rest = Slice (x, n4, n25, axis)
  float stride = {16} => float stride = {16}, int64[1] n0 = {0}, int64[1] n1 = {1},
      int64[1] n2 = {2}, int64[1] n4 = {4}, int64[1] n25 = {25}, int64[1] axis = {4}
[copying]
words that the vocabulary lacks behind it = Copy mechanism
  [adds] y = ScatterElements <axis = 1, reduction = "add"> (made, which, copied)
    => [joins] all = Concat <axis = 1> (made, none)
      [adds] y = ScatterElements <axis = 1, reduction = "add"> (all, which, copied)
  float one = {1} => float one = {1}, float[2, 3] none = {0, 0, 0, 0, 0, 0}
  float[2, 50] y => float[2, 53] y
[gated-residual-network]
a context besides
  float[4, 9, 8] x) => float[4, 9, 8] x, float[4, 1, 8] c)
  one = MatMul (x, w1) => own = MatMul (x, w1)  told = MatMul (c, w2)  one = Add (own, told)
two layers for the gate
  int64[2] twice = {8, 16} => int64[2] twice = {8, 8}
  both = MatMul (two, w3) => value = MatMul (two, w3)  logits = MatMul (two, w2)
  value, logits = Split <axis = -1, num_outputs = 2> (both) => spare = Identity (two)
[complex-mask]
masks of several bands, gated
  int64[2] parts = {1, 1} => int64[2] parts = {1, 1}, int64[4] twice = {4, 8, 1, 1}
  w = ConstantOfShape (dims) => w = ConstantOfShape (twice)
  masks = Conv (features, w)
    => low = Conv (features, w)  value, logits = Split <axis = 1, num_outputs = 2> (low)
      gate = Sigmoid (logits)  gated = Mul (value, gate)  masks = Concat <axis = 2> (gated, high)
  [1, 8, 16, 16] features => [1, 8, 12, 16] features, float[1, 2, 4, 16] high
[attention-flow]
shares along both axes = Co-attention
  best = ReduceMax <keepdims = 0> (scores, last) => best = Transpose <perm = [0, 2, 1]> (scores)
  weights = Softmax <axis = 1> (best) => weights = Softmax <axis = 2> (best)
  line = Unsqueeze (weights, row) => line = Identity (weights)
  second = Mul (context, summed) => spare = Identity (summed)
  y = Concat <axis = 2> (context, asked, first, second)
    => y = Concat <axis = 2> (context, asked, first)
  float[1, 9, 32] y => float[1, 5, 8] summed, float[1, 9, 24] y
[joint-network]
ReLU, and no layers before
  float[1, 20, 8] frames, float[1, 5, 6] labels => float[1, 20, 12] f, float[1, 5, 12] g
  f = MatMul (frames, w1)  g = MatMul (labels, w2) => spare = Identity (f)
  bent = Tanh (total) => bent = Relu (total)
[mixture-density]
parts of one layer = Mixture density head, 5 components
  logits = MatMul (x, w1)  shares => w4 = ConstantOfShape (of_all)  all = MatMul (x, w4)
      logits, middles, logarithms = Split <axis = 1, num_outputs = 3> (all)  shares
  middles = MatMul (x, w2) => unused = Identity (x)
  logarithms = MatMul (x, w3)  widths => spare = Identity (logarithms)  widths
  int64[2] of_each => int64[2] of_all = {16, 15}, int64[2] of_each
  float[2, 15] middles, float[2, 15] widths => float[2, 5] middles, float[2, 5] widths
"""
