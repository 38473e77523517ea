"""Models in which much of what there is has no box of its own, for tests of where it is shown."""

from __future__ import annotations

#: weights and biases behind DequantizeLinear, one of them used twice
QUANTIZED = """<ir_version: 10, opset_import: ["": 21]>
g (float[1, 4] x) => (float[1, 4] y)
<int8[4, 4] w = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16}, float ws = {0.5},
 int8 wz = {0}, int32[4] b = {1, 2, 3, 4}, float bs = {0.25}, int32 bz = {0}, float unused = {1.0}>
{
    [dequantize_w] wd = DequantizeLinear (w, ws, wz)
    [dequantize_b] bd = DequantizeLinear (b, bs, bz)
    ["/block/first/Gemm"] h = Gemm (x, wd, bd)
    ["/block/first/Relu"] r = Relu (h)
    ["/block/second/Gemm"] k = Gemm (r, wd, bd)
    ["/block/second/Relu"] s = Relu (k)
    ["/head/Add"] y = Add (s, bd)
}"""

#: bodies in one another, what they take from around them, and two branches
NESTED = """<ir_version: 8, opset_import: ["": 17]>
g (bool c, float[2] x) => (float[2] y) <float[2] w = {1.0, 2.0}, float[2] v = {1.0, 2.0}>
{
    [outer_Mul] a = Mul (x, v)
    [choose] b = If (c) <
        then_branch = yes () => (float[2] t) {
            [inner_Add] p = Add (a, w)
            [again] t = If (c) <
                then_branch = deep () => (float[2] d) { [deep_Mul] d = Mul (p, w) },
                else_branch = flat () => (float[2] e) { [flat_Neg] e = Neg (p) }
            >
        },
        else_branch = no () => (float[2] q) { [no_Sub] q = Sub (a, v) }
    >
    [last] y = Add (b, v)
}"""

CALLS = """<ir_version: 10, opset_import: ["": 21, "local": 1]>
g (float[2] x) => (float[2] y) <float[2] w = {1.0, 2.0}>
{
    [one] a = local.outer (x, w)
    [two] b = local.outer (a, w)
    [end] y = Relu (b)
}
<domain: "local", opset_import: ["": 21, "local": 1]>
outer (p, q) => (r) { [inside] s = local.inner (p, q) [after] r = Tanh (s) }
<domain: "local", opset_import: ["": 21]>
inner (m, n) => (o) { [add] u = Add (m, n) [neg] o = Neg (u) }"""

#: shape arithmetic that is a row of what takes it
SHAPES = """<ir_version: 10, opset_import: ["": 21]>
g (float[N, 4] x) => (float[M, 2] y)
<int64 zero = {0}, int64[1] axes = {0}, int64[1] two = {2}, float[4, 4] w>
{
    ["/a/MatMul"] h = MatMul (x, w)
    ["/b/Shape"] s = Shape (h)
    ["/b/Gather"] n = Gather (s, zero)
    ["/b/Unsqueeze"] u = Unsqueeze (n, axes)
    ["/b/Concat"] d = Concat <axis = 0> (u, two)
    ["/c/Reshape"] y = Reshape (h, d)
}"""

#: by what they are good for
TEXTS = {"quantized": QUANTIZED, "nested": NESTED, "calls": CALLS, "shapes": SHAPES}
