"""Blocks of today's operators and of attention as torch writes it out, for sizes of any kind."""

from __future__ import annotations

import pytest

from netloupe import load
from netloupe.explorer.patterns import find_nested_blocks, recognise
from netloupe.explorer.patterns.transformer_details import MlpDetails

from .test_recognise import text_of

WIDTHS = {"q": (32, 32), "k": (32, 32), "v": (32, 32), "o": (32, 32)}


def text_of_nodes(text: str, opset: int = 21, **weights: tuple[int, ...]) -> str:
    """Return what nodes in ONNX text are recognised as; weights are inputs that are parameters."""
    given = ", ".join(f"float[{','.join(map(str, d))}] {n}" for n, d in weights.items())
    header = f'<ir_version: 10, opset_import: ["" : {opset}, "com.microsoft" : 1]>'
    model = load(f"{header} g (float[n] x, {given}) => (float[n] y) {{ {text} }}".encode())
    for value in model.graph.inputs:
        value.is_parameter = value.name in weights
    return text_of(model.graph)


def split_heads(letter: str, *shapes: list[int]) -> str:
    """Return a projection whose result gets heads by several Reshapes, as torch writes them."""
    steps = [f"{letter}0 = MatMul (x, {letter})"]
    last = f"{letter}0"
    for number, shape in enumerate(shapes):
        name = f"{letter}s{number}"
        listed = ", ".join(map(str, shape))
        steps.append(f"{name} = Constant <value = int64[{len(shape)}] {{{listed}}}> ()")
        steps.append(f"{letter}r{number} = Reshape ({last}, {name})")
        last = f"{letter}r{number}"
        if not number and len(shape) == 3:
            steps.append(f"{letter}t = Transpose <perm = [1, 0, 2]> ({last})")
            last = f"{letter}t"
    return " ".join([*steps, f"{letter}h = Identity ({last})"])


@pytest.mark.parametrize("length", [2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 96, 128])
@pytest.mark.parametrize("heads", [2, 4, 8])
def test_heads_are_no_places_however_many_these_are(heads: int, length: int) -> None:
    width = 32 // heads
    parts = " ".join(
        split_heads(letter, [length, heads, width], [1, heads, length, width]) for letter in "qkv"
    )
    text = f"""{parts}
        turned = Transpose <perm = [0, 1, 3, 2]> (kh)  s = MatMul (qh, turned)  a = Softmax (s)
        c = MatMul (a, vh)  t = Transpose <perm = [2, 0, 1, 3]> (c)
        flat = Constant <value = int64[2] {{{length}, 32}}> ()  m = Reshape (t, flat)
        y = MatMul (m, o)
    """
    assert text_of_nodes(text, **WIDTHS) == f"Self-attention, {heads} heads × {width}"


@pytest.mark.parametrize(
    ("heads", "shared"), [(2, 1), (2, 2), (4, 1), (4, 2), (4, 4), (8, 1), (8, 2), (8, 8)]
)
def test_keys_and_values_of_one_projection_are_no_more_heads(heads: int, shared: int) -> None:
    width = 32 // heads
    text = f"""
        q0 = MatMul (x, q)  qs = Constant <value = int64[4] {{1, 9, {heads}, {width}}}> ()
        q1 = Reshape (q0, qs)  q2 = Transpose <perm = [0, 2, 1, 3]> (q1)
        k0 = MatMul (x, k)  ks = Constant <value = int64[5] {{1, -1, 2, {shared}, {width}}}> ()
        k1 = Reshape (k0, ks)  k2 = Transpose <perm = [2, 0, 3, 1, 4]> (k1)
        k3, v3 = Split <axis = 0, num_outputs = 2> (k2)
        ax = Constant <value = int64[1] {{0}}> ()  k4 = Squeeze (k3, ax)  v4 = Squeeze (v3, ax)
        kt = Transpose <perm = [0, 1, 3, 2]> (k4)  s = MatMul (q2, kt)  a = Softmax (s)
        c = MatMul (a, v4)  t = Transpose <perm = [0, 2, 1, 3]> (c)
        flat = Constant <value = int64[3] {{1, 9, 32}}> ()  m = Reshape (t, flat)
        y = MatMul (m, o)
    """
    weights = {**WIDTHS, "k": (32, 2 * shared * width)}
    del weights["v"]
    assert text_of_nodes(text, **weights) == f"Self-attention, {heads} heads × {width}"


