"""Blocks written down from the papers that define them, and near misses."""

from __future__ import annotations

import pytest

from .test_recognise import graph_of, text_of

_LSTM_CELL = """
    a = MatMul (x, wi)  b = MatMul (z, wh)  g = Add (a, b)
    i, f, c, o = Split <axis = -1, num_outputs = 4> (g)
    si = Sigmoid (i)  sf = Sigmoid (f)  tc = Tanh (c)  so = Sigmoid (o)
    k = Mul (sf, s)  n = Mul (si, tc)  t = Add (k, n)  h = Tanh (t)  y = Mul (so, h)
"""
_GRU_CELL = """
    a = MatMul (x, wi)  b = MatMul (z, wh)
    ar, az, an = Split <axis = -1, num_outputs = 3> (a)
    br, bz, bn = Split <axis = -1, num_outputs = 3> (b)
    r0 = Add (ar, br)  r = Sigmoid (r0)  u0 = Add (az, bz)  u = Sigmoid (u0)
    q = Mul (r, bn)  n0 = Add (an, q)  n = Tanh (n0)
    one = Constant <value_float = 1.0> ()  v = Sub (one, u)
    p = Mul (v, n)  h = Mul (u, s)  y = Add (p, h)
"""


def test_cells_written_out() -> None:
    lstm = {"wi": [8, 64], "wh": [16, 64]}
    text = _LSTM_CELL.replace("(sf, s)", "(sf, z)")
    assert text_of(graph_of(text, **lstm)) == "LSTM cell 8 → 16"
    # a matrix of which it is unknown whether it gives all gates
    assert text_of(graph_of(text, wi=[8, 60], wh=[16, 60])) == "LSTM cell"
    # four gates and one tanh are no LSTM's
    assert text_of(graph_of(text.replace("Tanh (c)", "Sigmoid (c)"), **lstm)) == ""
    gru = {"wi": [8, 48], "wh": [16, 48]}
    text = _GRU_CELL.replace("(u, s)", "(u, z)")
    assert text_of(graph_of(text, **gru)) == "GRU cell 8 → 16"
    assert text_of(graph_of(text.replace("Sub (one, u)", "Neg (u)"), **gru)) == ""


def test_recurrent_layers_in_a_row() -> None:
    layer = 'a, h, c = LSTM <hidden_size = 16, direction = "bidirectional"> (x, w, r)'
    back = "t = Transpose <perm = [0, 2, 1, 3]> (a)  y = Reshape (t, m)"
    shape = "m = Constant <value = int64[3] {0, 0, -1}> ()"
    weights = {"w": [2, 64, 8], "r": [2, 64, 16]}
    text = f"{shape} {layer} {back}"
    assert text_of(graph_of(text, **weights)) == "LSTM 8 → 2 × 16, bidirectional"
    # a projection behind it is more than the layer
    more = text.replace("y =", "k =") + "y = MatMul (k, p)"
    assert text_of(graph_of(more, p=[32, 4], **weights)) == ""


_TWO = """
    a, ah, ac = LSTM <hidden_size = 16> (x, w, r)
    b, bh, bc = LSTM <hidden_size = 16, direction = "reverse"> (x, v, s)
    y = Concat <axis = -1> (a, b)
"""
_TURNED = """
    lengths = Constant <value = int64[1] {20}> ()
    a, ah, ac = GRU <hidden_size = 16> (x, w, r)
    back = ReverseSequence <time_axis = 0, batch_axis = 1> (x, lengths)
    b, bh, bc = GRU <hidden_size = 16> (back, v, s)
    c = ReverseSequence <time_axis = 0, batch_axis = 1> (b, lengths)
    y = Concat <axis = -1> (a, c)
"""


