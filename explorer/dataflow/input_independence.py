"""Which values are the same in every run: those that depend on no input of the model."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from netloupe.explorer.model import Function, Graph, Node, Value
from netloupe.explorer.model.kept import get_kept, keep

from .determined_nodes import Booleans, find_determined_nodes, list_edges


@dataclass(frozen=True, slots=True, eq=False)
class InputIndependence:
    """What of a graph depends on no input of the model.

    Parameters
    ----------
    nodes
        A byte for each node: 1 where nothing that it takes depends on an input, else 0.
    values
        shape (values,): whether each value is fixed, by its number in the graph's wiring.
    inputs
        The inputs of a function to which every call gives a fixed value.
    """

    graph: Graph
    nodes: bytes
    values: Booleans
    inputs: frozenset[Value] = frozenset()

    def holds(self, value: Value) -> bool:
        """Return whether a value of the graph is fixed."""
        if value.initializer is not None or value.is_parameter:
            return True
        if value.producer is not None:
            return bool(self.nodes[self.graph.index_of(value.producer)])
        return value in self.inputs


def is_input_independent(value: Value) -> bool:
    """Return whether a value depends on no input of the model.

    An initializer does not, even where the graph lists it as an input too. An input of a function
    depends on one unless every call gives it a fixed value. What a body is given anew in each
    iteration counts as depending on one.
    """
    if value.initializer is not None or value.is_parameter:
        return True
    return find_input_independence(value.graph).holds(value)


def find_input_independence(graph: Graph) -> InputIndependence:
    """Return what of a graph is fixed; it is looked for once.

    Graphs around a body, and those whose nodes call a function, are looked at first.
    """
    known = get_kept(graph, InputIndependence)
    if known is not None:
        return known
    pending: list[Graph] = [graph]
    opened: set[Graph] = set()
    while pending:
        last = pending[-1]
        is_known = get_kept(last, InputIndependence) is not None
        if not is_known and last not in opened:
            opened.add(last)
            pending += [other for other in _list_around(last) if other not in opened]
            continue
        pending.pop()
        if not is_known:
            inputs = _list_fixed_inputs(last) if isinstance(last, Function) else ()
            known = keep(last, find_input_independence_given(last, frozenset(inputs)))
    assert known is not None  # noqa: S101 - the graph was the first of those pending
    return known


def _list_around(graph: Graph) -> list[Graph]:
    if graph.parent_node is not None:
        return [graph.parent_node.graph]
    if isinstance(graph, Function):
        return list(dict.fromkeys(call.graph for call in graph.calls))
    return []


def _is_known(value: Value | None) -> bool:
    """Return whether a value of a graph around is fixed; in a circle of calls it is not."""
    if value is None:
        return False
    fixed = get_kept(value.graph, InputIndependence)
    return value.initializer is not None if fixed is None else fixed.holds(value)


def find_input_independence_given(graph: Graph, inputs: frozenset[Value]) -> InputIndependence:
    """Return what of a graph is fixed where some of its inputs are; graphs around it are known."""
    count = len(graph.nodes)
    wiring = graph.wiring
    varying = np.zeros(len(wiring.values) + 1, np.bool_)  # the last is for what is left out
    for number in np.flatnonzero(wiring.producers < 0).tolist():
        value = wiring.values[number]
        if value.initializer is None and not value.is_parameter and value not in inputs:
            varying[number] = value.graph is graph or not _is_known(value)
    allowed = np.ones(count, np.bool_)
    targets = np.repeat(np.arange(count), np.diff(wiring.bounds))
    allowed[targets[varying[wiring.used]]] = False
    for index in wiring.with_others:
        allowed[index] &= all(
            value in inputs or (value.graph is not graph and _is_known(value))
            for value in _list_others(graph.nodes[index])
            if value.graph is not graph or value.producer is None
        )
    nodes = find_determined_nodes(allowed, *list_edges(graph))
    values = np.where(
        wiring.producers < 0, ~varying[:-1], np.append(nodes, False)[wiring.producers]
    )
    return InputIndependence(graph, nodes.tobytes(), values, inputs)


def _list_others(node: Node) -> Iterator[Value]:
    """Yield what a node takes beside its operands and is no constant."""
    for value in (*node.captures, *node.control_inputs):
        if value.initializer is None and not value.is_parameter:
            yield value


def _list_fixed_inputs(function: Function) -> Iterator[Value]:
    """Yield the inputs of a function to which every call gives a fixed value."""
    calls = function.calls
    fixed = [bool(calls)] * len(function.inputs)
    for call in calls:
        given = [*map(_is_known, call.inputs[: len(fixed)])]
        given += [False] * (len(fixed) - len(given))
        fixed = [one and other for one, other in zip(fixed, given, strict=True)]
    yield from (value for value, known in zip(function.inputs, fixed, strict=True) if known)
