"""Columns of loose nodes side by side, which one node puts together."""

from __future__ import annotations

import pytest

from netloupe.explorer.grouping import Group, build_group_tree
from netloupe.explorer.model import Graph
from tests.unrolled import WIDTH, Writer


def make_columns(count: int = 6, *, is_shared: bool = False, is_other: bool = False) -> Graph:
    """Return all products of vectors of two modules, each pooled, and joined in the end.

    Parameters
    ----------
    count
        How many products there are.
    is_shared
        Whether the last column takes something of the one before.
    is_other
        Whether the last column has another operator.
    """
    writer = Writer()
    writer.inputs = {"x": [WIDTH, WIDTH]}
    left = writer.add("left/a", "MatMul", "x", writer.weight("left", WIDTH, WIDTH))
    left = writer.add("left/b", "Relu", left)
    right = writer.add("right/a", "MatMul", "x", writer.weight("right", WIDTH, WIDTH))
    right = writer.add("right/b", "Relu", right)
    given, before = [], ""
    for number in range(count):
        is_last = number == count - 1
        product = writer.add("", "MatMul", left, before if is_shared and is_last else right)
        before = writer.add("", "Tanh" if is_other and is_last else "Exp", product)
        total = writer.add("", "ReduceSum", before, keepdims=1)
        given.append(writer.add("", "Log", total))
    joined = writer.add("", "Concat", *given, axis=1)
    writer.outputs = [writer.add("dense", "MatMul", joined, writer.weight("out", count, 1))]
    return writer.load().graph


def list_counts(graph: Graph) -> list[list[int]]:
    """Return how many nodes each member of each repeat right below the root has."""
    groups = build_group_tree(graph).root.inner_groups()
    return [
        [child.node_count for child in group.children if isinstance(child, Group)]
        for group in groups
        if group.kind == "repeat"
    ]


def test_columns_that_are_joined_are_one_repeat() -> None:
    assert list_counts(make_columns()) == [[4] * 6]


@pytest.mark.parametrize(
    "graph",
    [
        make_columns(4),  # few branches are drawn
        make_columns(is_shared=True),
        make_columns(is_other=True),
    ],
)
def test_few_or_unlike_columns_stay_as_they_are(graph: Graph) -> None:
    assert list_counts(graph) == []