def test_two_layers_side_by_side_are_both_ways_of_one() -> None:
    weights = {"w": [1, 64, 8], "r": [1, 64, 16], "v": [1, 64, 8], "s": [1, 64, 16]}
    assert text_of(graph_of(_TWO, **weights)) == "LSTM 8 → 2 × 16, bidirectional"
    # both forwards, they are two layers side by side
    forwards = _TWO.replace(', direction = "reverse"', "")
    assert text_of(graph_of(forwards, **weights)) == ""
    # and of different values no ways of one layer
    assert text_of(graph_of(_TWO.replace("(x, v, s)", "(z, v, s)"), **weights)) == ""
    # one behind the other they are no ways of one, either
    row = _TWO.replace("(x, v, s)", "(a, v, s)").replace("y = Concat <axis = -1> (a, b)", "")
    row = row.replace("b, bh, bc", "y, bh, bc")
    behind = {**weights, "v": [1, 64, 16]}
    assert text_of(graph_of(row, **behind)) == "LSTM 8 → 16, 2 layers"


def test_a_sequence_that_is_turned_is_read_backwards() -> None:
    weights = {"w": [1, 48, 8], "r": [1, 48, 16], "v": [1, 48, 8], "s": [1, 48, 16]}
    assert text_of(graph_of(_TURNED, **weights)) == "GRU 8 → 2 × 16, bidirectional"
    twice = _TURNED.replace(
        "hidden_size = 16> (back", 'hidden_size = 16, direction = "reverse"> (back'
    )
    assert text_of(graph_of(twice, **weights)) == ""


def test_a_layer_says_that_it_reads_backwards() -> None:
    layer = 'y, h, c = LSTM <hidden_size = 16, direction = "reverse"> (x, w, r)'
    assert text_of(graph_of(layer, w=[1, 64, 8], r=[1, 64, 16])) == "LSTM 8 → 16, backwards"


_EXPERTS = """
    l = MatMul (x, router)  s = Softmax (l)  two = Constant <value = int64[1] {2}> ()
    p, i = TopK (s, two)
    gate = Gather (up, i)  down = Gather (low, i)
    a = MatMul (x, gate)  b = Sigmoid (a)  c = Mul (a, b)  d = MatMul (c, down)
    e = Mul (d, p)  ax = Constant <value = int64[1] {1}> ()  y = ReduceSum (e, ax)
"""


def test_a_mixture_of_experts_and_a_choice_that_is_none() -> None:
    weights = {"router": [16, 8], "up": [8, 16, 32], "low": [8, 32, 16]}
    assert text_of(graph_of(_EXPERTS, **weights)) == "Mixture of experts, 8 experts, top 2"
    # a detector's choice of queries picks data, not weights
    queries = "l = MatMul (x, router) two = Constant <value = int64[1] {2}> () p, i = TopK (l, two)"
    assert text_of(graph_of(f"{queries} y = Gather (z, i)", router=[16, 8])) == ""
    # tables of another length than there are experts
    weights["up"], weights["low"] = [5, 16, 32], [5, 32, 16]
    assert text_of(graph_of(_EXPERTS, **weights)) == ""


_MAMBA = """
    p = MatMul (x, win)  u, g = Split <axis = -1, num_outputs = 2> (p)
    ut = Transpose <perm = [0, 2, 1]> (u)
    c = Conv <kernel_shape = [4], group = 32, pads = [3, 0]> (ut, wc)
    sc = Sigmoid (c)  v = Mul (c, sc)  vt = Transpose <perm = [0, 2, 1]> (v)
    q = MatMul (vt, wx)  dt0, bb, cc = Split <axis = -1, num_outputs = 3> (q)
    d0 = MatMul (dt0, wdt)  d1 = Add (d0, bdt)  d = Softplus (d1)
    da = Mul (d, aa)  e = Exp (da)  du = Mul (d, vt)
    k = Mul (e, du)  m = Mul (k, bb)  o = Mul (m, cc)
    sg = Sigmoid (g)  gg = Mul (g, sg)  r = Mul (o, gg)  y = MatMul (r, wout)
"""


