"""Another order of nodes than the file's, in which those that belong together are near."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from netloupe.explorer.dataflow import list_edges, list_users
from netloupe.explorer.model import Graph, is_constant

from .signatures import Integers, NodeTable

#: so long chains of what copies or quantizes stored tensors are followed
_MOST_IN_CHAIN = 4


def rank_producers_first(graph: Graph) -> Sequence[int]:
    """Return the place of each node in an order in which producers come first, by index.

    It is that of the file, where that has them first, as ONNX demands. What stands behind its users
    there, as what a tool has put at the end, comes right before the first of them.
    """
    count = len(graph.nodes)
    sources, targets = list_edges(graph)
    if not (sources > targets).any():
        return range(count)
    ranks = np.empty(count, np.int64)
    ranks[walk(count, sources, targets, range(count))] = np.arange(count)
    placed: list[int] = ranks.tolist()
    return placed


def delay_stored(graph: Graph, ranks: Sequence[int]) -> Sequence[int]:
    """Return other places, with what copies or quantizes stored tensors right before its first use.

    Exporters and quantizers write such nodes first of all: they do not tell which of some modules
    comes first.
    """
    count = len(graph.nodes)
    sources, targets = list_edges(graph)
    stored: dict[int, None] = {}
    pending = np.flatnonzero(np.bincount(targets, minlength=count) == 0).tolist()
    while pending:
        index = pending.pop()
        node = graph.nodes[index]
        if index not in stored and node.operator.has("copies", "dequantizes", "quantizes"):
            value = node.input(0)
            giver = value.producer if value is not None else None
            if giver is not None and giver.graph is not graph:
                continue  # what it copies is of the graph around this one
            if value is not None and (
                is_constant(value) or (giver is not None and graph.index_of(giver) in stored)
            ):
                stored[index] = None
                pending += [graph.index_of(u) for u in list_users(node) if u.graph is graph]
    if not stored:
        return ranks
    own = np.asarray(ranks)
    is_stored = np.zeros(count, np.bool_)
    is_stored[[*stored]] = True
    first = np.where(is_stored, count, own)
    inner = is_stored[sources]
    for _ in range(_MOST_IN_CHAIN):
        np.minimum.at(first, sources[inner], first[targets[inner]])
    order = np.lexsort((own, ~is_stored, first))
    placed = np.empty(count, np.int64)
    placed[order] = np.arange(count)
    delayed: list[int] = placed.tolist()
    return delayed


def walk_from_outputs(table: NodeTable) -> Integers:
    """Return the rows of a table in the order of a depth-first walk from the last nodes.

    Every node comes behind those that it takes from, operand by operand, unless they are in a
    cycle. A node that several use comes before the first of them. Takes time linear in nodes
    and edges.

    Returns
    -------
    array
        shape (n,): a permutation of the rows.
    """
    sources = np.concatenate((table.producers.ravel(), table.sources))
    count = len(table.kinds)
    targets = np.concatenate((np.repeat(np.arange(count), table.producers.shape[1]), table.targets))
    known = sources >= 0
    return walk(count, sources[known], targets[known])


def walk(
    count: int, sources: Integers, targets: Integers, begins: Iterable[int] | None = None
) -> Integers:
    """Return the order of a depth-first walk against edges.

    Parameters
    ----------
    count
        Nodes are numbered from 0 to ``count - 1``.
    sources, targets
        shape (edges,): the edges of one target are followed in the order given.
    begins
        Where walks begin, one after the other; None for the last targets.

    Returns
    -------
    array
        shape (count,): a permutation.
    """
    by_target = np.argsort(targets, kind="stable")
    starts = np.searchsorted(targets[by_target], np.arange(count + 1)).tolist()
    producers = sources[by_target].tolist()
    if begins is None:
        begins = np.flatnonzero(np.bincount(sources, minlength=count) == 0).tolist()
    visited = bytearray(count)
    walked: list[int] = []
    following = starts[:-1].copy()
    for end in (*begins, *range(count)):
        if visited[end]:
            continue
        visited[end] = 1
        stack = [end]
        while stack:
            row = stack[-1]
            edge = following[row]
            if edge == starts[row + 1]:
                stack.pop()
                walked.append(row)
                continue
            following[row] = edge + 1
            producer = producers[edge]
            if not visited[producer]:
                visited[producer] = 1
                stack.append(producer)
    return np.array(walked, dtype=np.int64)
