"""The uses of values by the nodes of one graph, as arrays over the tree's order.

A group is a range of positions, so that what crosses its border is found in a slice of these
arrays, whatever the group holds. They are made in one pass over the nodes and kept.
"""

from __future__ import annotations

from collections.abc import Iterable
from operator import itemgetter

import numpy as np
import numpy.typing as npt

from netloupe.explorer.grouping import GroupTree
from netloupe.explorer.model import Node, Value, Wiring, is_constant
from netloupe.explorer.progress import step

#: slots of values that a node's subgraphs use, and of those that it only waits for, begin here
CAPTURED = 1_000_000
CONTROL = 2_000_000

Integers = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]


class EdgeTable:
    """Every use of a value that is no constant by a node that is shown.

    Parameters
    ----------
    tree
        The groups of the graph; gives the nodes their positions.
    """

    def __init__(self, tree: GroupTree) -> None:
        self.graph = tree.graph
        #: nodes by position in the tree's order
        self.nodes: list[Node] = tree.order
        self.count = len(self.nodes)
        positions = np.array(tree.positions, np.int64)
        indices = np.argsort(positions, kind="stable")
        indices = indices[len(indices) - self.count :]  # the others are at -1
        step("reading edges")
        wiring = self.graph.wiring
        #: by position, a number for what the node does: domain, op_type and overload
        self.codes: Integers = wiring.operators[indices]
        #: values by number
        self.values = list(wiring.values)

        starts, counts = wiring.bounds[indices], np.diff(wiring.bounds)[indices]
        targets = np.repeat(np.arange(self.count), counts)
        slots = np.arange(len(targets)) - np.repeat(np.cumsum(counts) - counts, counts)
        used = wiring.used[np.repeat(starts, counts) + slots]
        origins = np.append(positions, -1)[np.append(wiring.producers, -1)]
        # the last stands for an operand that is left out; constants are no boxes
        is_nothing = origins < 0
        for number in np.flatnonzero(is_nothing[:-1]).tolist():
            is_nothing[number] = is_constant(self.values[number])
        kept = np.flatnonzero(~is_nothing[used])
        uses = [part[kept] for part in (origins[used], targets, used, slots)]
        others = self._find_other_uses(wiring, tree.positions)
        if others:
            more = np.array(others, np.int64).T
            uses = [np.append(part, added) for part, added in zip(uses, more, strict=True)]
            order = np.argsort(uses[1], kind="stable")
            uses = [part[order] for part in uses]
        self._arrange(*uses)

    def _find_other_uses(
        self, wiring: Wiring, positions: list[int]
    ) -> list[tuple[int, int, int, int]]:
        """Return the uses that are no operands: source, target, number of the value, slot."""
        found = [
            (positions[index], slot, value)
            for index in wiring.with_others
            if positions[index] >= 0
            for slot, value in _other_uses(self.graph.nodes[index])
        ]
        # outputs are used beyond all nodes
        outputs = dict.fromkeys(self.graph.outputs)
        found += [(self.count, 0, v) for v in outputs if self._source(v, positions) >= 0]
        numbers = self._number([value for _, _, value in found], wiring)
        return [
            (self._source(value, positions), target, numbers[value], slot)
            for target, slot, value in sorted(found, key=itemgetter(0))
        ]

    def _number(self, values: list[Value], wiring: Wiring) -> dict[Value, int]:
        """Return the numbers of some values; those that no node uses or gives get new ones."""
        graph, givers = self.graph, [value.producer for value in values]
        # what nodes of other graphs give is given by none of this one
        own = {graph.index_of(node) for node in givers if node is not None and node.graph is graph}
        known = np.flatnonzero(np.isin(wiring.producers, [*own, -1])).tolist()
        numbers = {self.values[number]: number for number in known}
        for value in values:
            if numbers.setdefault(value, len(self.values)) == len(self.values):
                self.values.append(value)
        return numbers

    def _arrange(
        self, sources: Integers, targets: Integers, used: Integers, slots: Integers
    ) -> None:
        """Keep the uses in the order of users, and an index in the order of producers."""
        #: position of the node that gives the value; -1 for inputs and values of other graphs
        self.sources = sources
        #: position of the node that uses it; one beyond the last for outputs of the graph
        self.targets = targets
        #: number of the value
        self.used = used
        #: which operand of the user it is
        self.slots = slots
        #: whether both ends are drawn (see :meth:`hide`)
        self.visible: Flags = np.ones(len(targets), np.bool_)
        self.by_source = np.argsort(sources, kind="stable")
        bounds = np.arange(self.count + 2)
        self._target_bounds = np.searchsorted(targets, bounds)
        self._source_bounds = np.searchsorted(sources[self.by_source], bounds)

    def _source(self, value: Value, positions: list[int]) -> int:
        producer = value.producer
        if producer is None or producer.graph is not self.graph:
            return -1
        return positions[self.graph.index_of(producer)]

    def hide(self, hidden: Flags) -> None:
        """Leave out the uses whose producer or user is at a position that is marked."""
        padded = np.concatenate([hidden, [False, False]])  # beyond the last, and -1
        self.visible = ~(padded[self.sources] | padded[self.targets])

    def entering(self, low: int, high: int) -> Integers:
        """Return the uses within a range of positions of values from outside, in user order."""
        start, end = self._target_bounds[low], self._target_bounds[high]
        sources = self.sources[start:end]
        crossing = ((sources < low) | (sources >= high)) & self.visible[start:end]
        uses: Integers = np.flatnonzero(crossing) + start
        return uses

    def leaving(self, low: int, high: int) -> Integers:
        """Return the uses outside a range of positions of values from within it."""
        start, end = self._source_bounds[low], self._source_bounds[high]
        uses: Integers = self.by_source[start:end]
        targets = self.targets[uses]
        found: Integers = uses[((targets < low) | (targets >= high)) & self.visible[uses]]
        return found

    def distinct_values(self, uses: Integers) -> tuple[Value, ...]:
        """Return the values of some uses, each once, in the order of the uses."""
        numbers = self.used[uses]
        if len(numbers) > 64:
            _, first = np.unique(numbers, return_index=True)
            numbers = numbers[np.sort(first)]
        return tuple(self.values[number] for number in dict.fromkeys(numbers.tolist()))


def _other_uses(node: Node) -> Iterable[tuple[int, Value]]:
    """Yield slot and value of what reaches a node by other ways than its operands."""
    for index, value in enumerate(node.captures):
        if not is_constant(value):
            yield CAPTURED + index, value
    for index, value in enumerate(node.control_inputs):
        yield CONTROL + index, value