def test_a_selective_state_space_block() -> None:
    weights = {
        "win": [16, 64],
        "wc": [32, 1, 4],
        "wx": [32, 12],
        "wdt": [4, 32],
        "bdt": [32],
        "aa": [32],
        "wout": [32, 16],
    }
    assert text_of(graph_of(_MAMBA, **weights)) == "Mamba block 16 → 32 → 16"
    # without a step size there is no such recurrence
    other = _MAMBA.replace("Softplus (d1)", "Relu (d1)")
    assert text_of(graph_of(other, **weights)) == ""
    # nor where that makes decays alone
    other = _MAMBA.replace("du = Mul (d, vt)", "du = Mul (bb, vt)")
    assert text_of(graph_of(other, **weights)) == ""


_MAMBA_2 = """
    p = MatMul (x, win)  parts = Constant <value = int64[3] {32, 48, 4}> ()
    g, u, dt = Split <axis = -1> (p, parts)  ut = Transpose <perm = [0, 2, 1]> (u)
    c = Conv <kernel_shape = [4], group = 48, pads = [3, 0]> (ut, wc)
    sc = Sigmoid (c)  v = Mul (c, sc)  vt = Transpose <perm = [0, 2, 1]> (v)
    more = Constant <value = int64[3] {32, 8, 8}> ()  h, bb, cc = Split <axis = -1> (vt, more)
    d1 = Add (dt, bdt)  d = Softplus (d1)  da = Mul (d, aa)
    ax = Constant <value = int64[1] {1}> ()  ds = CumSum (da, ax)  e = Exp (ds)
    dh = Mul (d, h)  k = Mul (e, dh)  m = Mul (k, bb)  o = Mul (m, cc)
    sg = Sigmoid (g)  gg = Mul (g, sg)  r = Mul (o, gg)  y = MatMul (r, wout)
"""


def test_a_mixer_whose_one_projection_gives_gate_content_and_steps() -> None:
    weights = {"win": [16, 84], "wc": [48, 1, 4], "bdt": [4], "aa": [4], "wout": [32, 16]}
    assert text_of(graph_of(_MAMBA_2, **weights)) == "Mamba-2, 4 heads × 8, causal"
    # padded places are left out before
    masked = _MAMBA_2.replace("MatMul (x, win)", "MatMul (xm, win)")
    assert text_of(graph_of(f"xm = Mul (x, z) {masked}", **weights)).startswith("Mamba-2, ")
    # decays that are not summed up are of another recurrence
    other = _MAMBA_2.replace("CumSum (da, ax)", "Tile (da, ax)")
    assert "Mamba-2" not in text_of(graph_of(other, **weights))
    # steps that make decays alone are of another one
    other = _MAMBA_2.replace("Mul (d, h)", "Mul (bb, h)")
    assert "Mamba-2" not in text_of(graph_of(other, **weights))
    # a kernel for several channels mixes more than places
    other = _MAMBA_2.replace("group = 48", "group = 24")
    assert "Mamba-2" not in text_of(graph_of(other, **{**weights, "wc": [48, 2, 4]}))


_CSP = """
    a = Conv <kernel_shape = [1, 1]> (x, v)  l, r = Split <axis = 1, num_outputs = 2> (a)
    b = Conv <kernel_shape = [3, 3], pads = [1, 1, 1, 1]> (r, w)  c = Relu (b)
    d = Conv <kernel_shape = [3, 3], pads = [1, 1, 1, 1]> (c, w)  e = Add (d, r)
    k = Concat <axis = 1> (l, r, e)  y = Conv <kernel_shape = [1, 1]> (k, u)
"""


def test_a_part_of_the_channels_goes_around() -> None:
    weights = {"v": [32, 16, 1, 1], "w": [16, 16, 3, 3], "u": [32, 48, 1, 1]}
    assert text_of(graph_of(_CSP, **weights)) == "CSP block 16 → 32, 1 block"
    # what is put together comes from elsewhere
    lost = _CSP.replace("Split <axis = 1, num_outputs = 2> (a)", "Split <axis = 1> (z)")
    lost = lost.replace("y = Conv <kernel_shape = [1, 1]> (k, u)", "y = Relu (k)")
    assert text_of(graph_of(lost, **weights)) == ""
    pools = " ".join(
        f"{to} = MaxPool <kernel_shape = [5, 5], pads = [2, 2, 2, 2]> ({of})"
        for of, to in ("ab", "bc", "cd")
    )
    pyramid = f"""
        a = Conv <kernel_shape = [1, 1]> (x, v)  {pools}
        k = Concat <axis = 1> (a, b, c, d)  y = Conv <kernel_shape = [1, 1]> (k, u)
    """
    weights = {"v": [16, 32, 1, 1], "u": [32, 64, 1, 1]}
    assert text_of(graph_of(pyramid, **weights)) == "SPPF 32 → 32, pool 5 ×3"


