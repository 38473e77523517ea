"""What all repetitions of a block share, and an exporter put into the first of them.

torch's exporters leave out what was computed before: where all blocks apply SiLU to the same
conditioning (W. Peebles and S. Xie, Scalable Diffusion Models with Transformers, 2023, figure 3),
only the first keeps it, and gives the result to all others. Masks, positions and rotary tables that
each layer computes of the same numbers are such, too. The block that has them would be another one
than those that take them, and seem to feed them all; so they are put around the blocks.

The levels of an encoder-decoder are of several names, and not all of them take the conditioning.
There what has no weights is put around them where a few blocks take it, one of the same name; and
so is the activation with which branches side by side begin, and the norm with which modules of any
names do that are alike but for it.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from netloupe.explorer.dataflow import list_users
from netloupe.explorer.model import Graph, Node, find_nodes_with
from netloupe.explorer.roles import find_weight

from .kinds import outermost_family
from .scopes import Scope, Scopes

#: fewer blocks have nothing that all others take
_LEAST_BLOCKS = 3
#: of more blocks the first alone is looked at
_MOST_BLOCKS = 256
#: scopes in so many others are looked at
_MOST_DEPTH = 12
#: a value that so many take is looked at no further
_MOST_USERS = 10_000


class Hoisted(NamedTuple):
    """Where a node belongs: before all of a block, in the scope around this."""

    block: Scope


def hoist_shared(graph: Graph, scopes: Scopes, left_out: Container[int]) -> Mapping[int, Hoisted]:
    """Return what the first of numbered blocks computes for all others.

    That is a node whose result all other blocks take, which have no such node of their own, or
    which has no weights and serves blocks of other names too; and with it what leads to it in its
    block.

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
        family = frozenset(names)
        if len(names) <= _MOST_BLOCKS:
            moved.update(_hoist_activations(graph, scopes, places, around, names))
        for alike in _list_alike(names) if len(names) <= _MOST_BLOCKS else ():
            moved.update(_hoist_norms(graph, scopes, places, around, alike))
        if len(names) < _LEAST_BLOCKS:
            continue
        for own in names if len(names) <= _MOST_BLOCKS else names[:1]:
            block = (*around, own)
            inside = places.list_inside(block)
            shared = _Shared(graph, scopes.of_node, around, family, own, inside)
            known, like = (shared.find(), names[1]) if own == names[0] else (set[int](), "")
            if not known:
                known, like = shared.find_without_weights()
            if not known:
                continue
            others = places.list_inside((*around, like))
            here, moving, there = (
                Counter(graph.nodes[index].op_type for index in those)
                for those in (inside, known, others)
            )
            if all(here[op_type] - count >= there[op_type] for op_type, count in moving.items()):
                moved.update((index, Hoisted(block)) for index in known)
    for around, names in _list_taking_one_norm(graph, scopes, left_out):
        moved.update(_hoist_norms(graph, scopes, places, around, names))
    return moved


def _list_taking_one_norm(
    graph: Graph, scopes: Scopes, left_out: Container[int]
) -> Iterator[tuple[Scope, list[str]]]:
    """Yield scopes in which one module has a norm that others take, too, that first.

    Two classifiers side by side each begin with a norm of the same features (B. Graham and others,
    LeViT, 2021, section 4.2).
    """
    for index in find_nodes_with(graph, "normalizes").tolist():
        node, scope = graph.nodes[index], scopes.of_node[index]
        if not scope or index in left_out or node.operator.weight_kind != "normalization":
            continue
        users = list_users(node)
        if not 1 < len(users) <= _MOST_BLOCKS:
            continue
        taking = [
            scopes.of_node[graph.index_of(user)] or () for user in users if user.graph is graph
        ]
        for depth, own in enumerate(scope[:_MOST_DEPTH]):
            inside = [each for each in taking if each[:depth] == scope[:depth] != each]
            names = sorted({each[depth] for each in inside})
            is_shared = len(names) > 1
            if own not in names or (is_shared and outermost_family(own)):
                break  # of numbered blocks all have to be alike
            if is_shared:
                yield scope[:depth], [own, *(name for name in names if name != own)]
                break


def _hoist_activations(
    graph: Graph, scopes: Scopes, places: _Places, around: Scope, names: Sequence[str]
) -> Iterator[tuple[int, Hoisted]]:
    """Yield activations with which branches begin, and which others of the same nodes lack.

    An exporter merges equal ones of one value, so a branch seems to feed those beside it.
    """
    for own in names:
        block = (*around, own)
        inside = places.list_inside(block)
        shared = _Shared(graph, scopes.of_node, around, frozenset(names), own, inside)
        for index, others in shared.list_activations():
            here = Counter(graph.nodes[each].op_type for each in inside if each != index)
            there = [places.list_inside((*around, other)) for other in others]
            if any(Counter(graph.nodes[each].op_type for each in one) == here for one in there):
                yield index, Hoisted(block)


def _list_alike(names: Sequence[str]) -> Iterator[list[str]]:
    """Yield blocks that have one place in what is numbered: ``layers.0.1`` and ``layers.1.1``.

    Those of one number each are all of one.
    """
    alike: dict[str, list[str]] = {}
    for name in names:
        before, _, last = name.rpartition(".")
        alike.setdefault(last if before[-1:].isdigit() else "", []).append(name)
    yield from (found for found in alike.values() if len(found) > 1)


