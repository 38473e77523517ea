"""The wiring of a graph as arrays: who uses what, without touching each node and value."""

from __future__ import annotations

from collections.abc import Set
from dataclasses import dataclass, field
from itertools import chain
from operator import attrgetter
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from collections.abc import (
        Callable,
        Collection,
        Container,
        Hashable,
        Iterable,
        Iterator,
        Sequence,
    )

    from netloupe.explorer.operators import Operator

    from .graph import Graph
    from .node import Node
    from .value import Value

Integers = npt.NDArray[np.int64]

#: a graph of fewer nodes is small
_SMALL = 50
_NONE: Integers = np.zeros(0, np.int64)

_GET_NUMBER = attrgetter("_number")


@dataclass(frozen=True, slots=True, eq=False)
class Wiring:
    """Which node of a graph uses and gives which value.

    Parameters
    ----------
    values
        The values that nodes use or give, by number.
    producers
        By value, the index of the node of the graph that gives it, else -1: shape (values,),
        int64.
    used
        The numbers of the inputs of all nodes, one after the other, -1 for those that are left
        out: shape (uses,), int64.
    bounds
        By node, where its inputs begin among them, and where the last ones end: shape
        (nodes + 1,), int64.
    operators
        By node, a number that nodes of equal domain, op_type and overload share: shape
        (nodes,), int64.
    with_others
        Indices of the nodes that have captures or control inputs, which are not told here.
    firsts
        By number of an operator the index of the first node that has it, once somebody asked.
    by_op_type
        The numbers of the operators of each op_type, once :func:`find_nodes_by_op_type` was asked.
    """

    values: list[Value]
    producers: Integers
    used: Integers
    bounds: Integers
    operators: Integers
    with_others: tuple[int, ...] = ()
    firsts: list[int] = field(default_factory=list)
    by_op_type: dict[str, list[int]] = field(default_factory=dict)


def read_wiring(graph: Graph) -> Wiring:
    """Return the wiring of a graph, in one pass over its nodes."""
    nodes = graph.nodes
    taken = [*chain.from_iterable(node.inputs for node in nodes)]
    given = [*chain.from_iterable(node.outputs for node in nodes)]
    values = [*graph.values.values()]
    numbers = number_values(values, taken + given)
    used, made = numbers[: len(taken)], numbers[len(taken) :]
    outer = [value for value in taken if value is not None and value.graph is not graph]
    if outer:  # these have their numbers in graphs around
        outer = [*dict.fromkeys(outer)]
        more = dict(zip(outer, range(len(values), len(values) + len(outer)), strict=True))
        for place, value in enumerate(taken):
            if value in more:
                used[place] = more[value]
        values += outer
    producers = np.full(len(values), -1)
    counts = to_array((len(node.outputs) for node in nodes), len(nodes))
    giving = np.repeat(np.arange(len(nodes)), counts)
    producers[made[made >= 0]] = giving[made >= 0]
    return Wiring(
        values,
        producers,
        used,
        np.cumsum([0, *(len(node.inputs) for node in nodes)], dtype=np.int64),
        number_alike([(node.domain, node.op_type, node.overload) for node in nodes]),
        tuple(node.index for node in nodes if node.captures or node.control_inputs),
    )


def find_nodes_by_op_type(graph: Graph, op_types: Container[str]) -> Integers:
    """Return the indices of the nodes whose op_type is one of some, in order.

    Few nodes are asked: one for each operator, once, or all of a small graph.
    """
    nodes = graph.nodes
    if len(nodes) < _SMALL:  # there may be very many of these, whose wiring nobody asks for
        few = [index for index, node in enumerate(nodes) if node.op_type in op_types]
        return np.array(few, np.int64) if few else _NONE
    operators, known = graph.wiring.operators, graph.wiring.by_op_type
    if not known:
        for number, first in enumerate(_find_firsts(graph)):
            known.setdefault(nodes[first].op_type, []).append(number)
    names: Iterable[str] = known
    if isinstance(op_types, Set) and len(op_types) < len(known):
        names = [name for name in op_types if name in known]
    wanted = [number for name in names if name in op_types for number in known[name]]
    return _list_nodes_of(operators, wanted)


def find_nodes_with(graph: Graph, *traits: str) -> Integers:
    """Return the indices of the nodes whose operator has any of some traits, in order."""
    return find_nodes_where(graph, lambda operator: operator.has(*traits))


def find_nodes_where(graph: Graph, holds: Callable[[Operator], bool]) -> Integers:
    """Return the indices of the nodes for whose operator something holds, in order.

    It is asked once for each operator, or for each node of a small graph.
    """
    nodes = graph.nodes
    if len(nodes) < _SMALL:
        few = [index for index, node in enumerate(nodes) if holds(node.operator)]
        return np.array(few, np.int64) if few else _NONE
    firsts = _find_firsts(graph)
    wanted = [n for n, first in enumerate(firsts) if holds(nodes[first].operator)]
    return _list_nodes_of(graph.wiring.operators, wanted)


def _find_firsts(graph: Graph) -> list[int]:
    wiring = graph.wiring
    if not wiring.firsts:
        operators = wiring.operators
        firsts = np.zeros(int(operators.max(initial=-1)) + 1, np.int64)
        firsts[operators[::-1]] = np.arange(len(operators))[::-1]
        wiring.firsts.extend(firsts.tolist())
    return wiring.firsts


def _list_nodes_of(operators: Integers, wanted: Sequence[int]) -> Integers:
    if not wanted:
        return _NONE
    is_wanted = np.zeros(int(operators.max()) + 1, np.bool_)
    is_wanted[wanted] = True
    found: Integers = np.flatnonzero(is_wanted[operators])
    return found


def count_each_operator(graph: Graph) -> Iterator[tuple[Node, int]]:
    """Yield the first node of each operator, in order, and how many nodes have it."""
    nodes = graph.nodes
    if len(nodes) < _SMALL:
        yield from ((node, 1) for node in nodes)
        return
    _, firsts, counts = np.unique(graph.wiring.operators, return_index=True, return_counts=True)
    for index in np.argsort(firsts).tolist():
        yield nodes[int(firsts[index])], int(counts[index])


def number_values(values: Collection[Value], used: Sequence[Value | None]) -> Integers:
    """Return the numbers of some of a graph's own values, numbered in order; -1 for None."""
    for number, value in enumerate(values):
        value._number = number
    try:
        return to_array(map(_GET_NUMBER, used), len(used))
    except AttributeError:  # of None
        return to_array((-1 if v is None else v._number for v in used), len(used))
    finally:
        for value in values:  # a million numbers take 30 MB
            value._number = -1


def number_alike(entries: Sequence[Hashable]) -> Integers:
    """Return a number for each entry, the same for equal ones."""
    numbers = {entry: number for number, entry in enumerate(dict.fromkeys(entries))}
    return to_array(map(numbers.__getitem__, entries), len(entries))


def to_array(numbers: Iterable[int], count: int) -> Integers:
    """Return so many numbers as an array."""
    return np.fromiter(numbers, np.int64, count)