GATED = {
    "two projections": "a = MatMul (x, wa)  b = MatMul (x, wb)  h = SwiGLU (a, b)",
    "one that is split": """
        p = MatMul (x, wp)  a, b = Split <axis = -1, num_outputs = 2> (p)  h = SwiGLU (a, b)
    """,
    "biases": """
        a0 = MatMul (x, wa)  a = Add (a0, ba)  b0 = MatMul (x, wb)  b = Add (b0, bb)
        h = SwiGLU <alpha = 1.0> (a, b)
    """,
    "ONNX Runtime's": "a = MatMul (x, wa)  b = MatMul (x, wb)  h = com.microsoft.SwiGLU (a, b)",
    "ONNX Runtime's of one": "p = MatMul (x, wp)  h = com.microsoft.SwiGLU (p)",
}


@pytest.mark.parametrize("form", GATED)
def test_the_operator_swiglu_gates_an_mlp(form: str) -> None:
    weights = {"wa": (8, 24), "wb": (8, 24), "wp": (8, 48), "ba": (24,), "bb": (24,), "wd": (24, 8)}
    used = {name: dims for name, dims in weights.items() if name in f"{GATED[form]} wd"}
    text = f"{GATED[form]}  y = MatMul (h, wd)"
    assert text_of_nodes(text, 28, **used) == "SwiGLU 8 → 24 → 8"
    # a gate of something else is no half of it
    other = text.replace("MatMul (x, wb)", "MatMul (n, wb)")
    if other != text:
        assert text_of_nodes(f"n = Neg (x)  {other}", 28, **used) == ""


@pytest.mark.parametrize(
    ("rule", "said"),
    [
        ("linear", ""),
        ("gated", "gated, "),
        ("delta", "delta rule, "),
        ("gated_delta", "gated delta rule, "),
        ("", "gated delta rule, "),  # the default
        ("of <no> kind", ""),
    ],
)
def test_linear_attention_says_how_its_state_takes_up_a_token(rule: str, said: str) -> None:
    stated = f', update_rule = "{rule}"' if rule else ""
    text = f"""
        q0 = MatMul (x, q)  k0 = MatMul (x, k)  v0 = MatMul (x, v)
        a, s = LinearAttention <q_num_heads = 4, kv_num_heads = 2{stated}> (q0, k0, v0)
        y = MatMul (a, o)
    """
    weights = {**WIDTHS, "k": (32, 16), "v": (32, 16)}
    expected = f"Linear attention, {said}4 heads × 8 over 2, causal"
    assert text_of_nodes(text, 27, **weights) == expected


def test_a_block_of_the_new_operators_is_a_transformer_block() -> None:
    text = """
        n1 = RMSNormalization (x, g)
        q0 = MatMul (n1, q)  k0 = MatMul (n1, k)  v0 = MatMul (n1, v)
        a, s = LinearAttention <q_num_heads = 4, kv_num_heads = 4> (q0, k0, v0)
        p = MatMul (a, o)  r = Add (x, p)  n2 = RMSNormalization (r, g)
        u = MatMul (n2, wa)  w = MatMul (n2, wb)  h = SwiGLU (u, w)  d = MatMul (h, wd)
        y = Add (r, d)
    """
    weights = {**WIDTHS, "g": (32,), "wa": (32, 96), "wb": (32, 96), "wd": (96, 32)}
    assert text_of_nodes(text, 28, **weights) == (
        "Transformer block, linear attention, gated delta rule, 4 heads × 8, causal, "
        "SwiGLU 32 → 96 → 32, pre-norm RMSNorm"
    )


def test_what_gives_decay_and_rate_is_part_of_linear_attention() -> None:
    text = """
        q0 = MatMul (x, q)  k0 = MatMul (x, k)  v0 = MatMul (x, v)
        d0 = MatMul (x, wd)  d1 = Softplus (d0)  d2 = Neg (d1)
        b0 = MatMul (x, wb)  b1 = Sigmoid (b0)
        a, s = LinearAttention <q_num_heads = 4, kv_num_heads = 4> (q0, k0, v0, , d2, b1)
        y = MatMul (a, o)
    """
    weights = {**WIDTHS, "wd": (32, 4), "wb": (32, 4)}
    expected = "Linear attention, gated delta rule, 4 heads × 8, causal"
    assert text_of_nodes(text, 27, **weights) == expected


