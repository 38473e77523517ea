"""The last level of a residual quantizer may give the number of its entry alone."""

from __future__ import annotations

import pytest

from netloupe.explorer.patterns import Operations, find_blocks
from netloupe.explorer.patterns.graph_context import find_graph_context
from netloupe.explorer.patterns.recognise import add_ideas
from tests.onnx_text import load_text

_BODY = """
g (float[2, 16, 8] x) => (int64[2, 16] n1, int64[2, 16] n2, int64[2, 16] n3)
<int64[2] dims = {256, 8}, int64[2] turned = {8, 256}, int64[2] other = {8, 64},
 int64[1] count = {256}, int64[1] few = {64}, float two = {2}, int64 place = {0}>
{
  codes = ConstantOfShape (dims)    columns = ConstantOfShape (turned)
  squares = ConstantOfShape (count)
  narrow = ConstantOfShape (other)  fewer = ConstantOfShape (few)
  p1 = MatMul (x, columns)  t1 = Mul (p1, two)  d1 = Sub (squares, t1)
  n1 = ArgMin <axis = -1, keepdims = 0> (d1)  q1 = Gather (codes, n1)
  rest = Sub (x, q1)
  p2 = MatMul (rest, columns)  t2 = Mul (p2, two)  d2 = Sub (squares, t2)
  n2 = ArgMin <axis = -1, keepdims = 0> (d2)  q2 = Gather (codes, n2)
  left = Sub (rest, q2)
  p3 = MatMul (left, columns)  t3 = Mul (p3, two)  d3 = Sub (squares, t3)
  n3 = ArgMin <axis = -1, keepdims = 0> (d3)
}
"""


def _find(*changes: tuple[str, str]) -> list[str]:
    text = _BODY
    for old, new in changes:
        assert old in text
        text = text.replace(old, new)
    graph = load_text(text).graph
    blocks = find_blocks(Operations(graph.nodes, find_graph_context(graph)))
    add_ideas(blocks)
    found = [one for one in blocks.list_outermost() if not isinstance(one, int)]
    return [fact for one in found if one.kind == "residual quantizer" for fact in one.facts]


def test_a_level_that_is_searched_alone_counts() -> None:
    assert _find() == ["3 levels", "256 codes × 8"]


def test_distances_of_one_of_a_batch_are_distances() -> None:
    batch = ("d1 = Sub (squares, t1)", "both = Sub (squares, t1)  d1 = Gather (both, place)")
    assert _find(batch)[:1] == ["3 levels"]


@pytest.mark.parametrize(
    "changes",
    [
        [("n3 = ArgMin", "n3 = ArgMax")],
        [("MatMul (left, columns)", "MatMul (x, columns)")],
        [("MatMul (left, columns)", "MatMul (left, narrow)"), ("squares, t3", "fewer, t3")],
        [("d3 = Sub (squares, t3)", "d3 = Exp (t3)")],
    ],
)
def test_what_searches_something_else_is_no_level(changes: list[tuple[str, str]]) -> None:
    assert _find(*changes)[:1] == ["2 levels"]
