"""Messages along the edges of a graph are no preparation, where a layer begins with them."""

from __future__ import annotations

import numpy as np
import pytest
from onnx import numpy_helper

from netloupe.explorer.grouping import build_group_tree
from netloupe.explorer.model import Graph
from netloupe.explorer.readers.load import load
from netloupe.explorer.roles import find_roles
from tests.corpus import corpus_file
from tests.onnx_text import load_text
from tests.unrolled import WIDTH, Writer


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


def make_scalars_and_vectors(*, is_taken: bool) -> Graph:
    """Return three layers that sum scalars and vectors at the same ends of edges.

    An exporter writes the ends, once for all layers, under the name of the first.

    Parameters
    ----------
    is_taken
        Whether the first layer itself takes the ends that both are made of, too.
    """
    writer = Writer()
    writer.inputs = {"scalars": [6, WIDTH], "vectors": [6, 3, WIDTH]}
    numbers = {"at": [1], "at2": [2], "wide": [6, WIDTH], "deep": [6, 3, WIDTH]}
    writer.tensors += [numpy_helper.from_array(np.array(own), one) for one, own in numbers.items()]
    writer.inputs["ends"] = [6]

    def spread(value: str, size: str) -> str:
        ones = writer.add("layers.0", "ConstantOfShape", size)
        same = writer.add("layers.0", "Equal", writer.add("layers.0", "Mul", ones, size), size)
        chosen = writer.add("layers.0", "Where", same, size, size)
        return writer.add("layers.0", "Expand", value, chosen)

    turned = writer.add("layers.0", "Unsqueeze", "ends", "at")
    deeper = writer.add("layers.0", "Unsqueeze", turned, "at2")
    places = spread(turned, "wide"), spread(deeper, "deep")
    scalars, vectors = "scalars", "vectors"
    for layer in range(3):
        scope = f"layers.{layer}"
        weights = [writer.weight(f"{scope}.{name}", WIDTH, WIDTH) for name in "abc"]
        sent = writer.add(scope, "Tanh", writer.add(scope, "MatMul", scalars, weights[0]))
        moved = writer.add(scope, "Mul", vectors, writer.add(scope, "Unsqueeze", sent, "at"))
        options = {"axis": 0, "reduction": "add"}
        scalars = writer.add(scope, "ScatterElements", scalars, places[0], sent, **options)
        scalars = writer.add(scope, "MatMul", scalars, weights[1])
        vectors = writer.add(scope, "ScatterElements", vectors, places[1], moved, **options)
        vectors = writer.add(scope, "MatMul", vectors, weights[2])
        if is_taken and not layer:
            scalars = writer.add(scope, "Mul", scalars, turned)
    writer.outputs = [scalars, vectors]
    return writer.load().graph


def test_ends_for_scalars_and_for_vectors_are_prepared_together() -> None:
    graph = make_scalars_and_vectors(is_taken=False)
    assert [piece.nodes[0] for piece in find_roles(graph).pieces] == [0, 1]
    (stack,) = (one for one in build_group_tree(graph).root.inner_groups() if one.kind == "repeat")
    assert len(stack.children) == 3


def test_ends_that_a_layer_takes_itself_belong_to_it() -> None:
    graph = make_scalars_and_vectors(is_taken=True)
    assert 0 not in {index for piece in find_roles(graph).pieces for index in piece.nodes}
