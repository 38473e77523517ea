"""Nodes as numbers: what each one is and which of the others it takes from.

What the search for repeated blocks works on. Names take no part in it.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from netloupe.explorer.model import Node, Value
from netloupe.explorer.progress import step

from .kind_keys import KindKeys
from .node_columns import (
    ABSENT,
    COMPUTED,
    CONSTANT,
    FindRow,
    is_arranging,
    is_used_outside,
    is_variadic,
    list_subgraph_kinds,
    read_columns,
    tell_operand,
)
from .search_budget import SearchBudget

Integers = np.ndarray[Any, np.dtype[np.int64]]
Flags = np.ndarray[Any, np.dtype[np.bool_]]
Kinds = dict[tuple[object, ...], int]

#: how many operands of a node are told apart: the first ones, and the last
SLOTS = 4

_NO_SLOTS = (-1,) * SLOTS

#: as so many nodes a recurrent layer counts, which would be many if it was written out
BULK = 12

#: how many nodes are looked at in one step
_STEP = 10_000
#: more nodes are read in columns, which takes longer for few
_MANY = 2_000


class NodeTable:
    """The wiring of some nodes of one graph as arrays.

    Parameters
    ----------
    nodes
        Nodes of one graph, in the order in which repeats are looked for.
    known
        The kinds so far, where those of several tables shall be the same numbers.

    Attributes
    ----------
    kinds
        shape (n,): equal for nodes of equal operator, attributes and number of results, whose
        operands are computed, constant or absent alike.
    producers
        shape (n, SLOTS): the row of the node that gives an operand; -1 where none of these
        nodes does. The last column is the last operand.
    sources, targets
        shape (edges,): rows; sorted by source. Operands, and values that subgraphs capture.
    starts
        shape (n + 1,): the edges of source i are ``starts[i]`` to ``starts[i + 1]``.
    recurrent
        shape (n,): whether it is a recurrent layer.
    used_outside
        shape (n,): whether a result is an output of the graph or used by other nodes (to ask
        for its shape is no use).
    """

    def __init__(self, nodes: Sequence[Node], known: Kinds | None = None) -> None:
        known = {} if known is None else known
        self.nodes = nodes
        many = len(nodes) >= _MANY
        found = _read_at_once(nodes, known) if many else _read_each(nodes, known)
        self.kinds: Integers = found.kinds
        self.producers: Integers = found.producers
        order = np.argsort(found.sources, kind="stable")
        self.sources: Integers = found.sources[order]
        self.targets: Integers = found.targets[order]
        self.starts: Integers = np.searchsorted(self.sources, np.arange(len(nodes) + 1))
        self.recurrent: Flags = found.recurrent
        self.used_outside: Flags = found.used_outside
        #: shape (n + 1,): scratch space, -1 everywhere between uses; the last is for row -1
        self.places: Integers = np.full(len(nodes) + 1, -1, dtype=np.int64)


class _Wires(NamedTuple):
    """What a table has of its nodes; edges in no order."""

    kinds: Integers
    producers: Integers
    sources: Integers
    targets: Integers
    recurrent: Flags
    used_outside: Flags


def _read_at_once(nodes: Sequence[Node], known: Kinds) -> _Wires:
    """Read very many nodes in columns."""
    step()
    columns, keys = read_columns(nodes), KindKeys()
    kinds = np.array(
        [
            known.setdefault(_write_key(nodes[row], columns.form(row), keys), len(known))
            for row in columns.firsts.tolist()
        ],
        np.int64,
    )
    recurrent = np.array(
        [nodes[row].operator.has("recurrent") for row in columns.firsts.tolist()], bool
    )
    graph, find_row = nodes[0].graph, columns.find_row
    others = [graph.nodes[place] for place in graph.wiring.with_others]
    more = [
        pair
        for node in others
        if (row := find_row(node)) >= 0
        for pair in _list_captures(node, row, find_row)
    ]
    edges = np.concatenate([columns.edges, np.array(more, np.int64).reshape(-1, 2)])
    return _Wires(
        kinds[columns.alike],
        columns.take_slots(SLOTS),
        edges[:, 0],
        edges[:, 1],
        recurrent[columns.alike],
        columns.used_outside,
    )


def _read_each(nodes: Sequence[Node], known: Kinds) -> _Wires:
    """Read nodes one by one."""
    count, keys = len(nodes), KindKeys()
    find_row = _number_rows(nodes)
    # arrays, for lists would hold an object for each number
    kinds, slots, sources, targets = (array("q") for _ in range(4))
    outside, recurrent = np.zeros(count, np.bool_), np.zeros(count, np.bool_)
    for row, node in enumerate(nodes):
        if not row % _STEP:
            step()
        form = ""
        taken: list[int] = []
        for place, value in enumerate(node.inputs):
            source = -1
            if value is None:
                form += ABSENT
            elif value.producer is not None and (source := find_row(value.producer)) >= 0:
                form += CONSTANT if is_arranging(node, place) else COMPUTED
            else:
                form += CONSTANT if is_arranging(node, place) else tell_operand(value)
            taken.append(source)
        recurrent[row] = node.operator.has("recurrent")
        kinds.append(known.setdefault(_write_key(node, form, keys), len(known)))
        if not taken:
            slots.extend(_NO_SLOTS)
        elif len(taken) < SLOTS:
            slots.extend((*taken, *_NO_SLOTS[len(taken) + 1 :], taken[-1]))
        else:
            slots.extend((*taken[: SLOTS - 1], taken[-1]))
        pairs = [(source, row) for source in {*taken} if source >= 0]
        for source, target in (*pairs, *_list_captures(node, row, find_row)):
            sources.append(source)
            targets.append(target)
        outside[row] = _is_used_outside(node, find_row)
    return _Wires(
        np.asarray(kinds),
        np.asarray(slots).reshape(count, SLOTS),
        np.asarray(sources),
        np.asarray(targets),
        recurrent,
        outside,
    )


def _write_key(node: Node, form: str, keys: KindKeys) -> tuple[object, ...]:
    """Return what is equal for nodes of one kind."""
    return (
        node.op_type,
        node.domain,
        node.overload,
        "" if is_variadic(node.operator) else form,
        len(node.outputs),
        keys.write(node),
        list_subgraph_kinds(node) if node.subgraphs else (),
    )


def _list_captures(node: Node, row: int, find_row: FindRow) -> Iterator[tuple[int, int]]:
    """Yield the rows that give what a node captures or waits for, with its own."""
    for value in (*node.captures, *node.control_inputs):
        found = -1 if value.producer is None else find_row(value.producer)
        if found >= 0:
            yield found, row


def _number_rows(nodes: Sequence[Node]) -> FindRow:
    """Return what gives the row of a node; -1 for others."""
    graph = nodes[0].graph if nodes else None
    rows = {node.index: row for row, node in enumerate(nodes)}
    return lambda node: rows.get(node.index, -1) if node.graph is graph else -1


def _is_used_outside(node: Node, find_row: FindRow) -> bool:
    return any(
        value.is_output or is_used_outside(value, find_row)
        for value in node.outputs
        if value is not None
    )


class Stretch:
    """Some rows of a table in order, numbered from 0, with the wiring among them.

    Parameters
    ----------
    rows
        shape (n,): which rows of the table.
    budget
        What a search among them may take.

    Attributes
    ----------
    kinds, producers
        As of the table; places in the stretch instead of rows.
    bulk
        shape (n + 1,): how many nodes stand before each place, recurrent ones counted as `BULK`.
    users
        shape (n,): how many edges begin at each node.
    last_uses
        shape (n,): the last place that takes what each node gives; n for one outside.
    crossing
        shape (n + 1,): how many nodes before each place give what is used at or after it.
    """

    def __init__(self, table: NodeTable, rows: Integers, budget: SearchBudget) -> None:
        count = len(rows)
        self.budget = budget
        self._table = table
        self.rows = rows
        is_whole = count == len(table.nodes) and bool((rows == np.arange(count)).all())
        self.kinds: Integers = table.kinds if is_whole else table.kinds[rows]
        sizes = np.where(table.recurrent[rows], BULK, 1)
        self.bulk: Integers = np.concatenate((np.zeros(1, np.int64), np.cumsum(sizes)))
        self.users: Integers = table.starts[rows + 1] - table.starts[rows]
        self.producers: Integers = table.producers
        sources = self._sources = table.sources
        targets = self._targets = table.targets
        if not is_whole:
            edges = _join_ranges(table.starts[rows], table.starts[rows + 1])
            table.places[rows] = np.arange(count)
            self.producers = table.places[table.producers[rows]]
            sources = table.places[table.sources[edges]]
            targets = table.places[table.targets[edges]]
            table.places[rows] = -1
            self._sources, self._targets = sources[targets >= 0], targets[targets >= 0]
        last = np.where(table.used_outside[rows], count, np.arange(count))
        np.maximum.at(last, sources, np.where(targets < 0, count, targets))
        self.last_uses: Integers = last
        steps = np.zeros(count + 2, dtype=np.int64)
        begun = np.arange(count)[last > np.arange(count)]
        np.add.at(steps, begun + 1, 1)
        np.add.at(steps, last[begun] + 1, -1)
        self.crossing: Integers = np.cumsum(steps)[: count + 1]

    def edges_between(self, low: int, high: int) -> tuple[Integers, Integers]:
        """Return sources and targets of the edges inside a range, counted from its begin."""
        begin, end = np.searchsorted(self._sources, (low, high))
        sources, targets = self._sources[begin:end] - low, self._targets[begin:end] - low
        inside = (targets >= 0) & (targets < high - low)
        return sources[inside], targets[inside]

    def count_bulk(self, low: int, high: int) -> int:
        """Return how many nodes a range counts as."""
        return int(self.bulk[high] - self.bulk[low])

    def node(self, place: int) -> Node:
        """Return the node at a place."""
        return self._table.nodes[int(self.rows[place])]

    def is_used_only_by(self, place: int, others: set[int]) -> bool:
        """Return whether a node's results are used, and by none but the nodes of some places."""
        table, row = self._table, self.rows[place]
        targets = table.targets[table.starts[row] : table.starts[row + 1]]
        return (
            not table.used_outside[row]
            and len(targets) > 0
            and {int(self.rows[other]) for other in others}.issuperset(targets.tolist())
        )


def wiring_key(table: NodeTable, rows: Integers) -> tuple[bytes, bytes]:
    """Return what is equal for rows that hold the same kinds of node, wired alike."""
    low, count = rows[0], len(rows)
    if rows[-1] - low + 1 == count:
        places = table.producers[rows] - low
        places[(places < 0) | (places >= count)] = -1
    else:
        places = Stretch(table, rows, SearchBudget(0)).producers
    return table.kinds[rows].tobytes(), places.tobytes()


def _join_ranges(starts: Integers, ends: Integers) -> Integers:
    """Return ``[*range(starts[0], ends[0]), *range(starts[1], ends[1]), …]``."""
    lengths = ends - starts
    total = int(lengths.sum())
    if not total:
        return np.zeros(0, dtype=np.int64)
    offsets = np.repeat(starts - (np.cumsum(lengths) - lengths), lengths)
    joined: Integers = np.arange(total) + offsets
    return joined


def used_values(node: Node) -> Iterator[Value]:
    """Yield the operands of a node and the values that its subgraphs capture."""
    for value in node.inputs:
        if value is not None:
            yield value
    yield from node.captures
    yield from node.control_inputs
