"""The children of a group in a row: which weights they share, and what gives to what."""

from __future__ import annotations

import heapq
from collections import Counter
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence

from netloupe.explorer.dataflow import is_input_independent
from netloupe.explorer.model import Node
from netloupe.explorer.roles import find_weight

from .group import Group
from .member_nodes import list_member_nodes
from .shared_tensors import Stored
from .shared_weights import MOST_NODES

Child = Group | Node

#: two groups of one call each have so many operators in common
LEAST_OF_CALLS = 0.6
#: so many nodes of preparation are looked at
_MOST_BEFORE = 2_000


class ChildRow:
    """The children of a group by their places: those that give before those that take.

    Parameters
    ----------
    tensors
        The stored matrices that several nodes use, by these.
    labels
        The labels of nodes that stand for a group of one, by index.
    givers
        What gives to each node.
    beforehand
        The nodes of preparation, which are in no group yet.
    """

    def __init__(
        self,
        children: Sequence[Child],
        tensors: Mapping[Node, Stored],
        labels: Mapping[int, str],
        givers: Mapping[Node, Sequence[Node]],
        beforehand: Container[Node],
    ) -> None:
        children = _sort(children, givers)
        self.children, self.labels = children, labels
        self._beforehand = beforehand
        self.nodes = [list_nodes_of(child) for child in children]
        self.owners = {node: place for place, own in enumerate(self.nodes) for node in own}
        self.users: dict[Stored, list[int]] = {}
        self.tensors: list[set[Stored]] = []
        for place, own in enumerate(self.nodes):
            held = {tensors[node] for node in own if node in tensors}
            self.tensors.append(held)
            for tensor in held:
                self.users.setdefault(tensor, []).append(place)
        self.names = [_name(child, labels) for child in children]
        self.operators = [Counter(node.op_type for node in own) for own in self.nodes]
        #: by giver and taker: what takes it there, and as which operand
        self._links: dict[tuple[int, int], set[tuple[str, int, Stored | None]]] = {}
        self.givers: list[set[int]] = [set() for _ in children]
        self.takers: list[set[int]] = [set() for _ in children]
        for place, own in enumerate(self.nodes):
            for node in own:
                for giver in givers.get(node, ()):
                    other = self.owners.get(giver, place)
                    if other != place:
                        self.givers[place].add(other)
                        self.takers[other].add(place)
                for number, value in enumerate(node.inputs):
                    producer = value.producer if value is not None else None
                    other = place if producer is None else self.owners.get(producer, place)
                    if other != place:
                        link = node.op_type, number, tensors.get(node)
                        self._links.setdefault((other, place), set()).add(link)

    def list_candidates(self) -> list[Stored]:
        """Return the matrices that several children use, those of most uses and elements first.

        Of those that the same children use one is enough.
        """
        by_users: dict[tuple[int, ...], Stored] = {}
        for tensor, places in self.users.items():
            if len(places) > 1:
                key = tuple(places)
                known = by_users.get(key)
                if known is None or known.size < tensor.size:
                    by_users[key] = tensor
        return sorted(by_users.values(), key=lambda one: (-len(self.users[one]), -one.size))

    def are_alike(self, place: int, other: int) -> bool:
        """Return whether two children do the same, with the same weights."""
        if self.names[place] != self.names[other]:
            return False
        ours, theirs = self.tensors[place], self.tensors[other]
        if ours and theirs:  # a first call may lack what is done with a state of zeros
            return ours <= theirs or theirs <= ours
        if ours or theirs:  # of a product of two constants neither is a weight
            return self.is_named(place) and self.is_named(other)
        one, two = self.operators[place], self.operators[other]
        return (one & two).total() >= LEAST_OF_CALLS * max(one.total(), two.total())

    def are_linked_alike(self, ours: tuple[int, int], theirs: tuple[int, int]) -> bool:
        """Return whether what a child takes from another is taken elsewhere as the same operand.

        Parameters
        ----------
        ours, theirs
            The place of what gives, and that of what takes.
        """
        one, two = self._links.get(ours, set()), self._links.get(theirs, set())
        return not one.isdisjoint(two) or not one or not two

    def has_weight(self, place: int) -> bool:
        """Return whether a child has a weight."""
        return any(find_weight(node) is not None for node in self.nodes[place])

    def is_named(self, place: int) -> bool:
        """Return whether an exporter says of which module a child is."""
        child = self.children[place]
        return isinstance(child, Group) or bool(self.labels.get(child.index))

    def describe(self, place: int) -> tuple[str, frozenset[Stored]]:
        """Return what alike children have in common."""
        return self.names[place], frozenset(self.tensors[place])

    def count_before(self, places: Iterable[int]) -> Counter[str]:
        """Return the operators of what is computed before all weights for some children."""
        pending = [node for place in places for node in self.nodes[place]]
        seen: set[Node] = set()
        while pending and len(seen) < _MOST_BEFORE:
            for giver in list_givers(pending.pop(), self._beforehand):
                if giver not in seen:
                    seen.add(giver)
                    pending.append(giver)
        return Counter(node.op_type for node in seen)

    def are_foldable(self, places: Iterable[int], inside: Container[int]) -> bool:
        """Return whether exporters could compute children if what they take inside were stored."""
        values = (value for place in places for node in self.nodes[place] for value in node.inputs)
        return all(
            value is None
            or is_input_independent(value)
            or (value.producer is not None and self.owners.get(value.producer, -1) in inside)
            for value in values
        )


