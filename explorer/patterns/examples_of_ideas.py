"""Examples of the ideas of papers, by the id of their pattern."""

from __future__ import annotations

#: the model without a header, and what its graph is told to be
EXAMPLES_OF_IDEAS: dict[str, tuple[str, str]] = {
    "mixer-block": (
        """
mixer (float[2, 16, 8] x) => (float[2, 16, 8] y)
<int64[2] t1 = {16, 32}, int64[2] t2 = {32, 16}, int64[2] c1 = {8, 24}, int64[2] c2 = {24, 8},
 int64[1] width = {8}>
{
  s = ConstantOfShape (width)
  w1 = ConstantOfShape (t1)  w2 = ConstantOfShape (t2)
  w3 = ConstantOfShape (c1)  w4 = ConstantOfShape (c2)
  normal = LayerNormalization (x, s)
  turned = Transpose <perm = [0, 2, 1]> (normal)
  h1 = MatMul (turned, w1)  a1 = Gelu (h1)  m1 = MatMul (a1, w2)
  back = Transpose <perm = [0, 2, 1]> (m1)
  mixed = Add (x, back)
  again = LayerNormalization (mixed, s)
  h2 = MatMul (again, w3)  a2 = Gelu (h2)  m2 = MatMul (a2, w4)
  y = Add (mixed, m2)
}
""",
        "Mixer block tokens 16 → 32 → 16, features 8 → 24 → 8",
    ),
    "positional-encoding": (
        """
encoding (float[64, 3] x) => (float[64, 15] y)
<float one = {1}, float two = {2}>
{
  a = Mul (x, one)  sine = Sin (a)   cosine = Cos (a)
  b = Mul (x, two)  faster = Sin (b) other = Cos (b)
  y = Concat <axis = 1> (x, sine, cosine, faster, other)
}
""",
        "Positional encoding, 2 frequencies",
    ),
    "fourier-transform": (
        """
mixing (float[1, 16, 8, 2] x) => (float[1, 16, 8, 2] y)
<int64 features = {2}, int64 tokens = {1}>
{
  along = DFT (x, , features)
  y = DFT (along, , tokens)
}
""",
        "2-D FFT",
    ),
    "reparametrisation": (
        """
draw (float[2, 8] mean, float[2, 8] log_variance, float[2, 8] noise) => (float[2, 8] y)
<float half = {0.5}>
{
  halved = Mul (log_variance, half)
  deviation = Exp (halved)
  scaled = Mul (deviation, noise)
  y = Add (mean, scaled)
}
""",
        "Reparametrisation, mean + deviation · noise",
    ),
    "vector-quantizer": (
        """
quantizer (float[2, 16, 8] x) => (float[2, 16, 8] y)
<int64[2] dims = {512, 8}, int64[2] turned = {8, 512}, int64[1] count = {512}, float two = {2}>
{
  codes = ConstantOfShape (dims)
  columns = ConstantOfShape (turned)
  squares = ConstantOfShape (count)
  product = MatMul (x, columns)
  twice = Mul (product, two)
  distances = Sub (squares, twice)
  nearest = ArgMin <axis = -1, keepdims = 0> (distances)
  y = Gather (codes, nearest)
}
""",
        "Vector quantizer, 512 codes × 8",
    ),
    "dot-interaction": (
        """
interaction (float[2, 1, 8] dense, float[2, 1, 8] user, float[2, 1, 8] item)
 => (float[2, 3, 3] y)
{
  features = Concat <axis = 1> (dense, user, item)
  turned = Transpose <perm = [0, 2, 1]> (features)
  y = MatMul (features, turned)
}
""",
        "Dot interaction, 3 features",
    ),
    "atrous-pyramid": (
        """
pyramid (float[1, 8, 32, 32] x) => (float[1, 8, 32, 32] y)
<int64[4] dims = {4, 8, 3, 3}, int64[4] point = {4, 8, 1, 1}, int64[4] all = {8, 16, 1, 1}>
{
  w = ConstantOfShape (dims)
  p = ConstantOfShape (point)
  j = ConstantOfShape (all)
  near = Conv (x, p)
  a = Conv <dilations = [6, 6], pads = [6, 6, 6, 6]> (x, w)
  b = Conv <dilations = [12, 12], pads = [12, 12, 12, 12]> (x, w)
  c = Conv <dilations = [18, 18], pads = [18, 18, 18, 18]> (x, w)
  joined = Concat <axis = 1> (near, a, b, c)
  y = Conv (joined, j)
}
""",
        "Atrous pyramid, rates 6, 12, 18, 8 → 8",
    ),
    "message-passing": (
        """
messages (float[10, 8] x, int64[30] from, int64[30, 8] to) => (float[10, 8] y)
<int64[2] dims = {10, 8}, int64[2] square = {8, 8}>
{
  w = ConstantOfShape (square)
  zeros = ConstantOfShape (dims)
  sent = Gather (x, from)
  message = MatMul (sent, w)
  y = ScatterElements <axis = 0, reduction = "add"> (zeros, to, message)
}
""",
        "Message passing, gather, sum of messages",
    ),
    "adaptive-norm": (
        """
adaptive (float[2, 16, 8] x, float[2, 1, 8] scale, float[2, 1, 8] shift) => (float[2, 16, 8] y)
<int64[1] width = {8}, float one = {1}>
{
  s = ConstantOfShape (width)
  normal = LayerNormalization (x, s)
  above = Add (scale, one)
  scaled = Mul (normal, above)
  y = Add (scaled, shift)
}
""",
        "Adaptive LayerNorm",
    ),
    "squash": (
        """
squash (float[2, 10, 16] x) => (float[2, 10, 16] y)
<float two = {2}, float one = {1}, float epsilon = {0.00000001}, int64[1] last = {-1}>
{
  square = Pow (x, two)
  length = ReduceSum (square, last)
  longer = Mul (x, length)
  above = Add (length, one)
  shorter = Div (longer, above)
  more = Add (length, epsilon)
  root = Sqrt (more)
  y = Div (shorter, root)
}
""",
        "Squash",
    ),
    "gate": (
        """
gated (float[1, 8, 64] x) => (float[1, 8, 64] y)
<int64[3] dims = {8, 8, 3}>
{
  w1 = ConstantOfShape (dims)
  w2 = ConstantOfShape (dims)
  filter = Conv <dilations = [2], pads = [2, 2]> (x, w1)
  content = Tanh (filter)
  logits = Conv <dilations = [2], pads = [2, 2]> (x, w2)
  gate = Sigmoid (logits)
  y = Mul (content, gate)
}
""",
        "Gated unit, kernel 3, 8 → 8, dilation 2",
    ),
    "token-shift": (
        """
shift (float[2, 16, 8] x) => (float[2, 16, 8] y)
<int64[6] before = {0, 1, 0, 0, -1, 0}, int64[1] width = {8}>
{
  share = ConstantOfShape (width)
  rest = ConstantOfShape (width)
  moved = Pad (x, before)
  here = Mul (x, share)
  there = Mul (moved, rest)
  y = Add (here, there)
}
""",
        "Token shift",
    ),
    "time-mix": (
        """
channel_mix (float[2, 16, 8] x) => (float[2, 16, 8] y)
<int64[6] before = {0, 1, 0, 0, -1, 0}, int64[1] width = {8}, float two = {2},
 int64[2] wider = {8, 32}, int64[2] narrower = {32, 8}, int64[2] square = {8, 8}>
{
  share = ConstantOfShape (width)  rest = ConstantOfShape (width)
  wk = ConstantOfShape (wider)     wv = ConstantOfShape (narrower)
  wr = ConstantOfShape (square)
  moved = Pad (x, before)
  a = Mul (x, share)   b = Mul (moved, rest)   k = Add (a, b)
  key = MatMul (k, wk)
  positive = Relu (key)
  squared = Pow (positive, two)
  value = MatMul (squared, wv)
  c = Mul (x, rest)    d = Mul (moved, share)  r = Add (c, d)
  receptance = MatMul (r, wr)
  gate = Sigmoid (receptance)
  y = Mul (gate, value)
}
""",
        "Channel mix 8 → 32",
    ),
}
