"""Examples of what all operations are together, by the id of its pattern."""

from __future__ import annotations

#: the model without a header, and what its graph is told to be
EXAMPLES_OF_WHOLES: dict[str, tuple[str, str]] = {
    "estimator": (
        """
<ir_version: 12, opset_import: ["": 24, "ai.onnx.ml": 3]>
trees (float[n, 4] x) => (float[n, 1] y)
{
  y = ai.onnx.ml.TreeEnsembleRegressor <
    nodes_treeids = [0, 0, 0, 1, 1, 1], nodes_nodeids = [0, 1, 2, 0, 1, 2],
    nodes_modes = ["BRANCH_LEQ", "LEAF", "LEAF", "BRANCH_LEQ", "LEAF", "LEAF"],
    nodes_featureids = [0, 0, 0, 3, 0, 0], nodes_values = [0.5, 0.0, 0.0, 1.5, 0.0, 0.0],
    nodes_truenodeids = [1, 0, 0, 1, 0, 0], nodes_falsenodeids = [2, 0, 0, 2, 0, 0],
    target_treeids = [0, 0, 1, 1], target_nodeids = [1, 2, 1, 2], target_ids = [0, 0, 0, 0],
    target_weights = [1.0, 2.0, 0.5, 0.25], n_targets = 1> (x)
}
""",
        "Tree ensemble, 2 trees, 6 nodes",
    ),
    "patches": (
        """
patches (float[1, 3, 32, 32] x) => (float[1, 64, 48] y)
<int64[4] dims = {48, 3, 4, 4}, int64[3] joined = {0, 48, -1},
 int64[3] place_dims = {1, 64, 48}>
{
  weight = ConstantOfShape (dims)
  positions = ConstantOfShape (place_dims)
  squares = Conv <strides = [4, 4]> (x, weight)
  row = Reshape (squares, joined)
  tokens = Transpose <perm = [0, 2, 1]> (row)
  y = Add (tokens, positions)
}
""",
        "Patch embedding, 4×4, 3 → 48, positions",
    ),
    "transformer-block": (
        """
transformer_block (float[1, 20, 32] x) => (float[1, 20, 32] y)
<int64[1] width = {32}, int64[2] square = {32, 32}, int64[2] wider = {32, 64},
 int64[2] narrower = {64, 32}>
{
  s = ConstantOfShape (width)      wq = ConstantOfShape (square)
  wk = ConstantOfShape (square)    wv = ConstantOfShape (square)
  wo = ConstantOfShape (square)    w1 = ConstantOfShape (wider)
  w2 = ConstantOfShape (narrower)
  normal = LayerNormalization (x, s)
  q = MatMul (normal, wq)
  k = MatMul (normal, wk)
  v = MatMul (normal, wv)
  mixed = Attention <q_num_heads = 4, kv_num_heads = 4, is_causal = 1> (q, k, v)
  attended = MatMul (mixed, wo)
  stream = Add (x, attended)
  normal2 = LayerNormalization (stream, s)
  hidden = MatMul (normal2, w1)
  activated = Gelu (hidden)
  given = MatMul (activated, w2)
  y = Add (stream, given)
}
""",
        "Transformer block, 4 heads × 8, causal, MLP 32 → 64 → 32, pre-norm LayerNorm",
    ),
    "conformer-block": (
        """
conformer_block (float[1, 20, 16] x) => (float[1, 20, 16] y)
<int64[1] width = {16}, int64[2] square = {16, 16}, int64[2] wider = {16, 64},
 int64[2] narrower = {64, 16}, int64[2] double = {16, 32}, int64[3] deep = {16, 1, 31},
 float half = {0.5}>
{
  s = ConstantOfShape (width)      w1 = ConstantOfShape (wider)
  w2 = ConstantOfShape (narrower)  w3 = ConstantOfShape (square)
  w4 = ConstantOfShape (double)    w5 = ConstantOfShape (deep)
  n1 = LayerNormalization (x, s)   h1 = MatMul (n1, w1)
  a1 = Swish (h1)                  f1 = MatMul (a1, w2)
  half1 = Mul (f1, half)           x1 = Add (x, half1)
  n2 = LayerNormalization (x1, s)  q = MatMul (n2, w3)
  k = MatMul (n2, w3)              v = MatMul (n2, w3)
  mixed = Attention <q_num_heads = 2, kv_num_heads = 2> (q, k, v)
  attended = MatMul (mixed, w3)    x2 = Add (x1, attended)
  n3 = LayerNormalization (x2, s)  twice = MatMul (n3, w4)
  content, gate = Split <axis = 2, num_outputs = 2> (twice)
  open = Sigmoid (gate)            gated = Mul (content, open)
  channels = Transpose <perm = [0, 2, 1]> (gated)
  convolved = Conv <group = 16, pads = [15, 15]> (channels, w5)
  normal = BatchNormalization (convolved, s, s, s, s)
  activated = Swish (normal)       tokens = Transpose <perm = [0, 2, 1]> (activated)
  projected = MatMul (tokens, w3)  x3 = Add (x2, projected)
  n4 = LayerNormalization (x3, s)  h2 = MatMul (n4, w1)
  a2 = Swish (h2)                  f2 = MatMul (a2, w2)
  half2 = Mul (f2, half)           x4 = Add (x3, half2)
  y = LayerNormalization (x4, s)
}
""",
        "Conformer block, 2 heads × 8, MLP 16 → 64 → 16, depthwise kernel 31",
    ),
    "convolution-module": (
        """
convolution_module (float[1, 20, 16] x) => (float[1, 16, 20] y)
<int64[1] width = {16}, int64[3] double = {32, 16, 1}, int64[3] deep = {16, 1, 31},
 int64[3] point = {16, 16, 1}>
{
  s = ConstantOfShape (width)   w1 = ConstantOfShape (double)
  w2 = ConstantOfShape (deep)   w3 = ConstantOfShape (point)
  normal = LayerNormalization (x, s)
  channels = Transpose <perm = [0, 2, 1]> (normal)
  twice = Conv (channels, w1)
  content, gate = Split <axis = 1, num_outputs = 2> (twice)
  open = Sigmoid (gate)
  gated = Mul (content, open)
  convolved = Conv <group = 16, pads = [15, 15]> (gated, w2)
  normal2 = BatchNormalization (convolved, s, s, s, s)
  activated = Swish (normal2)
  y = Conv (activated, w3)
}
""",
        "Convolution module, kernel 31, 16 → 16",
    ),
    "rotated-attention": (
        """
rotated_attention (float[1, 20, 16] x) => (float[1, 20, 16] y)
<int64[2] square = {16, 16}, int64[3] places = {1, 20, 16}, int64[1] zero = {0},
 int64[1] middle = {8}, int64[1] end = {16}, int64[1] last = {2}>
{
  wq = ConstantOfShape (square)  wk = ConstantOfShape (square)
  wv = ConstantOfShape (square)  wo = ConstantOfShape (square)
  cos = ConstantOfShape (places) sin = ConstantOfShape (places)
  x1 = Slice (x, zero, middle, last)
  x2 = Slice (x, middle, end, last)
  negative = Neg (x2)
  turned = Concat <axis = 2> (negative, x1)
  by_cos = Mul (x, cos)
  by_sin = Mul (turned, sin)
  rotated = Add (by_cos, by_sin)
  q = MatMul (rotated, wq)
  k = MatMul (rotated, wk)
  v = MatMul (x, wv)
  mixed = Attention <q_num_heads = 2, kv_num_heads = 2> (q, k, v)
  y = MatMul (mixed, wo)
}
""",
        "Self-attention, 2 heads × 8, rotary",
    ),
    "reduced-attention": (
        """
reduced_attention (float[1, 64, 16] x) => (float[1, 64, 16] y)
<int64[4] conv_dims = {16, 16, 2, 2}, int64[2] square = {16, 16},
 int64[4] image = {1, 16, 8, 8}, int64[3] row = {1, 16, -1}>
{
  wr = ConstantOfShape (conv_dims)  wq = ConstantOfShape (square)
  wk = ConstantOfShape (square)     wv = ConstantOfShape (square)
  wo = ConstantOfShape (square)
  channels = Transpose <perm = [0, 2, 1]> (x)
  picture = Reshape (channels, image)
  smaller = Conv <strides = [2, 2]> (picture, wr)
  places = Reshape (smaller, row)
  fewer = Transpose <perm = [0, 2, 1]> (places)
  q = MatMul (x, wq)
  k = MatMul (fewer, wk)
  v = MatMul (fewer, wv)
  mixed = Attention <q_num_heads = 2, kv_num_heads = 2> (q, k, v)
  y = MatMul (mixed, wo)
}
""",
        "Self-attention, 2 heads × 8, spatial reduction /2",
    ),
    "sublayer": (
        """
sublayer (float[1, 20, 16] x) => (float[1, 20, 16] y)
<int64[1] width = {16}, int64[2] wider = {16, 64}, int64[2] narrower = {64, 16}>
{
  s = ConstantOfShape (width)
  w1 = ConstantOfShape (wider)
  w2 = ConstantOfShape (narrower)
  normal = LayerNormalization (x, s)
  hidden = MatMul (normal, w1)
  activated = Relu (hidden)
  given = MatMul (activated, w2)
  y = Add (x, given)
}
""",
        "MLP 16 → 64 → 16, ReLU, pre-norm LayerNorm",
    ),
    "token-embedding": (
        """
token_embedding (int64[1, 20] tokens, int64[1, 20] places) => (float[1, 20, 48] y)
<int64[2] token_dims = {1000, 48}, int64[2] place_dims = {128, 48}>
{
  token_table = ConstantOfShape (token_dims)
  place_table = ConstantOfShape (place_dims)
  words = Gather (token_table, tokens)
  positions = Gather (place_table, places)
  y = Add (words, positions)
}
""",
        "Token + position embedding, 1,000 × 48, 128 × 48",
    ),
    "recurrent-layers": (
        """
lstm (float[20, 1, 8] x) => (float[20, 2, 1, 16] y)
<int64[3] w_dims = {2, 64, 8}, int64[3] r_dims = {2, 64, 16}>
{
  w = ConstantOfShape (w_dims)
  r = ConstantOfShape (r_dims)
  y = LSTM <hidden_size = 16, direction = "bidirectional"> (x, w, r)
}
""",
        "LSTM 8 → 2 × 16, bidirectional",
    ),
    "recurrent-cell": (
        """
lstm_cell (float[1, 8] x, float[1, 16] h, float[1, 16] c) => (float[1, 16] next_h)
<int64[2] w_dims = {8, 64}, int64[2] r_dims = {16, 64}>
{
  w = ConstantOfShape (w_dims)
  r = ConstantOfShape (r_dims)
  of_x = MatMul (x, w)
  of_h = MatMul (h, r)
  gates = Add (of_x, of_h)
  i, f, g, o = Split <axis = 1, num_outputs = 4> (gates)
  take = Sigmoid (i)
  keep = Sigmoid (f)
  new = Tanh (g)
  give = Sigmoid (o)
  kept = Mul (keep, c)
  taken = Mul (take, new)
  next_c = Add (kept, taken)
  squashed = Tanh (next_c)
  next_h = Mul (give, squashed)
}
""",
        "LSTM cell 8 → 16",
    ),
    "state-space-block": (
        """
mamba (float[1, 20, 16] x) => (float[1, 20, 16] y)
<int64[2] in_dims = {16, 64}, int64[3] conv_dims = {32, 1, 4}, int64[2] x_dims = {32, 20},
 int64[2] dt_dims = {4, 32}, int64[2] a_dims = {32, 8}, int64[2] out_dims = {32, 16},
 int64[3] parts = {4, 8, 8}, int64 places = {1}, int64[1] two = {2}, int64[1] last = {3}>
{
  w_in = ConstantOfShape (in_dims)   w_conv = ConstantOfShape (conv_dims)
  w_x = ConstantOfShape (x_dims)     w_dt = ConstantOfShape (dt_dims)
  a = ConstantOfShape (a_dims)       w_out = ConstantOfShape (out_dims)
  projected = MatMul (x, w_in)
  content, gate = Split <axis = 2, num_outputs = 2> (projected)
  channels = Transpose <perm = [0, 2, 1]> (content)
  convolved = Conv <group = 32, kernel_shape = [4], pads = [3, 0]> (channels, w_conv)
  activated = Swish (convolved)      u = Transpose <perm = [0, 2, 1]> (activated)
  selected = MatMul (u, w_x)         low, b, c = Split <axis = 2> (selected, parts)
  steps = MatMul (low, w_dt)         dt = Softplus (steps)
  dt_of_states = Unsqueeze (dt, last)  b_of_states = Unsqueeze (b, two)
  rates = Mul (dt_of_states, a)      sums = CumSum (rates, places)
  decays = Exp (sums)
  du = Mul (dt, u)                   du_of_states = Unsqueeze (du, last)
  inputs = Mul (du_of_states, b_of_states)
  undecayed = Div (inputs, decays)   summed = CumSum (undecayed, places)
  states = Mul (summed, decays)      c_of_states = Unsqueeze (c, two)
  read = Mul (states, c_of_states)   result = ReduceSum <keepdims = 0> (read, last)
  squashed = Swish (gate)
  gated = Mul (result, squashed)
  y = MatMul (gated, w_out)
}
""",
        "Mamba block 16 → 32 → 16",
    ),
    "waves": (
        """
waves (float[20, 1] places) => (float[20, 16] y)
<float[8] frequencies = {1, 0.3, 0.1, 0.03, 0.01, 0.003, 0.001, 0.0003}>
{
  angles = Mul (places, frequencies)
  sine = Sin (angles)
  cosine = Cos (angles)
  y = Concat <axis = 1> (sine, cosine)
}
""",
        "Sinusoidal embedding",
    ),
    "similarity": (
        """
similarity (float[2, 64] images, float[3, 64] texts) => (float[2, 3] y)
{
  u = LpNormalization (images)
  v = LpNormalization (texts)
  [turn] turned = Transpose <perm = [1, 0]> (v)
  [compare] y = MatMul (u, turned)
}
""",
        "Cosine similarity",
    ),
    "patch-merging": (
        """
patch_merging (float[1, 8, 8, 16] x) => (float[1, 4, 4, 32] y)
<int64[2] dims = {64, 32}, int64[1] width = {64}, int64[2] a = {0, 0}, int64[2] b = {1, 0},
 int64[2] c = {0, 1}, int64[2] d = {1, 1}, int64[2] end = {8, 8}, int64[2] axes = {1, 2},
 int64[2] steps = {2, 2}>
{
  weight = ConstantOfShape (dims)
  s = ConstantOfShape (width)
  x0 = Slice (x, a, end, axes, steps)
  x1 = Slice (x, b, end, axes, steps)
  x2 = Slice (x, c, end, axes, steps)
  x3 = Slice (x, d, end, axes, steps)
  joined = Concat <axis = 3> (x0, x1, x2, x3)
  normal = LayerNormalization (joined, s)
  y = MatMul (normal, weight)
}
""",
        "Patch merging 16 → 32, /2",
    ),
    "partial-stage": (
        """
csp (float[1, 16, 8, 8] x) => (float[1, 32, 8, 8] y)
<int64[4] first = {32, 16, 1, 1}, int64[4] inner = {16, 16, 3, 3},
 int64[4] last = {32, 48, 1, 1}>
{
  w1 = ConstantOfShape (first)
  w2 = ConstantOfShape (inner)
  w3 = ConstantOfShape (last)
  wider = Conv (x, w1)
  around, through = Split <axis = 1, num_outputs = 2> (wider)
  convolved = Conv <pads = [1, 1, 1, 1]> (through, w2)
  activated = Relu (convolved)
  again = Conv <pads = [1, 1, 1, 1]> (activated, w2)
  total = Add (again, through)
  joined = Concat <axis = 1> (around, through, total)
  y = Conv (joined, w3)
}
""",
        "CSP block 16 → 32, 1 block",
    ),
    "dense-layer": (
        """
dense_layer (float[1, 8, 8, 8] before, float[1, 4, 8, 8] new) => (float[1, 4, 8, 8] y)
<int64[1] all = {12}, int64[1] inner = {16}, int64[4] point = {16, 12, 1, 1},
 int64[4] square = {4, 16, 3, 3}>
{
  s = ConstantOfShape (all)     t = ConstantOfShape (inner)
  w1 = ConstantOfShape (point)  w2 = ConstantOfShape (square)
  joined = Concat <axis = 1> (before, new)
  normal = BatchNormalization (joined, s, s, s, s)
  activated = Relu (normal)
  mixed = Conv (activated, w1)
  normal2 = BatchNormalization (mixed, t, t, t, t)
  activated2 = Relu (normal2)
  y = Conv <pads = [1, 1, 1, 1]> (activated2, w2)
}
""",
        "Dense layer 12 → +4",
    ),
    "shuffle-unit": (
        """
shuffle_unit (float[1, 16, 8, 8] x) => (float[1, 16, 8, 8] y)
<int64[4] point = {16, 8, 1, 1}, int64[4] deep = {16, 1, 3, 3},
 int64[5] apart = {1, 2, 8, 8, 8}, int64[4] joined = {1, 16, 8, 8}>
{
  w1 = ConstantOfShape (point)
  w2 = ConstantOfShape (deep)
  w3 = ConstantOfShape (point)
  grouped = Conv <group = 2> (x, w1)
  activated = Relu (grouped)
  groups = Reshape (activated, apart)
  shuffled = Transpose <perm = [0, 2, 1, 3, 4]> (groups)
  channels = Reshape (shuffled, joined)
  spatial = Conv <group = 16, pads = [1, 1, 1, 1]> (channels, w2)
  mixed = Conv <group = 2> (spatial, w3)
  total = Add (x, mixed)
  y = Relu (total)
}
""",
        "ShuffleNet unit",
    ),
    "branches": (
        """
fire (float[1, 16, 8, 8] x) => (float[1, 16, 8, 8] y)
<int64[4] few = {4, 16, 1, 1}, int64[4] small = {8, 4, 1, 1}, int64[4] large = {8, 4, 3, 3}>
{
  w1 = ConstantOfShape (few)
  w2 = ConstantOfShape (small)
  w3 = ConstantOfShape (large)
  squeezed = Conv (x, w1)
  activated = Relu (squeezed)
  one = Conv (activated, w2)
  one_activated = Relu (one)
  three = Conv <pads = [1, 1, 1, 1]> (activated, w3)
  three_activated = Relu (three)
  y = Concat <axis = 1> (one_activated, three_activated)
}
""",
        "Fire module 16 → 4 → 8 + 8",
    ),
    "same": (
        """
same (float[1, 16] x, float[1, 16] z) => (float[1, 16] y, float[1, 16] w)
{
  y = Relu (x)
  w = Relu (z)
}
""",
        "ReLU, 2 times",
    ),
    "pyramid-step": (
        """
pyramid (float[1, 8, 16, 16] x) => (float[1, 8, 16, 16] y, float[1, 8, 16, 16] finer)
<float[4] twice = {1, 1, 2, 2}, int64[4] point = {8, 8, 1, 1}, int64[4] square = {8, 8, 3, 3}>
{
  w1 = ConstantOfShape (point)
  w2 = ConstantOfShape (square)
  fine = Relu (x)
  coarse = MaxPool <kernel_shape = [2, 2], strides = [2, 2]> (fine)
  [resize] larger = Resize (coarse, , twice)
  [lateral] lateral = Conv (fine, w1)
  [add] total = Add (lateral, larger)
  [conv] y = Conv <pads = [1, 1, 1, 1]> (total, w2)
  finer = Neg (total)
}
""",
        "FPN step, top-down ×2",
    ),
    "resampling": (
        """
downsampling (float[1, 4, 16, 16] x) => (float[1, 8, 8, 8] y)
<int64[4] first = {8, 4, 3, 3}, int64[4] second = {8, 8, 3, 3}>
{
  w1 = ConstantOfShape (first)
  w2 = ConstantOfShape (second)
  smaller = MaxPool <kernel_shape = [2, 2], strides = [2, 2]> (x)
  convolved = Conv <pads = [1, 1, 1, 1]> (smaller, w1)
  activated = Relu (convolved)
  convolved2 = Conv <pads = [1, 1, 1, 1]> (activated, w2)
  y = Relu (convolved2)
}
""",
        "Downsampling 4 → 8, /2",
    ),
    "joined-block": (
        """
joined (float[1, 8, 16, 16] x) => (float[1, 16, 16, 16] y)
<int64[4] dims = {16, 16, 3, 3}>
{
  weight = ConstantOfShape (dims)
  skip = Relu (x)
  stream = Sigmoid (skip)
  [join] joined = Concat <axis = 1> (stream, skip)
  [conv1] convolved = Conv <pads = [1, 1, 1, 1]> (joined, weight)
  [act] activated = Swish (convolved)
  [conv2] again = Conv <pads = [1, 1, 1, 1]> (activated, weight)
  [add] y = Add (joined, again)
}
""",
        "Residual block 16 → 16, with skip",
    ),
    "row": (
        """
row (float[1, 3, 32, 32] x) => (float[1, 8, 16, 16] y)
<int64[4] dims = {8, 3, 7, 7}, int64[1] width = {8}>
{
  weight = ConstantOfShape (dims)
  s = ConstantOfShape (width)
  convolved = Conv <pads = [3, 3, 3, 3]> (x, weight)
  normal = BatchNormalization (convolved, s, s, s, s)
  activated = Relu (normal)
  y = MaxPool <kernel_shape = [2, 2], strides = [2, 2]> (activated)
}
""",
        "Conv · BN · ReLU · MaxPool, 7×7, 3 → 8, /2",
    ),
}