def _hoist_norms(
    graph: Graph, scopes: Scopes, places: _Places, around: Scope, names: Sequence[str]
) -> Iterator[tuple[int, Hoisted]]:
    """Yield norms that the first of some blocks computes for all others, which lack just these.

    Layers that attend to the same features each have a norm of these (J. Alayrac and others,
    Flamingo, 2022, figure 5); before training their weights are equal, and one is left.
    """
    own, *others = names
    block = (*around, own)
    inside = places.list_inside(block)
    shared = _Shared(graph, scopes.of_node, around, frozenset(names), own, inside).find()
    nodes = [graph.nodes[index] for index in shared]
    if not nodes or any(node.operator.weight_kind != "normalization" for node in nodes):
        return
    here = Counter(graph.nodes[index].op_type for index in inside if index not in shared)
    for other in others:
        there = places.list_inside((*around, other))
        if here != Counter(graph.nodes[index].op_type for index in there):
            return
    yield from ((index, Hoisted(block)) for index in shared)


class _Places:
    """The nodes of scopes, and of all that are in them."""

    def __init__(self, of_node: Sequence[Scope | None], left_out: Container[int]) -> None:
        self._indices: dict[Scope, list[int]] = {}
        last: Scope | None = None
        own: list[int] = []
        for index, scope in enumerate(of_node):
            if scope and index not in left_out:
                if scope is not last:  # as nodes of one scope mostly follow one another
                    last, own = scope, self._indices.setdefault(scope, [])
                own.append(index)
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
    seen: set[Scope] = set()
    for scope in scopes:
        new: list[Scope] = []
        outer = scope[:_MOST_DEPTH]
        while outer and outer not in seen:
            seen.add(outer)
            new.append(outer)
            outer = outer[:-1]
        for one in reversed(new):
            family = outermost_family(one[-1])
            if family:
                blocks.setdefault((one[:-1], family), {})[one[-1]] = None
    for (around, _), names in blocks.items():
        if len(names) > 1:
            yield around, [*names]


class _Shared:
    """Finds which nodes of one of some blocks serve other blocks.

    Parameters
    ----------
    of_node
        The scopes of the nodes.
    around, family
        The scope in which the blocks are, and their names.
    own
        That of one of them.
    inside
        Indices of its nodes.
    """

    def __init__(
        self,
        graph: Graph,
        of_node: Sequence[Scope | None],
        around: Scope,
        family: frozenset[str],
        own: str,
        inside: Sequence[int],
    ) -> None:
        self._graph, self._of_node = graph, of_node
        self._around, self._family, self._own = around, family, own
        self._block = {*inside}
        #: by each node that may serve others the names beside it that take its result
        self._taking: dict[int, frozenset[str]] = {}
        free: set[int] = set()  # what takes nothing of other nodes of the block but such
        for index in inside:
            node = graph.nodes[index]
            if node.inputs and {*_list_givers(node)} & self._block <= free:
                free.add(index)
                self._taking[index] = self._list_taking(node)
        self._free = free

    def _list_taking(self, node: Node, least: int = _LEAST_BLOCKS - 1) -> frozenset[str]:
        users = list_users(node)
        if not least <= len(users) <= _MOST_USERS:
            return frozenset()
        depth = len(self._around)
        return frozenset(
            scope[depth]
            for user in users
            if user.graph is self._graph
            and (scope := self._of_node[self._graph.index_of(user)]) is not None
            and len(scope) > depth
            and scope[:depth] == self._around
        )

    def find(self) -> set[int]:
        """Return which nodes all other blocks take from, and what leads to these."""
        others = len(self._family) - 1
        return self._trace(
            {
                index
                for index, names in self._taking.items()
                if len(names) >= others and len((names & self._family) - {self._own}) == others
            }
        )

    def find_without_weights(self) -> tuple[set[int], str]:
        """Return nodes without weights that other blocks take from, and one of these.

        That one has the name of the block but for its number.
        """
        for index, names in self._taking.items():
            others = names - {self._own}
            like = min(others & self._family, default="")
            is_of_many = len(others) >= _LEAST_BLOCKS and not others <= self._family
            if not like or not (is_of_many or len(others) >= _LEAST_BLOCKS - 1):
                continue
            found = self._trace({index})
            if any(_has_weights(self._graph.nodes[each]) for each in found):
                continue
            if is_of_many or others.isdisjoint(self._list_following(found)):
                return found, like
        return set(), ""

    def list_activations(self) -> Iterator[tuple[int, frozenset[str]]]:
        """Yield the activations of what comes in that serve others, and the names of these.

        Those take nothing else of the block, which would be a part of them.
        """
        for index in self._free:
            node = self._graph.nodes[index]
            if node.operator.has("activates") and self._block.isdisjoint(_list_givers(node)):
                others = self._list_taking(node) - {self._own}
                if others and others.isdisjoint(self._list_following({index})):
                    yield index, others

    def _list_following(self, found: Container[int]) -> set[str]:
        """Return the names beside the block that take anything else of it."""
        return {
            name
            for index in self._block
            if index not in found
            for name in self._list_taking(self._graph.nodes[index], least=1)
        }

    def _trace(self, found: set[int]) -> set[int]:
        pending = [*found]
        while pending:
            givers = ({*_list_givers(self._graph.nodes[pending.pop()])} & self._block) - found
            found |= givers
            pending += givers
        return found


def _has_weights(node: Node) -> bool:
    return node.operator.has("convolves", "multiplies") or find_weight(node) is not None


def _list_givers(node: Node) -> Iterator[int]:
    """Yield the indices of the nodes of its graph that a node takes from."""
    for value in (*node.inputs, *node.captures):
        producer = value.producer if value is not None else None
        if producer is not None and producer.graph is node.graph:
            yield node.graph.index_of(producer)
