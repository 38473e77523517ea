"""Examples of patterns of series, molecules and tables that lack one part of what they are."""

from __future__ import annotations

TEXT = """
[graph-network]
what both ends hold, one end is of other nodes
  target = Gather (x, to) => target = Gather (z, to)
  float[10, 8] x, => float[10, 8] x, float[10, 8] z,
sums of what edges hold then
  (nothing, places, changed) => (nothing, places, other)
  float[30, 8] edge, => float[30, 8] edge, float[30, 8] other,
nothing else that edges give
  next = Add (edge, changed) => next = Tanh (changed)
[vector-messages]
parts of one product
  c1 = Unsqueeze (c, one) => c1 = Unsqueeze (other, one)
  float[10, 12] phi, => float[10, 12] phi, float[30, 4] other,
vectors that are looked up
  there = Gather (vectors, from) => there = Relu (known)
  float[10, 12] phi, => float[10, 12] phi, float[30, 3, 4] known,
[vector-update]
products of two projections
  product = Mul (u, v) => product = Mul (u, other)
  float[10, 4] x, => float[10, 4] x, float[10, 3, 4] other,
lengths that meet features
  (x, length) => (x, other)
  float[10, 4] x, => float[10, 4] x, float[10, 4] other,
[edge-attention]
sums of the same exponentials
  (none, to, positive) => (none, to, scores)
a product with shares
  weighted = Mul (messages, shares) => weighted = Add (messages, shares)
a division
  Div (positive, of_edges) => Sub (positive, of_edges)
[coordinate-update]
one number for each edge
  float[64, 1] factor => float[64, 3] factor
differences
  apart = Sub (here, there) => apart = Add (here, there)
a sum with the places
  y = Add (places, total) => y = Mul (places, total)
[gaussian-basis]
squares = Formula, exp(−10 · ReLU(x − c))
  square = Pow (apart, two) => square = Relu (apart)
several places = Formula, exp(−10 · (x − 1)²)
  places = {0, 1, 2, 3, 4} => places = {1}
  float[5] places => float[1] places
  float[64, 5] y => float[64, 1] y
less for what is farther = Formula, exp(10 · (x − c)²)
  narrow = {-10} => narrow = {10}
[bessel-basis]
a division by the distance = Formula, sin(x · c) · x
  y = Div (waves, distances) => y = Mul (waves, distances)
several frequencies = Formula, sin(0.6 · x) / x
  frequencies = {0.6, 1.3, 1.9, 2.5} => frequencies = {0.6}
  float[4] frequencies => float[1] frequencies
  float[64, 4] y => float[64, 1] y
[series-decomposition]
the series less its average, the average less the series
  Sub (x, trend) => Sub (trend, x)
an average, the largest
  AveragePool => MaxPool
the same series
  (float[2, 7, 96] x) => (float[2, 7, 96] x, float[2, 7, 96] z)
  Sub (x, trend) => Sub (z, trend)
as many steps
  pads = [12, 12] => strides = [2], pads = [12, 12]
[stored-basis]
powers, the last number is another = Linear 3 → 8
  0.765625 => 0.5
more results than numbers = Linear 8 → 3
  y = MatMul (theta, powers)
    => turned = Transpose <perm = [1, 0]> (powers)  y = MatMul (theta, turned)
  float[4, 3] theta => float[4, 8] theta
  float[4, 8] y => float[4, 3] y
the power of 0 = Linear 3 → 8
  {1, 1, 1 => {2, 1, 1
[masked-mlp]
an order of what is seen = MLP 3 → 4 → 6, ReLU
  {1, 1, 1, 1, 0, 0, 1, 1, 0 => {1, 1, 1, 1, 0, 1, 1, 0, 1
masks of both layers = MLP 3 → 4 → 6, ReLU
  MatMul (active, other) => MatMul (active, w2)
[autoregressive-step]
the value itself, another one is moved
  float[4, 3] x) => float[4, 3] x, float[4, 3] z)
  apart = Sub (x, mean) => apart = Sub (z, mean)
an exponential
  factor = Exp (negative) => factor = Tanh (negative)
masks
  hidden = MatMul (x, masked) => hidden = MatMul (x, w1)
[label-chain]
scores of one label behind another, others for each step
  t = ConstantOfShape (dims) => t = ConstantOfShape (dims)  t2 = ConstantOfShape (dims)
  s2 = Add (u1, t) => s2 = Add (u1, t2)
the best label
  b2 = ReduceMax => b2 = ReduceMean
scores of what is seen
  a1 = Add (b1, e1) => a1 = Mul (b1, e1)
[biaffine]
a weight between
  weighted = MatMul (a, u) => weighted = Tanh (a)
activated layers
  first = MatMul (x, w1)       a = Relu (first) => a = MatMul (x, w1)
layers of one value
  float[2, 9, 8] x) => float[2, 9, 8] x, float[2, 9, 8] z)
  second = MatMul (x, w2) => second = MatMul (z, w2)
[copying]
one less the gate
  shut = Sub (one, gate) => shut = Sub (gate, one)
a sum
  reduction = "add" => reduction = "max"
shares
  attention = Softmax (source) => attention = Tanh (source)
other words behind the vocabulary, their shares are computed
  [adds] y = ScatterElements <axis = 1, reduction = "add"> (made, which, copied)
    => [joins] all = Concat <axis = 1> (made, source)
      [adds] y = ScatterElements <axis = 1, reduction = "add"> (all, which, copied)
  float[2, 50] y => float[2, 62] y
[sparsemax]
running sums = Selection
  sums = CumSum (ordered, last) => sums = Relu (ordered)
what is below 0 = Selection
  y = Relu (apart) => y = Exp (apart)
the same scores = Selection
  float[4, 8] z) => float[4, 8] z, float[4, 8] other)
  apart = Sub (z, threshold) => apart = Sub (other, threshold)
[soft-trees]
as many leaves as the levels lead to
  float[4, 6, 2, 4] => float[4, 6, 3, 4]
products
  ReduceProd => ReduceSum
[auto-correlation]
a conjugate
  real = Add (rr, ii) => real = Sub (rr, ii)
  imaginary = Sub (ir, ri) => imaginary = Add (ir, ri)
two series
  b = DFT (z, , axis) => b = DFT (x, , axis)
the way back
  y = DFT <inverse = 1> => y = DFT
[value-iteration]
one weight
  w = ConstantOfShape (dims) => w = ConstantOfShape (dims)  u = ConstantOfShape (dims)
  (j2, w) => (j2, u)
the best action
  v2 = ReduceMax => v2 = ReduceMean
the values before
  (r, v2) => (r, v0)
[highway]
one less the gate
  Sub (one, gate) => Sub (gate, one)
what comes in, something else is kept
  float[4, 8] x) => float[4, 8] x, float[4, 8] z)
  kept = Mul (x, shut) => kept = Mul (z, shut)
an activation
  hidden = Relu (inner) => hidden = Identity (inner)
[linear-recurrence]
factors of one value
  float[2, 8] h0) => float[2, 8] h0, float[2, 4, 8] c)
  a2 = Gather <axis = 1> (a, n2) => a2 = Gather <axis = 1> (c, n2)
a sum
  h3 = Add (m2, b2) => h3 = Max (m2, b2)
the state before
  m2 = Mul (a2, h2) => m2 = Mul (a2, h1)
[gated-residual-network]
a gate
  gate = Sigmoid (logits) => gate = Tanh (logits)
the way around
  float[4, 9, 8] x) => float[4, 9, 8] x, float[4, 9, 8] z)
  total = Add (x, gated) => total = Add (z, gated)
an ELU
  active = Elu (one) => active = Relu (one)
[variable-selection]
shares
  shares = Softmax (y3) => shares = Sigmoid (y3)
gated residual networks
  e2 = Elu (a2) => e2 = Relu (a2)
a sum
  y = ReduceSum => y = ReduceMax
[chosen-queries]
how far the largest is from the mean
  apart = Sub (largest, mean) => apart = Add (largest, mean)
the places of the queries
  (others, w2, mixed) => (others, w3, mixed)
  int64[1] places = {2}> => int64[1] places = {2}, int64[4] w3 = {0, 1, 2, 3}>
[differential-attention]
a difference
  apart = Sub (first, less) => apart = Add (first, less)
shares
  shares = Softmax (scores) => shares = Tanh (scores)
[matrix-memory]
how large sums are
  size = Abs (total) => size = Relu (total)
the larger of both
  limit = Max (size, floor) => limit = Add (size, floor)
[target-attention]
what both have in common
  met = Mul (each, history) => met = Mul (each, each)
one number of each
  int64[2] down = {6, 1} => int64[2] down = {6, 8}
a sum
  y = ReduceSum => y = ReduceMax
[soft-mixture]
shares along both axes
  rows = Softmax <axis = 1> (logits) => rows = Softmax <axis = 0> (logits)
experts
  h2 = MatMul (s2, u)  a2 = Relu (h2)  o2 = MatMul (a2, d) => o2 = Neg (s2)
[generated-weights]
a layer's own numbers
  made = MatMul (context, w) => rows = MatMul (context, w)  made = Tanh (rows)
a layer
  made = MatMul (context, w) => made = Concat <axis = 1> (context, context)
  float[4, 5] context => float[4, 3] context
a matrix that is no square
  int64[2] dims = {5, 6} => int64[2] dims = {5, 9}
  int64[3] matrix = {4, 3, 2} => int64[3] matrix = {4, 3, 3}
  float[4, 1, 2] y => float[4, 1, 3] y
[squashed-draw]
noise = Formula, tanh(x + exp(clip(y, −20, 2)) · x)
  float[4, 2] noise) => float[4, 2] other)
  drawn = Mul (deviation, noise) => drawn = Mul (deviation, mean)
layers of one value = Formula, tanh(x + exp(clip(y, −20, 2)) · z)
  logarithm = MatMul (state, w2) => logarithm = MatMul (second, w2)
  float[4, 2] noise) => float[4, 2] noise, float[4, 8] second)
a tangent = Formula, ReLU(x + exp(clip(y, −20, 2)) · z)
  y = Tanh (total) => y = Relu (total)
[runge-kutta]
one network
  u = ConstantOfShape (up)  d = => v = ConstantOfShape (up)  u = ConstantOfShape (up)  d =
  h3 = MatMul (x2, u) => h3 = MatMul (x2, v)
twice as much of both in the middle
  t3 = Mul (k3, two) => t3 = Mul (k3, half)
the value itself
  float[4, 8] x) => float[4, 8] x, float[4, 8] z)
  y = Add (x, change) => y = Add (z, change)
[point-attention]
points with three coordinates
  float[9, 1, 3] from => float[9, 1, 5] from
  float[1, 9, 3] to => float[1, 9, 5] to
points that are mixed, too
  moved = MatMul (shares, points) => moved = Neg (points)
"""
