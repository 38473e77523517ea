"""What figures show of blocks, by construction, and with what only looks like it."""

from __future__ import annotations

import onnx.parser
import pytest

from netloupe.explorer.patterns import find_graph_context, find_ingredients, recognise
from netloupe.explorer.readers.load import load

_HEADER = '<ir_version: 12, opset_import: ["": 24]>'


def tell(text: str) -> tuple[list[str], str]:
    """Return the names of what a graph is made of, and what it is altogether."""
    graph = load(onnx.parser.parse_model(f"{_HEADER} {text}").SerializeToString()).graph
    context = find_graph_context(graph)
    found = recognise(graph.nodes, context)
    names = [one.name for one in find_ingredients(graph.nodes, context)]
    return names, found.text if found is not None else ""


_MIXED = """
g (float[1, 8, 4, 4] x) => (float[1, 8, 4, 4] y)
<int64[4] packed = {24, 8, 1, 1}, int64[4] square = {8, 8, 1, 1}, int64[4] wider = {32, 8, 1, 1},
 int64[4] narrower = {8, 32, 1, 1}, int64[5] apart = {1, 3, 2, 4, 16},
 int64[4] joined = {1, 8, 4, 4}, int64 zero = {0}, int64 one = {1}, int64 two = {2}>
{
  w = ConstantOfShape (packed)  p = ConstantOfShape (square)
  u = ConstantOfShape (wider)   d = ConstantOfShape (narrower)
  qkv = Conv (x, w)
  heads = Reshape (qkv, apart)
  q = Gather <axis = 1> (heads, zero)  k = Gather <axis = 1> (heads, one)
  v = Gather <axis = 1> (heads, two)
  qt = Transpose <perm = [0, 1, 3, 2]> (q)
  scores = MatMul (qt, k)
  shares = Softmax (scores)
  st = Transpose <perm = [0, 1, 3, 2]> (shares)
  mixed = MatMul (v, st)
  back = Reshape (mixed, joined)
  attended = Conv (back, p)
  sum = Add (x, attended)
  hidden = Conv (sum, u)
  active = Relu (hidden)
  fed = Conv (active, d)
  y = Add (sum, fed)
}
"""


def test_pointwise_convolutions_beside_attention_are_its_projections_and_its_mlp() -> None:
    names, told = tell(_MIXED)
    assert names == ["Self-attention", "MLP"]
    assert told.startswith("Transformer block")


def test_they_are_convolutions_where_what_they_give_is_not_added() -> None:
    """So a head ends: the attention is in what stands before."""
    text = _MIXED.replace("y = Add (sum, fed)", "y = Concat <axis = 1> (sum, fed)")
    names, _ = tell(text.replace("float[1, 8, 4, 4] y", "float[1, 16, 4, 4] y"))
    assert names == ["Self-attention", "Conv · ReLU", "Conv"]


def test_they_are_convolutions_where_there_is_no_attention() -> None:
    names, told = tell(
        "g (float[1, 8, 4, 4] x) => (float[1, 8, 4, 4] y)"
        "<int64[4] wider = {32, 8, 1, 1}, int64[4] narrower = {8, 32, 1, 1}>"
        "{ u = ConstantOfShape (wider) d = ConstantOfShape (narrower)"
        "  h = Conv (x, u) a = Relu (h) y = Conv (a, d) }"
    )
    assert names == ["Conv · ReLU", "Conv"]
    assert told == "Conv · ReLU · Conv 8 → 32 → 8"


@pytest.mark.parametrize(
    ("count", "noun"), [(1, "learned query"), (4, "latents"), (16, "learned queries")]
)
def test_queries_that_are_learned_are_latents_where_they_are_fewer(count: int, noun: str) -> None:
    _, told = tell(
        f"g (float[1, 16, 8] x) => (float[1, 2, {count}, 4] y)"
        f"<int64[4] dims = {{1, 2, {count}, 4}},"
        " int64[2] square = {8, 8}, int64[4] apart = {0, 0, 2, 4}>"
        "{ q = ConstantOfShape (dims) wk = ConstantOfShape (square) wv = ConstantOfShape (square)"
        "  k = MatMul (x, wk) kh = Reshape (k, apart) kt = Transpose <perm = [0, 2, 3, 1]> (kh)"
        "  v = MatMul (x, wv) vh = Reshape (v, apart) vt = Transpose <perm = [0, 2, 1, 3]> (vh)"
        "  scores = MatMul (q, kt) shares = Softmax (scores) y = MatMul (shares, vt) }"
    )
    assert told.startswith("Cross-attention")
    assert told.endswith(f"{count} {noun}")


def test_queries_that_norms_and_layers_make_of_latents_are_latents_too() -> None:
    """The file states no type of them: the operators before them tell their number."""
    _, told = tell(
        "g (float[1, 16, 8] x) => (float[1, 2, 4, 4] y)"
        "<int64[3] table = {1, 4, 8}, int64[2] square = {8, 8}, int64[4] apart = {0, 0, 2, 4},"
        " int64[1] width = {8}>"
        "{ latents = ConstantOfShape (table) s = ConstantOfShape (width)"
        "  wq = ConstantOfShape (square) wk = ConstantOfShape (square)"
        "  wv = ConstantOfShape (square) n = LayerNormalization (latents, s)"
        "  q = MatMul (n, wq) qh = Reshape (q, apart) qt = Transpose <perm = [0, 2, 1, 3]> (qh)"
        "  k = MatMul (x, wk) kh = Reshape (k, apart) kt = Transpose <perm = [0, 2, 3, 1]> (kh)"
        "  v = MatMul (x, wv) vh = Reshape (v, apart) vt = Transpose <perm = [0, 2, 1, 3]> (vh)"
        "  scores = MatMul (qt, kt) shares = Softmax (scores) y = MatMul (shares, vt) }"
    )
    assert told.startswith("Cross-attention")
    assert "4 × 8 latents" in told or told.endswith("4 latents")


