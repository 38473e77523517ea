"""Pairs of nodes that do the same with the same and that nothing tells apart, in their order.

Such are copies of a node whose results nobody takes, or takes alike.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Hashable, Iterator, Mapping, Sequence
from itertools import islice

from netloupe.explorer.model import Graph, Node, Tensor, Value
from netloupe.explorer.model.statement import UnreadElements
from netloupe.explorer.model.stored_tensors import find_stored_tensor
from netloupe.explorer.readers.protobuf.statements import digest_elements

from .changes import says_same
from .digests import digest_weight

#: a copy may take what is itself a copy; of longer rows the rest is left
_MOST_ROUNDS = 16
#: of very many copies so many are looked at for each
_MOST_ALIKE = 64


def pair_left_over(
    left: Graph,
    right: Graph,
    known: dict[Node, Node],
    paired: set[Node],
    outer: Mapping[Value, int],
) -> Iterator[tuple[Node, Node]]:
    """Yield further pairs: nodes that say the same and take results of paired nodes.

    Parameters
    ----------
    left, right
        The graphs.
    known
        Nodes of the left graph with those of the right one that they are paired with. What is
        yielded is added.
    paired
        The nodes of both that are in a pair. What is yielded is added.
    outer
        Numbers of values of graphs around, equal for what is the same.
    """
    sides = [[node for node in graph.nodes if node not in paired] for graph in (left, right)]
    numbers = [
        {node: node.index for node in known},
        {other: node.index for node, other in known.items()},
    ]
    values = [
        _Places(graph, outer, len(left.inputs) == len(right.inputs)) for graph in (left, right)
    ]
    takers = _Takers(known)
    for _ in range(_MOST_ROUNDS):
        if not all(sides):
            return
        waiting: dict[Hashable, deque[Node]] = defaultdict(deque)
        for node in sides[1]:
            waiting[values[1].key(node, numbers[1])].append(node)
        added = 0
        for node in sides[0]:
            key = values[0].key(node, numbers[0])
            alike = waiting.get(key) if key is not None else None
            place = takers.find_place(node, alike) if alike else None
            if alike and place is not None:
                copy = alike[place]
                del alike[place]
                known[node] = copy
                takers.back[copy] = node
                paired |= {node, copy}
                numbers[0][node] = numbers[1][copy] = left.index_of(node)
                added += 1
                yield node, copy
        if not added:
            return
        sides = [[node for node in side if node not in paired] for side in sides]


class _Takers:
    """Tells whether the same takes what two nodes give, as far as that is in pairs.

    Parameters
    ----------
    known
        The pairs, also those that are added later.
    """

    def __init__(self, known: dict[Node, Node]) -> None:
        self._known = known
        self.back = {other: node for node, other in known.items()}

    def find_place(self, node: Node, alike: Sequence[Node]) -> int | None:
        """Return the place of the first of a few nodes that stands for another; None for none."""
        for place, other in enumerate(islice(alike, _MOST_ALIKE)):
            if self._are_same(node, other) and says_same(node, other):
                return place
        return None

    def _are_same(self, node: Node, other: Node) -> bool:
        takers, others = _list_takers(node), _list_takers(other)
        partners = {self._known[taker] for taker in takers if taker in self._known}
        if partners != {taker for taker in others if taker in self.back}:
            return False
        rest = (
            sorted((taker.domain, taker.op_type) for taker in side if taker not in pairs)
            for side, pairs in ((takers, self._known), (others, self.back))
        )
        return next(rest) == next(rest)


def _list_takers(node: Node) -> set[Node]:
    return {taker for value in node.outputs if value is not None for taker in value.users}


class _Places:
    """Tells what nodes of a graph take, equal for what is the same in another graph."""

    def __init__(self, graph: Graph, outer: Mapping[Value, int], are_by_place: bool) -> None:
        self._graph, self._outer = graph, outer
        self._inputs = {
            value: place if are_by_place else value.name for place, value in enumerate(graph.inputs)
        }

    def key(self, node: Node, numbers: Mapping[Node, int]) -> Hashable | None:
        """Return what a node does and takes; None where any of it is not known."""
        taken = [self._tell(value, numbers) for value in node.inputs]
        if None in taken or node.subgraphs or not taken:
            return None
        return node.domain, node.op_type, node.overload, len(node.outputs), *taken

    def _tell(self, value: Value | None, numbers: Mapping[Node, int]) -> Hashable | None:
        if value is None:
            return ("nothing",)
        tensor, producer = find_stored_tensor(value), value.producer
        if tensor is not None:
            return "stored", tensor.dtype.name, tensor.dims, _digest(tensor)
        if producer is not None and producer.graph is self._graph:
            number = numbers.get(producer)
            return None if number is None else (number, value.output_index)
        if value in self._inputs:
            return "input", self._inputs[value]
        number = self._outer.get(value)
        return None if number is None else ("outer", number)


def _digest(tensor: Tensor) -> object:
    """Return what is equal for equal elements, mostly of these alone; None where none is read."""
    digest = digest_weight(tensor)
    if digest is None:  # of a few numbers, and of equal ones, a sample tells nothing
        found = digest_elements(tensor)
        return None if isinstance(found, UnreadElements) else found
    return digest
