"""Examples of patterns of sequences, graphs and heads that lack one part, and other spellings."""

from __future__ import annotations

TEXT = """
[positional-encoding]
cosines
  cosine = Cos (a) => cosine = Sin (a)
  other = Cos (b) => other = Sin (b)
multiples of one place
  b = Mul (x, two) => z = Tanh (x) b = Mul (z, two)
waves
  Sin (a) => Tanh (a)
  Sin (b) => Tanh (b)
[embedding]
rows, columns
  y = Gather => y = Gather <axis = 1>
  {1000, 48} => {48, 1000}
  float[2, 16, 48] y => float[48, 2, 16] y
a table, it is computed
  embedding (int64[2, 16] ids) => embedding (int64[2, 16] ids, float[1000, 48] table)
  table = ConstantOfShape (dims) => other = ConstantOfShape (dims)
[attention]
softmax, sigmoid = Pointwise attention, 4 heads, sigmoid in place of softmax
  Softmax (scores) => Sigmoid (scores)
softmax, squared ReLU = Pointwise attention, 4 heads, squared ReLU in place of softmax
  weights = Softmax (scores) => positive = Relu (scores) weights = Mul (positive, positive)
shares of keys, of queries
  Softmax (scores) => Softmax <axis = 2> (scores)
shares of keys, what they sum up is of queries
  mixed = MatMul (weights, v2)
    => back = Transpose <perm = [0, 1, 3, 2]> (weights)  mixed = MatMul (back, v2)
[landmark-attention]
landmarks of the queries themselves
  few_q = ReduceMean <keepdims = 0> (q1, each) => few_q = Add (other, other)
  float[1, 64, 32] x) => float[1, 64, 32] x, float[1, 8, 32] other)
an inverse of the shares of landmarks
  a = Sub (unit, kz) => a = Sub (unit, other)
  float[1, 64, 32] x) => float[1, 64, 32] x, float[1, 8, 8] other)
an inverse, they are only multiplied
  inverse = MatMul (z1, e) => inverse = MatMul (among_few, among_few)
[low-rank-attention]
fewer tokens in both
  values = Einsum <equation = "bnd,nk->bkd"> (v, f)
    => values = Einsum <equation = "bnd,nk->bkd"> (v, f) more = Tanh (values)
  (shares, values) => (shares, more)
fewer keys, as many
  fewer = {64, 16} => fewer = {64, 64}
[delta-rule]
the difference
  missing = Sub (v, told) => missing = Add (v, told)
a difference that is written
  change = Mul (missing, rate) => change = Mul (v, rate)
  result = ReduceSum (read, keys) => r0 = ReduceSum (read, keys)  result = Add (r0, missing)
writing by the key
  written = Mul (k, change) => written = Tanh (change)
[pointwise-attention]
scores that are squared = Pointwise attention, ReLU in place of softmax, gated
  weights = Pow (positive, two) => weights = Mul (positive, two)
a gate = Pointwise attention, squared ReLU in place of softmax
  gated = Mul (u, mixed) => gated = Identity (mixed)
  u, v, base = => other, v, base =
one projection of both = Pointwise attention, squared ReLU in place of softmax, gated
  parts = {128, 128, 32} => parts = {128, 96, 32, 32}
  u, v, base = => u, v, base, more =
  k0 = Mul (base, gk) => k0 = Mul (more, gk)
  out = {128, 64} => out = {96, 64}
an activation
  positive = Relu (scores) => positive = Abs (scores)
one value of all
  v, base = => v0, base =
  float[1, 17, 64] x) => float[1, 17, 64] x, float[1, 17, 128] z)
  mixed = MatMul (weights, v) => v = Tanh (z)  mixed = MatMul (weights, v)
[slice-attention]
the same shares
  back = MatMul (shares, mixed) => o = Softmax <axis = 1> (logits)  back = MatMul (o, mixed)
attention among slices
  weights = Softmax <axis = 2> (scores) => weights = Tanh (scores)
shares
  shares = Softmax <axis = 2> (logits) => shares = Tanh (logits)
[mlp]
one start of both halves
  float[2, 16, 8] x) => float[2, 16, 8] x, float[2, 16, 8] z)
  up = MatMul (x, wu) => up = MatMul (z, wu)
an activation
  activated = Mul (gate, squashed) => activated = Add (gate, gate)
a product of halves
  hidden = Mul (activated, up) => hidden = Add (activated, up)
[experts]
weights that are picked by the choice
  experts (float[16, 8] x) => experts (float[16, 8] x, int64[16, 2] other)
  up = Gather (ups, chosen) => up = Gather (ups, other)
  down = Gather (downs, chosen) => down = Gather (downs, other)
a router of the tokens
  experts (float[16, 8] x) => experts (float[16, 8] x, float[16, 4] logits)
  logits = MatMul (x, router) => other_logits = MatMul (x, router)
products with what was picked
  hidden = MatMul (row, up) => hidden = Add (row, up)
[state-space-mixer]
steps of what is taken up
  scaled = Mul (split, dt_of_heads) => scaled = Mul (split, split)
steps of decays
  rates = Mul (dt, a) => rates = Mul (shifted, a)
decays
  weights = Mul (causal, scores) => weights = Add (scores, scores)
  decays = Exp (passed) => decays = Tanh (passed)
[fourier-filter]
the inverse
  y = DFT <inverse = 1> => y = DFT
weights
  rr = Mul (real, wr)  ii = Mul (imaginary, wi) => rr = Abs (real)  ii = Abs (imaginary)
  ri = Mul (real, wi)  ir = Mul (imaginary, wr) => ri = Neg (real)  ir = Neg (imaginary)
[similarities]
lengths of one, of one side
  v = LpNormalization (texts) => v = Tanh (texts)
lengths of one of features, of rows
  u = LpNormalization (images) => u = LpNormalization <axis = 0> (images)
[transformer-block]
residual sums
  stream = Add (x, attended) => stream = Mul (x, attended)
an MLP
  activated = Gelu (hidden) => activated = Add (hidden, hidden)
attention
  mixed = Attention <q_num_heads = 4, kv_num_heads = 4, is_causal = 1> (q, k, v)
    => qk = Mul (q, k) mixed = Mul (qk, v)
[conformer-block]
a depthwise convolution
  group = 16 => group = 1
  deep = {16, 1, 31} => deep = {16, 16, 31}
a gate
  gated = Mul (content, open) => gated = Add (content, open)
an MLP before attention
  x1 = Add (x, half1) => x1 = Add (x, x)
  x4 = Add (x3, half2) => both = Add (half1, half2)  x4 = Add (x3, both)
[convolution-module]
a gate
  gated = Mul (content, open) => gated = Add (content, open)
a depthwise convolution
  group = 16 => group = 1
  deep = {16, 1, 31} => deep = {16, 16, 31}
[rotated-attention]
a turn
  negative = Neg (x2) => negative = Abs (x2)
a sum of both
  rotated = Add (by_cos, by_sin) => rotated = Mul (by_cos, by_sin)
[reduced-attention]
fewer keys
  strides = [2, 2] => strides = [1, 1], auto_pad = "SAME_UPPER"
queries of all places
  q = MatMul (x, wq) => q = MatMul (fewer, wq)
  float[1, 64, 16] y => float[1, 16, 16] y
[sublayer]
an activation
  activated = Relu (hidden) => activated = Add (hidden, hidden)
the value in the sum, a product
  y = Add (x, given) => y = Mul (x, given)
[token-embedding]
a sum
  y = Add (words, positions) => y = Mul (words, positions)
a table of positions, another value
  int64[1, 20] places => float[1, 20, 48] places
  positions = Gather (place_table, places) => positions = Tanh (places)
[recurrent-layers]
layers of one kind
  y = LSTM => other = RNN <hidden_size = 16, direction = "bidirectional"> (x, w, r)  y = LSTM
nothing besides
  y = LSTM => z = Relu (x)  y = LSTM
  (x, w, r) => (z, w, r)
[recurrent-cell]
a state that is kept
  kept = Mul (keep, c) => kept = Add (keep, c)
a gate of the result
  next_h = Mul (give, squashed) => next_h = Add (give, squashed)
a state, no h
  gates = Add (of_x, of_h) => gates = Add (of_x, of_x)
  of_h = MatMul (h, r) => of_h = MatMul (x, w)
[light-cell]
an update gate, what is kept is not what comes in
  kept = Mul (z, h) => kept = Mul (z, x)
  float[20, 1, 32] all => float[20, 1, 16] all
  (all, place) => (all, place)  w = Concat <axis = 1> (x, x)
  gates = Add (x, of_h) => gates = Add (w, of_h)
what is new as far as it is not kept
  rest = Sub (one, z) => rest = Add (one, z)
a sum with what comes in, as in a highway
  gates = Add (x, of_h) => gates = Relu (of_h)
no reset gate
  new = Relu (fresh) => reset = Mul (fresh, update)  new = Relu (reset)
[state-space-block]
steps of what is taken up
  du = Mul (dt, u) => du = Mul (u, u)
steps of decays
  rates = Mul (dt_of_states, a) => bare = Unsqueeze (steps, last)  rates = Mul (bare, a)
a gate
  gated = Mul (result, squashed) => gated = Add (result, squashed)
a softplus
  Softplus (steps) => Sigmoid (steps)
[waves]
a cosine
  cosine = Cos (angles) => cosine = Sin (angles)
one angle
  cosine = Cos (angles) => more = Add (angles, places) cosine = Cos (more)
[similarity]
lengths of one, of one side
  v = LpNormalization (texts) => v = Tanh (texts)
lengths of one of features, of rows
  u = LpNormalization (images) => u = LpNormalization <axis = 0> (images)
[patch-merging]
all squares
  (x0, x1, x2, x3) => (x0, x0, x0, x0)
steps
  steps = {2, 2} => steps = {1, 1}
[mixer-block]
tokens in place of features
  turned = Transpose <perm = [0, 2, 1]> (normal) => turned = Identity (normal)
  back = Transpose <perm = [0, 2, 1]> (m1) => back = Identity (m1)
  t1 = {16, 32}, int64[2] t2 = {32, 16} => t1 = {8, 32}, int64[2] t2 = {32, 8}
a sum around what mixes
  mixed = Add (x, back) => mixed = Mul (x, back)
[fourier-transform]
two axes
  y = DFT (along, , tokens) => y = DFT (along, , features)
one direction
  y = DFT (along, , tokens) => y = DFT <inverse = 1> (along, , tokens)
[reparametrisation]
noise that is taken for nothing else, where no half is taken = Formula, x + exp(y) · tanh(z)
  halved = Mul (log_variance, half) => more = Tanh (noise)
  deviation = Exp (halved) => deviation = Exp (log_variance)
  scaled = Mul (deviation, noise) => scaled = Mul (deviation, more)
parts of one projection, where no half is taken = Formula, x + exp(y) · z
  halved = Mul (log_variance, half) => halved = Identity (log_variance)
noise = Formula, x + exp(0.5 · y) · tanh(z)
  scaled = Mul (deviation, noise) => scaled = Mul (deviation, change)
  halved = => change = Tanh (noise) halved =
half of a logarithm = Formula, x + exp(0.3 · y) · z
  half = {0.5} => half = {0.3}
an exponential = Formula, x + tanh(0.5 · y) · z
  Exp (halved) => Tanh (halved)
a sum with the mean = Formula, x · exp(0.5 · y) · z
  y = Add (mean, scaled) => y = Mul (mean, scaled)
[gumbel-softmax]
a logarithm
  extreme = Log (positive) => extreme = Exp (positive)
a softmax = Formula, σ((x − log(−log(y))) / 0.5)
  y = Softmax <axis = -1> (sharp) => y = Sigmoid (sharp)
[vector-quantizer]
the nearest, the furthest
  nearest = ArgMin => nearest = ArgMax
distances to codes, scores
  distances = Sub (squares, twice) => distances = Add (squares, twice)
  nearest = ArgMin => nearest = ArgMax
codes of the same table
  y = Gather (codes, nearest) => y = Gather (others, nearest)
  int64[1] count => int64[2] wide = {512, 64}, int64[1] count
  codes = ConstantOfShape (dims) => others = ConstantOfShape (wide)
  float[2, 16, 8] y => float[2, 16, 64] y
[residual-quantizer]
the rest
  rest = Sub (x, q1) => rest = Add (x, q1)
the rest, the value itself
  p2 = MatMul (rest, columns) => p2 = MatMul (x, columns)
  rest = Sub (x, q1) => other_rest = Sub (x, q1)
[distances]
the nearest, a product alone
  near = Sub (half, others) => near = Sub (products, products)
lengths
  half = Sub (below, products) => half = Tanh (products)
[edge-features]
differences
  apart = Sub (found, own) => apart = Mul (found, own)
the same points
  found = GatherND <batch_dims = 1> (x, places)
    => z = Tanh (x) found = GatherND <batch_dims = 1> (z, places)
[edge-convolution]
differences
  apart = Sub (found, own) => apart = Mul (found, own)
the largest of neighbours, it is of points
  ReduceMax <keepdims = 0> (bent, next) => ReduceMax <keepdims = 0> (bent, early)
  int64[1] next = {2}, => int64[1] next = {2}, int64[1] early = {1},
  (float[1, 64, 16] y) => (float[1, 8, 16] y)
a layer
  projected = MatMul (edges, w) => projected = Tanh (edges)
  (float[1, 64, 16] y) => (float[1, 64, 6] y)
the same points
  found = GatherND <batch_dims = 1> (x, places)
    => z = Tanh (x) found = GatherND <batch_dims = 1> (z, places)
the edges alone, others take them too
  bent = Relu (projected) => bent0 = Relu (projected)  bent = Add (bent0, edges)
  dims = {6, 16} => dims = {6, 6}
  (float[1, 64, 16] y) => (float[1, 64, 6] y)
[graph-convolution]
a graph, other features
  float[50, 50] adjacency => float[50, 40] adjacency
  (float[50, 16] x => (float[40, 16] x
a layer
  projected = MatMul (x, w) => projected = Tanh (x)
  float[50, 8] y => float[50, 16] y
  width = {8} => width = {16}
features that are no graph
  projected = MatMul (x, w) => projected = Add (adjacency, adjacency)
  float[50, 8] y => float[50, 50] y
  width = {8} => width = {50}
[stored-graph]
a graph, nothing comes back
  1, 1, 1, 1, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0} => 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}
a sum over those who are joined
  nctv,vw->nctw => nctv,vw->nctv
[graph-attention]
edges
  masked = Where (joined, scores, low) => masked = Add (scores, low)
the features that are scored
  y = MatMul (shares, h) => z = Tanh (h) y = MatMul (shares, z)
two projections
  sums = Add (from, turned) => sums = Mul (from, turned)
[retention]
decays that fall = Linear attention, masked
  {1, 0, 0, 0.5, 1, 0, 0.25, 0.5, 1} => {1, 0, 0, 1, 1, 0, 1, 1, 0.5}
decays at all
  decayed = Mul (products, decay) => decayed = Mul (products, products)
no softmax = Self-attention
  y = MatMul (decayed, v) => soft = Softmax (decayed) y = MatMul (soft, v)
queries of one projection
  q = MatMul (x, wq) => q0 = MatMul (x, wq)  q1 = MatMul (x, wv)  q = Mul (q0, q1)
[dot-interaction]
one set of features
  y = MatMul (features, turned) => z = Tanh (features) y = MatMul (z, turned)
several features
  (dense, user, item) => (dense, user)
  float[2, 1, 8] item => float[2, 1, 8] item
  float[2, 3, 3] y => float[2, 2, 2] y
[factorization-machine]
the square of the sum = Formula, with sum, tanh, square
  first = Pow (total, two) => first = Tanh (total)
a difference = Formula, with sum, square
  rest = Sub (first, second) => rest = Add (first, second)
[cross-network]
the input in each product
  p2 = Mul (x, s2) => p2 = Mul (x1, s2)
the sum with the last layer
  y = Add (t2, x1) => y = Add (t2, t2)
[message-passing]
a gather along edges
  sent = Gather (x, from) => sent = Tanh (z)
  float[10, 8] x, => float[30, 8] z, float[10, 8] x,
a sum, written over
  axis = 0, reduction = "add" => axis = 0
other ends, the rows they came from
  int64[30] from, int64[30, 8] to => int64[30, 8] to
  sent = Gather (x, from) => sent = GatherElements (x, to)
ends of edges, of a router's choice instead
  int64[30] from, int64[30, 8] to => int64[30] from, float[30, 8, 10] scores
  zeros = ConstantOfShape (dims) => largest, all = TopK (scores, one)  to = Squeeze (all, last)
      zeros = ConstantOfShape (dims)
  int64[2] square = {8, 8} => int64[2] square = {8, 8}, int64[1] one = {1}, int64[1] last = {2}
[adaptive-norm]
a norm
  LayerNormalization (x, s) => Mul (x, s)
another value, of the same
  scaled = Mul (normal, above) => own = Tanh (x) scaled = Mul (normal, own)
a shift
  y = Add (scaled, shift) => y = Mul (scaled, shift)
[squash]
the length
  y = Div (shorter, root) => y = Div (shorter, above)
one more than the length = Formula, x · Σx² / (Σx² + 3) / √(Σx² + ε)
  float one = {1} => float one = {3}
[gate]
a share between 0 and 1
  gate = Sigmoid (logits) => gate = Tanh (logits)
a product
  y = Mul (content, gate) => y = Add (content, gate)
[linear-attention]
division by the sum of weights
  shared = Div (result, total) => shared = Add (result, total)
keys summed up over tokens, over features
  tokens = {1} => tokens = {2}
  keys = ReduceSum (k, tokens) => keys0 = ReduceSum (k, tokens) keys = Mul (keys0, k)
a map that is positive
  k1 = Elu (k0)  k = Add (k1, one) => k = Tanh (k0)
the same map
  k1 = Elu (k0) => k1 = Relu (k0)
shares of tokens, and not of features
  q1 = Elu (q0)  q = Add (q1, one) => q = Identity (q0)
  k1 = Elu (k0)  k = Add (k1, one) => k = Softmax <axis = -1> (k0)
  keys = ReduceSum (k, tokens) => spare = Identity (k)
  over = Transpose <perm = [0, 2, 1]> (keys) => spare2 = Identity (spare)
  total = MatMul (q, over) => spare3 = Identity (spare2)
  shared = Div (result, total) => shared = Identity (result)
[weighted-sum]
a tanh of a sum
  squashed = Tanh (both) => squashed = Relu (both)
queries and keys, of one value
  asked = MatMul (query, wq) => asked = MatMul (keys, wk)
shares over what is summed up
  Softmax <axis = 1> (scores) => Softmax <axis = 2> (scores)
the sum of the exponentials
  shares = Softmax <axis = 1> (scores) => high = ReduceMax (scores, tokens)
      less = Sub (scores, high)  e = Exp (less)  all = ReduceSum (less, tokens)
      shares = Div (e, all)
[soft-routing]
experts of what is routed = Soft selection, of 2
  two = MatMul (x, w2) => two = MatMul (z, w2)
  (float[4, 8] x) => (float[4, 8] x, float[4, 8] z)
shares
  chances = Softmax <axis = -1> (logits) => chances = Relu (logits)
[outer-product]
all by all
  up = {64, 16} => up = {32, 16}
  pairs = {20, 20, 64} => pairs = {20, 40, 32}
  float[20, 20, 16] y => float[20, 40, 16] y
one value
  right = MatMul (x, wr) => right = MatMul (z, wr)
  (float[6, 20, 32] x) => (float[6, 20, 32] x, float[6, 20, 32] z)
[triangle-multiplication]
gates
  left = Mul (s1, p1) => left = Add (s1, p1)
one value
  p2 = MatMul (z, w4) => p2 = MatMul (u, w4)
  (float[20, 20, 16] z) => (float[20, 20, 16] z, float[20, 20, 16] u)
[affine-coupling]
the other half that stays
  y = Concat <axis = 1> (a, moved) => y = Concat <axis = 1> (b, moved)
a scale
  scaled = Mul (b, factor) => scaled = Add (b, factor)
[masked-coupling]
masks that are each other's rest
  rest = {0, 1} => rest = {1, 1}
a mask of zeros and ones
  mask = {1, 0} => mask = {0.5, 0.5}
[length-regulator]
running sums
  ends = CumSum (durations, one) => ends = Abs (durations)
a difference of neighbours
  y = Sub (mask, shifted) => y = Add (mask, shifted)
[memory-attention]
a sum of products
  products = Mul (memory, query) => products = Add (memory, query)
shares
  shares = Softmax <axis = 1> (scores) => shares = Sigmoid (scores)
shares over places, over features
  features = {2} => features = {1}
  places = {1} => places = {2}
  query = Unsqueeze (state, places) => query = Unsqueeze (state, features)
[random-masking]
noise = Selection
  TopK <largest = 0> (noise, all) => TopK <largest = 0> (score, all)
  sorted => score = ReduceSum <keepdims = 0> (tokens, last) sorted
an order of all
  all = {64} => all = {32}
[dueling-heads]
a mean of advantages
  mean = ReduceMean (advantage, over) => mean = ReduceMax (advantage, over)
a mean of the same
  mean = ReduceMean (advantage, over) => mean = ReduceMean (value, over)
[expected-value]
shares = Formula, Σ(σ(x) · c)
  shares = Softmax <axis = 2> (scores) => shares = Sigmoid (scores)
a sum over them
  last = {2} => last = {1}
  float[2, 6] y => float[2, 5] y
[token-shift]
a move
  moved = Pad (x, before) => moved = Tanh (x)
the same value
  there = Mul (moved, rest) => there = Mul (z, rest)
  (float[2, 16, 8] x) => (float[2, 16, 8] x, float[2, 16, 8] z)
  moved = Pad (x, before) => other_moved = Pad (x, before)
tokens, features are moved
  before = {0, 1, 0, 0, -1, 0} => before = {0, 0, 1, 0, 0, -1}
tokens, every other feature is turned
  int64[1] width = {8}
    => int64[1] width = {8}, int64[1] a = {0}, int64[1] b = {1},
      int64[1] c = {8}, int64[1] axis = {2}, int64[1] two = {2}
  moved = Pad (x, before)
    => even = Slice (x, a, c, axis, two)  odd = Slice (x, b, c, axis, two)
      moved = Concat <axis = 2> (odd, even)
all tokens in order, others are left out
  int64[1] width = {8}
    => int64[1] width = {8}, int64[1] a = {0}, int64[1] b = {1},
      int64[1] c = {16}, int64[1] axis = {1}, int64[1] two = {2}
  moved = Pad (x, before)
    => even = Slice (x, a, c, axis, two)  odd = Slice (x, b, c, axis, two)
      moved = Concat <axis = 1> (odd, even)
[chunks]
one hop = Rearrangement 1 × 8 × 50 → 1 × 8 × 20 × 4
  int64[1] c = {20} => int64[1] c = {15}
one value
  four = Slice (x, d, f, axis) => z = Tanh (x) four = Slice (z, d, f, axis)
[edge-inputs]
both ends of one value
  target = Gather (x, to) => target = Gather (z, to)
  (float[10, 8] x => (float[10, 8] z, float[10, 8] x
ends
  int64[30] to => float[30, 8] to
  target = Gather (x, to) => target = Tanh (to)
[added-tokens]
attention behind
  y = Attention <q_num_heads = 2, kv_num_heads = 2> (all, all, all) => y = Tanh (all)
one value that is cut in two
  float[1, 17, 8] x) => float[1, 17, 8] x, float[1, 17, 8] z)
  rest = Slice (x => rest = Slice (z
numbers that are learned = + 4 tokens of zeros
  0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.2, 0.1, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8,
    => 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
  0.3, 0.2, 0.1, 0.4, 0.5, 0.6, 0.7, 0.8, 0.4, 0.2, 0.3, 0.1, 0.5, 0.6, 0.7, 0.8}
    => 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}
[time-mix]
a squared ReLU
  two = {2} => two = {3}
a gate
  y = Mul (gate, value) => y = Add (gate, value)
shifts of tokens
  k = Add (a, b) => k = Mul (a, b)
  r = Add (c, d) => r = Mul (c, d)
"""

