"""What nodes and groups have of a column: sums, means, extremes, the words inside."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from netloupe.explorer.grouping import Group, GroupTree
from netloupe.explorer.model import Graph, Model, Node

from .column import Column, ModelColumn
from .inner_graph_numbers import aggregate, fill_from_inner_graphs
from .placed_column import Numbers, PlacedColumn, PlacedSet

#: a repetition stands out where it has so many times what the middle one has
STANDS_OUT = 1.25

#: so many users are looked at for the one that shows a node without a box
_MOST_PASSED = 100


class RepeatSpread(NamedTuple):
    """How the repetitions of a repeat differ.

    Parameters
    ----------
    known
        How many have a number.
    mean, median, least, most
        Of their numbers.
    worst
        The label of the repetition that has the most, or where higher is better the least.
    worst_number
        What that one has.
    """

    known: int
    mean: float
    median: float
    least: float
    most: float
    worst: str
    worst_number: float

    @property
    def ratio(self) -> float | None:
        """The number of the worst over the median; None where either is not above zero."""
        if self.median <= 0 or self.worst_number <= 0:
            return None
        return self.worst_number / self.median


@dataclass(frozen=True, slots=True)
class Measured:
    """What a node or a group has of a column.

    Parameters
    ----------
    value
        The number or word; None for none.
    known, count
        How many of the nodes inside have a value, and how many there are.
    share, share_of_parent
        Of sums: which part of the whole and of the group around it is; None where that is not
        known.
    shared
        Of sums: what sets of nodes have that are inside only in part, and which is not added.
    in_set
        How many nodes have the number together; 0 where it is that of one node or of a group.
    tone
        The colour that is given for it in place of the scale's.
    words
        Of words: how many nodes inside have each, the most frequent first.
    spread
        Of a repeat: how its repetitions differ.
    """

    value: float | str | None
    known: int = 1
    count: int = 1
    share: float | None = None
    share_of_parent: float | None = None
    shared: float = 0.0
    in_set: int = 0
    tone: str = ""
    words: tuple[tuple[str, int], ...] = ()
    spread: RepeatSpread | None = None


NOTHING_MEASURED = Measured(None, 0)


class _SetSpans(NamedTuple):
    """The sets of one occurrence, by the positions of their nodes in a tree."""

    lows: NDArray[np.int64]
    highs: NDArray[np.int64]
    numbers: Numbers


class Amounts:
    """Looks up, and adds up, what nodes and groups have.

    Parameters
    ----------
    model, column, placement
        What was placed where.
    """

    def __init__(self, model: Model, column: Column, placement: PlacedColumn) -> None:
        self._model = model
        self._column = column
        self._placement = placement
        self._orders: dict[GroupTree, NDArray[np.int64]] = {}
        self._spans: dict[tuple[str, GroupTree], _SetSpans] = {}
        #: by prefix and tree the measured nodes without a box, with the position that has theirs
        self._homes: dict[tuple[str, GroupTree], dict[int, int]] = {}
        #: by prefix and index of node the sets that it is in
        self._sets: dict[tuple[str, int], PlacedSet] = {
            (one.prefix, index): one for one in placement.sets for index in one.indices
        }
        if not isinstance(column, ModelColumn) or column.count is None:
            fill_from_inner_graphs(model, column, placement)
        #: of sums: what was placed in the main graph, and what everything has together
        self.placed = self._add_placed()
        self.whole = self._find_whole()

    def _add_placed(self) -> float:
        """Return the sum of all that is in the main graph, or of its inputs."""
        if self._column.has_words:
            return 0.0
        placement, main = self._placement, self._model.graph.path
        numbers = placement.numbers.get(main)
        total = 0.0 if numbers is None else float(np.nansum(numbers))
        given = (value for value in placement.values.values() if isinstance(value, float))
        sets = (one.number for one in placement.sets if one.prefix == main)
        return math.fsum([total, *given, *sets])

    def _find_whole(self) -> float | None:
        """Return what was measured for the whole, else the sum of all that there is."""
        column = self._column
        if column.aggregation != "sum" or column.has_words:
            return None
        if column.whole is not None:
            return column.whole
        return self.placed + self._placement.unplaced_sum

    def of_node(self, prefix: str, node: Node) -> Measured:
        """Return what a node has, in the occurrence of its graph whose paths begin with prefix."""
        column = self._column
        if isinstance(column, ModelColumn) and column.count is not None:
            return self._count([node], column)
        if column.has_words:
            words = self._find_words(prefix, node.graph)
            code = -1 if words is None else int(words[node.index])
            if code < 0:
                return NOTHING_MEASURED
            return Measured(self._placement.vocabulary[code], tone=self._colour(prefix, node))
        found = self._sets.get((prefix, node.index)) or self._sets.get(
            (node.graph.path, node.index)
        )
        numbers = self._find_numbers(prefix, node.graph)
        own = math.nan if numbers is None else float(numbers[node.index])
        if found is not None and own != own:
            return Measured(
                found.number, share=self._share(found.number), in_set=len(found.indices)
            )
        if own != own:
            return NOTHING_MEASURED
        return Measured(own, share=self._share(own), tone=self._colour(prefix, node))

    def _colour(self, prefix: str, node: Node) -> str:
        colours = self._placement.colours
        if not colours:
            return ""
        own = colours.get((prefix, node.index), "")
        return own or colours.get((node.graph.path, node.index), "")

    def of_group(self, prefix: str, group: Group, tree: GroupTree) -> Measured:
        """Return what the nodes of a group have together."""
        path = prefix + group.path[len(group.graph.path) :]
        stated = self._placement.groups.get(path, self._placement.groups.get(group.path))
        if stated is not None:
            return Measured(stated, share=self._share(stated))
        return self._of_span(prefix, group.graph, tree, group.low, group.high)

    def of_graph(self, prefix: str, graph: Graph) -> Measured:
        """Return what all nodes of a graph have together."""
        column = self._column
        if isinstance(column, ModelColumn) and column.count is not None:
            return self._count(graph.nodes, column)
        indices = np.arange(len(graph.nodes))
        return self._aggregate(prefix, graph, indices, self._placement.sets)

    def spread_of(self, prefix: str, repeat: Group, tree: GroupTree) -> RepeatSpread | None:
        """Return how the repetitions of a repeat differ; None for words, and for one alone."""
        if self._column.has_words:
            return None
        found: list[tuple[float, str]] = []
        for child in repeat.children:
            if isinstance(child, Node):
                value = self.of_node(prefix, child).value
                label = child.path.rpartition("/")[2]
            else:
                value, label = self.of_group(prefix, child, tree).value, child.label
            if isinstance(value, float):
                found.append((value, label))
        if len(found) < 2:
            return None
        numbers = np.array([value for value, _ in found])
        choose = min if self._column.better == "higher" else max
        worst, label = choose(found, key=lambda one: one[0])
        return RepeatSpread(
            len(found),
            float(numbers.mean()),
            float(np.median(numbers)),
            float(numbers.min()),
            float(numbers.max()),
            label,
            worst,
        )

    def _share(self, value: float | str) -> float | None:
        if isinstance(value, str) or not self.whole or self.whole < 0 or value < 0:
            return None
        return value / self.whole

    def _of_span(self, prefix: str, graph: Graph, tree: GroupTree, low: int, high: int) -> Measured:
        column = self._column
        if isinstance(column, ModelColumn) and column.count is not None:
            return self._count(tree.order[low:high], column)
        order = self._orders.get(tree)
        if order is None:
            order = np.fromiter((node.index for node in tree.order), np.int64, len(tree.order))
            self._orders[tree] = order
        indices = self._add_constants(prefix, graph, tree, order[low:high], (low, high))
        measured = self._aggregate(prefix, graph, indices, ())
        spans = self._find_spans(prefix, graph, tree)
        if spans is None or isinstance(measured.value, str):
            return measured
        inside = (spans.lows >= low) & (spans.highs < high)
        touched = (spans.highs >= low) & (spans.lows < high) & ~inside
        return self._add_sets(measured, spans.numbers[inside], spans.numbers[touched])

    def _add_constants(
        self,
        prefix: str,
        graph: Graph,
        tree: GroupTree,
        indices: NDArray[np.int64],
        span: tuple[int, int],
    ) -> NDArray[np.int64]:
        """Return nodes with the measured ones that have no box and give to these first.

        A Constant is a row of what takes it: its time counts there, as it does in the whole.
        """
        numbers = None if self._column.has_words else self._find_numbers(prefix, graph)
        if numbers is None:
            return indices
        key = (prefix, tree)
        homes = self._homes.get(key)
        if homes is None:
            homes = self._homes[key] = {}
            for index in np.flatnonzero(~np.isnan(numbers)).tolist():
                if tree.positions[index] < 0:
                    homes[index] = _find_home(graph.nodes[index], tree)
        low, high = span
        added = [index for index, home in homes.items() if low <= home < high]
        return np.concatenate([indices, np.array(added, np.int64)]) if added else indices

    def _add_sets(self, measured: Measured, inside: Numbers, touched: Numbers) -> Measured:
        how = self._column.aggregation
        shared = float(touched.sum()) if how == "sum" else 0.0
        numbers = inside if how == "sum" else np.concatenate([inside, touched])
        if not len(numbers):
            return replace(measured, shared=shared)
        own = [] if measured.value is None else [float(measured.value)]
        if how == "sum":
            value = math.fsum([*own, *numbers.tolist()])
        elif how == "mean":
            # a set counts as one of the numbers that there are
            total = (own[0] * measured.known if own else 0.0) + float(numbers.sum())
            value = total / (measured.known + len(numbers))
        else:
            value = (max if how == "max" else min)([*own, *numbers.tolist()])
        known = measured.known + len(numbers)
        return replace(measured, value=value, known=known, shared=shared, share=self._share(value))

    def _find_spans(self, prefix: str, graph: Graph, tree: GroupTree) -> _SetSpans | None:
        key = (prefix, tree)
        if not self._placement.sets:
            return None
        found = self._spans.get(key)
        if found is None:
            lows, highs, numbers = [], [], []
            for one in self._placement.sets:
                if one.prefix not in (prefix, graph.path):
                    continue
                if self._placement.graphs[one.prefix] is not graph:
                    continue
                places = [tree.positions[index] for index in one.indices]
                places = [place for place in places if place >= 0]
                if places:
                    lows.append(min(places))
                    highs.append(max(places))
                    numbers.append(one.number)
            found = self._spans[key] = _SetSpans(
                np.array(lows, np.int64), np.array(highs, np.int64), np.array(numbers, np.float64)
            )
        return found

    def _count(self, nodes: Sequence[Node], column: ModelColumn) -> Measured:
        assert column.count is not None  # noqa: S101 - asked by those who know
        number = column.count(nodes) if nodes else None
        if number is None:
            return Measured(None, 0, len(nodes))
        return Measured(float(number), len(nodes), len(nodes), self._share(float(number)))

    def _find_numbers(self, prefix: str, graph: Graph) -> Numbers | None:
        """Return the numbers of an occurrence: its own, and where it has none the graph's."""
        return _find(self._placement.numbers, prefix, graph)

    def _find_words(self, prefix: str, graph: Graph) -> NDArray[np.int32] | None:
        found = self._placement.words.get(prefix)
        return self._placement.words.get(graph.path) if found is None else found

    def _aggregate(
        self,
        prefix: str,
        graph: Graph,
        indices: NDArray[np.int64],
        sets: Sequence[PlacedSet],
    ) -> Measured:
        count = len(indices)
        if self._column.has_words:
            words = self._find_words(prefix, graph)
            if words is None:
                return Measured(None, 0, count)
            return self._choose_word(words[indices], count)
        numbers = self._find_numbers(prefix, graph)
        weights = _find(self._placement.weights, prefix, graph)
        given = np.full(count, np.nan) if numbers is None else numbers[indices]
        known = ~np.isnan(given)
        added = np.array([one.number for one in sets if one.prefix in (prefix, graph.path)])
        if not known.any() and not len(added):
            return Measured(None, 0, count)
        weighing = None if weights is None else weights[indices][known]
        value = aggregate(given[known], weighing, self._column.aggregation) if known.any() else None
        measured = Measured(value, int(known.sum()), count)
        if value is not None:
            measured = replace(measured, share=self._share(value))
        return self._add_sets(measured, added, np.empty(0)) if len(added) else measured

    def _choose_word(self, codes: NDArray[np.int32], count: int) -> Measured:
        known = codes[codes >= 0]
        if not len(known):
            return Measured(None, 0, count)
        vocabulary = self._placement.vocabulary
        counts = np.bincount(known, minlength=len(vocabulary))
        listed = sorted(
            ((vocabulary[code], int(counts[code])) for code in np.flatnonzero(counts).tolist()),
            key=lambda one: -one[1],
        )
        present = dict(listed)
        first = next((word for word in self._column.order if word in present), listed[0][0])
        return Measured(first, len(known), count, words=tuple(listed))


def _find(arrays: Mapping[str, Numbers], prefix: str, graph: Graph) -> Numbers | None:
    found = arrays.get(prefix)
    return arrays.get(graph.path) if found is None else found


def _find_home(node: Node, tree: GroupTree) -> int:
    """Return the first position in a tree that takes what a node gives; -1 for none."""
    seen = {node}
    pending = [node]
    found: list[int] = []
    while pending:
        for value in pending.pop().outputs:
            for user in value.users if value is not None else ():
                while user.graph is not tree.graph and user.graph.parent_node is not None:
                    user = user.graph.parent_node
                if user.graph is not tree.graph or user in seen:
                    continue
                seen.add(user)
                position = tree.position_of(user)
                if position >= 0:
                    found.append(position)
                elif len(seen) < _MOST_PASSED:
                    pending.append(user)
    return min(found, default=-1)