LINEAR = "q0 = MatMul (x, q)  k0 = MatMul (x, k)  v0 = MatMul (x, v)  "
KNOWN = {
    "LinearAttention": LINEAR + "a, s = LinearAttention <q_num_heads = 4, kv_num_heads = 4> "
    "(q0, k0, v0)  y = MatMul (a, o)",
    "Attention": LINEAR + "a = Attention <q_num_heads = 4, kv_num_heads = 4> (q0, k0, v0)  "
    "y = MatMul (a, o)",
    "Softmax": LINEAR + "t = Transpose <perm = [0, 2, 1]> (k0)  s = MatMul (q0, t)  "
    "p = Softmax (s)  a = MatMul (p, v0)  y = MatMul (a, o)",
    "SwiGLU": "a = MatMul (x, q)  b = MatMul (x, k)  h = SwiGLU (a, b)  y = MatMul (h, o)",
    "Sigmoid": "a = MatMul (x, q)  b = MatMul (x, k)  s = Sigmoid (a)  t = Mul (a, s)  "
    "h = Mul (t, b)  y = MatMul (h, o)",
    "Gelu": "a = MatMul (x, q)  h = Gelu (a)  y = MatMul (h, o)",
    "LayerNormalization": "a = Relu (x)  b = LayerNormalization (a, q)  y = Relu (b)",
}


@pytest.mark.parametrize("op_type", KNOWN)
def test_what_a_stranger_calls_the_same_is_not_the_same(op_type: str) -> None:
    def tell(text: str) -> list[str]:
        given = ", ".join(f"float[32,32] {name}" for name in WIDTHS)
        header = '<ir_version: 10, opset_import: ["" : 28, "mine" : 1]>'
        graph = load(
            f"{header} g (float[n] x, {given}) => (float[n] y) {{ {text} }}".encode()
        ).graph
        for value in graph.inputs:
            value.is_parameter = value.name in WIDTHS
        blocks = [block.name for block in find_nested_blocks(graph.nodes) if block.name != "Linear"]
        return [*filter(None, [text_of(graph)]), *blocks]

    other = KNOWN[op_type].replace(f"= {op_type} ", f"= mine.{op_type} ")
    assert other != KNOWN[op_type]
    told = {word for said in tell(KNOWN[op_type]) for word in said.split(", ")}
    assert told
    assert not told & {word for said in tell(other) for word in said.split(", ")}


@pytest.mark.parametrize(
    ("form", "activation"),
    [
        ("SwiGLU", "SiLU"),
        ("SwiGLU <alpha = 1.0>", "SiLU"),
        ("SwiGLU <alpha = 1.702>", "Swish"),
        ("com.microsoft.SwiGLU", "SiLU"),
        ("com.microsoft.SwiGLU <activation_alpha = 1.702>", "Swish"),
    ],
)
def test_a_swiglu_says_which_activation_it_has(form: str, activation: str) -> None:
    header = '<ir_version: 10, opset_import: ["" : 28, "com.microsoft" : 1]>'
    weights = "float[8,24] wa, float[8,24] wb, float[24,8] wd"
    text = f"a = MatMul (x, wa)  b = MatMul (x, wb)  h = {form} (a, b)  y = MatMul (h, wd)"
    graph = load(f"{header} g (float[n] x, {weights}) => (float[n] y) {{ {text} }}".encode()).graph
    for value in graph.inputs:
        value.is_parameter = value.name != "x"
    found = recognise(graph.nodes)
    assert found is not None
    assert found.text == "SwiGLU 8 → 24 → 8"
    assert found.details.read_as(MlpDetails).activation == activation


KEPT = {
    "queries, keys and values of one product": """
        p = MatMul (x, w)
        a, k1, v1 = com.microsoft.GroupQueryAttention <num_heads = 4, kv_num_heads = 2>
            (p, , , k0, v0, n, m)
    """,
    "one product each": """
        q = MatMul (x, wq)  k = MatMul (x, wk)  v = MatMul (x, wv)
        a, k1, v1 = com.microsoft.GroupQueryAttention <num_heads = 4, kv_num_heads = 2>
            (q, k, v, k0, v0, n, m)
    """,
    "ONNX's operator": """
        q = MatMul (x, wq)  k = MatMul (x, wk)  v = MatMul (x, wv)
        a, k1, v1 = Attention <q_num_heads = 4, kv_num_heads = 2, is_causal = 1>
            (q, k, v, , k0, v0)
    """,
}


