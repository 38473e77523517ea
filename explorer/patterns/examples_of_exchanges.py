"""Examples of how tokens, nodes of graphs and channels take from others, by the id of a pattern."""

from __future__ import annotations

#: the model without a header, and what its graph is told to be
EXAMPLES_OF_EXCHANGES: dict[str, tuple[str, str]] = {
    "channel-attention": (
        """
channels (float[2, 8, 16, 16] x) => (float[2, 8, 16, 16] y)
<int64[4] down = {4, 8, 1, 1}, int64[4] up = {8, 4, 1, 1}>
{
  w1 = ConstantOfShape (down)  w2 = ConstantOfShape (up)
  mean = GlobalAveragePool (x)
  a1 = Conv (mean, w1)  r1 = Relu (a1)  b1 = Conv (r1, w2)
  most = GlobalMaxPool (x)
  a2 = Conv (most, w1)  r2 = Relu (a2)  b2 = Conv (r2, w2)
  both = Add (b1, b2)
  weights = Sigmoid (both)
  y = Mul (x, weights)
}
""",
        "Channel attention 8 → 4 → 8",
    ),
    "linear-attention": (
        """
linear (float[2, 16, 8] x) => (float[2, 16, 8] y)
<int64[2] square = {8, 8}, float one = {1}, int64[1] tokens = {1}>
{
  wq = ConstantOfShape (square)  wk = ConstantOfShape (square)
  wv = ConstantOfShape (square)  wo = ConstantOfShape (square)
  q0 = MatMul (x, wq)  q1 = Elu (q0)  q = Add (q1, one)
  k0 = MatMul (x, wk)  k1 = Elu (k0)  k = Add (k1, one)
  v = MatMul (x, wv)
  turned = Transpose <perm = [0, 2, 1]> (k)
  context = MatMul (turned, v)
  result = MatMul (q, context)
  keys = ReduceSum (k, tokens)
  over = Transpose <perm = [0, 2, 1]> (keys)
  total = MatMul (q, over)
  shared = Div (result, total)
  y = MatMul (shared, wo)
}
""",
        "Linear attention",
    ),
    "weighted-sum": (
        """
additive (float[2, 1, 8] query, float[2, 16, 12] keys) => (float[2, 12] y)
<int64[2] square = {8, 8}, int64[2] wide = {12, 8}, int64[2] one = {8, 1},
 int64[1] tokens = {1}>
{
  wq = ConstantOfShape (square)  wk = ConstantOfShape (wide)  v = ConstantOfShape (one)
  asked = MatMul (query, wq)
  given = MatMul (keys, wk)
  both = Add (asked, given)
  squashed = Tanh (both)
  scores = MatMul (squashed, v)
  shares = Softmax <axis = 1> (scores)
  weighted = Mul (shares, keys)
  y = ReduceSum <keepdims = 0> (weighted, tokens)
}
""",
        "Additive attention, 8 units",
    ),
    "outer-product": (
        """
outer (float[6, 20, 32] x) => (float[20, 20, 16] y)
<int64[2] down = {32, 8}, int64[2] up = {64, 16}, int64[2] rows = {6, 160}, float count = {6},
 int64[4] apart = {20, 8, 20, 8}, int64[3] pairs = {20, 20, 64}>
{
  wl = ConstantOfShape (down)  wr = ConstantOfShape (down)  wo = ConstantOfShape (up)
  left = MatMul (x, wl)  right = MatMul (x, wr)
  a = Reshape (left, rows)  b = Reshape (right, rows)
  turned = Transpose <perm = [1, 0]> (a)
  products = MatMul (turned, b)
  split = Reshape (products, apart)
  beside = Transpose <perm = [0, 2, 1, 3]> (split)
  flat = Reshape (beside, pairs)
  mean = Div (flat, count)
  y = MatMul (mean, wo)
}
""",
        "Outer product mean 8 × 8 → 16",
    ),
    "triangle-multiplication": (
        """
triangle (float[20, 20, 16] z) => (float[20, 20, 16] y)
<int64[2] square = {16, 16}, int64[1] width = {16}>
{
  w1 = ConstantOfShape (square)  w2 = ConstantOfShape (square)  w3 = ConstantOfShape (square)
  w4 = ConstantOfShape (square)  w5 = ConstantOfShape (square)  w6 = ConstantOfShape (square)
  s = ConstantOfShape (width)
  g1 = MatMul (z, w1)  s1 = Sigmoid (g1)  p1 = MatMul (z, w2)  left = Mul (s1, p1)
  g2 = MatMul (z, w3)  s2 = Sigmoid (g2)  p2 = MatMul (z, w4)  right = Mul (s2, p2)
  a = Transpose <perm = [2, 0, 1]> (left)
  b = Transpose <perm = [2, 1, 0]> (right)
  edges = MatMul (a, b)
  back = Transpose <perm = [1, 2, 0]> (edges)
  normal = LayerNormalization (back, s)
  update = MatMul (normal, w5)
  g3 = MatMul (z, w6)  s3 = Sigmoid (g3)
  y = Mul (s3, update)
}
""",
        "Triangle multiplication",
    ),
    "edge-features": (
        """
edges (float[1, 64, 3] x) => (float[1, 64, 8, 6] y)
<float two = {2}, float minus = {-2}, int64[1] last = {-1}, int64[1] count = {8},
 int64[1] next = {2}, int64[4] all = {1, 64, 8, 3}>
{
  turned = Transpose <perm = [0, 2, 1]> (x)
  twice = Mul (x, minus)
  products = MatMul (twice, turned)
  squares = Pow (x, two)
  lengths = ReduceSum (squares, last)
  below = Neg (lengths)
  half = Sub (below, products)
  others = Transpose <perm = [0, 2, 1]> (lengths)
  near = Sub (half, others)
  distances, which = TopK (near, count)
  places = Unsqueeze (which, last)
  found = GatherND <batch_dims = 1> (x, places)
  own = Unsqueeze (x, next)
  apart = Sub (found, own)
  beside = Expand (own, all)
  y = Concat <axis = 3> (apart, beside)
}
""",
        "Edge features, 8 of each",
    ),
    "edge-convolution": (
        """
edges (float[1, 64, 3] x) => (float[1, 64, 16] y)
<float two = {2}, float minus = {-2}, int64[1] last = {-1}, int64[1] count = {8},
 int64[1] next = {2}, int64[2] dims = {6, 16}, int64[4] all = {1, 64, 8, 3}>
{
  turned = Transpose <perm = [0, 2, 1]> (x)
  twice = Mul (x, minus)
  products = MatMul (twice, turned)
  squares = Pow (x, two)
  lengths = ReduceSum (squares, last)
  below = Neg (lengths)
  half = Sub (below, products)
  others = Transpose <perm = [0, 2, 1]> (lengths)
  near = Sub (half, others)
  distances, which = TopK (near, count)
  places = Unsqueeze (which, last)
  found = GatherND <batch_dims = 1> (x, places)
  own = Unsqueeze (x, next)
  apart = Sub (found, own)
  beside = Expand (own, all)
  edges = Concat <axis = 3> (apart, beside)
  w = ConstantOfShape (dims)  projected = MatMul (edges, w)  bent = Relu (projected)
  y = ReduceMax <keepdims = 0> (bent, next)
}
""",
        "Edge convolution 6 → 16, 8 neighbours",
    ),
    "graph-convolution": (
        """
layer (float[50, 16] x, float[50, 50] adjacency) => (float[50, 8] y)
<int64[2] dims = {16, 8}, int64[1] width = {8}>
{
  w = ConstantOfShape (dims)  b = ConstantOfShape (width)
  projected = MatMul (x, w)
  gathered = MatMul (adjacency, projected)
  y = Add (gathered, b)
}
""",
        "Graph convolution 16 → 8",
    ),
    "stored-graph": (
        """
unit (float[1, 8, 6, 4] x) => (float[1, 8, 6, 4] y)
<int64[4] dims = {8, 8, 1, 1}, int64[1] width = {8},
 float[4, 4] graph = {0, 1, 1, 1, 1, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0}>
{
  w = ConstantOfShape (dims)  b = ConstantOfShape (width)
  mixed = Conv (x, w, b)
  y = Einsum <equation = "nctv,vw->nctw"> (mixed, graph)
}
""",
        "Graph convolution 8 → 8",
    ),
    "graph-attention": (
        """
layer (float[50, 16] x, float[50, 50] adjacency) => (float[50, 8] y)
<int64[2] dims = {16, 8}, int64[2] one = {8, 1}, float zero = {0}, float low = {-10000}>
{
  w = ConstantOfShape (dims)  a = ConstantOfShape (one)  b = ConstantOfShape (one)
  h = MatMul (x, w)
  from = MatMul (h, a)
  to = MatMul (h, b)
  turned = Transpose <perm = [1, 0]> (to)
  sums = Add (from, turned)
  scores = LeakyRelu (sums)
  joined = Greater (adjacency, zero)
  masked = Where (joined, scores, low)
  shares = Softmax <axis = 1> (masked)
  y = MatMul (shares, h)
}
""",
        "Graph attention 16 → 8",
    ),
    "retention": (
        """
retained (float[1, 3, 8] x) => (float[1, 3, 8] y)
<int64[2] square = {8, 8}, float[3, 3] decay = {1, 0, 0, 0.5, 1, 0, 0.25, 0.5, 1}>
{
  wq = ConstantOfShape (square)  wk = ConstantOfShape (square)  wv = ConstantOfShape (square)
  q = MatMul (x, wq)  k = MatMul (x, wk)  v = MatMul (x, wv)
  turned = Transpose <perm = [0, 2, 1]> (k)
  products = MatMul (q, turned)
  decayed = Mul (products, decay)
  y = MatMul (decayed, v)
}
""",
        "Retention, causal",
    ),
    "memory-attention": (
        """
hop (float[2, 10, 32] memory, float[2, 10, 32] output, float[2, 32] state) => (float[2, 32] y)
<int64[1] places = {1}, int64[1] features = {2}>
{
  query = Unsqueeze (state, places)
  products = Mul (memory, query)
  scores = ReduceSum <keepdims = 0> (products, features)
  shares = Softmax <axis = 1> (scores)
  wide = Unsqueeze (shares, features)
  weighted = Mul (output, wide)
  y = ReduceSum <keepdims = 0> (weighted, places)
}
""",
        "Memory attention",
    ),
    "low-rank-attention": (
        """
attention (float[1, 64, 32] x) => (float[1, 64, 32] y)
<int64[2] square = {32, 32}, int64[2] fewer = {64, 16}, float root = {5.657}>
{
  wq = ConstantOfShape (square)  wk = ConstantOfShape (square)  wv = ConstantOfShape (square)
  e = ConstantOfShape (fewer)    f = ConstantOfShape (fewer)
  q = MatMul (x, wq)  k = MatMul (x, wk)  v = MatMul (x, wv)
  keys = Einsum <equation = "bnd,nk->bkd"> (k, e)
  values = Einsum <equation = "bnd,nk->bkd"> (v, f)
  products = Einsum <equation = "bnd,bkd->bnk"> (q, keys)
  scores = Div (products, root)
  shares = Softmax <axis = -1> (scores)
  y = Einsum <equation = "bnk,bkd->bnd"> (shares, values)
}
""",
        "Self-attention, low rank 16",
    ),
    "landmark-attention": (
        """
attention (float[1, 64, 32] x) => (float[1, 64, 32] y)
<int64[2] square = {32, 32}, int64[4] groups = {1, 8, 8, 32}, int64[1] each = {2},
 int64[1] rows = {1}, int64[2] among = {8, 8}, float quarter = {0.25},
 int64[2] all = {1, 2}>
{
  wq = ConstantOfShape (square)  wk = ConstantOfShape (square)  wv = ConstantOfShape (square)
  unit = ConstantOfShape (among)
  q = MatMul (x, wq)  k = MatMul (x, wk)  v = MatMul (x, wv)
  q1 = Reshape (q, groups)  few_q = ReduceMean <keepdims = 0> (q1, each)
  k1 = Reshape (k, groups)  few_k = ReduceMean <keepdims = 0> (k1, each)
  turned = Transpose <perm = [0, 2, 1]> (few_k)  k2 = Transpose <perm = [0, 2, 1]> (k)
  s1 = MatMul (q, turned)      to_few = Softmax (s1)
  s2 = MatMul (few_q, turned)  among_few = Softmax (s2)
  s3 = MatMul (few_q, k2)      of_few = Softmax (s3)
  sums = ReduceSum (among_few, rows)
  largest = ReduceMax (sums, all)
  back = Transpose <perm = [0, 2, 1]> (among_few)
  z = Div (back, largest)
  kz = MatMul (among_few, z)
  a = Sub (unit, kz)  b = MatMul (kz, a)
  c = Sub (unit, b)   d = MatMul (kz, c)
  e = Sub (unit, d)   z1 = Mul (z, quarter)
  inverse = MatMul (z1, e)
  first = MatMul (to_few, inverse)
  second = MatMul (of_few, v)
  y = MatMul (first, second)
}
""",
        "Nystrom attention, 8 landmarks",
    ),
}
