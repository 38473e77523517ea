"""Putting what a column holds on the nodes of a model, and saying what has no place there."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from netloupe.explorer.model import Graph, Model, Node, Value
from netloupe.explorer.model.paths import find_element, index_nodes
from netloupe.explorer.progress import step

from .column import Column

Numbers = NDArray[np.float64]
Codes = NDArray[np.int32]

#: keys are looked up in steps of so many
_STEP = 2_000
#: a key with more slashes is no path: each of them may end the path of a graph
_MOST_SLASHES = 200
#: so many nodes are fused in one chain at most
_MOST_FUSED = 4
#: so many of what has no place are kept by name; all are counted
MOST_UNPLACED = 1_000

#: why a value has no place
NO_ELEMENT = "nothing in the model has this name"
SEVERAL = "several elements have this name"
NO_NUMBER = "the number is not finite"
NO_WORD = "the column has words, and this is a number"
SEVERAL_GRAPHS = "its nodes are in several graphs"


class Unplaced(NamedTuple):
    """Something that a column has and the model has no place for."""

    name: str
    value: float | str
    reason: str


class PlacedSet(NamedTuple):
    """Nodes of one graph that have one number together.

    Parameters
    ----------
    prefix
        What their paths begin with.
    indices
        Of the nodes in their graph, in order.
    number, label
        As the column has them.
    """

    prefix: str
    indices: tuple[int, ...]
    number: float
    label: str


@dataclass
class PlacedColumn:
    """What of a column is where.

    Parameters
    ----------
    numbers, weights
        By the path that a graph's elements begin with (``main``, or ``main/Call_1()`` for what is
        said of one call alone) an array over the nodes of the graph, float64; NaN for none.
    words
        Likewise the numbers of words in ``vocabulary``, int32; -1 for none.
    sets
        Nodes that have one number together.
    groups, values
        What is said of a group or of a value that no node gives, by path.
    unplaced, unplaced_count, unplaced_sum
        What has no place: the first of them, how many, and the sum of their finite numbers.
    placed_count
        How many entries of the column have a place.
    colours
        By prefix and index of a node, the colour that is given for it.
    """

    graphs: dict[str, Graph] = field(default_factory=dict)
    numbers: dict[str, Numbers] = field(default_factory=dict)
    weights: dict[str, Numbers] = field(default_factory=dict)
    words: dict[str, Codes] = field(default_factory=dict)
    vocabulary: list[str] = field(default_factory=list)
    sets: list[PlacedSet] = field(default_factory=list)
    groups: dict[str, float | str] = field(default_factory=dict)
    values: dict[str, float | str] = field(default_factory=dict)
    unplaced: list[Unplaced] = field(default_factory=list)
    reasons: Counter[str] = field(default_factory=Counter)
    unplaced_count: int = 0
    unplaced_sum: float = 0.0
    placed_count: int = 0
    colours: dict[tuple[str, int], str] = field(default_factory=dict)

    def miss(self, name: str, value: float | str, reason: str, *, is_added: bool = True) -> None:
        """Note that something has no place, and whether its number counts in the whole."""
        self.unplaced_count += 1
        self.reasons[reason] += 1
        if is_added and isinstance(value, float) and math.isfinite(value):
            self.unplaced_sum += value
        if len(self.unplaced) < MOST_UNPLACED:
            self.unplaced.append(Unplaced(name, value, reason))


class _Place(NamedTuple):
    """Where a name leads: nodes of one graph, or a path that no node has."""

    prefix: str
    graph: Graph | None
    indices: tuple[int, ...]
    path: str = ""


class NameFinder:
    """Finds the places of names: exact paths, names of nodes, names of values.

    Parameters
    ----------
    model
        Where they are looked for.
    find_group
        Returns whether a path is that of a group.
    """

    def __init__(self, model: Model, find_group: Callable[[str], bool]) -> None:
        self.model = model
        self._find_group = find_group
        self._names: dict[str, list[Node]] | None = None
        self._values: dict[str, list[Value]] | None = None

    def find(self, name: str, *, is_added: bool = False) -> _Place | str:
        """Return where a name leads, or why nowhere.

        Parameters
        ----------
        is_added
            Whether numbers add up: what is said of a weight is then with one of its users alone.
        """
        if name.endswith("/"):
            return _Place("", None, (), name) if self._find_group(name) else NO_ELEMENT
        if "/" in name and name.count("/") <= _MOST_SLASHES:
            found = find_element(self.model, name)
            if isinstance(found, Node):
                return _Place(_cut_prefix(name, found), found.graph, (found.index,))
            if isinstance(found, Value):
                return self._place_value(found, is_added)
            if isinstance(found, Graph):
                holder = found.parent_node
                return NO_ELEMENT if holder is None else _place_nodes([holder])
        return self._find_by_name(name, is_added)

    def _find_by_name(self, name: str, is_added: bool) -> _Place | str:
        if self._names is None:
            self._names = {}
            for graph in self.model.graphs:
                for known, nodes in index_nodes(graph).names.items():
                    self._names.setdefault(known, []).extend(nodes)
        nodes = self._names.get(name, [])
        if nodes:
            return _place_nodes(nodes) if len(nodes) == 1 else SEVERAL
        values = self._find_values(name) or self._find_values(name.removeprefix("%"))
        if not values:
            return NO_ELEMENT
        return self._place_value(values[0], is_added) if len(values) == 1 else SEVERAL

    def _find_values(self, name: str) -> list[Value]:
        graphs = self.model.graphs
        if len(graphs) == 1:
            found = graphs[0].values.get(name)
            return [] if found is None else [found]
        if self._values is None:  # of thousands of functions not each is asked for each name
            self._values = {}
            for graph in graphs:
                for known, value in graph.values.items():
                    self._values.setdefault(known, []).append(value)
        return self._values.get(name, [])

    def _place_value(self, value: Value, is_added: bool) -> _Place:
        if value.producer is not None:
            return _place_nodes([value.producer])
        users = [user for user in dict.fromkeys(value.users) if user.graph is value.graph]
        if value.initializer is not None and users:
            return _place_nodes(users[:1] if is_added else users)
        return _Place("", None, (), value.path)


def _place_nodes(nodes: Iterable[Node]) -> _Place:
    listed = [*nodes]
    graph = listed[0].graph
    return _Place(graph.path, graph, tuple(node.index for node in listed))


def _cut_prefix(path: str, node: Node) -> str:
    """Return what a path begins with, up to the end that a node has in its graph."""
    end = node.path[len(node.graph.path) :]
    return path[: -len(end)] if path.endswith(end) else node.graph.path


def place_column(model: Model, column: Column, find_group: Callable[[str], bool]) -> PlacedColumn:
    """Put the values of a column on nodes: one pass over the column.

    Parameters
    ----------
    model, column
        The model and the column.
    find_group
        Returns whether a path is that of a group.
    """
    placement = PlacedColumn()
    finder = NameFinder(model, find_group)
    if column.has_words:
        _place_words(placement, finder, column)
    else:
        _place_numbers(placement, finder, column)
        _place_sets(placement, finder, column)
    return placement


def _place_numbers(placement: PlacedColumn, finder: NameFinder, column: Column) -> None:
    is_added = column.aggregation == "sum"
    for count, (name, value) in enumerate(column.values.items()):
        if not count % _STEP:
            step("placing numbers" if not count else "")
        number = float(value)
        is_own = name not in column.nested
        if not math.isfinite(number):
            placement.miss(name, number, NO_NUMBER)
            continue
        place = _find_any(finder, column, name, is_added=is_added)
        if isinstance(place, str):
            placement.miss(name, number, place, is_added=is_own)
            continue
        placement.placed_count += 1
        if place.graph is None:
            _note_beside(placement, place.path, number)
            continue
        fused = find_fused(place.graph, place.indices, column.operators.get(name, ""))
        if len(fused) > 1:
            _open_numbers(placement, placement.numbers, place)
            placement.sets.append(PlacedSet(place.prefix, fused, number, name))
            continue
        _put_number(placement, column, place, name, number)


def _find_any(
    finder: NameFinder, column: Column, name: str, *, is_added: bool = False
) -> _Place | str:
    """Return where a name leads, or else the first of its candidates that leads anywhere."""
    place = finder.find(name, is_added=is_added)
    if isinstance(place, str):
        for other in column.candidates.get(name, ()):
            found = finder.find(other, is_added=is_added)
            if not isinstance(found, str):
                return found
        return column.reasons.get(name, place)
    return place


def _put_number(
    placement: PlacedColumn, column: Column, place: _Place, name: str, number: float
) -> None:
    join = _JOINS[column.aggregation]
    numbers = _open_numbers(placement, placement.numbers, place)
    weight = float(column.weights.get(name, math.nan)) if column.weights else math.nan
    weights = _open_numbers(placement, placement.weights, place) if column.weights else None
    colour = column.colours.get(name)
    for index in place.indices:
        known = float(numbers[index])
        numbers[index] = join(known, number) if known == known else number
        if weights is not None and math.isfinite(weight) and weight >= 0:
            weights[index] = weight
        if colour is not None:
            placement.colours[place.prefix, index] = colour


def find_fused(graph: Graph, indices: tuple[int, ...], operator: str) -> tuple[int, ...]:
    """Return a node together with those that were fused with it, in order.

    A runtime calls a fused node as its last one, or as its first, and what it computes as the
    heaviest: ``Conv`` for a convolution with the Relu behind it, ``Gemm`` for a MatMul with an Add.

    Parameters
    ----------
    graph, indices
        Where the name of the node leads.
    operator
        What it computed where it was measured; "" where that is not known.
    """
    if not operator or len(indices) != 1:
        return indices
    node = graph.nodes[indices[0]]
    wanted = operator.removeprefix("Fused")
    if node.op_type in (operator, wanted):
        return indices
    if wanted == "Gemm" and node.op_type == "MatMul":
        users = {user for value in node.outputs if value is not None for user in value.users}
        if len(users) == 1 and (user := users.pop()).op_type == "Add" and user.graph is graph:
            return (node.index, user.index)
    chain = [node.index]
    while len(chain) < _MOST_FUSED:
        first = next((value for value in node.inputs if value is not None), None)
        if first is None or first.producer is None or first.producer.graph is not graph:
            break
        if len(first.users) != 1:
            break
        node = first.producer
        chain.append(node.index)
        if node.op_type == wanted:
            return tuple(sorted(chain))
    return indices


#: what a node has of which a column says several numbers, as by its name and by its output
_JOINS: Mapping[str, Callable[[float, float], float]] = {
    "sum": lambda one, other: one + other,
    "mean": lambda one, other: (one + other) / 2,
    "max": max,
    "min": min,
}


def _note_beside(placement: PlacedColumn, path: str, value: float | str) -> None:
    (placement.groups if path.endswith("/") else placement.values)[path] = value


def _open_numbers(placement: PlacedColumn, arrays: dict[str, Numbers], place: _Place) -> Numbers:
    assert place.graph is not None  # noqa: S101 - of places with nodes
    found = arrays.get(place.prefix)
    if found is None:
        found = arrays[place.prefix] = np.full(len(place.graph.nodes), np.nan)
        placement.graphs[place.prefix] = place.graph
    return found


def _place_words(placement: PlacedColumn, finder: NameFinder, column: Column) -> None:
    codes: dict[str, int] = {}
    for count, (name, value) in enumerate(column.values.items()):
        if not count % _STEP:
            step("placing words" if not count else "")
        if not isinstance(value, str):
            placement.miss(name, value, NO_WORD)
            continue
        place = _find_any(finder, column, name)
        if isinstance(place, str):
            placement.miss(name, value, place)
            continue
        placement.placed_count += 1
        if place.graph is None:
            _note_beside(placement, place.path, value)
            continue
        words = placement.words.get(place.prefix)
        if words is None:
            words = np.full(len(place.graph.nodes), -1, np.int32)
            placement.words[place.prefix] = words
            placement.graphs[place.prefix] = place.graph
        for index in place.indices:
            words[index] = codes.setdefault(value, len(codes))
            if name in column.colours:
                placement.colours[place.prefix, index] = column.colours[name]
    placement.vocabulary = [*codes]


def _place_sets(placement: PlacedColumn, finder: NameFinder, column: Column) -> None:
    for one in column.sets:
        label = one.label or " + ".join(one.names)
        if not math.isfinite(one.number):
            placement.miss(label, one.number, NO_NUMBER)
            continue
        places = [_find_any(finder, column, name) for name in one.names]
        found = [place for place in places if not isinstance(place, str)]
        graphs = {(place.prefix, place.graph) for place in found if place.graph is not None}
        indices = sorted({index for place in found for index in place.indices})
        if not indices or len(graphs) != 1:
            reason = next((place for place in places if isinstance(place, str)), SEVERAL_GRAPHS)
            placement.miss(label, one.number, reason if not indices else SEVERAL_GRAPHS)
            continue
        ((prefix, graph),) = graphs
        assert graph is not None  # noqa: S101 - left out above
        placement.graphs[prefix] = graph
        placement.numbers.setdefault(prefix, np.full(len(graph.nodes), np.nan))
        placement.placed_count += 1
        if len(indices) == 1:
            numbers = placement.numbers[prefix]
            known = numbers[indices[0]]
            numbers[indices[0]] = (
                _JOINS[column.aggregation](known, one.number) if known == known else one.number
            )
            continue
        placement.sets.append(PlacedSet(prefix, tuple(indices), one.number, label))
