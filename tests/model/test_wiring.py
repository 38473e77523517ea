"""What the wiring of a graph tells of its operators."""

from __future__ import annotations

from collections.abc import Callable, Container

import pytest
from onnx import GraphProto, TensorProto, helper

import netloupe
from netloupe.explorer.model import Graph, count_each_operator, find_nodes_by_op_type


def make_proto(count: int) -> GraphProto:
    """Return a graph with so many nodes of three operators, one of them in two domains."""
    operators = [("Relu", ""), ("Add", ""), ("Relu", "own"), ("Relu", ""), ("Neg", "")]
    nodes = [
        helper.make_node(op_type, ["x"], [f"y{index}"], domain=domain)
        for index in range(count)
        for op_type, domain in (operators[index % len(operators)],)
    ]
    info = helper.make_tensor_value_info("x", TensorProto.FLOAT, [1])
    return helper.make_graph(nodes, "graph", [info], [])


def make_graph(count: int) -> Graph:
    return netloupe.load(helper.make_model(make_proto(count)).SerializeToString()).graph


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


@pytest.mark.parametrize("count", [0, 1, 7, 49, 50, 503])
@pytest.mark.parametrize(
    "op_types",
    [(), ("Add",), ("Relu", "Neg", "Sub"), ("Sub",), ("Relu", "Add", "Neg", "Sub", "Mul", "Div")],
)
@pytest.mark.parametrize("kind", [frozenset, tuple, dict.fromkeys], ids=["set", "tuple", "dict"])
def test_nodes_of_some_op_types_are_found(
    count: int, op_types: tuple[str, ...], kind: Callable[[tuple[str, ...]], Container[str]]
) -> None:
    graph = make_graph(count)
    expected = [node.index for node in graph.nodes if node.op_type in op_types]
    for _ in range(2):  # what was found out for the first time serves the second
        assert find_nodes_by_op_type(graph, kind(op_types)).tolist() == expected


def test_versions_of_very_many_domains_are_told() -> None:
    domains = {f"d{number}": number for number in range(300)}
    imports = [helper.make_opsetid(*each) for each in domains.items()]
    model = netloupe.load(helper.make_model(make_proto(3), opset_imports=imports))
    for _ in range(2):
        assert {name: model.graph.opset_version(name) for name in domains} == domains
        assert model.graph.opset_version("none") is None