def test_channels_that_are_scaled_and_shifted() -> None:
    affine = "a = Conv <kernel_shape = [3, 3]> (x, v) b = Mul (a, s) c = Add (b, t) y = Relu (c)"
    weights = {"v": [8, 4, 3, 3], "s": [1, 8, 1, 1], "t": [1, 8, 1, 1]}
    assert text_of(graph_of(affine, **weights)) == "Conv · Affine · ReLU, 3×3, 4 → 8"
    weights["t"] = [1, 8, 5, 5]  # a bias of places
    assert "Affine" not in text_of(graph_of(affine, **weights))


def test_sines_and_cosines_of_positions() -> None:
    rotary = "a = MatMul (x, f) b = Concat <axis = -1> (a, a) c = Cos (b) s = Sin (b)"
    assert text_of(graph_of(f"{rotary} y = Identity (c) w = Identity (s)", f=[1, 8])) == (
        "Rotary cos, sin"
    )
    joined = "a = Mul (x, f) s = Sin (a) c = Cos (a) y = Concat <axis = -1> (s, c)"
    assert text_of(graph_of(joined, f=[8])) == "Sinusoidal embedding"
    other = joined.replace("Cos (a)", "Cos (z)")
    assert text_of(graph_of(other, f=[8])) == ""


def test_steps_of_a_diffusion_are_embedded_by_waves_and_an_mlp() -> None:
    waves = "a = Mul (x, f) s = Sin (a) c = Cos (a) e = Concat <axis = -1> (s, c)"
    mlp = "u = Gemm (e, up, ub) g = Sigmoid (u) h = Mul (u, g) y = Gemm (h, down, db)"
    weights = {"f": [8], "up": [16, 64], "ub": [64], "down": [64, 64], "db": [64]}
    assert text_of(graph_of(f"{waves} {mlp}", **weights)) == (
        "Sinusoidal embedding · MLP 16 → 64 → 64, SiLU"
    )
    # an MLP of something else beside them
    beside = mlp.replace("(e, up", "(z, up")
    assert text_of(graph_of(f"{waves} {beside}", **weights)) == ""


def test_patches_that_are_merged() -> None:
    cut = " ".join(
        f"{name} = Slice (x, {begin}, n, axes, two)"
        for name, begin in zip("abcd", "opqr", strict=True)
    )
    constants = " ".join(
        f"{name} = Constant <value = int64[2] {{{values}}}> ()"
        for name, values in (
            ("o", "0, 0"),
            ("p", "1, 0"),
            ("q", "0, 1"),
            ("r", "1, 1"),
            ("n", "999, 999"),
            ("axes", "1, 2"),
            ("two", "2, 2"),
        )
    )
    merge = "k = Concat <axis = -1> (a, b, c, d) m = LayerNormalization (k, g) y = MatMul (m, w)"
    weights = {"g": [32], "w": [32, 16]}
    text = f"{constants} {cut} {merge}"
    assert text_of(graph_of(text, **weights)) == "Patch merging 8 → 16, /2"
    assert text_of(graph_of(text.replace("(a, b, c, d)", "(a, b, c, x)"), **weights)) == ""


