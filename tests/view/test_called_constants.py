"""What a called function only stores is a row of who takes it, as every constant is."""

from __future__ import annotations

import numpy as np
import pytest
from onnx import FunctionProto, ModelProto, TensorProto, helper, numpy_helper

from netloupe.explorer.model import called_constant
from netloupe.explorer.readers.load import load
from netloupe.explorer.view import View

OPSETS = [helper.make_opsetid("", 17), helper.make_opsetid("own", 1)]


def make_function(name: str, inner: str = "") -> FunctionProto:
    """Return a function that gives a place that it stores, or has from another, and a result."""
    place = (
        helper.make_node(inner, ["x"], ["place", "unused"], domain="own")
        if inner
        else helper.make_node(
            "Constant", [], ["place"], value=numpy_helper.from_array(np.array(1, np.int64))
        )
    )
    nodes = [place, helper.make_node("Relu", ["x"], ["y"])]
    return helper.make_function("own", name, ["x"], ["place", "y"], nodes, OPSETS)


def make_calls(depth: int, *, computed: bool = False) -> ModelProto:
    """Return a graph that takes a place from the first of some functions that call one another."""
    functions = [make_function(f"F{n}", f"F{n + 1}" if n < depth - 1 else "") for n in range(depth)]
    if computed:
        functions[-1].node[0].CopyFrom(helper.make_node("ArgMax", ["x"], ["place"], axis=0))
    nodes = [
        helper.make_node("F0", ["x"], ["place", "y"], "call", domain="own"),
        helper.make_node("Gather", ["y", "place"], ["z"], "take"),
        helper.make_node("Relu", ["z"], ["w"], "last"),
    ]
    value = helper.make_tensor_value_info
    graph = helper.make_graph(
        nodes,
        "g",
        [value("x", TensorProto.FLOAT, [3, 4])],
        [value("w", TensorProto.FLOAT, None)],
    )
    return helper.make_model(graph, functions=functions, opset_imports=OPSETS)


def list_edges(model: ModelProto) -> list[str]:
    """Return the names of the values of all edges of the whole graph."""
    view = View(load(model.SerializeToString()))
    return [link.value.name for link in view.links(view.root)]


@pytest.mark.parametrize("depth", [1, 2, 3])
def test_a_constant_of_a_call_has_no_edge(depth: int) -> None:
    assert sorted(list_edges(make_calls(depth))) == ["w", "x", "y", "z"]


@pytest.mark.parametrize("depth", [1, 2, 3])
def test_what_a_call_computes_has_one(depth: int) -> None:
    assert sorted(list_edges(make_calls(depth, computed=True))) == ["place", "w", "x", "y", "z"]


def test_the_row_says_what_is_stored() -> None:
    view = View(load(make_calls(2).SerializeToString()))
    rows = view.items["main/take"].constants
    assert [(row.index, row.tensor is None) for row in rows] == [(1, False)]


def test_functions_that_call_themselves_end() -> None:
    model = make_calls(1)
    model.functions[0].node[0].CopyFrom(
        helper.make_node("F0", ["x"], ["place", "unused"], domain="own")
    )
    graph = load(model.SerializeToString()).graph
    assert called_constant(graph.nodes[0].outputs[0]) is None
