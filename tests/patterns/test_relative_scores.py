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


_SUMS = """g (float[1, 16, 8] x) => (float[1, 16, 8] y)
<int64[2] dims = {8, 8}, int64[4] heads = {1, 16, 2, 4}, int64[3] rows = {2, 16, 4},
 int64[3] joined = {1, 16, 8}, int64[3] table = {4, 4, 4}, int64[4] far = {1, 2, 4, 32},
 int64[3] picks = {2, 16, 16}, int64[4] places = {2, 4, 4, 4}, int64[1] last = {-1},
 int64[1] n3 = {3}, int64[5] square = {2, 4, 4, 4, 4}, int64[3] flat = {2, 16, 16},
 int64[3] distances = {2, 4, 32}>
{
  wq = ConstantOfShape (dims)  wk = ConstantOfShape (dims)  wv = ConstantOfShape (dims)
  q0 = MatMul (x, wq)  q1 = Reshape (q0, heads)  q2 = Transpose <perm = [0, 2, 1, 3]> (q1)
  q = Reshape (q2, rows)
  k0 = MatMul (x, wk)  k1 = Reshape (k0, heads)  k2 = Transpose <perm = [0, 2, 1, 3]> (k1)
  k = Reshape (k2, rows)  kt = Transpose <perm = [0, 2, 1]> (k)
  v0 = MatMul (x, wv)  v1 = Reshape (v0, heads)  v2 = Transpose <perm = [0, 2, 1, 3]> (v1)
  v = Reshape (v2, rows)
  content = MatMul (q, kt)
  POSITIONS
  scores = Add (content, positions)
  shares = Softmax (scores)  mixed = MatMul (shares, v)
  m1 = Reshape (mixed, MIXED)  m2 = Transpose <perm = [0, 2, 1, 3]> (m1)
  y = Reshape (m2, joined)
}""".replace("MIXED", "apart").replace(
    "int64[3] distances", "int64[4] apart = {1, 2, 16, 4}, int64[3] distances"
)
#: rows and columns apart (Y. Li and others, MViTv2, 2022, equation 4)
_DECOMPOSED = """
  r1 = ConstantOfShape (table)  r2 = ConstantOfShape (table)  image = Reshape (q, places)
  h = Einsum <equation = "bhwc,hkc->bhwk"> (image, r1)  h1 = Unsqueeze (h, last)
  w = Einsum <equation = "bhwc,wkc->bhwk"> (image, r2)  w1 = Unsqueeze (w, n3)
  both = Add (h1, w1)  positions = Reshape (both, flat)
"""
#: queries with distances, and keys with distances (P. He and others, DeBERTa, 2021, equation 4)
_DISENTANGLED = """
  d1 = ConstantOfShape (distances)  d2 = ConstantOfShape (distances)
  c2p = MatMul (q, d1)  at = ConstantOfShape (picks)  n = Cast <to = 7> (at)
  c2p_at = GatherElements <axis = -1> (c2p, n)
  p2c = MatMul (k, d2)  p2c_at = GatherElements <axis = -1> (p2c, n)
  p2c_t = Transpose <perm = [0, 2, 1]> (p2c_at)
  positions = Add (c2p_at, p2c_t)
"""


@pytest.mark.parametrize("positions", [_DECOMPOSED, _DISENTANGLED])
def test_sums_of_scores_of_positions_are_part_of_an_attention(positions: str) -> None:
    found = recognise(load_text(_SUMS.replace("POSITIONS", positions)).graph.nodes)
    assert found is not None
    assert (found.name, found.facts) == ("Self-attention", ("2 heads × 4", "relative positions"))


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("positions = Add (c2p_at, p2c_t)", "e = Exp (p2c_t)  positions = Add (c2p_at, e)"),
        ("positions = Add (c2p_at, p2c_t)", "positions = Mul (c2p_at, p2c_t)"),
    ],
)
def test_what_else_is_made_of_products_is_none(old: str, new: str) -> None:
    text = _SUMS.replace("POSITIONS", _DISENTANGLED.replace(old, new))
    found = recognise(load_text(text).graph.nodes)
    assert found is None or "relative positions" not in found.facts
