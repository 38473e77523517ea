"""How the repetitions of a repeat correspond: which value of one stands for which of another.

A repeat is drawn as one box, open with one repetition inside. What enters the repetition that
is shown has to be matched with what enters the repeat: the hidden state that layer 3 takes
from layer 2 stands where layer 0 takes it from outside. Values are matched by where they are
used or made: by the node's place in its repetition and the number of the operand or result.
Repetitions that differ a little are aligned by their sequences of operators with
:class:`difflib.SequenceMatcher` (Ratcliff and Metzener, Dr. Dobb's Journal, July 1988).
"""

from __future__ import annotations

import difflib
from dataclasses import dataclass, field

import numpy as np

from netloupe.explorer.grouping import Group
from netloupe.explorer.model import Value

from .edges import EdgeTable, Flags, Integers

#: where two repetitions differ in more nodes than this, only their equal ends are aligned
MOST_ALIGNED = 2000

#: place of a node in the exemplar, and number of its operand or result
Slot = tuple[int, int]


@dataclass(slots=True)
class Crossings:
    """What crosses the border of one repetition.

    By slot, the value and whether it also crosses the border of the whole repeat.
    """

    entering: dict[Slot, tuple[Value, bool]] = field(default_factory=dict)
    leaving: dict[Slot, tuple[Value, bool]] = field(default_factory=dict)


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
    """

    bindings: dict[Value, Value] = field(default_factory=dict)
    results: dict[Value, tuple[Value, ...]] = field(default_factory=dict)
    only_from_others: tuple[Value, ...] = ()
    only_to_others: tuple[Value, ...] = ()


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
    for those that cross the border of a repetition.
    """

    def __init__(self, group: Group, edges: EdgeTable, positions: list[int]) -> None:
        self.group = group
        self.edges = edges
        ranges = [
            (child.low, child.high)
            if isinstance(child, Group)
            else (positions[child.index], positions[child.index] + 1)
            for child in group.children
        ]
        self._ranges = ranges
        self._starts = np.array([low for low, _ in ranges], np.int64)
        self._places: dict[bytes, tuple[Integers, bool]] = {}
        self.crossings = [Crossings() for _ in ranges]
        self._find_crossings()
        #: a value that belongs to a family, and the value that stands for the family
        self.families: dict[Value, Value] = {}
        self._find_families()

    def find(self, position: int) -> int:
        """Return which repetition holds the node at a position; -1 for none."""
        if not self.group.low <= position < self.group.high:
            return -1
        return int(np.searchsorted(self._starts, position, "right")) - 1

    def correspond(self, index: int) -> Correspondence:
        """Return how the border of one repetition is that of the repeat."""
        found = Correspondence()
        from_others: list[Value] = []
        for slot, (value, is_outer) in self.crossings[index].entering.items():
            outer = value if is_outer else self._first_entering(slot)
            if outer is None:
                from_others.append(value)
            else:
                found.bindings.setdefault(value, outer)
        to_others: list[Value] = []
        for slot, (value, is_outer) in self.crossings[index].leaving.items():
            outer = value if is_outer else self._last_leaving(slot)
            if outer is None:
                to_others.append(value)
            else:
                found.results[value] = (outer,)
        bound = found.bindings
        found.only_from_others = tuple(v for v in dict.fromkeys(from_others) if v not in bound)
        found.only_to_others = tuple(dict.fromkeys(to_others))
        return found

    def _first_entering(self, slot: Slot) -> Value | None:
        for crossing in self.crossings:
            value, is_outer = crossing.entering.get(slot, (None, False))
            if is_outer:
                return value
        return None

    def _last_leaving(self, slot: Slot) -> Value | None:
        for crossing in reversed(self.crossings):
            value, is_outer = crossing.leaving.get(slot, (None, False))
            if is_outer:
                return value
        return None

    def _find_crossings(self) -> None:
        edges, group = self.edges, self.group
        all_uses = np.flatnonzero(
            edges.visible & (_within(edges.targets, group) | _within(edges.sources, group))
        )
        sources, targets = edges.sources[all_uses], edges.targets[all_uses]
        makers, users = self._holders(sources), self._holders(targets)
        crossing = np.flatnonzero(makers != users)
        values = edges.values
        places = [self._align(index) for index in range(len(self._ranges))]
        for maker, user, source, target, number, slot in zip(
            makers[crossing].tolist(),
            users[crossing].tolist(),
            sources[crossing].tolist(),
            targets[crossing].tolist(),
            edges.used[all_uses][crossing].tolist(),
            edges.slots[all_uses][crossing].tolist(),
            strict=True,
        ):
            value = values[number]
            if user >= 0:
                place = int(places[user][target - self._ranges[user][0]])
                self.crossings[user].entering[place, slot] = (value, maker < 0)
            if maker >= 0:
                place = int(places[maker][source - self._ranges[maker][0]])
                leaving = self.crossings[maker].leaving
                key = (place, value.output_index)
                was_outer = leaving.get(key, (value, False))[1]
                leaving[key] = (value, was_outer or user < 0)

    def _holders(self, positions: Integers) -> Integers:
        """Return which repetition each position is in; -1 for outside the repeat."""
        found = np.searchsorted(self._starts, positions, "right") - 1
        found[~_within(positions, self.group)] = -1
        return found

    def _align(self, index: int) -> Integers:
        """Return for each node of a repetition its place in the exemplar.

        A node without a counterpart gets a negative number that no other repetition has.
        """
        codes = self._codes(index)
        key = codes.tobytes()
        known = self._places.get(key)
        if known is None:
            places = _match(self._codes(self.group.exemplar), codes)
            known = self._places[key] = places, bool((places < 0).any())
        places, is_partial = known
        if not is_partial:
            return places
        low = self._ranges[index][0]
        return np.where(places < 0, -1 - low - np.arange(len(places)), places)

    def _codes(self, index: int) -> Integers:
        low, high = self._ranges[index]
        return self.edges.codes[low:high]

    def _find_families(self) -> None:
        """Find values that cross the border at one slot, a different one for each repetition."""
        for side in ("entering", "leaving"):
            by_slot: dict[Slot, dict[Value, int]] = {}
            users: dict[Value, set[int]] = {}
            for index, crossing in enumerate(self.crossings):
                slots: dict[Slot, tuple[Value, bool]] = getattr(crossing, side)
                for slot, (value, is_outer) in slots.items():
                    if is_outer:
                        by_slot.setdefault(slot, {}).setdefault(value, index)
                        users.setdefault(value, set()).add(index)
            for members in by_slot.values():
                own = [value for value in members if len(users[value]) == 1]
                if len(own) < 2:
                    continue
                known = next((self.families[v] for v in own if v in self.families), own[0])
                for value in own:
                    self.families.setdefault(value, known)


