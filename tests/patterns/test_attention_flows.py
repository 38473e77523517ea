"""Bidirectional attention flows whose scores are sums of several products."""

from __future__ import annotations

import pytest

from netloupe.explorer.patterns import find_graph_context, find_ideas
from tests.onnx_text import load_text

_FLOW = "Bidirectional attention flow"
_START = """
g (float[1, 40, 48] context, float[1, 8, 48] query, float[1, 8, 48] other)
 => (float[1, 40, 192] y, float[1, 40, 8] z)
<int64[2] column = {48, 1}, int64[1] one = {1}, int64[1] two = {2}, int64[1] last = {3},
 int64[2] square = {48, 48}, int64[3] size = {1, 40, 48}, float low = {-1e9},
 float[1] bias = {0.5}>
{
  wc = ConstantOfShape (column)  wq = ConstantOfShape (column)  wm = ConstantOfShape (column)
  ws = ConstantOfShape (square)
"""
#: w · [c; q; c ∘ q], each third of w with a layer of its own
_SIMILARITY = """
  c0 = MatMul (context, wc)  c1 = Add (c0, bias)  q0 = MatMul (query, wq)  q1 = Add (q0, bias)
  qt = Transpose <perm = [0, 2, 1]> (q1)  s0 = Add (c1, qt)
  cu = Unsqueeze (context, two)  qu = Unsqueeze (query, one)  cq = Mul (cu, qu)
  m0 = MatMul (cq, wm)  m1 = Add (m0, bias)  m2 = Squeeze (m1, last)  s = Add (s0, m2)
"""
_NO_BIAS = """
  c1 = MatMul (context, wc)  q1 = MatMul (query, wq)
  qt = Transpose <perm = [0, 2, 1]> (q1)  s0 = Add (c1, qt)
  cw = MatMul (context, ws)  kt = Transpose <perm = [0, 2, 1]> (query)  m2 = MatMul (cw, kt)
  s = Add (s0, m2)
"""
_MIXES = """
  a = Softmax <axis = 2> (s)  c2q = MatMul (a, query)
  most = ReduceMax <keepdims = 0> (s, two)  b = Softmax <axis = 1> (most)  row = Unsqueeze (b, one)
  q2c0 = MatMul (row, context)  q2c = Expand (q2c0, size)
  p1 = Mul (context, c2q)  p2 = Mul (context, q2c)
  y = Concat <axis = 2> (context, c2q, p1, p2)
}
"""


def tell(similarity: str, mixes: str = _MIXES) -> list[str]:
    graph = load_text(_START + similarity + mixes).graph
    return [name for name, *_ in find_ideas([*graph.nodes], find_graph_context(graph))]


@pytest.mark.parametrize("similarity", [_SIMILARITY, _NO_BIAS])
def test_scores_of_three_products_make_a_flow(similarity: str) -> None:
    """M. Seo and others, Bidirectional Attention Flow for Machine Comprehension, 2017, eq. 1."""
    assert tell(similarity) == [_FLOW]


def test_all_layers_of_the_scores_are_in_the_block() -> None:
    graph = load_text(_START + _SIMILARITY + _MIXES).graph
    ((_, nodes, _),) = find_ideas([*graph.nodes], find_graph_context(graph))
    assert sum(node.op_type == "MatMul" for node in nodes) == 5
    assert sum(node.op_type == "Concat" for node in nodes) == 1


@pytest.mark.parametrize(
    ("similarity", "mixes"),
    [
        # what is mixed is none of what was compared
        (_SIMILARITY, _MIXES.replace("(a, query)", "(a, other)")),
        # the largest of other scores
        (_SIMILARITY, _MIXES.replace("(s, two)", "(s0, two)")),
        # both mix the same
        (
            _SIMILARITY,
            _MIXES.replace("MatMul (a, query)", "MatMul (a, at)").replace(
                "a = Softmax", "at = Slice (context, one, last, one) a = Softmax"
            ),
        ),
    ],
)
def test_other_mixes_are_no_flow(similarity: str, mixes: str) -> None:
    assert _FLOW not in tell(similarity, mixes)
