"""Sums of what a layer gives and one stored number for each of its features: its bias."""

from __future__ import annotations

from collections.abc import Iterator

from netloupe.explorer.dataflow import find_taking
from netloupe.explorer.model import Graph, find_nodes_with, is_constant

from .weight_sizes import read_dims, read_features

#: the layers that may have a bias which exporters write as a sum
_LAYERS = ("multiplies", "convolves")
_BOTH = 2


def list_biases(graph: Graph) -> Iterator[int]:
    """Yield the indices of the nodes of a graph that add a bias to what a layer alone gives.

    As exporters write ``x · W + b``. A number for each step or place is no bias of a layer.
    """
    sums = find_nodes_with(graph, "adds")
    for index in sums[find_taking(graph, *_LAYERS)[sums]].tolist():
        inputs = graph.nodes[index].inputs
        computed = [value for value in inputs if value is not None and not is_constant(value)]
        if len(inputs) != _BOTH or len(computed) != 1:
            continue
        (value,) = computed
        giver = value.producer
        if giver is None or value.is_output or len(value.users) != 1:
            continue
        if giver.graph is not graph or not giver.operator.has(*_LAYERS):
            continue
        _, given = read_features(giver)
        stored = inputs[1] if inputs[0] is value else inputs[0]
        sizes = [dim for dim in read_dims(stored) if dim > 1]
        if given > 1 and sizes == [given]:
            yield index
