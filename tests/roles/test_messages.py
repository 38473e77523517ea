"""Messages along the edges of a graph are no preparation, where a layer begins with them."""

from __future__ import annotations

import pytest

from netloupe.explorer.grouping import build_group_tree
from netloupe.explorer.model import Graph
from netloupe.explorer.readers.load import load
from netloupe.explorer.roles import find_roles
from tests.corpus import corpus_file
from tests.onnx_text import load_text


def sage(reduction: str, rows: str = "x") -> Graph:
    """Return a layer that takes means of the features of neighbours before its first weight."""
    return load_text(f"""
        sage (float[10, 8] x, int64[30] from, int64[30, 1] to, int64[10, 8] ids)
          => (float[10, 4] y)
        <int64[2] dims = {{10, 8}}, int64[2] wide = {{30, 8}}, int64[2] w = {{8, 4}}>
        {{
          zeros = ConstantOfShape (dims)
          weight = ConstantOfShape (w)
          floats = Cast <to = 1> (ids)
          sent = Gather ({rows}, from)
          places = Expand (to, wide)
          total = ScatterElements <axis = 0, reduction = "{reduction}"> (zeros, places, sent)
          more = Add (total, floats)
          y = MatMul (more, weight)
        }}
    """).graph


def list_prepared(graph: Graph) -> set[str]:
    roles = find_roles(graph)
    return {node.op_type for node in graph.nodes if roles.of(node) == "preparation"}


@pytest.mark.parametrize("reduction", ["add", "max"])
def test_what_gathers_and_sums_messages_is_of_the_body(reduction: str) -> None:
    assert not list_prepared(sage(reduction)) & {"Gather", "ScatterElements"}


def test_what_writes_without_a_sum_is_no_message() -> None:
    assert "ScatterElements" in list_prepared(sage("none"))


def test_the_places_of_all_layers_are_in_no_circle_with_the_first() -> None:
    """What each layer takes from them stands before, and so does what they are made of."""
    graph = load(corpus_file("exported/graphsage.legacy.onnx")).graph
    tree = build_group_tree(graph)
    shared = next(one for one in tree.root.inner_groups() if one.node_count > 2)
    assert shared.kind == "preparation"
    givers = {
        value.producer
        for node in shared.nodes_alone()
        for value in node.inputs
        if value is not None and value.producer is not None and value.producer.graph is graph
    }
    layers = [one for one in tree.root.inner_groups() if one.kind in ("repeat", "scope")]
    assert not any(tree.holds(layer, giver) for layer in layers for giver in givers)
