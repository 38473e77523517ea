"""A matrix memory that is written out for chunks of steps."""

from __future__ import annotations

import pytest

from netloupe.explorer.patterns import recognise
from tests.onnx_text import load_text

_TEXT = """g (float[1, 4, 8] x, float[1, 2, 4, 4] c, float[1, 2, 4, 1] n, float[1, 2, 1, 1] m)
 => (float[1, 4, 8] y)
<int64[2] square = {8, 8}, int64[2] narrow = {8, 2}, int64[4] heads = {1, 4, 2, 4},
 float small = {1e-6}, int64[1] last = {-1}, int64[3] joined = {1, 4, 8},
 int64[1] width = {8}, int64 axis = {2}>
{
  wq = ConstantOfShape (square)  wk = ConstantOfShape (square)  wv = ConstantOfShape (square)
  wf = ConstantOfShape (narrow)  wi = ConstantOfShape (narrow)
  q0 = MatMul (x, wq)  q1 = Reshape (q0, heads)  q = Transpose <perm = [0, 2, 1, 3]> (q1)
  k0 = MatMul (x, wk)  k1 = Reshape (k0, heads)  kt = Transpose <perm = [0, 2, 3, 1]> (k1)
  v0 = MatMul (x, wv)  v1 = Reshape (v0, heads)  v = Transpose <perm = [0, 2, 1, 3]> (v1)
  f0 = MatMul (x, wf)  f1 = Transpose <perm = [0, 2, 1]> (f0)
  i0 = MatMul (x, wi)  i1 = Transpose <perm = [0, 2, 1]> (i0)
  f2 = Sigmoid (f1)  f3 = Log (f2)  sums = CumSum (f3, axis)
  row = Unsqueeze (sums, last)  apart = Sub (row, small)
  gates = Add (apart, i1)
  most = ReduceMax (gates, last)  before = Add (row, m)  largest = Max (before, most)
  within = Sub (gates, largest)  decay = Exp (within)
  alike = MatMul (q, kt)  scores = Mul (alike, decay)
  since = Sub (before, largest)  left = Exp (since)  asked = Mul (q, left)
  recalled = MatMul (asked, c)  mixed = MatMul (scores, v)  both = Add (recalled, mixed)
  known = MatMul (asked, n)  total = ReduceSum (scores, last)  size = Add (known, total)
  length = Abs (size)  turned = Neg (largest)  floor = Exp (turned)
  limit = Max (length, floor)  divisor = Add (limit, small)
  h = Div (both, divisor)
  END
}"""
_PLAIN = "turned_back = Transpose <perm = [0, 2, 1, 3]> (h)  y = Reshape (turned_back, joined)"
_GATED = """
  wo = ConstantOfShape (square)  wz = ConstantOfShape (square)  s = ConstantOfShape (width)
  back = Transpose <perm = [0, 2, 1, 3]> (h)  flat = Reshape (back, joined)
  normal = LayerNormalization (flat, s)
  z = MatMul (x, wz)  gate = Sigmoid (z)  gated = Mul (gate, normal)  y = MatMul (gated, wo)
"""


@pytest.mark.parametrize("end", [_PLAIN, _GATED])
def test_chunks_with_the_memory_before_them_are_one_block(end: str) -> None:
    found = recognise(load_text(_TEXT.replace("END", end)).graph.nodes)
    assert found is not None
    assert (found.name, found.facts) == ("mLSTM", ("in chunks",))


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("sums = CumSum (f3, axis)", "sums = Neg (f3)"),
        ("total = ReduceSum (scores, last)", "total = ReduceSum (alike, last)"),
        ("known = MatMul (asked, n)", "known = MatMul (q, n)"),
        ("floor = Exp (turned)", "floor = Tanh (turned)"),
    ],
)
def test_what_lacks_a_part_of_it_is_none(old: str, new: str) -> None:
    text = _TEXT.replace("END", _PLAIN)
    assert old in text
    found = recognise(load_text(text.replace(old, new)).graph.nodes)
    assert found is None or found.name != "mLSTM"
