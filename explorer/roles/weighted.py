"""Which nodes of a graph have a weight, all of them at once."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from netloupe.explorer.dataflow import (
    Booleans,
    InputIndependence,
    Integers,
    find_input_independence,
    find_input_independence_given,
    is_input_independent,
)
from netloupe.explorer.model import Function, Graph, Node, Value
from netloupe.explorer.model.node_keys import key_attributes
from netloupe.explorer.operators import Operator
from netloupe.explorer.progress import step

from .weights import find_weight

_STEP = 10_000
#: functions that call one another are followed so deep, and in so many ways in all
_MOST_DEPTH = 50
_MOST_WAYS = 10_000


def find_weighted(graph: Graph) -> Booleans:
    """Return for each node of a graph whether it has a weight, or holds a node that has one.

    A node holds the nodes of its subgraphs and of the function that it calls.

    Returns
    -------
    array
        shape (nodes,)
    """
    return _Search().find(graph, find_input_independence(graph), 0)


class _Search:
    """Looks into functions and bodies, into each of them once for each way of calling it."""

    def __init__(self) -> None:
        self._calls: dict[tuple[Function, tuple[bool, ...]], bool] = {}
        self._bodies: dict[Graph, bool] = {}

    def find(self, graph: Graph, fixed: InputIndependence, depth: int) -> Booleans:
        count = len(graph.nodes)
        found = np.zeros(count, np.bool_)
        for indices in _list_alike(graph):
            node = graph.nodes[int(indices[0])]
            if node.function is not None:
                found[indices] = [
                    self._holds(graph.nodes[index], fixed, depth) for index in indices.tolist()
                ]
                continue
            if node.operator.weight_kind:
                found[indices] = _have_weights(graph, fixed, indices, node.operator)
        for node in graph.nodes:
            if node.subgraphs and not found[graph.index_of(node)]:
                found[graph.index_of(node)] = any(
                    self._is_weighted(body) for body in node.subgraphs
                )
        return found

    def _is_weighted(self, body: Graph) -> bool:
        """Return whether a body has a node with a weight; bodies in it are looked at first."""
        inner = [body, *body.subgraphs]
        for graph in reversed(inner):
            if graph not in self._bodies:
                self._bodies[graph] = bool(self._find_own(graph))
        return any(self._bodies[graph] for graph in inner)

    def _find_own(self, graph: Graph) -> bool:
        """Return whether one of the graph's own nodes has a weight."""
        fixed = find_input_independence(graph)
        for indices in _list_alike(graph):
            node = graph.nodes[int(indices[0])]
            operator = node.operator
            if node.function is not None:
                calls = (graph.nodes[index] for index in indices.tolist())
                if any(self._holds(call, fixed, 1) for call in calls):
                    return True
            elif operator.weight_kind and _have_weights(graph, fixed, indices, operator).any():
                return True
        return False

    def _holds(self, call: Node, fixed: InputIndependence, depth: int) -> bool:
        """Return whether the function that a node calls has a node with a weight."""
        function = call.function
        if function is None or depth > _MOST_DEPTH or len(self._calls) > _MOST_WAYS:
            return False
        given = tuple(_is_given(value, call.graph, fixed) for value in call.inputs)
        key = (function, given)
        if key not in self._calls:
            self._calls[key] = False  # for functions that call themselves
            step()
            formals = zip(function.inputs, given, strict=False)
            inputs = frozenset(value for value, is_given in formals if is_given)
            inside = find_input_independence_given(function, inputs)
            self._calls[key] = bool(self.find(function, inside, depth + 1).any())
        return self._calls[key]


def _is_given(value: Value | None, graph: Graph, fixed: InputIndependence) -> bool:
    """Return whether what a node of a graph takes, perhaps from around the graph, is fixed."""
    if value is None:
        return False
    return fixed.holds(value) if value.graph is graph else is_input_independent(value)


def _list_alike(graph: Graph) -> Iterator[Integers]:
    """Yield the indices of the nodes of each operator."""
    operators = graph.wiring.operators
    if not len(operators):
        return
    order = np.argsort(operators, kind="stable")
    starts = np.flatnonzero(np.diff(operators[order], prepend=-1))
    for number, (start, end) in enumerate(
        zip(starts.tolist(), [*starts[1:].tolist(), len(order)], strict=True)
    ):
        if not number % _STEP:
            step()
        yield order[start:end]


def _have_weights(
    graph: Graph, fixed: InputIndependence, indices: Integers, operator: Operator
) -> Booleans:
    """Return for each of some nodes of one operator whether it has a weight."""
    if not operator.weight_places:
        return np.ones(len(indices), np.bool_)
    wiring = graph.wiring
    taken = [_take(graph, indices, place) for place in operator.weight_places]
    is_fixed = [(numbers >= 0) & np.append(fixed.values, False)[numbers] for numbers in taken]
    if operator.multiplies_either:
        found: Booleans = (is_fixed[0] != is_fixed[1]) & (np.diff(wiring.bounds)[indices] > 1)
        for place in np.flatnonzero(is_fixed[0] & is_fixed[1]).tolist():
            found[place] = find_weight(graph.nodes[int(indices[place])]) is not None
    else:
        found = np.logical_or.reduce(is_fixed)
    if operator.weight_kind == "embedding" or operator.form == "Einsum":
        _judge_each(graph, indices, found, taken[0])
    return found


def _take(graph: Graph, indices: Integers, place: int) -> Integers:
    """Return the number of the value that each node takes at a place; -1 for none."""
    wiring = graph.wiring
    at = wiring.bounds[indices] + place
    is_there = at < wiring.bounds[indices + 1]
    return np.where(is_there, np.append(wiring.used, -1)[np.where(is_there, at, -1)], -1)


def _judge_each(graph: Graph, indices: Integers, found: Booleans, taken: Integers) -> None:
    """Look closer at the nodes that were found; those of equal operand and attributes once."""
    known: dict[tuple[int, bytes], bool] = {}
    places: Sequence[int] = np.flatnonzero(found).tolist()
    for place in places:
        node = graph.nodes[int(indices[place])]
        key = (int(taken[place]), key_attributes(node))
        if key not in known:
            known[key] = find_weight(node) is not None
        found[place] = known[key]
