"""Attention whose scores are made of sums of queries and keys."""

from __future__ import annotations

from netloupe.explorer.patterns import recognise
from tests.onnx_text import load_text

_TEXT = """g (float[2, 8] x, float[2, S, 8] memory) => (float[2, 1, 8] y)
<int64[2] dims = {8, 6}, int64[2] flat = {6, WIDTH}, int64[1] one = {1}, int64[1] last = {2}>
{
  wq = ConstantOfShape (dims)  wk = ConstantOfShape (dims)  ws = ConstantOfShape (flat)
  projected = MatMul (x, wq)
  q = Unsqueeze (projected, one)
  k = MatMul (memory, wk)
  both = Add (q, k)
  bent = Tanh (both)
  scores = MatMul (bent, ws)
  row = Squeeze (scores, last)
  shares = Softmax (row)
  turned = Unsqueeze (shares, one)
  y = MatMul (turned, memory)
}"""


def test_scores_of_sums_are_those_of_an_additive_attention() -> None:
    found = recognise(load_text(_TEXT.replace("WIDTH", "1")).graph.nodes)
    assert found is not None
    assert found.name == "Additive attention"
    several = recognise(load_text(_TEXT.replace("WIDTH", "3")).graph.nodes)
    assert several is None or several.name != "Additive attention"
