"""What a frame would say more than a closed box: nothing of pools that are joined."""

from __future__ import annotations

from netloupe.explorer.grouping import Group, find_tree
from netloupe.explorer.layout.opening_worth import is_told_by_face
from tests.unrolled import WIDTH, Writer


def find_head(*pools: str, work: str = "") -> Group:
    """Return a module that pools a sequence in some ways, with an operator behind or none."""
    writer = Writer()
    writer.inputs = {"x": [1, WIDTH, 100]}
    x = writer.add("body", "MatMul", "x", writer.weight("w", 100, 100))
    x = writer.add("body", "Relu", x)
    pooled = [writer.add("head/pool", kind, x) for kind in pools]
    y = writer.add("head/pool", "Concat", *pooled, axis=1)
    y = writer.add("head/pool", work, y) if work else y
    y = writer.add("head", "MatMul", y, writer.weight("last", 1, 2))
    writer.outputs = [writer.add("head", "Tanh", y)]
    graph = writer.load().graph
    return find_tree(graph.model, graph).groups["main/head/pool/"]


def test_a_maximum_and_a_mean_that_are_joined_are_told_by_a_closed_box() -> None:
    assert is_told_by_face(find_head("GlobalMaxPool", "GlobalAveragePool"))


def test_what_computes_with_what_was_pooled_is_not() -> None:
    assert not is_told_by_face(find_head("GlobalMaxPool", "GlobalAveragePool", work="Sigmoid"))
