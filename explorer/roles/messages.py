"""Messages along the edges of a graph: a layer that begins with them has no weight there.

J. Gilmer and others, Neural Message Passing for Quantum Chemistry, 2017, equation 1.
"""

from __future__ import annotations

from collections.abc import Iterator

from netloupe.explorer.dataflow import Booleans, is_input_independent
from netloupe.explorer.model import Graph, Node, TensorType, Value, find_nodes_with

_MOST_STEPS = 24


def find_message_nodes(graph: Graph, among: Booleans) -> Iterator[int]:
    """Yield the indices of the nodes that gather features along edges, and put them together.

    Parameters
    ----------
    graph
        The graph.
    among
        shape (nodes,): the nodes that are looked at.
    """
    for index in find_nodes_with(graph, "scatters").tolist():
        node = graph.nodes[index]
        reduction = node.attributes.get("reduction")
        if not among[index] or reduction is None or reduction.value in ("none", b"none"):
            continue
        place = node.operator.operands.find("updates")
        gathering = _walk_back(node.input(place)) if place is not None else None
        if gathering is not None and gathering.graph is graph:
            yield index
            yield graph.index_of(gathering)


def _walk_back(value: Value | None) -> Node | None:
    """Return the node that picks rows of numbers by places that are given, before a value."""
    pending, seen = [value], {value}
    for current in pending:  # grows
        node = current.producer if current is not None else None
        if current is None or node is None or is_input_independent(current):
            continue
        rows, places = node.input(0), node.input(1)
        if node.operator.has("looks_up") and rows is not None and places is not None:
            if not is_input_independent(places) and not _is_integer(rows):
                return node
            continue
        for operand in node.inputs:
            if operand not in seen and len(seen) < _MOST_STEPS:
                seen.add(operand)
                pending.append(operand)
    return None


def _is_integer(value: Value) -> bool:
    stated = value.type
    return isinstance(stated, TensorType) and stated.dtype.is_integer
