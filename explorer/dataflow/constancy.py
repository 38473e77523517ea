"""Which values are the same in every run, in grades.

* **stored**: initializers, parameters of another file, and what nodes give that only give a
  constant: :func:`netloupe.explorer.model.is_constant`.
* **of constants**: what nodes of the same graph compute of what is stored, and not by chance:
  :func:`find_of_constants`.
* **input-independent**: what depends on no input of the model; what bodies take from around and
  calls give to functions counts as well: :func:`is_input_independent`.
* **of shapes**: the same wherever inputs have the same shapes, since it follows from constants and
  shapes alone: :func:`is_of_shapes`.

Each is found for all nodes of a graph at once, when first asked for.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np

from netloupe.explorer.model import (
    Function,
    Graph,
    Value,
    find_constant_nodes,
    find_nodes_with,
)
from netloupe.explorer.model.kept import find_kept, get_kept, keep

from .determined_nodes import Booleans, find_determined_nodes, list_edges


class InputIndependence(NamedTuple):
    """What of a graph depends on no input of the model.

    Parameters
    ----------
    graph
        The graph.
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
        if _is_stored(value):
            return True
        if value.producer is not None:
            return bool(self.nodes[self.graph.index_of(value.producer)])
        return value in self.inputs


class _OfConstants(NamedTuple):
    """A byte for each node: 1 where it gives constants, or computes of constants alone."""

    nodes: bytes


class _OfShapes(NamedTuple):
    """A byte for each node: 1 where its results follow from constants and shapes alone."""

    nodes: bytes


def is_input_independent(value: Value) -> bool:
    """Return whether a value depends on no input of the model.

    An initializer does not, even where the graph lists it as an input too. An input of a function
    depends on one unless every call gives it a fixed value. What a body is given anew in each
    iteration counts as depending on one.
    """
    if _is_stored(value):
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


def _is_fixed_around(value: Value | None) -> bool:
    """Return whether a value of a graph around is fixed; in a circle of calls it is not."""
    if value is None:
        return False
    known = get_kept(value.graph, InputIndependence)
    return value.initializer is not None if known is None else known.holds(value)


def find_input_independence_given(graph: Graph, inputs: frozenset[Value]) -> InputIndependence:
    """Return what of a graph is fixed where some of its inputs are; graphs around it are known."""
    wiring = graph.wiring

    def is_known(value: Value) -> bool:
        return (
            _is_stored(value)
            or value in inputs
            or (value.graph is not graph and _is_fixed_around(value))
        )

    allowed = np.ones(len(graph.nodes), np.bool_)
    for index in wiring.with_others:
        node = graph.nodes[index]
        allowed[index] = all(
            is_known(value)
            for value in (*node.captures, *node.control_inputs)
            if value.graph is not graph or value.producer is None
        )
    nodes, values = _find_following(graph, allowed, is_known)
    return InputIndependence(graph, nodes.tobytes(), values, inputs)


def _is_stored(value: Value) -> bool:
    return value.initializer is not None or value.is_parameter


def _list_fixed_inputs(function: Function) -> Iterator[Value]:
    """Yield the inputs of a function to which every call gives a fixed value."""
    calls = function.calls
    fixed = [bool(calls)] * len(function.inputs)
    for call in calls:
        given = [*map(_is_fixed_around, call.inputs[: len(fixed)])]
        given += [False] * (len(fixed) - len(given))
        fixed = [one and other for one, other in zip(fixed, given, strict=True)]
    yield from (value for value, known in zip(function.inputs, fixed, strict=True) if known)


def find_of_constants(graph: Graph) -> bytes:
    """Return a byte for each node: 1 where it gives constants, or computes of constants alone.

    What runs a body that takes values from around does not, nor does what gives other numbers each
    time.
    """
    return find_kept(graph, _OfConstants, lambda: _find_of_constants(graph)).nodes


def _find_of_constants(graph: Graph) -> _OfConstants:
    allowed = np.diff(graph.wiring.bounds) > 0
    allowed[find_nodes_with(graph, "random")] = False
    allowed[find_nodes_with(graph, "stores_constant")] = True
    allowed[find_constant_nodes(graph)] = True
    for index in graph.wiring.with_others:
        allowed[index] &= not graph.nodes[index].captures
    return _OfConstants(_find_following(graph, allowed, _is_stored)[0].tobytes())


def is_of_shapes(value: Value) -> bool:
    """Return whether a value follows from constants and shapes alone.

    So do weights, masks of positions, scales and sizes. Of what its graph takes from around counts
    whether it depends on an input.
    """
    graph, node = value.graph, value.producer
    if node is None:
        return is_input_independent(value)
    return bool(find_of_shapes(graph)[graph.index_of(node)])


def find_of_shapes(graph: Graph) -> bytes:
    """Return a byte for each node: 1 where its results follow from constants and shapes alone."""
    return find_kept(graph, _OfShapes, lambda: _find_of_shapes(graph)).nodes


def _find_of_shapes(graph: Graph) -> _OfShapes:
    readers = np.zeros(len(graph.nodes), np.bool_)
    readers[find_nodes_with(graph, "reads_shape")] = True
    allowed = np.ones(len(graph.nodes), np.bool_)
    allowed[list(graph.wiring.with_others)] = False
    found = _find_following(graph, allowed, is_input_independent, readers)
    return _OfShapes(found[0].tobytes())


def _find_following(
    graph: Graph,
    allowed: Booleans,
    is_given: Callable[[Value], bool],
    always: Booleans | None = None,
) -> tuple[Booleans, Booleans]:
    """Return which nodes and which values follow from what is given.

    Parameters
    ----------
    graph
        The graph.
    allowed
        shape (nodes,): the nodes that give nothing else where all that they take is given.
    is_given
        Whether a value is given that no node of the graph gives.
    always
        shape (nodes,): the nodes whose results are given, whatever they take.
    """
    wiring = graph.wiring
    lacking = np.zeros(len(wiring.values) + 1, np.bool_)  # the last is for what is left out
    for number in np.flatnonzero(wiring.producers < 0).tolist():
        lacking[number] = not is_given(wiring.values[number])
    targets = np.repeat(np.arange(len(allowed)), np.diff(wiring.bounds))
    allowed = allowed.copy()
    allowed[targets[lacking[wiring.used]]] = False
    sources, targets = list_edges(graph)
    if always is not None:
        allowed |= always
        sources, targets = sources[~always[targets]], targets[~always[targets]]
    nodes = find_determined_nodes(allowed, sources, targets)
    values = np.where(
        wiring.producers < 0, ~lacking[:-1], np.append(nodes, False)[wiring.producers]
    )
    return nodes, values
