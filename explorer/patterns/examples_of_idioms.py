"""Examples of idioms that programs write out, by the id of their pattern."""

from __future__ import annotations

#: the model without a header, and what its graph is told to be
EXAMPLES_OF_IDIOMS: dict[str, tuple[str, str]] = {
    "soft-cap": (
        """
scores (float[2, 16] x) => (float[2, 16] y)
<float cap = {30}>
{
  small = Div (x, cap)
  within = Tanh (small)
  y = Mul (within, cap)
}
""",
        "Soft cap, 30",
    ),
    "reversible-standardization": (
        """
series (float[2, 48, 7] x) => (float[2, 48, 7] y, float[2, 1, 7] mean, float[2, 1, 7] deviation)
<int64[1] axis = {1}, float least = {1e-5}>
{
  mean = ReduceMean (x, axis)
  centred = Sub (x, mean)
  square = Mul (centred, centred)
  variance = ReduceMean (square, axis)
  some = Add (variance, least)
  deviation = Sqrt (some)
  y = Div (centred, deviation)
}
""",
        "Standardization",
    ),
    "masked-pool": (
        """
sentence (float[2, 16, 8] x, int64[2, 16] mask) => (float[2, 8] y)
<int64[1] last = {2}, int64[1] axis = {1}, int64[3] size = {2, 16, 8}, float least = {1e-9}>
{
  wide = Unsqueeze (mask, last)
  all = Expand (wide, size)
  m = Cast <to = 1> (all)
  kept = Mul (x, m)
  total = ReduceSum <keepdims = 0> (kept, axis)
  count = ReduceSum <keepdims = 0> (m, axis)
  some = Clip (count, least)
  y = Div (total, some)
}
""",
        "Masked mean",
    ),
    "scaled-parts": (
        """
boxes (float[100, 4] x) => (float[100, 4] y)
<float width = {2.5}, float height = {2}>
{
  a, b, c, d = Split <axis = 1, num_outputs = 4> (x)
  left = Mul (a, width)
  top = Mul (b, height)
  right = Mul (c, width)
  bottom = Mul (d, height)
  y = Concat <axis = 1> (left, top, right, bottom)
}
""",
        "Scaling, each of 4 parts",
    ),
    "fixed-transform": (
        """
spectra (float[8, 32] frames) => (float[8, 17] y)
<int64[2] dims = {32, 17}>
{
  angles = ConstantOfShape (dims)
  waves = Cos (angles)
  y = MatMul (frames, waves)
}
""",
        "DFT 32 → 17",
    ),
    "cost-volume": (
        """
correlation (float[1, 8, 16, 16] x, float[1, 8, 16, 16] z) => (float[1, 3, 16, 16] y)
<int64[1] axis = {3}, int64[1] over = {1}, int64[8] pads = {0, 0, 0, 1, 0, 0, 0, 1},
 int64[1] a = {0}, int64[1] b = {1}, int64[1] c = {2}, int64[1] d = {16}, int64[1] e = {17},
 int64[1] f = {18}>
{
  wide = Pad (z, pads)
  left = Slice (wide, a, d, axis)   p1 = Mul (x, left)   c1 = ReduceMean (p1, over)
  same = Slice (wide, b, e, axis)   p2 = Mul (x, same)   c2 = ReduceMean (p2, over)
  right = Slice (wide, c, f, axis)  p3 = Mul (x, right)  c3 = ReduceMean (p3, over)
  y = Concat <axis = 1> (c1, c2, c3)
}
""",
        "Cost volume, correlation, 3 displacements",
    ),
    "scale-and-shift": (
        """
unnormalized (float[2, 16, 64] x) => (float[2, 16, 64] y)
<int64[1] width = {64}>
{
  scale = ConstantOfShape (width)
  shift = ConstantOfShape (width)
  scaled = Mul (x, scale)
  y = Add (scaled, shift)
}
""",
        "Scale and shift, 64",
    ),
    "chunks": (
        """
frames (float[1, 8, 50] x) => (float[1, 8, 20, 4] y)
<int64[1] axis = {2}, int64[1] last = {3}, int64[1] a = {0}, int64[1] b = {10},
 int64[1] c = {20}, int64[1] d = {30}, int64[1] e = {40}, int64[1] f = {50}>
{
  one = Slice (x, a, c, axis)    s1 = Unsqueeze (one, last)
  two = Slice (x, b, d, axis)    s2 = Unsqueeze (two, last)
  three = Slice (x, c, e, axis)  s3 = Unsqueeze (three, last)
  four = Slice (x, d, f, axis)   s4 = Unsqueeze (four, last)
  y = Concat <axis = 3> (s1, s2, s3, s4)
}
""",
        "Chunks, 4 of 20, hop 10",
    ),
    "overlap-add": (
        """
signal (float[1, 2, 4, 10] x) => (float[1, 1, 50] y)
<int64[1] axis = {1}, int64[1] a = {0}, int64[1] b = {1}, int64[1] c = {2},
 int64[3] shape = {1, 1, 40}, int64[6] behind = {0, 0, 0, 0, 0, 10},
 int64[6] before = {0, 0, 10, 0, 0, 0}>
{
  one = Slice (x, a, b, axis)  first = Reshape (one, shape)   left = Pad (first, behind)
  two = Slice (x, b, c, axis)  second = Reshape (two, shape)  right = Pad (second, before)
  y = Add (left, right)
}
""",
        "Overlap-add",
    ),
    "edge-inputs": (
        """
edges (float[10, 8] x, float[30, 4] edge, int64[30] from, int64[30] to) => (float[30, 20] y)
{
  source = Gather (x, from)
  target = Gather (x, to)
  y = Concat <axis = 1> (source, target, edge)
}
""",
        "Source, target, edge",
    ),
    "added-tokens": (
        """
prompted (float[1, 17, 8] x) => (float[1, 21, 8] y)
<int64[1] axis = {1}, int64[1] a = {0}, int64[1] b = {1}, int64[1] c = {17},
 float[1, 4, 8] registers = {
 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.2, 0.1, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8,
 0.3, 0.2, 0.1, 0.4, 0.5, 0.6, 0.7, 0.8, 0.4, 0.2, 0.3, 0.1, 0.5, 0.6, 0.7, 0.8}>
{
  [class] first = Slice (x, a, b, axis)
  [patches] rest = Slice (x, b, c, axis)
  [join] all = Concat <axis = 1> (first, registers, rest)
  y = Attention <q_num_heads = 2, kv_num_heads = 2> (all, all, all)
}
""",
        "+ 4 learned tokens",
    ),
    "polynomials": (
        """
harmonics (float[64, 3] d) => (float[64, 5] y)
<int64[1] axis = {1}, int64[1] a = {0}, int64[1] b = {1}, int64[1] c = {2}, int64[1] e = {3},
 float first = {0.4886}, float second = {1.0925}, float third = {0.3154}, float three = {3},
 float one = {1}>
{
  x = Slice (d, a, b, axis)  y1 = Slice (d, b, c, axis)  z = Slice (d, c, e, axis)
  h1 = Mul (y1, first)
  h2 = Mul (z, first)
  xy = Mul (x, y1)  h3 = Mul (xy, second)
  yz = Mul (y1, z)  h4 = Mul (yz, second)
  zz = Mul (z, z)  tz = Mul (zz, three)  sz = Sub (tz, one)  h5 = Mul (sz, third)
  y = Concat <axis = 1> (h1, h2, h3, h4, h5)
}
""",
        "Polynomials, degree 2, 3 → 5",
    ),
    "length": (
        """
length (float[10, 3] x) => (float[10] y)
<int64[1] last = {1}>
{
  square = Mul (x, x)
  total = ReduceSum <keepdims = 0> (square, last)
  y = Sqrt (total)
}
""",
        "L2 norm",
    ),
    "chebyshev": (
        """
layer (float[4, 6] x) => (float[4, 5] y)
<int64[3] dims = {6, 5, 4}, float two = {2}, float[4, 6, 1] ones = {
 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1},
 float one = {1}, int64[1] last = {2}>
{
  w = ConstantOfShape (dims)
  double = Mul (x, two)
  square = Mul (double, x)       t2 = Sub (square, one)
  cube = Mul (double, t2)        t3 = Sub (cube, x)
  a = Unsqueeze (x, last)  b = Unsqueeze (t2, last)  c = Unsqueeze (t3, last)
  basis = Concat <axis = 2> (ones, a, b, c)
  y = Einsum <equation = "bid,iod->bo"> (basis, w)
}
""",
        "Chebyshev layer 6 → 5, degree 3",
    ),
    "compressed-interaction": (
        """
interactions (float[2, 3, 8] x) => (float[2, 4, 8] h, float[2, 5, 8] y)
<int64[3] first = {4, 9, 1}, int64[3] second = {5, 12, 1}, int64[1] one = {1},
 int64[1] two = {2}, int64[3] nine = {2, 9, 8}, int64[3] twelve = {2, 12, 8}>
{
  w1 = ConstantOfShape (first)  w2 = ConstantOfShape (second)
  a = Unsqueeze (x, one)  b = Unsqueeze (x, two)
  all = Mul (a, b)        pairs = Reshape (all, nine)
  c = Conv (pairs, w1)    h = Relu (c)
  d = Unsqueeze (h, one)
  more = Mul (d, b)       others = Reshape (more, twelve)
  e = Conv (others, w2)   y = Relu (e)
}
""",
        "Compressed interaction network, 2 layers",
    ),
}
