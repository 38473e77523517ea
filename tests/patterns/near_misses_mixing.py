"""Examples of attention of special kinds and of compared maps that lack one part."""

from __future__ import annotations

TEXT = """
[cascaded-attention]
what one gives in what the next one takes
  next = Add (m1, two) => next = Add (two, two)
parts of the features
  one, two = Split <axis = -1, num_outputs = 2> (x) => one = Relu (z)  two = Tanh (z)
  float[1, 16, 8] x) => float[1, 16, 8] x, float[1, 16, 4] z)
joining
  joined = Concat <axis = -1> (m1, m2) => joined = Concat <axis = -1> (m1, next)
[outlook-attention]
shares
  shares = Softmax <axis = -1> (scores) => shares = Sigmoid (scores)
overlaps that are added up
  map = Col2Im <pads = [1, 1, 1, 1]> (flat, image, kernel) => map = Neg (other)
  float[1, 6, 6, 8] x) => float[1, 6, 6, 8] x, float[1, 8, 6, 6] other)
shares of the same value
  a = MatMul (x, wa) => a = MatMul (other, wa)
  float[1, 6, 6, 8] x) => float[1, 6, 6, 8] x, float[1, 6, 6, 8] other)
[deformable-attention]
shares of what is found
  s2 = Softmax <axis = -1> (s1) => s2 = Tanh (s1)
places that the queries tell
  o = MatMul (q, wp) => o = MatMul (other, wp)
  float[1, 16, 8] q) => float[1, 16, 8] q, float[1, 16, 8] other)
what is found is weighed
  weighed = Mul (found, shares) => weighed = Add (found, shares)
[binarization]
a steep curve = Formula, 1 / (exp(−2 · (x − y)) + 1)
  steep = {-50} => steep = {-2}
probabilities = Formula, 1 / (exp(−50 · (x − y)) + 1)
  p = Sigmoid (p0) => p = Tanh (p0)
a rising curve = Formula, 1 / (exp(50 · (x − y)) + 1)
  steep = {-50} => steep = {50}
[rotation]
a turned half
  negated = Neg (second) => negated = Relu (second)
halves of the value itself
  first = Slice (x, zero, half, last) => first = Slice (z, zero, half, last)
  16, 8] x) => 16, 8] x, float[1, 16, 8] z)
the later half
  negated = Neg (second) => negated = Neg (first)
  turned = Concat <axis = -1> (negated, first) => turned = Concat <axis = -1> (negated, second)
angles of several places
  int64[3] all = {1, 16, 8} => int64[3] all = {1, 1, 8}
a stored sine
  by_sin = Mul (turned, sin) => by_sin = Mul (turned, x)
a sum
  y = Add (plain, by_sin) => y = Div (plain, by_sin)
"""

SPELLINGS = """
[divisive-norm]
one over the root
  inverse = Reciprocal (root) => one = Constant <value_float = 1.0> ()  inverse = Div (one, root)
[binarization]
one number divided
  y = Reciprocal (above) => y = Div (one, above)
a negative sign of its own
  steep = {-50} => steep = {50}
  [e] raised = Exp (scaled) => [n] n0 = Neg (scaled)  [e] raised = Exp (n0)
one operator
  steep = {-50} => steep = {50}
  [e] raised = Exp (scaled) =>
  [a] above = Add (raised, one) =>
  y = Reciprocal (above) => y = Sigmoid (scaled)
[cascaded-attention]
an activation before the projection
  y = MatMul (joined, wo) => bent = Relu (joined)  y = MatMul (bent, wo)
[rotation]
every other feature
  int64[1] last = {-1}> => int64[1] last = {-1}, int64[1] step = {2}, int64[1] one = {1}>
  first = Slice (x, zero, half, last) => first = Slice (x, zero, end, last, step)
  second = Slice (x, half, end, last) => second = Slice (x, one, end, last, step)
one split
  first = Slice (x, zero, half, last) => first, second = Split <axis = -1, num_outputs = 2> (x)
  second = Slice (x, half, end, last) =>
"""
