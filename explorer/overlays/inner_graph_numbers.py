"""Numbers of nodes that run graphs, a loop or a call, out of what is said of the nodes inside."""

from __future__ import annotations

import heapq

import numpy as np
from numpy.typing import NDArray

from netloupe.explorer.model import Function, Graph, Model, Node
from netloupe.explorer.model.paths import CALL

from .column import Aggregation, Column
from .placed_column import Numbers, PlacedColumn


def aggregate(numbers: Numbers, weights: Numbers | None, how: Aggregation) -> float:
    """Return what some numbers have together; there is at least one.

    Parameters
    ----------
    numbers
        Float64, of any shape (n,), finite.
    weights
        Of a mean: how much each counts; those that are NaN count nothing. Where all of them are
        zero or missing, all numbers count alike.
    how
        As :class:`Column` says.
    """
    if how == "sum":
        return float(numbers.sum())
    if how == "max":
        return float(numbers.max())
    if how == "min":
        return float(numbers.min())
    if weights is not None:
        weights = np.nan_to_num(weights)
        total = float(weights.sum())
        if total > 0:
            return float((numbers * weights).sum() / total)
    return float(numbers.mean())


def fill_from_inner_graphs(model: Model, column: Column, placement: PlacedColumn) -> None:
    """Give nodes with graphs inside, and calls, what these have, where nothing is said of them.

    What is said of the node itself stays: the time of a Loop has that of its body in it. So no
    number is added twice.
    """
    arrays = placement.words if column.has_words else placement.numbers
    inner = [prefix for prefix in arrays if prefix != model.graph.path]
    if not inner:
        return
    ranks = _rank_graphs(model)
    amounts = _PlainAmounts(column, placement)

    def order(prefix: str) -> tuple[int, bool, int, str]:
        graph = placement.graphs[prefix]
        # what is said of one call comes before what is said of all
        return ranks.get(graph, 0), prefix == graph.path, -len(prefix), prefix

    waiting = [*map(order, inner)]
    heapq.heapify(waiting)
    seen = {*inner}
    while waiting:
        prefix = heapq.heappop(waiting)[-1]
        for around, holder in _list_holders(model, prefix, placement.graphs[prefix]):
            amounts.fill(prefix, around, holder)
            if around in arrays and around not in seen:
                seen.add(around)
                heapq.heappush(waiting, order(around))


def _rank_graphs(model: Model) -> dict[Graph, int]:
    """Return an order of the graphs in which each comes before those whose nodes run it."""
    runs: dict[Graph, list[Graph]] = {graph: [] for graph in model.graphs}
    inside: dict[Graph, int] = dict.fromkeys(runs, 0)
    for graph in runs:
        for _, holder in _list_holders(model, graph.path, graph):
            runs[graph].append(holder.graph)
            inside[holder.graph] = inside.get(holder.graph, 0) + 1
    ready = [graph for graph, count in inside.items() if not count]
    ranks: dict[Graph, int] = {}
    for graph in ready:  # grows; functions that call themselves never get into it
        ranks[graph] = len(ranks)
        for outer in runs.get(graph, ()):
            inside[outer] -= 1
            if not inside[outer]:
                ready.append(outer)
    return ranks


def _list_holders(model: Model, prefix: str, graph: Graph) -> list[tuple[str, Node]]:
    """Return the nodes that run a graph, with the prefixes of the graphs that these are in."""
    if graph.parent_node is not None:
        holder = graph.parent_node
        end = graph.path[len(holder.graph.path) :]
        around = prefix.removesuffix(end) if prefix.endswith(end) else holder.graph.path
        return [(around, holder)]
    calls = graph.calls if isinstance(graph, Function) else ()
    if prefix == graph.path:
        return [(node.graph.path, node) for node in calls]
    path = prefix.removesuffix(CALL)
    for node in calls:
        end = node.path[len(node.graph.path) :]
        if path.endswith(end):
            return [(path.removesuffix(end), node)]
    return []


class _PlainAmounts:
    """Adds up a whole graph into one node of another, with what was added up before."""

    def __init__(self, column: Column, placement: PlacedColumn) -> None:
        self._column, self._placement = column, placement

    def fill(self, prefix: str, around: str, holder: Node) -> None:
        """Give a node what a graph that it runs has, where the column says nothing of the node."""
        placement = self._placement
        if self._column.has_words:
            codes = placement.words[prefix]
            known = codes[codes >= 0]
            if not len(known):
                return
            words = placement.words.get(around)
            if words is None:
                words = np.full(len(holder.graph.nodes), -1, np.int32)
                placement.words[around] = words
                placement.graphs[around] = holder.graph
            if words[holder.index] < 0:
                words[holder.index] = self._choose(known)
            return
        numbers = placement.numbers[prefix]
        known = ~np.isnan(numbers)
        sets = [one.number for one in placement.sets if one.prefix == prefix]
        given = np.concatenate([numbers[known], np.array(sets, np.float64)])
        if not len(given):
            return
        outer = placement.numbers.get(around)
        if outer is None:
            outer = np.full(len(holder.graph.nodes), np.nan)
            placement.numbers[around] = outer
            placement.graphs[around] = holder.graph
        is_in_set = any(
            one.prefix == around and holder.index in one.indices for one in placement.sets
        )
        if outer[holder.index] != outer[holder.index] and not is_in_set:
            weights = placement.weights.get(prefix)
            weighing = None if weights is None or sets else weights[known]
            outer[holder.index] = aggregate(given, weighing, self._column.aggregation)

    def _choose(self, known: NDArray[np.int32]) -> int:
        vocabulary = self._placement.vocabulary
        present = {vocabulary[code]: code for code in np.unique(known).tolist()}
        for word in self._column.order:
            if word in present:
                return int(present[word])
        return int(np.bincount(known).argmax())