def test_a_layer_and_a_softmax_before_a_product_are_no_attention_of_latents() -> None:
    names, _ = tell(
        "g (float[1, 16, 8] x) => (float[1, 4, 8] y) <int64[2] dims = {8, 4}>"
        "{ w = ConstantOfShape (dims) s = MatMul (x, w) p = Softmax <axis = 1> (s)"
        "  t = Transpose <perm = [0, 2, 1]> (p) y = MatMul (t, x) }"
    )
    assert "Cross-attention" not in names


def test_a_table_with_a_row_for_each_key_is_of_positions_and_no_latents() -> None:
    """A gate says how much tokens far off count (A. Défossez, Hybrid Spectrogram, 2021, 3.2)."""
    names, _ = tell(
        "g (float[1, 16, 8] x) => (float[1, 2, 16, 4] y)"
        "<int64[2] square = {8, 8}, int64[4] apart = {0, 0, 2, 4}, int64[3] all = {4, 16, 16},"
        " float half = {0.5}>"
        "{ table = ConstantOfShape (all) wq = ConstantOfShape (square)"
        "  wk = ConstantOfShape (square) wv = ConstantOfShape (square)"
        "  wg = ConstantOfShape (square)"
        "  q = MatMul (x, wq) qh = Reshape (q, apart) qt = Transpose <perm = [0, 2, 1, 3]> (qh)"
        "  k = MatMul (x, wk) kh = Reshape (k, apart) kt = Transpose <perm = [0, 2, 1, 3]> (kh)"
        "  v = MatMul (x, wv) vh = Reshape (v, apart) vt = Transpose <perm = [0, 2, 1, 3]> (vh)"
        "  g = MatMul (x, wg) gh = Reshape (g, apart) gt = Transpose <perm = [0, 2, 3, 1]> (gh)"
        "  far = Sigmoid (gt)"
        '  products = Einsum <equation = "bhtc,bhsc->bhts"> (qt, kt)'
        '  decay = Einsum <equation = "fts,bhfs->bhts"> (table, far)'
        "  scaled = Mul (products, half) scores = Add (scaled, decay)"
        "  shares = Softmax (scores) y = MatMul (shares, vt) }"
    )
    assert "Self-attention" in names
    assert "Cross-attention" not in names


def test_a_block_whose_norms_a_step_steers_is_a_transformer_block() -> None:
    text = """
g (float[1, 16, 8] x, float[1, 8] c) => (float[1, 16, 8] y)
<int64[2] all = {8, 32}, int64[2] square = {8, 8}, int64[2] wider = {8, 32},
 int64[2] narrower = {32, 8}, int64[1] width = {8}, float one = {1}, int64[4] four = {8, 8, 8, 8},
 int64[4] apart = {0, 0, 2, 4}, int64[3] joined = {0, 0, 8}, int64[1] axis = {1}>
{
  s = ConstantOfShape (width)  m = ConstantOfShape (all)  u = ConstantOfShape (wider)
  d = ConstantOfShape (narrower)  wq = ConstantOfShape (square)  wk = ConstantOfShape (square)
  wv = ConstantOfShape (square)  wo = ConstantOfShape (square)
  act = Swish (c)
  all_four = MatMul (act, m)
  rows = Unsqueeze (all_four, axis)
  scale1, shift1, scale2, shift2 = Split <axis = -1> (rows, four)
  n1 = LayerNormalization (x, s)
  a1 = Add (scale1, one)  b1 = Mul (n1, a1)  h1 = Add (b1, shift1)
  q = MatMul (h1, wq) q1 = Reshape (q, apart) q2 = Transpose <perm = [0, 2, 1, 3]> (q1)
  k = MatMul (h1, wk) k1 = Reshape (k, apart) k2 = Transpose <perm = [0, 2, 3, 1]> (k1)
  v = MatMul (h1, wv) v1 = Reshape (v, apart) v2 = Transpose <perm = [0, 2, 1, 3]> (v1)
  scores = MatMul (q2, k2) shares = Softmax (scores) mixed = MatMul (shares, v2)
  turned = Transpose <perm = [0, 2, 1, 3]> (mixed) heads = Reshape (turned, joined)
  o = MatMul (heads, wo)
  sum = Add (x, o)
  n2 = LayerNormalization (sum, s)
  a2 = Add (scale2, one)  b2 = Mul (n2, a2)  h2 = Add (b2, shift2)
  hidden = MatMul (h2, u) active = Relu (hidden) fed = MatMul (active, d)
  y = Add (sum, fed)
}
"""
    names, told = tell(text)
    assert names.count("Adaptive LayerNorm") == 2
    assert told.startswith("Transformer block, adaptive LayerNorm, 2 heads × 4")
    # a sum with what the norm itself takes is no shift
    names, _ = tell(text.replace("h1 = Add (b1, shift1)", "h1 = Add (b1, x)"))
    assert names.count("Adaptive LayerNorm") == 1
