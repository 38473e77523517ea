"""What all repetitions of a block share, and an exporter put into the first of them.

torch's exporters leave out what was computed before: where all blocks apply SiLU to the same
conditioning (W. Peebles and S. Xie, Scalable Diffusion Models with Transformers, 2023, figure 3),
only the first keeps it, and gives the result to all others. Masks, positions and rotary tables that
each layer computes of the same numbers are such, too. The block that has them would be another one
than those that take them, and seem to feed them all; so they are put around the blocks.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from netloupe.explorer.dataflow import list_users
from netloupe.explorer.model import Graph, Node

from .kinds import outermost_family
from .scopes import Scope, Scopes

#: fewer blocks have nothing that all others take
_LEAST_BLOCKS = 3
#: scopes in so many others are looked at
_MOST_DEPTH = 12
#: a value that so many take is looked at no further
_MOST_USERS = 10_000


class Hoisted(NamedTuple):
    """Where a node belongs: in a scope, before the first node of a block in it."""

    around: Scope
    first: int


def hoist_shared(graph: Graph, scopes: Scopes, left_out: Container[int]) -> Mapping[int, Hoisted]:
    """Return what the first of numbered blocks computes for all others.

    That is a node whose result all other blocks take, which have no such node of their own; and
    with it what leads to it in its block.

    Parameters
    ----------
    scopes
        Those of the graph's nodes.
    left_out
        Indices of nodes that are in no scope in the end.

    Returns
    -------
    dict
        By the index of each such node where it belongs.
    """
    places = _Places(scopes.of_node, left_out)
    moved: dict[int, Hoisted] = {}
    for around, names in _list_blocks(places.scopes):
        inside = places.list_inside((*around, names[0]))
        known = _find_shared(graph, scopes.of_node, around, names, inside)
        if not known:
            continue
        others = places.list_inside((*around, names[1]))
        here, moving, there = (
            Counter(graph.nodes[index].op_type for index in those)
            for those in (inside, known, others)
        )
        if all(here[op_type] - count >= there[op_type] for op_type, count in moving.items()):
            moved.update((index, Hoisted(around, inside[0])) for index in known)
    return moved


class _Places:
    """The nodes of scopes, and of all that are in them."""

    def __init__(self, of_node: Sequence[Scope | None], left_out: Container[int]) -> None:
        self._indices: dict[Scope, list[int]] = {}
        for index, scope in enumerate(of_node):
            if scope and index not in left_out:
                self._indices.setdefault(scope, []).append(index)
        self._sorted = sorted(self._indices)

    @property
    def scopes(self) -> Iterable[Scope]:
        """The scopes that hold nodes, in the order of these."""
        return self._indices

    def list_inside(self, scope: Scope) -> list[int]:
        """Return the indices of the nodes in a scope and in those inside of it, in order."""
        found: list[int] = []
        for place in range(bisect_left(self._sorted, scope), len(self._sorted)):
            if self._sorted[place][: len(scope)] != scope:
                break
            found += self._indices[self._sorted[place]]
        return sorted(found)


def _list_blocks(scopes: Iterable[Scope]) -> Iterator[tuple[Scope, list[str]]]:
    """Yield the names of numbered blocks, in order, and the scope around them."""
    blocks: dict[tuple[Scope, str], dict[str, None]] = {}
    for scope in scopes:
        for depth, name in enumerate(scope[:_MOST_DEPTH]):
            family = outermost_family(name)
            if family:
                blocks.setdefault((scope[:depth], family), {})[name] = None
    for (around, _), names in blocks.items():
        if len(names) >= _LEAST_BLOCKS:
            yield around, [*names]


def _find_shared(
    graph: Graph,
    of_node: Sequence[Scope | None],
    around: Scope,
    names: Sequence[str],
    inside: Sequence[int],
) -> set[int]:
    """Return which nodes of the first block all others take from, and what leads to these."""
    block, others = {*inside}, {*names[1:]}
    free: set[int] = set()  # what takes nothing of other nodes of the block but such
    found: set[int] = set()
    for index in inside:
        node = graph.nodes[index]
        if not node.inputs or not {*_list_givers(node)} & block <= free:
            continue
        free.add(index)
        users = list_users(node)
        if not len(others) <= len(users) <= _MOST_USERS:
            continue
        depth = len(around)
        taking = {
            scope[depth]
            for user in users
            if user.graph is graph
            and (scope := of_node[graph.index_of(user)]) is not None
            and len(scope) > depth
            and scope[:depth] == around
        }
        if others <= taking:
            found.add(index)
    pending = [*found]
    while pending:
        givers = ({*_list_givers(graph.nodes[pending.pop()])} & block) - found
        found |= givers
        pending += givers
    return found


def _list_givers(node: Node) -> Iterator[int]:
    """Yield the indices of the nodes of its graph that a node takes from."""
    for value in (*node.inputs, *node.captures):
        producer = value.producer if value is not None else None
        if producer is not None and producer.graph is node.graph:
            yield node.graph.index_of(producer)
