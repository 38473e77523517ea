"""Which nodes have most, and how many of them have most of the whole."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

import numpy as np

from netloupe.explorer.model import Graph, is_constant_node

from .column import Column, ModelColumn
from .placed_column import PlacedColumn

#: the list of what has most goes up to this part of the whole
MOST_OF_IT = 0.8
_ROUNDING = 1e-9


class RankedNode(NamedTuple):
    """One of the nodes that have most.

    Parameters
    ----------
    path
        Of the node; of the first where several have the number together.
    value
        What it has.
    share, cumulative
        Of sums: which part of the whole it is, and it together with all before it; else None. The
        latter is None too where nodes share what they have, as weights that are tied.
    nodes
        How many nodes have it together.
    """

    path: str
    value: float
    share: float | None
    cumulative: float | None
    nodes: int = 1


def rank_nodes(
    graph: Graph, column: Column, placement: PlacedColumn, whole: float | None
) -> list[RankedNode]:
    """Return the nodes of a graph by what they have of a column of numbers, the worst first.

    Parameters
    ----------
    graph, column, placement
        The graph, and what of the column is where.
    whole
        What everything has together, of sums; None without.
    """
    entries = sorted(
        _list_entries(graph, column, placement),
        key=lambda entry: entry[0],
        reverse=column.better != "higher",
    )
    part_of = whole if column.aggregation == "sum" and whole is not None and whole > 0 else None
    is_shared = part_of is not None and _are_counted_twice(column, entries, part_of)
    ranked: list[RankedNode] = []
    total = 0.0
    for value, index, nodes in entries:
        total += value
        share = value / part_of if part_of else None
        cumulative = total / part_of if part_of and not is_shared else None
        ranked.append(RankedNode(graph.nodes[index].path, value, share, cumulative, nodes))
    return ranked


def _are_counted_twice(
    column: Column, entries: Sequence[tuple[float, int, int]], whole: float
) -> bool:
    """Return whether nodes have more than there is: what they share is counted at each."""
    is_counted = isinstance(column, ModelColumn) and column.count is not None
    return is_counted and sum(value for value, _, _ in entries) > whole * (1 + _ROUNDING)


def _list_entries(
    graph: Graph, column: Column, placement: PlacedColumn
) -> Iterator[tuple[float, int, int]]:
    """Yield number, index of node and count of nodes of all that a graph has."""
    if isinstance(column, ModelColumn) and column.count is not None:
        for node in graph.nodes:
            if is_constant_node(node):  # what it has counts at the nodes that take its result
                continue
            number = column.count([node])
            if number is not None:
                yield float(number), node.index, 1
        return
    numbers = placement.numbers.get(graph.path)
    if numbers is not None:
        for index in np.flatnonzero(~np.isnan(numbers)).tolist():
            yield float(numbers[index]), index, 1
    for one in placement.sets:
        if one.prefix == graph.path:
            yield one.number, one.indices[0], len(one.indices)


def choose_most(
    ranked: Sequence[RankedNode], part: float, count: Callable[[int], float | None] | None = None
) -> list[RankedNode]:
    """Return the first of some nodes that have a part of the whole together.

    Nothing where all have less, and where a number is negative: then more than the whole may be in
    some of them.

    Parameters
    ----------
    ranked
        The nodes, those that have most of all first or last.
    part
        The part of the whole.
    count
        Returns which part the first so many of the nodes, in descending order, have together,
        where they share some of it; None where their parts add up.
    """
    if any(one.value < 0 for one in (*ranked[:1], *ranked[-1:])):
        return []
    largest = sorted(ranked, key=lambda one: -one.value)
    if count is not None:
        few = bisect_left(range(1, len(largest) + 1), part, key=lambda k: count(k) or 0.0)
        return largest[: few + 1] if few < len(largest) else []
    total = 0.0
    for number, one in enumerate(largest, 1):
        total += one.share or 0.0
        if total >= part - 1e-12:
            return largest[:number]
    return []