@pytest.mark.parametrize("form", KEPT)
def test_attention_that_gives_what_it_keeps_holds_its_last_product(form: str) -> None:
    dims = {"w": (32, 64), "wq": (32, 32), "wk": (32, 16), "wv": (32, 16), "wo": (32, 32)}
    weights = ", ".join(f"float[{a},{b}] {name}" for name, (a, b) in dims.items())
    kept = "float[b,2,p,8] k0, float[b,2,p,8] v0, int32[b] n, int32 m"
    given = "float[b,s,32] y, float[b,2,t,8] k1, float[b,2,t,8] v1"
    header = '<ir_version: 10, opset_import: ["" : 25, "com.microsoft" : 1]>'
    text = f"g (float[b,s,32] x, {kept}, {weights}) => ({given})"
    graph = load(f"{header} {text} {{ {KEPT[form]}  y = MatMul (a, wo) }}".encode()).graph
    for value in graph.inputs:
        value.is_parameter = value.name in dims
    assert text_of(graph) == "Grouped-query attention, 4 heads × 8 over 2, causal"


def test_a_gate_behind_attention_is_part_of_it() -> None:
    text = """
        p = MatMul (x, w)  s = Constant <value = int64[3] {32, 32, 32}> ()
        q, k, g = Split <axis = -1> (p, s)  v = MatMul (x, wv)
        a = Attention <q_num_heads = 4, kv_num_heads = 4> (q, k, v)
        o = Sigmoid (g)  h = Mul (a, o)  y = MatMul (h, wo)
    """
    weights = {"w": (32, 96), "wv": (32, 32), "wo": (32, 32)}
    assert text_of_nodes(text, 25, **weights).startswith("Self-attention, 4 heads")
    # a product with something else is none
    other = text.replace("Sigmoid (g)", "Sin (g)")
    assert text_of_nodes(other, 25, **weights) == ""


def test_linear_attention_holds_its_convolution_norm_and_gate() -> None:
    text = """
        p = MatMul (x, w)  t = Transpose <perm = [0, 2, 1]> (p)
        c, cs = com.microsoft.CausalConvWithState <activation = "silu"> (t, wc)
        u = Transpose <perm = [0, 2, 1]> (c)  s = Constant <value = int64[3] {32, 32, 32}> ()
        q, k, v = Split <axis = -1> (u, s)  n = Constant <value = int64[4] {0, 0, 4, 8}> ()
        q1 = Reshape (q, n)  q2 = LpNormalization <axis = -1> (q1)
        f = Constant <value = int64[3] {0, 0, 32}> ()  q3 = Reshape (q2, f)
        a, as = com.microsoft.LinearAttention <q_num_heads = 4, kv_num_heads = 4> (q3, k, v)
        a1 = Reshape (a, n)  a2 = SimplifiedLayerNormalization (a1, wn)  a3 = Reshape (a2, f)
        z = MatMul (x, wz)  z1 = Sigmoid (z)  z2 = Mul (z, z1)
        h = Mul (a3, z2)  y = MatMul (h, wo)
    """
    weights = {"w": (32, 96), "wc": (96, 1, 4), "wn": (8,), "wz": (32, 32), "wo": (32, 32)}
    said = text_of_nodes(text, 25, **weights)
    assert said == "Linear attention, gated delta rule, 4 heads, causal"


LATENT = """
    d = MatMul (x, wd)  parts = Constant <value = int64[2] {16, 8}> ()
    c, r = Split <axis = -1> (d, parts)  n = RMSNormalization (c, wn)
    kv = MatMul (n, wkv)  s = Constant <value = int64[4] {0, 0, 4, 16}> ()
    kv1 = Reshape (kv, s)  kv2 = Transpose <perm = [0, 2, 1, 3]> (kv1)
    halves = Constant <value = int64[2] {8, 8}> ()  k, v = Split <axis = -1> (kv2, halves)
    e = Constant <value = int64[4] {1, 4, 9, 8}> ()  axes = Constant <value = int64[1] {1}> ()
    r1 = Unsqueeze (r, axes)  r2 = Expand (r1, e)  k1 = Concat <axis = -1> (k, r2)
    q = MatMul (x, wq)  q1 = Reshape (q, s)  q2 = Transpose <perm = [0, 2, 1, 3]> (q1)
    kt = Transpose <perm = [0, 1, 3, 2]> (k1)  a = MatMul (q2, kt)  p = Softmax (a)
    o = MatMul (p, v)  o1 = Transpose <perm = [0, 2, 1, 3]> (o)
    f = Constant <value = int64[3] {0, 0, 32}> ()  o2 = Reshape (o1, f)  y = MatMul (o2, wo)
"""


