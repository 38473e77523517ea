"""Copies that a layer takes, and of which preparation asks the shape.

A decoder counts positions from how much it has cached, so that exporters ask a copy of what the
first layer has cached for its shape (transformers' ``DynamicCache.get_seq_length``). The first
layer takes the copy, too. If it stood there, all that is counted would seem to follow on the first
layer; so it belongs to what counts, and with it the small pieces that do the same.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice

import numpy as np

from netloupe.explorer.arrays import sort_distinct
from netloupe.explorer.dataflow import Booleans, Integers, find_determined_nodes, list_users
from netloupe.explorer.model import Graph, Node, is_constant

from .preparation_pieces import LEAST_ALIKE, PreparationPiece

_MOST_LOOKED = 100


def join_measured(
    graph: Graph,
    pieces: Sequence[PreparationPiece],
    is_before: Booleans,
    is_silent: Booleans,
    edges: tuple[Integers, Integers],
    carrying: Booleans,
) -> list[PreparationPiece]:
    """Join few nodes that the body takes, and whose shape is asked for, to what asks for it.

    Together with small pieces that give to one another or to the same node, and with the few nodes
    to which only these give, they are one piece. Nothing is joined that would take from what it
    gives to.

    Parameters
    ----------
    pieces
        All preparation; no node is in two of them.
    is_before
        shape (nodes,): the nodes to which none with a weight gives.
    is_silent
        shape (nodes,): nodes of arithmetic on shapes.
    edges
        Two of shape (edges,): which node gives to which.
    carrying
        shape (edges,): whether more is given than a shape.
    """
    sources, _ = edges
    piece_of = {index: number for number, piece in enumerate(pieces) for index in piece.nodes}
    asked = {
        piece_of[index] for index in sort_distinct(sources[~carrying]).tolist() if index in piece_of
    }
    measured = {
        number
        for number in asked
        if pieces[number].is_small
        and not pieces[number].is_shared
        and _joins_body(graph, pieces[number], is_before)
    }
    if not measured:
        return [*pieces]
    near = _link(graph, pieces, piece_of, measured, is_silent)
    groups = _leave_out_alike(graph, pieces, _spread(pieces, measured, near))
    for group in groups:
        _add_following(graph, pieces, piece_of, group, is_silent)
    found = _leave_out_circular(pieces, groups, edges)
    taken = {number for group in found for number in group}
    kept = [piece for number, piece in enumerate(pieces) if number not in taken]
    return kept + [
        PreparationPiece(
            tuple(sorted(index for number in group for index in pieces[number].nodes)), True
        )
        for group in found
    ]


def _joins_body(graph: Graph, piece: PreparationPiece, is_before: Booleans) -> bool:
    """Return whether all that takes the elements of a piece also takes what a layer gives."""
    takers = _list_takers(graph, piece.nodes)
    users = [
        *islice((user for user in takers if not user.operator.has("reads_shape")), _MOST_LOOKED)
    ]
    return bool(users) and all(
        user.graph is graph
        and any(
            value is not None
            and value.producer is not None
            and value.graph is graph
            and not is_before[graph.index_of(value.producer)]
            for value in user.inputs[:_MOST_LOOKED]
        )
        for user in users
    )


def _list_takers(graph: Graph, nodes: Iterable[int]) -> Iterator[Node]:
    """Yield what takes the results of some nodes and is none of them, whatever the graph."""
    inside = {*nodes}
    for index in inside:
        for user in list_users(graph.nodes[index]):
            is_inside = user.graph is graph and user.index in inside
            if not is_inside:
                yield user


def _link(
    graph: Graph,
    pieces: Sequence[PreparationPiece],
    piece_of: Mapping[int, int],
    measured: set[int],
    is_silent: Booleans,
) -> dict[int, set[int]]:
    """Return which pieces go together: those measured, and small ones that several others take."""
    near: dict[int, set[int]] = {}
    for number in measured:
        asking = _find_asking(graph, pieces[number], piece_of, is_silent)
        small = {other for other in asking if pieces[other].is_small and pieces[other].is_shared}
        for other in small or asking[:1]:
            near.setdefault(number, set()).add(other)
            near.setdefault(other, set()).add(number)
    by_user: dict[Node, int] = {}
    for number, piece in enumerate(pieces):
        if not piece.is_small or not piece.is_shared:
            continue
        for user in _list_takers(graph, piece.nodes):
            other = by_user.setdefault(user, number)
            taking = piece_of.get(user.index) if user.graph is graph else None
            if taking is not None and pieces[taking].is_small and pieces[taking].is_shared:
                near.setdefault(number, set()).add(taking)
                near.setdefault(taking, set()).add(number)
            if other != number:
                near.setdefault(number, set()).add(other)
                near.setdefault(other, set()).add(number)
    return near


def _find_asking(
    graph: Graph, piece: PreparationPiece, piece_of: Mapping[int, int], is_silent: Booleans
) -> list[int]:
    """Return the pieces that work with the shape of what a piece gives."""
    pending = [
        user for user in _list_takers(graph, piece.nodes) if user.operator.has("reads_shape")
    ]
    seen: set[Node] = set()
    found: dict[int, None] = {}
    while pending and len(seen) < _MOST_LOOKED:
        node = pending.pop()
        if node in seen or node.graph is not graph:
            continue
        seen.add(node)
        if node.index in piece_of:
            found[piece_of[graph.index_of(node)]] = None
        elif is_silent[graph.index_of(node)]:
            pending += list_users(node)
    return sorted(found)


def _spread(
    pieces: Sequence[PreparationPiece], measured: set[int], near: Mapping[int, set[int]]
) -> Iterator[set[int]]:
    """Yield the sets of pieces that hang together, each with one that is measured at least."""
    seen: set[int] = set()
    for start in sorted(measured):
        if start in seen:
            continue
        group: set[int] = set()
        pending = [start]
        while pending:
            number = pending.pop()
            if number in seen:
                continue
            seen.add(number)
            group.add(number)
            if pieces[number].is_small:  # a large one does what it does for itself
                pending += near.get(number, ())
        if len(group) > 1:
            yield group


def _leave_out_alike(
    graph: Graph, pieces: Sequence[PreparationPiece], groups: Iterable[set[int]]
) -> list[set[int]]:
    """Return the sets of pieces that are not such that each of many layers has its own."""
    listed = [
        (group, [tuple(graph.nodes[i].op_type for i in pieces[number].nodes) for number in group])
        for group in groups
    ]
    alike = Counter(kinds for _, each in listed for kinds in each)
    return [group for group, each in listed if all(alike[kinds] < LEAST_ALIKE for kinds in each)]


def _add_following(
    graph: Graph,
    pieces: Sequence[PreparationPiece],
    piece_of: Mapping[int, int],
    group: set[int],
    is_silent: Booleans,
) -> None:
    """Add to a set of pieces the small ones to which it alone gives."""
    inside = {index for number in group for index in pieces[number].nodes}
    users = [user.index for user in _list_takers(graph, inside) if user.graph is graph]
    for number in {piece_of[index] for index in users if index in piece_of} - group:
        if not pieces[number].is_small:
            continue
        own = inside.union(pieces[number].nodes)
        if all(
            value.producer is not None
            and value.graph is graph
            and (value.producer.index in own or is_silent[graph.index_of(value.producer)])
            for index in pieces[number].nodes
            for value in graph.nodes[index].inputs[:_MOST_LOOKED]
            if value is not None and not is_constant(value)
        ):
            group.add(number)


def _leave_out_circular(
    pieces: Sequence[PreparationPiece], groups: Sequence[set[int]], edges: tuple[Integers, Integers]
) -> list[set[int]]:
    """Return the sets of pieces that take nothing from what they give to."""
    if not groups:
        return []
    members = [[i for number in group for i in pieces[number].nodes] for group in groups]
    low, high = min(map(min, members)), max(map(max, members))
    heads = np.arange(high - low + 1)
    for nodes in members:
        heads[np.array(nodes) - low] = min(nodes) - low
    sources, targets = edges
    inner = (sources >= low) & (sources <= high) & (targets >= low) & (targets <= high)
    sources, targets = heads[sources[inner] - low], heads[targets[inner] - low]
    between = sources != targets
    allowed = np.ones(len(heads), np.bool_)
    straight = find_determined_nodes(allowed, sources[between], targets[between])
    return [
        group for group, nodes in zip(groups, members, strict=True) if straight[min(nodes) - low]
    ]
