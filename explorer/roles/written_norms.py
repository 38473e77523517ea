"""Normalizations that are written out, as layers that begin with one: no operator has the weight.

x / sqrt(mean(x²) + ε) and (x - mean(x)) / sqrt(mean((x - mean(x))²) + ε): J. Ba and others, Layer
Normalization, 2016; B. Zhang and R. Sennrich, Root Mean Square Layer Normalization, 2019.
"""

from __future__ import annotations

from collections.abc import Iterator

from netloupe.explorer.dataflow import Booleans, is_input_independent
from netloupe.explorer.model import Graph, Node, Value, find_nodes_with

_MOST_STEPS = 6


def find_written_norms(graph: Graph, among: Booleans) -> Iterator[int]:
    """Yield the indices of the nodes that take the means of such normalizations.

    Parameters
    ----------
    graph
        The graph.
    among
        shape (nodes,): the nodes that are looked at.
    """
    means, roots = (
        [index for index in find_nodes_with(graph, trait).tolist() if among[index]]
        for trait in ("averages", "takes_root")
    )
    taking = {*means}
    for root in roots if means else ():
        mean = _walk_back(graph.nodes[root], taking)
        if mean is not None:
            yield graph.index_of(mean)
            inner = _walk_back(mean, taking)
            if inner is not None:
                yield graph.index_of(inner)


def _walk_back(node: Node, means: set[int]) -> Node | None:
    """Return the nearest node before one that takes a mean, behind nothing but arithmetic."""
    for _ in range(_MOST_STEPS):
        producers = [
            value.producer for value in node.inputs if value is not None and _is_computed(value)
        ]
        found = next((p for p in producers if p is not None and _takes_mean(p, node, means)), None)
        if found is not None:
            return found
        following = next(
            (p for p in producers if p is not None and p.operator.has("elementwise", "casts")), None
        )
        if following is None or following.graph is not node.graph:
            return None
        node = following
    return None


def _is_computed(value: Value) -> bool:
    return value.producer is not None and not is_input_independent(value)


def _takes_mean(node: Node, user: Node, means: set[int]) -> bool:
    return node.graph is user.graph and node.index in means