def pair_children(
    row: ChildRow, pool: Sequence[int], others: Sequence[int], pairs: dict[int, int], *, way: str
) -> None:
    """Pair some children with those of a pool that are like them, from what is paired on.

    Parameters
    ----------
    others
        What is to be paired, the nearest first.
    pairs
        What is paired already; more is added.
    way
        ``behind`` or ``before`` what is paired. With ``around`` before it, where what the like of
        the two give to may have another node between.
    """
    near, back = (row.givers, row.takers) if way == "behind" else (row.takers, row.givers)
    left = {place: number for number, place in enumerate(pool)}
    unpaired = {*others} - pairs.keys()

    def is_like(place: int, candidate: int, known: Mapping[int, int]) -> bool:
        if not row.are_alike(candidate, place):
            return False
        linked = ((ours, theirs) for theirs, ours in known.items() if theirs in near[candidate])
        if way == "behind":
            return all(row.are_linked_alike((o, place), (t, candidate)) for o, t in linked)
        return all(row.are_linked_alike((place, o), (candidate, t)) for o, t in linked)

    for place in [place for place in others if place in unpaired]:
        known = {pairs[other]: other for other in near[place] if other in pairs}
        if not known or not near[place].isdisjoint(unpaired):
            continue
        ways = [back[theirs] & left.keys() for theirs in known]
        found = [one for one in set[int].intersection(*ways) if is_like(place, one, known)]
        if not found and way == "around":
            wide = [back[theirs].union(*(back[p] for p in back[theirs])) for theirs in known]
            further = set[int].intersection(*wide) & left.keys()
            found = [one for one in further if row.are_alike(one, place)]
        if not found and way == "before":  # the last step may need it for less
            some = (one for one in set[int].union(*ways) if near[one] <= known.keys())
            found = [one for one in some if is_like(place, one, known)]
        if found:
            pairs[place] = min(found, key=left.__getitem__)
            del left[pairs[place]]
            unpaired.discard(place)


def _sort(children: Sequence[Child], givers: Mapping[Node, Sequence[Node]]) -> list[Child]:
    """Return children with those that give before those that take, else in their order."""
    owners = {node: n for n, child in enumerate(children) for node in list_nodes_of(child)}
    takers: list[set[int]] = [set() for _ in children]
    for node, place in owners.items():
        for giver in givers.get(node, ()):
            if (other := owners.get(giver, place)) != place:
                takers[other].add(place)
    missing = Counter(place for taking in takers for place in taking)
    ready = [place for place in range(len(children)) if not missing[place]]
    order: list[int] = []
    while ready:
        order.append(place := heapq.heappop(ready))
        for taker in takers[place]:
            missing[taker] -= 1
            if not missing[taker]:
                heapq.heappush(ready, taker)
    return [children[place] for place in order] if len(order) == len(children) else [*children]


def list_givers(node: Node, known: Container[Node]) -> Iterator[Node]:
    """Yield those of known nodes that give more than a shape to a node."""
    if node.operator.has("reads_shape"):
        return
    for value in (*node.inputs, *node.captures):
        if value is not None and value.producer in known and value.producer is not None:
            yield value.producer


def _name(child: Child, labels: Mapping[int, str]) -> str:
    """Return what a child is called but for the number of the call, or its operator."""
    label = child.label if isinstance(child, Group) else labels.get(child.index, "")
    if not label:
        return child.op_type if isinstance(child, Node) else ""
    outer = label.split(" / ", 1)[0]
    base, mark, number = outer.rpartition("_")
    return base if mark and number.isdecimal() else outer


def list_nodes_of(child: Child) -> list[Node]:
    """Return the nodes of a child."""
    return list_member_nodes(child, MOST_NODES) if isinstance(child, Group) else [child]