def _within(positions: Integers, group: Group) -> Flags:
    return (positions >= group.low) & (positions < group.high)


def _match(model: Integers, codes: Integers) -> Integers:
    """Return for each entry of a sequence its counterpart in another one; -1 for none."""
    if np.array_equal(model, codes):
        return np.arange(len(codes))
    places = np.full(len(codes), -1, np.int64)
    shorter = min(len(model), len(codes))
    differing = np.flatnonzero(model[:shorter] != codes[:shorter])
    head = int(differing[0]) if len(differing) else shorter
    rest = shorter - head
    differing = np.flatnonzero(model[::-1][:rest] != codes[::-1][:rest])
    tail = int(differing[0]) if len(differing) else rest
    places[:head] = np.arange(head)
    places[len(codes) - tail :] = np.arange(len(model) - tail, len(model))
    ours, theirs = codes[head : len(codes) - tail], model[head : len(model) - tail]
    if len(ours) and len(theirs) and max(len(ours), len(theirs)) <= MOST_ALIGNED:
        matcher = difflib.SequenceMatcher(None, theirs.tolist(), ours.tolist(), autojunk=False)
        for block in matcher.get_matching_blocks():
            at = head + block.b
            places[at : at + block.size] = np.arange(block.size) + head + block.a
    return places