#: other ways in which exporters write blocks of a pattern
SPELLINGS = """
[edge-convolution]
means of neighbours = Edge convolution 6 → 16, 8 neighbours, mean over neighbours
  ReduceMax <keepdims = 0> (bent, next) => ReduceMean <keepdims = 0> (bent, next)
every second neighbour = Edge convolution 6 → 16, 4 neighbours, of the 8 nearest
  distances, which = TopK (near, count)
    => distances, more = TopK (near, count)  which = Slice (more, zero, eight, next, next)
  int64[1] next = {2}, => int64[1] next = {2}, int64[1] zero = {0}, int64[1] eight = {8},
  {1, 64, 8, 3} => {1, 64, 4, 3}
the largest difference beside the point = Max-relative graph convolution 6 → 16, 8 neighbours
  edges = Concat <axis = 3> (apart, beside) => most = ReduceMax <keepdims = 0> (apart, next)
  beside = Expand (own, all) =>
  projected = MatMul (edges, w) => edges = Concat <axis = 2> (x, most)
      y = MatMul (edges, w)
  bent = Relu (projected) =>
  y = ReduceMax <keepdims = 0> (bent, next) =>
[cost-volume]
sums of products, both maps stay = Cost volume, concatenation, 3 displacements
  p1 = Mul (x, left)   c1 = ReduceMean (p1, over) => c1 = Concat <axis = 1> (x, left)
  p2 = Mul (x, same)   c2 = ReduceMean (p2, over) => c2 = Concat <axis = 1> (x, same)
  p3 = Mul (x, right)  c3 = ReduceMean (p3, over) => c3 = Concat <axis = 1> (x, right)
[retention]
queries that are turned, and scores that are divided by their sum
  int64[2] square = {8, 8}
    => int64[2] square = {8, 8}, int64[1] a = {0}, int64[1] b = {1},
      int64[1] c = {8}, int64[1] axis = {2}, int64[1] two = {2}, float least = {1},
      float[8] cosines = {1, 1, 1, 1, 0.5, 0.5, 0.5, 0.5},
      float[8] sines = {0, 0, 0, 0, 0.8, 0.8, 0.8, 0.8}
  q = MatMul (x, wq)
    => q0 = MatMul (x, wq)
      even = Slice (q0, a, c, axis, two)  odd = Slice (q0, b, c, axis, two)
      minus = Neg (odd)  rotated = Concat <axis = 2> (minus, even)
      here = Mul (q0, cosines)  there = Mul (rotated, sines)  q = Add (here, there)
  decayed = Mul (products, decay)
    => mixed = Mul (products, decay)  sizes = Abs (mixed)
      sums = ReduceSum <keepdims = 1> (sizes, axis)  most = Max (sums, least)
      decayed = Div (mixed, most)
[token-shift]
a share of the difference
  here = Mul (x, share) => differ = Sub (moved, x)
  there = Mul (moved, rest) => step = Mul (differ, rest)
  y = Add (here, there) => y = Add (x, step)
[reparametrisation]
both of one value, the deviation as its logarithm
  float[2, 8] mean, float[2, 8] log_variance => float[2, 16] both
  halved = Mul (log_variance, half) => mean, low = Split <axis = 1, num_outputs = 2> (both)
  deviation = Exp (halved) => deviation = Exp (low)
[linear-attention]
ones beside values
  int64[1] tokens = {1}
    => int64[6] ones = {0, 0, 0, 0, 0, 1}, int64[1] a = {0}, int64[1] b = {8},
      int64[1] c = {9}, int64[1] axis = {2}
  q1 = Elu (q0)  q = Add (q1, one) => q = Relu (q0)
  k1 = Elu (k0)  k = Add (k1, one) => k = Relu (k0)
  v = MatMul (x, wv) => v0 = MatMul (x, wv)  v = Pad (v0, ones, one)
  keys = ReduceSum (k, tokens) => part = Slice (result, a, b, axis)
  over = Transpose <perm = [0, 2, 1]> (keys) => sum = Slice (result, b, c, axis)
  total = MatMul (q, over) => spare = Identity (sum)
  shared = Div (result, total) => shared = Div (part, sum)
queries as they are, where the keys make shares of tokens
  q1 = Elu (q0)  q = Add (q1, one) => q = Identity (q0)
  k1 = Elu (k0)  k = Add (k1, one) => k = Softmax <axis = 1> (k0)
  keys = ReduceSum (k, tokens) => spare = Identity (k)
  over = Transpose <perm = [0, 2, 1]> (keys) => spare2 = Identity (spare)
  total = MatMul (q, over) => spare3 = Identity (spare2)
  shared = Div (result, total) => shared = Mul (result, one)
positions of queries and convolved values besides = Linear attention, relative positions
  int64[1] tokens = {1} => int64[1] tokens = {1}, int64[3] kernel = {8, 1, 3}
  q1 = Elu (q0)  q = Add (q1, one) => q = Identity (q0)
  k1 = Elu (k0)  k = Add (k1, one) => k = Softmax <axis = 1> (k0)
  keys = ReduceSum (k, tokens) => w = ConstantOfShape (kernel)
  over = Transpose <perm = [0, 2, 1]> (keys)
    => v1 = Transpose <perm = [0, 2, 1]> (v)  v2 = Conv <group = 8, pads = [1, 1]> (v1, w)
  total = MatMul (q, over) => v3 = Transpose <perm = [0, 2, 1]> (v2)  beside = Mul (q, v3)
  shared = Div (result, total) => shared = Add (result, beside)
[message-passing]
divided by the sum of gates = Message passing, gather, weighted mean of messages
  message = MatMul (sent, w) => logits = MatMul (z, w)  gate = Sigmoid (logits)
  float[10, 8] x => float[30, 8] z, float[10, 8] x
  y = Scatter => message = Mul (gate, sent)  sums = Scatter
  to, message)
    => to, message)  all = ScatterElements <axis = 0, reduction = "add"> (zeros, to, gate)
      y = Div (sums, all)
[attention]
positions of rows and of columns = Self-attention, 4 heads × 8, relative positions
  scores = Div (product, root)
    => by_row = MatMul (q2, rows)  by_column = MatMul (q2, columns)
      first = Add (product, by_row)  scores = Add (first, by_column)
  int64[2] dims = {32, 32} => int64[2] dims = {32, 32}, int64[3] table = {1, 8, 16}
  wq = ConstantOfShape
    => rows = ConstantOfShape (table)  columns = ConstantOfShape (table) wq = ConstantOfShape
scores put in their own place
  scores = Div (product, root)
    => divided = Div (product, root)  scores = ScatterND (product, places, divided)
  (float[2, 16, 32] x) => (float[2, 16, 32] x, int64[2, 4, 16, 16, 4] places)
"""
