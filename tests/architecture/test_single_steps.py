"""Cells of which a network computes one step: told as the recurrent layers that they are."""

from __future__ import annotations

import pytest

from tests.onnx_text import load_text

#: an agent: a layer, a GRU cell as the exporter of torch.export writes it, and a layer
_HEADER = """
agent (float[2, 44] x, float[2, 64] h, float[2, 64] c) => (float[2, 9] y, float[2, 64] kept)
<int64[2] d1 = {64, 44}, int64[2] d3 = {192, 64}, int64[2] d4 = {256, 64}, int64[2] d2 = {128, 64},
 int64[2] d5 = {9, 64}, int64[1] d6 = {192}, float one = {1}>
{
  first = ConstantOfShape (d1)  of_input = ConstantOfShape (d3)  of_state = ConstantOfShape (d3)
  ib = ConstantOfShape (d6)  hb = ConstantOfShape (d6)  of_input4 = ConstantOfShape (d4)
  of_state4 = ConstantOfShape (d4)  of_input2 = ConstantOfShape (d2)  last = ConstantOfShape (d5)
  l = Gemm <transB = 1> (x, first)  a = Relu (l)
"""
_GATES = """
  gi = Gemm <transB = 1> (a, of_input, ib)   ir, iz, inn = Split <axis = 1, num_outputs = 3> (gi)
  gh = Gemm <transB = 1> (h, of_state, hb)   hr, hz, hn = Split <axis = 1, num_outputs = 3> (gh)
  sr = Add (ir, hr)  r = Sigmoid (sr)  sz = Add (iz, hz)  z = Sigmoid (sz)
  rn = Mul (hn, r)   sn = Add (inn, rn)  n = Tanh (sn)
"""
_DIFFERENCE = "apart = Sub (h, n)  part = Mul (apart, z)  kept = Add (part, n)"
_SHARES = "rest = Sub (one, z)  p = Mul (rest, n)  q = Mul (z, h)  kept = Add (p, q)"
_LSTM = """
  gi = Gemm <transB = 1> (a, of_input4)  gh = Gemm <transB = 1> (h, of_state4)  s = Add (gi, gh)
  i0, f0, g0, o0 = Split <axis = 1, num_outputs = 4> (s)
  i = Sigmoid (i0)  f = Sigmoid (f0)  g = Tanh (g0)  o = Sigmoid (o0)
  fc = Mul (f, c)  ig = Mul (i, g)  new = Add (fc, ig)  t = Tanh (new)  kept = Mul (o, t)
"""
_END = "y = Gemm <transB = 1> (kept, last) }"


@pytest.mark.parametrize(
    ("body", "told"),
    [
        (_GATES + _DIFFERENCE, "GRU layer of width 64"),
        (_GATES + _SHARES, "GRU layer of width 64"),
        (_LSTM, "LSTM layer of width 64"),
    ],
)
def test_the_gates_of_a_cell_are_no_layer_of_an_mlp(body: str, told: str) -> None:
    sentence = load_text(_HEADER + body + _END).architecture.sentence
    assert told in sentence
    assert "192" not in sentence
    assert "256" not in sentence


@pytest.mark.parametrize(
    "mixed",
    [
        "apart = Sub (n, h)  part = Mul (apart, z)  kept = Add (part, n)",  # 2·n - h
        "apart = Sub (h, n)  part = Mul (apart, z)  kept = Add (part, h)",  # h stays
        "apart = Sub (h, n)  part = Mul (apart, n)  kept = Add (part, n)",  # no gate
    ],
)
def test_what_mixes_otherwise_is_no_cell(mixed: str) -> None:
    assert "GRU layer" not in load_text(_HEADER + _GATES + mixed + _END).architecture.sentence


def test_halves_of_a_gated_unit_are_a_layer_of_an_mlp() -> None:
    """tanh(a) · σ(b) (A. van den Oord and others, WaveNet, 2016, equation 2) has no third part."""
    halves = """
  g = Gemm <transB = 1> (a, of_input2)  u0, v0 = Split <axis = 1, num_outputs = 2> (g)
  u = Tanh (u0)  v = Sigmoid (v0)  kept = Mul (u, v)
"""
    assert "44 → 64 → 128" in load_text(_HEADER + halves + _END).architecture.sentence
