"""How the repetitions of a repeat correspond: which value of one stands for which of another.

A repeat is drawn as one box, open with one repetition inside. What enters the repetition that
is shown has to be matched with what enters the repeat: the hidden state that layer 3 takes
from layer 2 stands where layer 0 takes it from outside. Values are matched by where they are
used or made: by the node's place in its repetition and the number of the operand or result.
Repetitions that differ a little are aligned (:mod:`.alignment`).
"""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from netloupe.explorer.grouping import Group
from netloupe.explorer.model import Value

from .edges import EdgeTable, Flags, Integers

if TYPE_CHECKING:
    from .alignment import Colours

#: place of a node in the exemplar, and number of its operand or result
Slot = tuple[int, int]
#: rows in the order of something, and that
SortedRows = tuple[Integers, Integers]


class Handed(NamedTuple):
    """What each repetition hands to the next at one place, as one repetition sees it.

    Parameters
    ----------
    slot
        Where it is made: a place in the exemplar, and the number of the result.
    taken
        What it takes from the one before; None in the first, and where it takes nothing.
    given
        What it gives to the next one; None in the last, and where it gives nothing.
    """

    slot: Slot
    taken: Value | None
    given: Value | None


@dataclass(slots=True)
class Correspondence:
    """How the border of one repetition is that of the repeat.

    Parameters
    ----------
    bindings
        A value that enters the repetition, and the one that enters the repeat in its place.
    results
        A value that leaves the repetition, and what leaves the repeat in its place.
    only_from_others, only_to_others
        Values that the repetition exchanges with other repetitions alone, without any
        counterpart at the border of the repeat.
    handed
        What goes from each repetition to the next, with or without such a counterpart.
    """

    bindings: dict[Value, Value] = field(default_factory=dict)
    results: dict[Value, tuple[Value, ...]] = field(default_factory=dict)
    only_from_others: tuple[Value, ...] = ()
    only_to_others: tuple[Value, ...] = ()
    handed: tuple[Handed, ...] = ()


