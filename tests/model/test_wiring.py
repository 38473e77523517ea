"""What the wiring of a graph tells of its operators."""

from __future__ import annotations

import pytest
from onnx import TensorProto, helper

import netloupe
from netloupe.explorer.model import Graph, count_each_operator


def make_graph(count: int) -> Graph:
    """Return a graph with so many nodes of three operators, one of them in two domains."""
    operators = [("Relu", ""), ("Add", ""), ("Relu", "own"), ("Relu", ""), ("Neg", "")]
    nodes = [
        helper.make_node(op_type, ["x"], [f"y{index}"], domain=domain)
        for index in range(count)
        for op_type, domain in (operators[index % len(operators)],)
    ]
    info = helper.make_tensor_value_info("x", TensorProto.FLOAT, [1])
    graph = helper.make_graph(nodes, "graph", [info], [])
    return netloupe.load(helper.make_model(graph).SerializeToString()).graph


@pytest.mark.parametrize("count", [0, 1, 7, 49, 50, 503])
def test_operators_are_counted_in_the_order_of_the_file(count: int) -> None:
    graph = make_graph(count)
    found: dict[tuple[str, str], int] = {}
    for node, times in count_each_operator(graph):
        key = node.op_type, node.domain
        found[key] = found.get(key, 0) + times
    expected: dict[tuple[str, str], int] = {}
    for node in graph.nodes:
        expected[node.op_type, node.domain] = expected.get((node.op_type, node.domain), 0) + 1
    assert list(found.items()) == list(expected.items())
    assert sum(found.values()) == count