def attention(product: str, split: str, weights: str = "(x, w)") -> str:
    return f"""
        p = MatMul {weights}  {split}
        k1 = Transpose <perm = [0, 2, 3, 1]> (k)  q1 = Transpose <perm = [0, 2, 1, 3]> (q)
        v1 = Transpose <perm = [0, 2, 1, 3]> (v)
        s = MatMul (q1, k1)  h = Div (s, eight)  a = Softmax (h)  c = MatMul (a, v1)
        t = Transpose <perm = [0, 2, 1, 3]> (c)  m = Reshape (t, flat)  y = {product}
    """


@pytest.mark.parametrize(
    ("dims", "axis"), [("0, 0, 3, 4, 8", 2), ("0, 0, 4, 3, 8", 3)], ids=["parts", "heads"]
)
def test_heads_of_queries_keys_and_values_that_are_packed(dims: str, axis: int) -> None:
    split = f"""
        shape = Constant <value = int64[5] {{{dims}}}> ()  r = Reshape (p, shape)
        ax = Constant <value = int64[1] {{{axis}}}> ()
        q0, k0, v0 = Split <axis = {axis}, num_outputs = 3> (r)
        q = Squeeze (q0, ax)  k = Squeeze (k0, ax)  v = Squeeze (v0, ax)
        eight = Constant <value_float = 8.0> ()  flat = Constant <value = int64[3] {{0, 0, 32}}> ()
    """
    text = attention("MatMul (m, o)", split)
    weights = {"w": [32, 96], "o": [32, 32]}
    assert text_of(graph_of(text, **weights)) == "Self-attention, 4 heads × 8"
    # widths that contradict the heads tell nothing of these
    weights["o"] = [40, 32]
    assert text_of(graph_of(text, **weights)) == "Self-attention"


def test_packed_heads_of_which_the_file_tells_nothing() -> None:
    split = """
        shape = Constant <value = int64[5] {0, 0, -1, 3, 0}> ()  r = Reshape (p, shape)
        ax = Constant <value = int64[1] {3}> ()
        q0, k0, v0 = Split <axis = 3, num_outputs = 3> (r)
        q = Squeeze (q0, ax)  k = Squeeze (k0, ax)  v = Squeeze (v0, ax)
        eight = Constant <value_float = 8.0> ()  flat = Constant <value = int64[3] {0, 0, 32}> ()
    """
    text = attention("MatMul (m, o)", split)
    assert text_of(graph_of(text, w=[32, 96], o=[32, 32])) == "Self-attention"


_DETECTOR_LAYER = """
    xp = Add (x, z)
    q = MatMul (xp, wq)  k = MatMul (xp, wk)  v = MatMul (x, wv)
    kt = Transpose <perm = [0, 2, 1]> (k)  s = MatMul (q, kt)  p = Softmax (s)
    o = MatMul (p, v)  r = MatMul (o, wo)  a = Add (x, r)  n = LayerNormalization (a, g, b)
    np = Add (n, z)
    cq = MatMul (np, wcq)  ck = MatMul (z, wck)  cv = MatMul (z, wcv)
    ckt = Transpose <perm = [0, 2, 1]> (ck)  cs = MatMul (cq, ckt)  cp = Softmax (cs)
    co = MatMul (cp, cv)  cr = MatMul (co, wco)  ca = Add (n, cr)
    cn = LayerNormalization (ca, g, b)
    u = MatMul (cn, up)  t = Relu (u)  d = MatMul (t, down)  da = Add (cn, d)
    y = LayerNormalization (da, g, b)
"""


def test_positions_added_before_attention_are_part_of_a_block() -> None:
    projections = ("wq", "wk", "wv", "wo", "wcq", "wck", "wcv", "wco")
    weights = {name: [16, 16] for name in projections}
    weights |= {"up": [16, 64], "down": [64, 16], "g": [16], "b": [16]}
    text = text_of(graph_of(_DETECTOR_LAYER, **weights))
    assert text.startswith("Transformer decoder block")
    # what is added goes into the stream too: two more sums than a block has
    stream = _DETECTOR_LAYER.replace("Add (x, r)", "Add (xp, r)").replace(
        "Add (n, cr)", "Add (np, cr)"
    )
    assert text_of(graph_of(stream, **weights)) == ""
