"""Examples of what is found among other operations, by the id of its pattern."""

from __future__ import annotations

#: the model without a header, and what its graph is told to be
EXAMPLES_OF_PARTS: dict[str, tuple[str, str]] = {
    "norm": (
        """
rms_norm (float[2, 16, 64] x) => (float[2, 16, 64] y)
<float epsilon = {0.00001}, int64[1] last = {-1}, int64[1] width = {64}>
{
  scale = ConstantOfShape (width)
  square = Mul (x, x)
  mean = ReduceMean (square, last)
  above = Add (mean, epsilon)
  root = Sqrt (above)
  normal = Div (x, root)
  y = Mul (normal, scale)
}
""",
        "RMSNorm",
    ),
    "linear": (
        """
linear (float[2, 16, 8] x) => (float[2, 16, 32] y)
<int64[2] dims = {8, 32}, int64[1] width = {32}>
{
  weight = ConstantOfShape (dims)
  bias = ConstantOfShape (width)
  product = MatMul (x, weight)
  y = Add (product, bias)
}
""",
        "Linear 8 → 32",
    ),
    "activation": (
        """
gelu (float[2, 16, 32] x) => (float[2, 16, 32] y)
<float root_of_two = {1.41421354}, float one = {1}, float half = {0.5}>
{
  scaled = Div (x, root_of_two)
  error = Erf (scaled)
  above = Add (error, one)
  product = Mul (x, above)
  y = Mul (product, half)
}
""",
        "GELU",
    ),
    "pixel-shuffle": (
        """
pixel_shuffle (float[1, 12, 8, 8] x) => (float[1, 3, 16, 16] y)
<int64[6] apart = {1, 3, 2, 2, 8, 8}, int64[4] joined = {1, 3, 16, 16}>
{
  squares = Reshape (x, apart)
  moved = Transpose <perm = [0, 1, 4, 2, 5, 3]> (squares)
  y = Reshape (moved, joined)
}
""",
        "Pixel shuffle, ×2",
    ),
    "embedding": (
        """
embedding (int64[2, 16] ids) => (float[2, 16, 48] y)
<int64[2] dims = {1000, 48}>
{
  table = ConstantOfShape (dims)
  y = Gather (table, ids)
}
""",
        "Embedding, 1,000 × 48",
    ),
    "attention": (
        """
attention (float[2, 16, 32] x) => (float[2, 16, 32] y)
<int64[2] dims = {32, 32}, int64[4] apart = {0, 0, 4, 8}, int64[3] joined = {0, 0, 32},
 float root = {2.828427}>
{
  wq = ConstantOfShape (dims)  wk = ConstantOfShape (dims)
  wv = ConstantOfShape (dims)  wo = ConstantOfShape (dims)
  q = MatMul (x, wq)  q1 = Reshape (q, apart)  q2 = Transpose <perm = [0, 2, 1, 3]> (q1)
  k = MatMul (x, wk)  k1 = Reshape (k, apart)  k2 = Transpose <perm = [0, 2, 3, 1]> (k1)
  v = MatMul (x, wv)  v1 = Reshape (v, apart)  v2 = Transpose <perm = [0, 2, 1, 3]> (v1)
  product = MatMul (q2, k2)
  scores = Div (product, root)
  weights = Softmax (scores)
  mixed = MatMul (weights, v2)
  turned = Transpose <perm = [0, 2, 1, 3]> (mixed)
  heads = Reshape (turned, joined)
  y = MatMul (heads, wo)
}
""",
        "Self-attention, 4 heads × 8",
    ),
    "mlp": (
        """
swiglu (float[2, 16, 8] x) => (float[2, 16, 8] y)
<int64[2] wider = {8, 32}, int64[2] narrower = {32, 8}>
{
  wg = ConstantOfShape (wider)
  wu = ConstantOfShape (wider)
  wd = ConstantOfShape (narrower)
  gate = MatMul (x, wg)
  squashed = Sigmoid (gate)
  activated = Mul (gate, squashed)
  up = MatMul (x, wu)
  hidden = Mul (activated, up)
  y = MatMul (hidden, wd)
}
""",
        "SwiGLU 8 → 32 → 8",
    ),
    "convolutional-mlp": (
        """
neighbours (float[2, 16, 8] x) => (float[2, 16, 8] y)
<int64[2] wider = {8, 32}, int64[2] narrower = {32, 8}, int64[4] of_kernel = {32, 1, 3, 3},
 int64[4] map = {2, 32, 4, 4}, int64[3] list = {2, 32, 16}>
{
  w1 = ConstantOfShape (wider)
  kernel = ConstantOfShape (of_kernel)
  w2 = ConstantOfShape (narrower)
  hidden = MatMul (x, w1)
  channels = Transpose <perm = [0, 2, 1]> (hidden)
  places = Reshape (channels, map)
  near = Conv <group = 32, pads = [1, 1, 1, 1]> (places, kernel)
  told = Reshape (near, list)
  tokens = Transpose <perm = [0, 2, 1]> (told)
  activated = Relu (tokens)
  y = MatMul (activated, w2)
}
""",
        "Convolutional MLP 8 → 32 → 8, depthwise 3×3, ReLU",
    ),
    "experts": (
        """
experts (float[16, 8] x) => (float[16, 8] y)
<int64[2] router_dims = {8, 4}, int64[3] up_dims = {4, 8, 32}, int64[3] down_dims = {4, 32, 8},
 int64[1] two = {2}, int64[1] first = {1}, int64[1] last = {-1}>
{
  router = ConstantOfShape (router_dims)
  ups = ConstantOfShape (up_dims)
  downs = ConstantOfShape (down_dims)
  logits = MatMul (x, router)
  shares = Softmax (logits)
  largest, chosen = TopK (shares, two)
  up = Gather (ups, chosen)
  down = Gather (downs, chosen)
  token = Unsqueeze (x, first)
  row = Unsqueeze (token, first)
  hidden = MatMul (row, up)
  activated = Relu (hidden)
  results = MatMul (activated, down)
  share = Unsqueeze (largest, last)
  factor = Unsqueeze (share, last)
  weighted = Mul (results, factor)
  summed = ReduceSum <keepdims = 0> (weighted, first)
  y = Squeeze (summed, first)
}
""",
        "Mixture of experts, 4 experts, top 2",
    ),
    "convolution": (
        """
convolution (float[1, 3, 32, 32] x) => (float[1, 8, 16, 16] y)
<int64[4] dims = {8, 3, 3, 3}, int64[1] width = {8}>
{
  weight = ConstantOfShape (dims)
  s = ConstantOfShape (width)
  convolved = Conv <strides = [2, 2], pads = [1, 1, 1, 1]> (x, weight)
  normal = BatchNormalization (convolved, s, s, s, s)
  y = Relu (normal)
}
""",
        "Conv · BN · ReLU, 3×3, 3 → 8, /2",
    ),
    "excitation": (
        """
excitation (float[1, 32, 8, 8] x) => (float[1, 32, 8, 8] y)
<int64[4] fewer = {8, 32, 1, 1}, int64[4] more = {32, 8, 1, 1}>
{
  w1 = ConstantOfShape (fewer)
  w2 = ConstantOfShape (more)
  mean = GlobalAveragePool (x)
  squeezed = Conv (mean, w1)
  activated = Relu (squeezed)
  excited = Conv (activated, w2)
  factors = Sigmoid (excited)
  y = Mul (x, factors)
}
""",
        "Squeeze-and-excitation 32 → 8 → 32",
    ),
    "separable-convolution": (
        """
separable (float[1, 8, 16, 16] x) => (float[1, 16, 16, 16] y)
<int64[4] deep = {8, 1, 3, 3}, int64[4] point = {16, 8, 1, 1}>
{
  w1 = ConstantOfShape (deep)
  w2 = ConstantOfShape (point)
  spatial = Conv <group = 8, pads = [1, 1, 1, 1]> (x, w1)
  activated = Relu (spatial)
  mixed = Conv (activated, w2)
  y = Relu (mixed)
}
""",
        "Depthwise-separable conv, 3×3, 8 → 16",
    ),
    "residual-block": (
        """
residual (float[1, 8, 16, 16] x) => (float[1, 8, 16, 16] y)
<int64[4] dims = {8, 8, 3, 3}>
{
  w1 = ConstantOfShape (dims)
  w2 = ConstantOfShape (dims)
  first = Conv <pads = [1, 1, 1, 1]> (x, w1)
  activated = Relu (first)
  second = Conv <pads = [1, 1, 1, 1]> (activated, w2)
  total = Add (second, x)
  y = Relu (total)
}
""",
        "Residual block 8 → 8",
    ),
    "state-space-mixer": (
        """
mamba_2 (float[1, 20, 16] x) => (float[1, 20, 16] y)
<int64[2] in_dims = {16, 84}, int64[3] conv_dims = {48, 1, 4}, int64[1] heads = {4},
 int64[2] out_dims = {32, 16}, int64[3] parts = {32, 48, 4}, int64[3] mixed = {32, 8, 8},
 int64[4] apart = {0, 0, 4, 8}, int64[3] joined = {0, 0, 32}, int64 places = {1},
 int64[1] one = {1}, int64[1] two = {2}, int64[1] three = {3}>
{
  w_in = ConstantOfShape (in_dims)     w_conv = ConstantOfShape (conv_dims)
  bias = ConstantOfShape (heads)       a = ConstantOfShape (heads)
  w_out = ConstantOfShape (out_dims)
  projected = MatMul (x, w_in)
  gate, content, steps = Split <axis = -1> (projected, parts)
  channels = Transpose <perm = [0, 2, 1]> (content)
  convolved = Conv <group = 48, kernel_shape = [4], pads = [3, 0]> (channels, w_conv)
  activated = Swish (convolved)
  tokens = Transpose <perm = [0, 2, 1]> (activated)
  values, b, c = Split <axis = -1> (tokens, mixed)
  shifted = Add (steps, bias)          dt = Softplus (shifted)
  rates = Mul (dt, a)                  sums = CumSum (rates, places)
  of_heads = Transpose <perm = [0, 2, 1]> (sums)
  rows = Unsqueeze (of_heads, three)   columns = Unsqueeze (of_heads, two)
  passed = Sub (rows, columns)         decays = Exp (passed)
  causal = Trilu <upper = 0> (decays)
  bt = Transpose <perm = [0, 2, 1]> (b)
  products = MatMul (c, bt)            scores = Unsqueeze (products, one)
  weights = Mul (causal, scores)
  split = Reshape (values, apart)      dt_of_heads = Unsqueeze (dt, three)
  scaled = Mul (split, dt_of_heads)    inputs = Transpose <perm = [0, 2, 1, 3]> (scaled)
  states = MatMul (weights, inputs)    turned = Transpose <perm = [0, 2, 1, 3]> (states)
  result = Reshape (turned, joined)
  squashed = Swish (gate)
  gated = Mul (result, squashed)
  y = MatMul (gated, w_out)
}
""",
        "Mamba-2, 4 heads × 8, causal",
    ),
    "transition": (
        """
transition (float[1, 8, 16, 16] x) => (float[1, 4, 8, 8] y)
<int64[4] dims = {4, 8, 1, 1}, int64[1] width = {8}>
{
  weight = ConstantOfShape (dims)
  s = ConstantOfShape (width)
  normal = BatchNormalization (x, s, s, s, s)
  activated = Relu (normal)
  fewer = Conv (activated, weight)
  y = AveragePool <kernel_shape = [2, 2], strides = [2, 2]> (fewer)
}
""",
        "Transition 8 → 4",
    ),
    "similarities": (
        """
similarities (float[2, 64] images, float[3, 64] texts) => (float[2, 3] y)
<float scale = {14.3}>
{
  u = LpNormalization (images)
  v = LpNormalization (texts)
  [turn] turned = Transpose <perm = [1, 0]> (v)
  [compare] cosines = MatMul (u, turned)
  [scale] y = Mul (cosines, scale)
}
""",
        "Cosine similarity, scaled",
    ),
}