def test_keys_and_values_of_few_features_make_latent_attention() -> None:
    weights = {"wd": (32, 24), "wn": (16,), "wkv": (16, 64), "wq": (32, 64), "wo": (32, 32)}
    said = text_of_nodes(LATENT, 23, **weights)
    assert said == "Latent attention, 4 heads × 16, latent 16"
    # of a norm that others take, too, it is not known what it is of
    other = LATENT.replace("(o2, wo)", "(o3, wo)").replace("y =", "o3 = Add (o2, n)  y =")
    assert "Latent" not in text_of_nodes(other, 23, **weights)


@pytest.mark.parametrize("scaled", ["scale, n", "n, scale"])
def test_latent_features_may_be_scaled(scaled: str) -> None:
    """They are few, and a number makes them as large as all features were (LongCat-Flash)."""
    weights = {"wd": (32, 24), "wn": (16,), "wkv": (16, 64), "wq": (32, 64), "wo": (32, 32)}
    scale = f"scale = Constant <value = float {{1.5}}> ()  m = Mul ({scaled})"
    text = LATENT.replace("kv = MatMul (n, wkv)", f"{scale}  kv = MatMul (m, wkv)")
    assert text_of_nodes(text, 23, **weights) == "Latent attention, 4 heads × 16, latent 16"
    # what a value multiplies is no scale
    given = text.replace("scale = Constant <value = float {1.5}> ()", "scale = Sigmoid (n)")
    assert "Latent" not in text_of_nodes(given, 23, **weights)


_POINTWISE = """
    a = Conv <group = 4> (x, q)  b = Conv <group = 4> (x, k)  c = Conv <group = 4> (x, v)
    s = Constant <value = int64[4] {0, 4, 8, -1}> ()
    a1 = Reshape (a, s)  a2 = Transpose <perm = [0, 1, 3, 2]> (a1)  b1 = Reshape (b, s)
    c1 = Reshape (c, s)  c2 = Transpose <perm = [0, 1, 3, 2]> (c1)
    e = MatMul (a2, b1)  p = Softmax <axis = -1> (e)  y = MatMul (p, c2)
"""


def test_projections_may_be_of_groups_of_features() -> None:
    """As convolutions of single places, whose channels are in groups (SqueezeBERT)."""
    weights = dict.fromkeys("qkv", (32, 8, 1))
    assert text_of_nodes(_POINTWISE, **weights) == "Self-attention, 4 heads × 8"
    # a number for each channel is no projection
    alone = dict.fromkeys("qkv", (32, 1, 1))
    assert "4 heads" not in text_of_nodes(_POINTWISE.replace("group = 4", "group = 32"), **alone)


def test_experts_are_chosen_of_groups_that_are_chosen_before() -> None:
    text = """
        l = MatMul (x, router)  s = Sigmoid (l)  b = Add (s, bias)
        two = Constant <value = int64[1] {2}> ()  three = Constant <value = int64[1] {3}> ()
        g = Constant <value = int64[3] {-1, 4, 2}> ()  b1 = Reshape (b, g)
        best, bi = TopK (b1, two)  last = Constant <value = int64[1] {-1}> ()
        sums = ReduceSum <keepdims = 0> (best, last)  gv, gi = TopK (sums, two)
        zero = Sub (sums, sums)  one = Abs (gv)  m = ScatterElements <axis = -1> (zero, gi, one)
        m1 = Unsqueeze (m, last)  m2 = Mul (b1, m1)  all = Constant <value = int64[2] {-1, 8}> ()
        m3 = Reshape (m2, all)  ev, e = TopK (m3, three)  w = GatherElements <axis = -1> (s, e)
        i = Unsqueeze (e, last)  u = GatherND (up, i)  d = GatherND (down, i)
        h = MatMul (x, u)  h1 = Relu (h)  o = MatMul (h1, d)  o1 = Mul (o, w)  y = Neg (o1)
    """
    weights = {"router": (16, 8), "bias": (8,), "up": (8, 16, 32), "down": (8, 32, 16)}
    assert text_of_nodes(text, **weights) == "Mixture of experts, 8 experts, top 3"
