"""The uses of values by the nodes of one graph, as arrays over the tree's order.

A group is a range of positions, so that what crosses its border is found in a slice of these
arrays, whatever the group holds. They are made in one pass over the nodes and kept.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import numpy.typing as npt

from netloupe.explorer.grouping import GroupTree
from netloupe.explorer.model import Node, Value, is_constant

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
        self.nodes: list[Node] = []
        #: values by number
        self.values: list[Value] = []
        self._numbers: dict[Value, int] = {}
        #: by position, a number for what the node does: domain, op_type and overload
        self.codes: Integers
        self._build(tree)

    def _build(self, tree: GroupTree) -> None:
        positions = tree.positions
        graph = tree.graph
        nodes = graph.nodes
        order = np.argsort(np.array(positions, np.int64), kind="stable").tolist()
        shown = [nodes[index] for index in order if positions[index] >= 0]
        self.nodes = shown
        numbers, values = self._numbers, self.values
        operators: dict[tuple[str, str, str], int] = {}
        codes: list[int] = []
        sources: list[int] = []
        targets: list[int] = []
        used: list[int] = []
        slots: list[int] = []
        for position, node in enumerate(shown):
            operator = (node.domain, node.op_type, node.overload)
            codes.append(operators.setdefault(operator, len(operators)))
            slot = -1
            for value in node.inputs:
                slot += 1
                if value is None:
                    continue
                producer = value.producer
                source = -1
                if producer is not None and producer.graph is graph:
                    source = positions[producer.index]
                if source < 0 and is_constant(value):
                    continue
                number = numbers.get(value)
                if number is None:
                    number = numbers[value] = len(values)
                    values.append(value)
                sources.append(source)
                targets.append(position)
                used.append(number)
                slots.append(slot)
            if node.captures or node.control_inputs:
                for slot, value in _other_uses(node):
                    sources.append(self._source(value, positions))
                    targets.append(position)
                    used.append(self._number(value))
                    slots.append(slot)
        self.count = len(shown)
        for value in dict.fromkeys(graph.outputs):
            source = self._source(value, positions)
            if source >= 0:  # outputs are used beyond all nodes
                sources.append(source)
                targets.append(self.count)
                used.append(self._number(value))
                slots.append(0)
        self.codes = np.array(codes, np.int64)
        self._arrange(*(np.array(part, np.int64) for part in (sources, targets, used, slots)))

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

    def _number(self, value: Value) -> int:
        number = self._numbers.get(value)
        if number is None:
            number = self._numbers[value] = len(self.values)
            self.values.append(value)
        return number

    def _source(self, value: Value, positions: list[int]) -> int:
        producer = value.producer
        if producer is None or producer.graph is not self.graph:
            return -1
        return positions[producer.index]

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
