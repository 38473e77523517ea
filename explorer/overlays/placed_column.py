"""Putting what a column holds on the nodes of a model, and saying what has no place there."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import NamedTuple, TypeGuard

import numpy as np
from numpy.typing import NDArray

from netloupe.explorer.model import Graph, Model
from netloupe.explorer.progress import step

from .column import LARGEST, Column, NodeSet, is_measurable
from .name_lookup import NO_ELEMENT, NameFinder, NamePlace, find_fused

Numbers = NDArray[np.float64]
Codes = NDArray[np.int32]

#: so many names that nothing has are compared without regard to case and signs
_MOST_NORMALISED = 50_000
#: keys are looked up in steps of so many
_STEP = 2_000
#: so many of what has no place are kept by name; all are counted
MOST_UNPLACED = 1_000

#: why a value has no place
NO_NUMBER = "the number is not finite"
TOO_LARGE = f"the number is beyond {LARGEST:g}"
NO_WORD = "the column has words, and this is a number"
SEVERAL_GRAPHS = "its nodes are in several graphs"


class Unplaced(NamedTuple):
    """Something that a column has and the model has no place for.

    Parameters
    ----------
    name
        As the column has it.
    value
        What the column has for it.
    reason
        Why it has no place.
    """

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
    placed_count, normalised_count
        How many entries of the column have a place, and how many of them by names that are the same
        but for case and the signs between words, or by the end of the path of a group.
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
    normalised_count: int = 0
    colours: dict[tuple[str, int], str] = field(default_factory=dict)

    def miss(self, name: str, value: float | str, reason: str, *, is_added: bool = True) -> None:
        """Note that something has no place, and whether its number counts in the whole."""
        self.unplaced_count += 1
        self.reasons[reason] += 1
        if is_added and isinstance(value, float) and is_measurable(value):
            self.unplaced_sum += value
        if len(self.unplaced) < MOST_UNPLACED:
            self.unplaced.append(Unplaced(name, value, reason))

    def miss_all(self, entries: Sequence[tuple[str, float]], reason: str) -> None:
        """Note that several things have no place, whose numbers are finite and count."""
        if not entries:
            return
        self.unplaced_count += len(entries)
        self.reasons[reason] += len(entries)
        for _, value in entries:  # one by one, as in `miss`: in what order tells in the last digit
            self.unplaced_sum += value
        room = MOST_UNPLACED - len(self.unplaced)
        self.unplaced += [Unplaced(name, value, reason) for name, value in entries[:room]]

    def open_numbers(self, arrays: dict[str, Numbers], place: NamePlace) -> Numbers:
        """Return the numbers of the occurrence that a place is in, made where there are none."""
        assert place.graph is not None  # noqa: S101 - of places with nodes
        if place.prefix not in arrays:
            arrays[place.prefix] = np.full(len(place.graph.nodes), np.nan)
            self.graphs[place.prefix] = place.graph
        return arrays[place.prefix]

    def open_words(self, place: NamePlace) -> Codes:
        """Return the numbers of words of the occurrence that a place is in, likewise."""
        assert place.graph is not None  # noqa: S101 - of places with nodes
        if place.prefix not in self.words:
            self.words[place.prefix] = np.full(len(place.graph.nodes), -1, np.int32)
        return self.words[place.prefix]


def place_column(model: Model, column: Column, find_group: Callable[[str], bool]) -> PlacedColumn:
    """Put the values of a column on nodes: one pass over the column.

    Parameters
    ----------
    model, column
        The model and the column.
    find_group
        Returns whether a path is that of a group.
    """
    return _Placer(model, column, find_group).run()


#: what a node has of which a column says several numbers, as by its name and by its output
_JOINS: Mapping[str, Callable[[float, float], float]] = {
    "sum": lambda one, other: one + other,
    "mean": lambda one, other: (one + other) / 2,
    "max": max,
    "min": min,
}


def _are_numbers(
    entries: Sequence[tuple[str, float | str]],
) -> TypeGuard[Sequence[tuple[str, float]]]:
    """Return whether all have numbers that can be measured."""
    return all(isinstance(value, float) and -LARGEST <= value <= LARGEST for _, value in entries)


class _Placer:
    """Puts what a column has on nodes, one entry after the other."""

    def __init__(self, model: Model, column: Column, find_group: Callable[[str], bool]) -> None:
        self.column = column
        self.placed = PlacedColumn()
        self._finder = NameFinder(model, find_group, expected=len(column.values))
        self._is_added = column.aggregation == "sum" and not column.has_words
        self._codes: dict[str, int] = {}
        #: names that nothing has, which are tried again all together
        self._left: dict[str, float | str] = {}

    def run(self) -> PlacedColumn:
        entries = iter(self.column.values.items())
        step("placing what boxes are coloured by")
        while some := [*islice(entries, _STEP)]:
            self._place_entries(some)
            step()
        self._place_left()
        if not self.column.has_words:
            for one in self.column.sets:
                self._place_set(one)
        self.placed.vocabulary = [*self._codes]
        return self.placed

    def _place_entries(self, entries: Sequence[tuple[str, float | str]]) -> None:
        """Place entries in order; of very many names most may be ruled out, which goes quickly."""
        column, rules_out = self.column, self._finder.rules_out
        if column.has_words or column.candidates or column.reasons or column.nested:
            for name, value in entries:
                self._place_entry(name, value)
            return
        if len(self._left) >= _MOST_NORMALISED and _are_numbers(entries):
            names = [name for name, _ in entries]
            if self._finder.rules_out_all(names):
                self.placed.miss_all(entries, NO_ELEMENT)
                return
        missed: list[tuple[str, float]] = []
        for name, value in entries:
            if (
                type(value) is float
                and len(self._left) >= _MOST_NORMALISED
                and rules_out(name)
                and -LARGEST <= value <= LARGEST
                and not name.endswith("/")
            ):
                missed.append((name, value))
                continue
            self.placed.miss_all(missed, NO_ELEMENT)
            missed = []
            self._place_entry(name, value)
        self.placed.miss_all(missed, NO_ELEMENT)

    def _place_entry(self, name: str, value: float | str) -> None:
        if self.column.has_words and not isinstance(value, str):
            self.placed.miss(name, value, NO_WORD)
            return
        if not isinstance(value, str) and not is_measurable(value):
            self.placed.miss(name, float(value), _say_why(value))
            return
        place = self._find(name)
        if place == NO_ELEMENT and len(self._left) < _MOST_NORMALISED:
            self._left[name] = value
        elif isinstance(place, str):
            self._miss(name, value, place)
        else:
            self._put(place, name, value)

    def _place_left(self) -> None:
        if not self._left:
            return
        found = self._finder.find_normalised([*self._left], is_added=self._is_added)
        for name, value in self._left.items():
            place = found.get(name)
            if place is None:
                self._miss(name, value, NO_ELEMENT)
            else:
                self._put(place, name, value)
                self.placed.normalised_count += 1

    def _miss(self, name: str, value: float | str, reason: str) -> None:
        self.placed.miss(name, value, reason, is_added=name not in self.column.nested)

    def _find(self, name: str) -> NamePlace | str:
        """Return where a name leads, or else the first of its candidates that leads anywhere."""
        place = self._finder.find(name, is_added=self._is_added)
        if isinstance(place, str):
            for other in self.column.candidates.get(name, ()):
                found = self._finder.find(other, is_added=self._is_added)
                if not isinstance(found, str):
                    return found
            return self.column.reasons.get(name, place)
        return place

    def _put(self, place: NamePlace, name: str, value: float | str) -> None:
        placed, column = self.placed, self.column
        placed.placed_count += 1
        if place.graph is None:
            (placed.groups if place.path.endswith("/") else placed.values)[place.path] = value
            return
        placed.graphs[place.prefix] = place.graph
        if isinstance(value, str):
            words = placed.open_words(place)
            for index in place.indices:
                words[index] = self._codes.setdefault(value, len(self._codes))
        else:
            fused = find_fused(place.graph, place.indices, column.operators.get(name, ""))
            if len(fused) > 1:
                placed.open_numbers(placed.numbers, place)
                placed.sets.append(PlacedSet(place.prefix, fused, float(value), name))
                return
            self._put_number(place, float(value), column.weights.get(name, math.nan))
        colour = column.colours.get(name)
        if colour is not None:
            placed.colours |= {(place.prefix, index): colour for index in place.indices}

    def _put_number(self, place: NamePlace, number: float, weight: float) -> None:
        numbers = self.placed.open_numbers(self.placed.numbers, place)
        weights = None
        if self.column.weights:
            weights = self.placed.open_numbers(self.placed.weights, place)
        for index in place.indices:
            known = float(numbers[index])
            join = _JOINS[self.column.aggregation]
            numbers[index] = join(known, number) if known == known else number
            if weights is not None and 0 <= weight <= LARGEST:
                weights[index] = weight

    def _place_set(self, one: NodeSet) -> None:
        placed = self.placed
        label = one.label or " + ".join(one.names)
        if not is_measurable(one.number):
            placed.miss(label, one.number, _say_why(one.number))
            return
        places = [self._find(name) for name in one.names]
        found = [place for place in places if not isinstance(place, str)]
        graphs = {(place.prefix, place.graph) for place in found if place.graph is not None}
        indices = sorted({index for place in found for index in place.indices})
        if not indices or len(graphs) != 1:
            reason = next((place for place in places if isinstance(place, str)), SEVERAL_GRAPHS)
            placed.miss(label, one.number, reason if not indices else SEVERAL_GRAPHS)
            return
        ((prefix, graph),) = graphs
        assert graph is not None  # noqa: S101 - left out above
        placed.placed_count += 1
        placed.graphs[prefix] = graph
        place = NamePlace(prefix, graph, tuple(indices))
        if len(indices) == 1:
            self._put_number(place, one.number, math.nan)
            return
        placed.open_numbers(placed.numbers, place)
        placed.sets.append(PlacedSet(prefix, place.indices, one.number, label))


def _say_why(number: float) -> str:
    return TOO_LARGE if math.isfinite(number) else NO_NUMBER
