"""Attention whose scores are those of keys and those of distances, as Transformer-XL has them."""

from __future__ import annotations

import pytest

from netloupe.explorer.patterns import recognise
from tests.onnx_text import load_text

_TEXT = """g (float[S, 1, 8] x, float[R, 1, 8] distances) => (float[S, 1, 8] y)
<int64[3] dims = {8, 2, 4}, int64[2] heads = {2, 4}, int64[1] one = {1}, int64[1] big = {99},
 int64[1] axis = {2}, int64[4] moved = {1, 2, -1, 4}, float scale = {0.5}>
{
  wq = ConstantOfShape (dims)  wk = ConstantOfShape (dims)  wv = ConstantOfShape (dims)
  wr = ConstantOfShape (dims)  wo = ConstantOfShape (dims)
  u = ConstantOfShape (heads)  v = ConstantOfShape (heads)
  q = Einsum <equation = "ibh,hnd->ibnd"> (x, wq)
  k = Einsum <equation = "ibh,hnd->ibnd"> (x, wk)
  values = Einsum <equation = "ibh,hnd->ibnd"> (x, wv)
  r = Einsum <equation = "ibh,hnd->ibnd"> (distances, wr)
  qu = Add (q, u)
  ac = Einsum <equation = "ibnd,jbnd->bnij"> (qu, k)
  qv = Add (q, v)
  bd = Einsum <equation = "ibnd,jbnd->bnij"> (qv, r)
  turned = Reshape (bd, moved)
  cut = Slice (turned, one, big, axis)
  at = Reshape (cut, moved)
  both = Add (ac, at)
  scaled = Mul (both, scale)
  shares = Softmax (scaled)
  mixed = Einsum <equation = "bnij,jbnd->ibnd"> (shares, values)
  y = Einsum <equation = "ibnd,hnd->ibh"> (mixed, wo)
}"""


def test_scores_of_distances_are_part_of_an_attention() -> None:
    found = recognise(load_text(_TEXT).graph.nodes)
    assert found is not None
    assert (found.name, found.facts) == ("Self-attention", ("relative positions",))


@pytest.mark.parametrize("equation", ["ebh,ehd->ebd", "ibh,hd->ibd"])
def test_an_einsum_with_a_weight_for_each_place_is_no_linear_layer(equation: str) -> None:
    graph = load_text(
        "g (float[4, 2, 8] x) => (float[4, 2, 6] y) <int64[3] dims = {4, 8, 6}, "
        "int64[2] flat = {8, 6}> { "
        f"w = ConstantOfShape ({'dims' if equation[0] == 'e' else 'flat'}) "
        f'y = Einsum <equation = "{equation}"> (x, w) }}'
    ).graph
    found = recognise(graph.nodes)
    assert (found is not None and found.name == "Linear") == (equation[0] == "i")
