"""Examples of points, warps, waves and estimates that lack one part of what they are."""

from __future__ import annotations

TEXT = """
[chebyshev]
twice the number
  float two = {2} => float two = {3}
the step before, another one is taken away
  t3 = Sub (cube, x) => t3 = Sub (cube, t2)
[compressed-interaction]
the features of the first
  more = Mul (d, b) => more = Mul (d, z)
  float[2, 3, 8] x) => float[2, 3, 8] x, float[2, 3, 1, 8] z)
products of pairs
  more = Mul (d, b) => more = Add (d, b)
[kernel-pooling]
logarithms
  logarithms = Log (some) => logarithms = Neg (some)
a sum over queries
  y = ReduceSum <keepdims = 0> (logarithms, query)
    => y = ReduceMax <keepdims = 0> (logarithms, query)
[sinkhorn]
rows and columns in turn = Formula, with exp
  b = ReduceLogSumExp (x1, rows) => b = ReduceLogSumExp (x1, columns)
  d = ReduceLogSumExp (x3, rows) => d = ReduceLogSumExp (x3, columns)
sums of what is divided = Formula, with exp
  c = ReduceLogSumExp (x2, columns) => c = ReduceLogSumExp (other, columns)
  5, 6] scores) => 5, 6] scores, float[2, 5, 6] other)
[operator-product]
places
  float[30, 2] places => float[30, 9] places
  of_places = {2, 16} => of_places = {9, 16}
two networks, one is of the other
  c = MatMul (places, w3) => c = MatMul (samples, w1)
  float[4, 30] y => float[4, 4] y
[vector-attention]
differences
  apart = Sub (asked, keys) => apart = Mul (asked, keys)
shares
  Softmax <axis = 2> (scores) => Tanh (scores)
keys that are projected, they are as they are
  (k, near) => (z, near)
  16, 8] x, => 16, 8] x, float[1, 16, 8] z,
[set-abstraction]
a centre that is taken off
  apart = Sub (found, centres) => apart = Mul (found, centres)
points that are looked up
  found = Gather (points, near) => found = Relu (points3)
  float[64, 3] points, => float[64, 3] points, float[16, 8, 3] points3,
the largest
  y = ReduceMax => y = ReduceMean
[warping]
stored places, they come in
  moved = Add (scaled, places) => moved = Add (scaled, others)
  2, 2] flow) => 2, 2] flow, float[1, 2, 2, 2] others)
a sum with a flow
  moved = Add (scaled, places) => moved = Mul (scaled, places)
[volume-rendering]
a running sum = Formula, with exp, ReLU, sum
  sums = CumSum <exclusive = 1> (density, ray) => sums = Relu (density)
what is left of all = Formula, with exp, running sum, sum
  opacity = Sub (one, alone) => opacity = Sub (alone, one)
[oscillators]
a running sum = Formula, sin(ReLU(x) · c)
  phase = CumSum (frequency, time) => phase = Relu (frequency)
a sine
  y = Sin (angles) => y = Exp (angles)
[guidance]
halves of a batch, these are of channels
  axis = 0> (x, halves) => axis = 1> (x, halves)
  float[2, 3, 16, 16] x => float[1, 2, 16, 16] x
a difference with what it is added to
  apart = Sub (c, u) => apart = Sub (c, other)
  16, 16] x) => 16, 16] x, float[1, 3, 16, 16] other)
one scale for all, and not places between two
  float scale = {7.5} => float[16] scale = {1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3, 4, 4, 4, 4}
[complex-mask]
the other part in each product of the sum
  [c] c = Mul (real, m2) => [c] c = Mul (real, m1)
a mask that a network gives, it comes in
  masks = Conv (features, w) => masks = Relu (given)
  float[1, 8, 16, 16] features) => float[1, 2, 16, 16] given)
[general-mean]
the root of the same power
  low = {0.25} => low = {0.5}
powers above 1
  high = {4}, float low = {0.25} => high = {0.5}, float low = {2}
[bilinear-pooling]
maps
  maps = Conv <pads = [1, 1, 1, 1]> (x, k) => maps = Relu (z)
  16, 16] x) => 16, 16] x, float[1, 8, 16, 16] z)
channels, each place and all others
  (rows, columns) => (columns, rows)
[routing]
shares = Formula, with sum, tanh
  Softmax <axis = 2> (raised) => Tanh (raised)
the votes that agreed
  weighted = Mul (shares, votes) => weighted = Mul (shares, others)
  votes, float => votes, float[1, 32, 10, 16] others, float
[residual-pooling]
stored centres
  apart = Sub (x, centres) => apart = Sub (x, given)
  64] x) => 64] x, float[1, 4, 8, 1] given)
differences
  apart = Sub (x, centres) => apart = Mul (x, centres)
"""