class Repetitions:
    """The repetitions of one repeat.

    Parameters
    ----------
    group
        A group of kind ``repeat``.
    edges
        The uses of values in its graph; those that are visible count.
    positions
        Of nodes by index, as the tree has them.

    Notes
    -----
    The cost is that of one vectorized pass over the uses inside the repeat, and of Python work
    for those that cross its border, and for those of a repetition that is asked for.
    """

    def __init__(self, group: Group, edges: EdgeTable, positions: list[int]) -> None:
        self.group = group
        self.edges = edges
        lows, highs = array("q"), array("q")  # lists would hold an object for each number
        for child in group.children:
            if isinstance(child, Group):
                low, high = child.low, child.high
            else:
                low = positions[group.graph.index_of(child)]
                high = low + 1
            lows.append(low)
            highs.append(high)
        self._starts, self._ends = np.array(lows, np.int64), np.array(highs, np.int64)
        exemplar = slice(self._starts[group.exemplar], self._ends[group.exemplar])
        self._exemplar_codes = edges.codes[exemplar].tobytes()
        self._same_places = np.arange(exemplar.stop - exemplar.start)
        #: of repetitions that differ from the exemplar, and by which colours these are told
        self._places: dict[bytes, Integers] = {}
        self._colours: list[Colours] = []
        self._found: dict[int, Correspondence] = {}
        self._find_crossings()
        #: by slot, the first value that enters the repeat there, and the last that leaves it
        self._first_entering: dict[Slot, Value] = {}
        self._last_leaving: dict[Slot, Value] = {}
        #: a value that belongs to a family, and the value that stands for the family
        self.families: dict[Value, Value] = {}
        self._find_families()

    def find(self, position: int) -> int:
        """Return which repetition holds the node at a position; -1 for none."""
        if not self.group.low <= position < self.group.high:
            return -1
        return int(np.searchsorted(self._starts, position, "right")) - 1

    def correspond(self, index: int) -> Correspondence:
        """Return how the border of one repetition is that of the repeat; found once for each."""
        known = self._found.get(index)
        if known is None:
            known = self._found[index] = self._correspond(index)
        return known

    def _correspond(self, index: int) -> Correspondence:
        found = Correspondence()
        from_others: list[Value] = []
        others_at: set[Value] = set()  # what enters elsewhere where this one takes its own: a mask
        for slot, value, is_outer in self._entering(self._rows_of(self._by_user, index)):
            outer = value if is_outer else self._first_entering.get(slot)
            if is_outer and slot in self._first_entering:
                others_at.add(self._first_entering[slot])
            if outer is None:
                from_others.append(value)
            else:
                found.bindings.setdefault(value, outer)
        # where the first lacks what the others begin with, it takes the stream at another place
        found.handed = self._pair_handed(index)
        if len({*from_others}) == 1 and from_others[0] in {each.taken for each in found.handed}:
            entering = self._list_entering_first() - {*found.bindings.values()} - others_at
            if len(entering) == 1:
                found.bindings[from_others[0]] = entering.pop()
        leaving: dict[Slot, tuple[Value, bool]] = {}
        for slot, value, is_outer in self._leaving(self._rows_of(self._by_maker, index)):
            leaving[slot] = value, is_outer or leaving.get(slot, (value, False))[1]
        to_others: list[Value] = []
        for slot, (value, is_outer) in leaving.items():
            outer = value if is_outer else self._last_leaving.get(slot)
            if outer is None:
                to_others.append(value)
            else:
                found.results[value] = (outer,)
        # where the last lacks what the others end with, it gives its result at another place
        matched = {outer for outers in found.results.values() for outer in outers}
        left = dict.fromkeys(self._last_leaving.values())
        if len(to_others) == 1 and len(left) == 1 and not matched and not self._is_last(index):
            found.results[to_others.pop()] = (*left,)
        bound = found.bindings
        found.only_from_others = tuple(v for v in dict.fromkeys(from_others) if v not in bound)
        found.only_to_others = tuple(dict.fromkeys(to_others))
        return found

    def _list_entering_first(self) -> set[Value]:
        """Return what the first repetition takes from outside, weights aside."""
        entering = self._entering(self._rows_of(self._by_user, 0))
        return {value for _, value, is_outer in entering if is_outer and value.initializer is None}

    def _is_last(self, index: int) -> bool:
        return index == len(self._starts) - 1

    def list_moved(self, index: int, outer: Value) -> Iterator[Value]:
        """Yield what one repetition takes where others take a value from outside.

        Unlike what :meth:`correspond` tells that may come from nodes of the repetition itself.
        """
        places = {int(place): row for row, place in enumerate(self._align(index).tolist())}
        for (place, slot), value in self._first_entering.items():
            if value is outer and place in places:
                node = self.edges.nodes[int(self._starts[index]) + places[place]]
                operand = node.input(slot) if slot < len(node.inputs) else None
                if operand is not None:
                    yield operand

    def _pair_handed(self, index: int) -> tuple[Handed, ...]:
        """Return what one repetition takes from the one before it, and gives to the next one."""
        rows = self._rows_of(self._by_user, index)
        rows = rows[self._makers[rows] == index - 1] if index else rows[:0]
        taken = self._list_made(rows)
        if index == 1:  # the first may give what the others have added to something
            taken = self._list_made_as(rows, taken)
        rows = self._rows_of(self._by_maker, index)
        given = self._list_made(rows[self._users[rows] == index + 1])
        return tuple(
            Handed(slot, taken.get(slot), given.get(slot))
            for slot in dict.fromkeys([*taken, *given])
            if self._handed_often[slot] > 1 or len(self._starts) == 2
        )

    def _list_made_as(self, rows: Integers, made: dict[Slot, Value]) -> dict[Slot, Value]:
        """Return values of crossings by the places where later repetitions make what they take.

        Of two values of one place that which is made there is the value.
        """
        last = len(self._starts) - 1
        later = self._rows_of(self._by_user, min(len(self._starts) // 2, last))
        later = later[self._makers[later] == min(len(self._starts) // 2, last) - 1]
        places = {
            slot: made_at
            for (slot, value, _), (made_at, _, _) in zip(
                self._entering(later), self._leaving(later), strict=True
            )
        }
        found: dict[Slot, Value] = {}
        for (slot, value, _), (made_at, _, _) in zip(
            self._entering(rows), self._leaving(rows), strict=True
        ):
            found.setdefault(places.get(slot, made_at), value)
        return found

    @cached_property
    def _handed_often(self) -> Counter[Slot]:
        """How often what is made at a place goes to the next repetition, of few of these.

        The first makes once what all others take: that is not handed on.
        """
        last = len(self._starts) - 1
        places = {0, 1, last // 2, last - 1}.intersection(range(last))
        rows = {place: self._rows_of(self._by_maker, place) for place in sorted(places)}
        return Counter(
            slot
            for place, own in rows.items()
            for slot in self._list_made(own[self._users[own] == place + 1])
        )

    def _list_made(self, rows: Integers) -> dict[Slot, Value]:
        """Return the values of crossings by the places where they are made."""
        return {slot: value for slot, value, _ in self._leaving(rows)}

    def _list_uses(self) -> tuple[Integers, Integers, Integers]:
        """Return the uses inside the repeat and across its border, and which repetitions' they are.

        Of each use: its row, the repetition that gives the value, and the one that takes it.
        """
        edges, group = self.edges, self.group
        uses = np.flatnonzero(
            edges.visible & (_within(edges.targets, group) | _within(edges.sources, group))
        )
        return uses, self._holders(edges.sources[uses]), self._holders(edges.targets[uses])

    def _find_crossings(self) -> None:
        """Find the uses that cross the border of a repetition, in the order of users."""
        uses, makers, users = self._list_uses()
        crossing = np.flatnonzero(makers != users)
        self._uses, self._makers, self._users = uses[crossing], makers[crossing], users[crossing]
        self._by_maker = _sort_rows(self._makers)
        self._by_user = _sort_rows(self._users)

    def _rows_of(self, index: SortedRows, repetition: int) -> Integers:
        """Return the crossings of one repetition."""
        rows, keys = index
        low, high = np.searchsorted(keys, (repetition, repetition + 1))
        return rows[low:high]

    def _entering(self, rows: Integers) -> Iterator[tuple[Slot, Value, bool]]:
        """Yield slot and value of crossings, and whether they also enter the whole repeat."""
        uses = self._uses[rows]
        numbers, slots = self.edges.used[uses].tolist(), self.edges.slots[uses].tolist()
        is_outer = (self._makers[rows] < 0).tolist()
        places = self._place(self._users[rows], self.edges.targets[uses])
        for place, number, slot, outer in zip(places, numbers, slots, is_outer, strict=True):
            yield (place, slot), self.edges.values[number], outer

    def _leaving(self, rows: Integers) -> Iterator[tuple[Slot, Value, bool]]:
        """Yield slot and value of crossings, and whether they also leave the whole repeat."""
        uses = self._uses[rows]
        numbers, is_outer = self.edges.used[uses].tolist(), (self._users[rows] < 0).tolist()
        places = self._place(self._makers[rows], self.edges.sources[uses])
        for place, number, outer in zip(places, numbers, is_outer, strict=True):
            value = self.edges.values[number]
            yield (place, value.output_index), value, outer

    def _place(self, repetitions: Integers, positions: Integers) -> Iterator[int]:
        """Yield the places in the exemplar of nodes of some repetitions."""
        known, low, places = -1, 0, np.zeros(0, np.int64)
        for index, position in zip(repetitions.tolist(), positions.tolist(), strict=True):
            if index != known:
                known, low, places = index, int(self._starts[index]), self._align(index)
            yield int(places[position - low])

    def _holders(self, positions: Integers) -> Integers:
        """Return which repetition each position is in; -1 for outside the repeat."""
        found = np.searchsorted(self._starts, positions, "right") - 1
        found[~_within(positions, self.group)] = -1
        return found

    def _align(self, index: int) -> Integers:
        """Return for each node of a repetition its place in the exemplar.

        A node without a counterpart gets a negative number that no other repetition has.
        """
        start, end = int(self._starts[index]), int(self._ends[index])
        if self.edges.codes[start:end].tobytes() == self._exemplar_codes:
            return self._same_places
        from .alignment import align, colour_nodes

        if not self._colours:
            low, high = self.group.low, self.group.high
            self._colours = colour_nodes(self.edges, low, high, *self._list_uses())
        colours = self._colours_of(index)
        key = colours[0].tobytes()
        places = self._places.get(key)
        if places is None:
            model = self._colours_of(self.group.exemplar)
            places = self._places[key] = align(model, colours)
        return np.where(places < 0, -1 - start - np.arange(len(places)), places)

    def _colours_of(self, index: int) -> list[Colours]:
        start, end = self._starts[index] - self.group.low, self._ends[index] - self.group.low
        return [colours[start:end] for colours in self._colours]

    def _find_families(self) -> None:
        """Find values that cross the border at one slot, a different one for each repetition."""
        rows, users = self._by_user
        outer = rows[(users >= 0) & (self._makers[rows] < 0)]
        entering = self._entering(outer)
        self._join_families(self._users[outer], entering, self._first_entering, is_first=True)
        rows, makers = self._by_maker
        outer = rows[(makers >= 0) & (self._users[rows] < 0)]
        leaving = self._leaving(outer)
        self._join_families(self._makers[outer], leaving, self._last_leaving, is_first=False)

    def _join_families(
        self,
        repetitions: Integers,
        crossings: Iterator[tuple[Slot, Value, bool]],
        by_slot: dict[Slot, Value],
        *,
        is_first: bool,
    ) -> None:
        """Join what crosses the border of the repeat at one slot; note the first or the last."""
        members: dict[Slot, dict[Value, None]] = {}
        #: the only repetition whose border each value crosses; -1 for several
        holders: dict[Value, int] = {}
        for index, (slot, value, _) in zip(repetitions.tolist(), crossings, strict=True):
            if not (is_first and slot in by_slot):
                by_slot[slot] = value
            members.setdefault(slot, {})[value] = None
            if holders.setdefault(value, index) != index:
                holders[value] = -1
        for values in members.values():
            own = [value for value in values if holders[value] >= 0]
            if len(own) < 2:
                continue
            known = next((self.families[v] for v in own if v in self.families), own[0])
            for value in own:
                self.families.setdefault(value, known)


def _sort_rows(keys: Integers) -> SortedRows:
    order = np.argsort(keys, kind="stable")
    return order, keys[order]


def _within(positions: Integers, group: Group) -> Flags:
    return (positions >= group.low) & (positions < group.high)
