"""Nodes that stand in a file behind what uses them are grouped where they belong."""

from __future__ import annotations

import random

import pytest
from onnx import TensorProto, helper

from netloupe.explorer.grouping import GroupTree, build_group_tree
from netloupe.explorer.grouping.order import rank_producers_first
from netloupe.explorer.model import Graph
from netloupe.explorer.readers.load import load

from .test_repeats import Builder, list_ways_around, repeats
from .test_tree import check_tree


def write_layers(count: int, *, late: tuple[str, ...] = (), chance: int | None = None) -> Graph:
    """Return layers without names; nodes of some operators are last, or all are shuffled."""
    builder = Builder()
    x = "x"
    for _ in range(count):
        x = builder.layer(x)
    nodes = builder.nodes
    builder.nodes = sorted(nodes, key=lambda node: node.op_type in late)
    if chance is not None:
        random.Random(chance).shuffle(builder.nodes)
    return builder.load(x)


def list_stacks(tree: GroupTree) -> list[tuple[int, int]]:
    return [(len(repeat.children), repeat.node_count) for repeat in repeats(tree)]


@pytest.mark.parametrize("count", [3, 6, 12])
@pytest.mark.parametrize("late", [("Softmax",), ("Div", "Transpose"), ("Relu", "Sqrt", "Pow")])
def test_layers_hold_their_nodes_that_stand_last(count: int, late: tuple[str, ...]) -> None:
    tree, whole = (build_group_tree(write_layers(count, late=ops)) for ops in (late, ()))
    check_tree(tree)
    assert list_stacks(tree) == list_stacks(whole)
    for repeat in repeats(tree):
        assert not list_ways_around(tree, repeat)


@pytest.mark.parametrize("chance", range(5))
def test_producers_come_first(chance: int) -> None:
    graph = write_layers(4, chance=chance)
    ranks = rank_producers_first(graph)
    assert sorted(ranks) == [*range(len(graph.nodes))]
    for node in graph.nodes:
        for value in node.inputs:
            if value is not None and value.producer is not None:
                assert ranks[value.producer.index] < ranks[node.index]
    assert rank_producers_first(write_layers(4)) == range(len(graph.nodes))


def test_a_cycle_has_some_order() -> None:
    nodes = [helper.make_node("Add", ["b", "x"], ["a"]), helper.make_node("Relu", ["a"], ["b"])]
    info = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [1]) for name in "xb"]
    model = helper.make_model(helper.make_graph(nodes, "", info[:1], info[1:]))
    graph = load(model.SerializeToString()).graph
    assert sorted(rank_producers_first(graph)) == [0, 1]
    check_tree(build_group_tree(graph))
