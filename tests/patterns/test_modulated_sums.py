"""Sums of a convolution and its shortcut are scaled and shifted as what one gives is."""

from __future__ import annotations

from netloupe.explorer.patterns import Operations, find_blocks
from netloupe.explorer.patterns.graph_context import find_graph_context
from netloupe.explorer.patterns.recognise import add_ideas
from tests.onnx_text import load_text

_BODY = """
g (float[1, 8, 16, 16] x, float[1, 6] c) => (float[1, 8, 16, 16] y)
<int64[4] kernel = {8, 8, 1, 1}, int64[2] dims = {6, 8}, int64[2] places = {2, 3}, float one = {1}>
{
  w = ConstantOfShape (kernel)  w1 = ConstantOfShape (dims)  w2 = ConstantOfShape (dims)
  before = Conv (x, w)
  features = Add (x, before)
  g1 = MatMul (c, w1)  g2 = Unsqueeze (g1, places)  g3 = Add (g2, one)
  b1 = MatMul (c, w2)  b2 = Unsqueeze (b1, places)
  scaled = Mul (g3, features)
  y = Add (scaled, b2)
}
"""


def _find(old: str = "", new: str = "") -> list[str]:
    assert old in _BODY
    graph = load_text(_BODY.replace(old, new)).graph
    blocks = find_blocks(Operations(graph.nodes, find_graph_context(graph)))
    add_ideas(blocks)
    return [one.name for one in blocks.list_outermost() if not isinstance(one, int)]


def test_a_residual_sum_is_modulated() -> None:
    assert "Feature-wise modulation" in _find()
    assert "Feature-wise modulation" in _find(
        "features = Add (x, before)", "features = Relu (before)"
    )


def test_what_nothing_convolves_may_have_as_many_places_as_its_scale() -> None:
    assert "Feature-wise modulation" not in _find("before = Conv (x, w)", "before = Cos (x)")
    assert "Feature-wise modulation" not in _find("g3 = Add (g2, one)", "g3 = Cos (g2)")
