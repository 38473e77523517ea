"""Normalizations that are written out, as layers that begin with one: no operator has the weight.

x / sqrt(mean(x²) + ε) and (x - mean(x)) / sqrt(mean((x - mean(x))²) + ε): J. Ba and others, Layer
Normalization, 2016; B. Zhang and R. Sennrich, Root Mean Square Layer Normalization, 2019.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from netloupe.explorer.dataflow import Booleans, is_input_independent
from netloupe.explorer.model import Graph, Node, Value, find_nodes_with

from .origins import find_origin

_MOST_STEPS = 6
#: an interval has two ends
_BOTH = 2


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
    yield from _find_summed(graph, among, [*roots] if not means else [])


def _find_summed(graph: Graph, among: Booleans, roots: Sequence[int]) -> Iterator[int]:
    """Yield the nodes that take the sums of such, where means are sums divided by their number.

    As of series of which not every place was observed (T. Kim and others, Reversible Instance
    Normalization, 2022).
    """
    taking = {i for i in find_nodes_with(graph, "reduces").tolist() if among[i]} if roots else set()
    for root in roots if taking else ():
        outer = _walk_back(graph.nodes[root], taking)
        inner = _walk_back(outer, taking) if outer is not None else None
        if outer is not None and inner is not None:
            yield graph.index_of(outer)
            yield graph.index_of(inner)


def find_intervals(graph: Graph, among: Booleans) -> Iterator[int]:
    """Yield the nodes that tell in which of several stored intervals each number lies.

    So splines begin (C. de Boor, A Practical Guide to Splines, 1978, chapter IX).
    """
    for index in find_nodes_with(graph, "logical").tolist():
        node = graph.nodes[index]
        if not among[index] or len(node.inputs) < _BOTH:
            continue
        sides = [value.producer for value in node.inputs if value is not None]
        if len(sides) < _BOTH or any(
            side is None or side.graph is not graph or not side.operator.has("compares_order")
            for side in sides
        ):
            continue
        compared = [
            [
                value
                for value in side.inputs
                if value is not None and not is_input_independent(value)
            ]
            for side in sides
            if side is not None
        ]
        is_one = all(len(values) == 1 and values[0] is compared[0][0] for values in compared)
        if is_one and all(any(map(_is_list, side.inputs)) for side in sides if side is not None):
            yield from (graph.index_of(side) for side in sides if side is not None)


def _is_list(value: Value | None) -> bool:
    """Return whether a value is of several stored numbers."""
    origin = find_origin(value) if value is not None else None
    dims = origin.dims if origin is not None else None
    return dims is not None and any(dim is not None and dim > 1 for dim in dims)


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
