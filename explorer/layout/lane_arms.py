"""The arms of lanes: ways that go only down, or only up, from row to row.

A box belongs to the turn that its values have come to: 0 while they went down only, 1 after they
have turned upwards, 2 after they have turned down again. Of the boxes of one turn the longest way
is an arm, and so on with what remains.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from itertools import pairwise
from typing import NamedTuple

from .level import Level

#: arms are looked for so often, as long as some go back and forth between each other
_MOST_ATTEMPTS = 24


class Arm(NamedTuple):
    """Boxes one behind another.

    Parameters
    ----------
    boxes
        In the order of flow.
    rows
        The row of each.
    goes_up
        Whether values flow upwards in it.
    span
        Its first and last row.
    """

    boxes: tuple[int, ...]
    rows: tuple[int, ...]
    goes_up: bool
    span: tuple[int, int]

    def row_of(self, box: int) -> int:
        """Return the row of one of its boxes."""
        return self.rows[self.boxes.index(box)]

    def list_row(self, row: int) -> tuple[int, ...]:
        """Return its boxes of one row, from above."""
        found = tuple(box for box, at in zip(self.boxes, self.rows, strict=True) if at == row)
        return found[::-1] if self.goes_up else found


def list_arms(
    level: Level, order: Sequence[int], rows: Mapping[int, tuple[int, int]]
) -> list[Arm] | None:
    """Return the arms of a level; None where they go back and forth between each other.

    Parameters
    ----------
    level
        The boxes and wires.
    order
        The boxes of the lanes in the order of flow.
    rows
        The first and the last row of each.
    """
    pairs = list(
        dict.fromkeys(
            (wire.source, wire.target)
            for wire in level.wires
            if wire.source in rows and wire.target in rows and wire.source != wire.target
        )
    )
    turns = _find_turns(order, pairs, rows)
    tried: list[frozenset[tuple[int, int]]] = [frozenset()]
    found: list[list[list[int]]] = []
    for cut in tried:  # grows
        ways = _list_ways(order, pairs, rows, turns, cut)
        ways = _split_ends(_join_begin(ways, pairs, rows), pairs, rows)
        back = _find_back(ways, pairs)
        if not back:
            found.append(ways)
            continue
        tried += [new for new in (cut | {each} for each in back) if new not in tried]
        del tried[_MOST_ATTEMPTS:]
    best = min(found, key=len, default=None)  # of as many ways those with least that was cut
    return [_make_arm(way, rows) for way in best] if best is not None else None


def _is_wide(box: int, rows: Mapping[int, tuple[int, int]]) -> bool:
    low, high = rows[box]
    return low < high


def _find_turns(
    order: Sequence[int],
    pairs: Sequence[tuple[int, int]],
    rows: Mapping[int, tuple[int, int]],
) -> dict[int, int]:
    """Return how often the values of each box have turned between down and up."""
    entering: dict[int, list[int]] = {}
    for source, target in pairs:
        entering.setdefault(target, []).append(source)
    turns: dict[int, int] = {}
    for box in order:
        turn = 0
        for source in entering.get(box, ()):
            found = turns[source]
            if not _is_wide(source, rows) and not _is_wide(box, rows):
                step = rows[box][0] - rows[source][0]
                if (step > 0 and found % 2) or (step < 0 and found % 2 == 0):
                    found += 1
            turn = max(turn, found)
        turns[box] = turn
    return turns


def _list_ways(
    order: Sequence[int],
    pairs: Sequence[tuple[int, int]],
    rows: Mapping[int, tuple[int, int]],
    turns: Mapping[int, int],
    cut: Collection[tuple[int, int]],
) -> list[list[int]]:
    """Return the boxes as ways, each of one turn, the longest first."""
    before: dict[int, list[int]] = {}
    for source, target in pairs:
        is_plain = not _is_wide(source, rows) and not _is_wide(target, rows)
        if is_plain and turns[source] == turns[target] and (source, target) not in cut:
            before.setdefault(target, []).append(source)
    left = [*order]
    ways = []
    while left:
        free = {*left}
        length: dict[int, int] = {}
        behind: dict[int, int] = {}
        for box in left:
            sources = [source for source in before.get(box, ()) if source in free]
            best = max(sources, key=lambda source: (length[source], -source), default=-1)
            length[box] = 1 + (length[best] if best >= 0 else 0)
            behind[box] = best
        way = [max(left, key=lambda box: (length[box], -box))]
        while behind[way[-1]] >= 0:
            way.append(behind[way[-1]])
        ways.append(way[::-1])
        left = [box for box in left if box not in {*way}]
    return ways


def _join_begin(
    ways: list[list[int]],
    pairs: Sequence[tuple[int, int]],
    rows: Mapping[int, tuple[int, int]],
) -> list[list[int]]:
    """Return ways where what comes from nowhere, in one row, is the begin of what it gives to."""
    targets = {target for _, target in pairs}
    for way in ways:
        if way[0] in targets or len({rows[box] for box in way}) > 1 or _is_wide(way[0], rows):
            continue
        for other in ways:
            if (way[-1], other[0]) in pairs and other is not way and not _is_wide(other[0], rows):
                return [
                    way + other,
                    *(each for each in ways if each is not way and each is not other),
                ]
    return ways


def _split_ends(
    ways: list[list[int]],
    pairs: Sequence[tuple[int, int]],
    rows: Mapping[int, tuple[int, int]],
) -> list[list[int]]:
    """Return ways without what stands beside them in all rows but the last.

    A convolution behind each sum of a pyramid is no part of the way upwards, and so neither is
    the last of these, although nothing goes on beside it.
    """
    aside = {box for way in ways if len({rows[each] for each in way}) == 1 for box in way}
    found = []
    for way in ways:
        last = [box for box in way if rows[box] == rows[way[-1]]]
        above = [box for box in way if box not in last]
        if not above:
            found += _split_row(way, pairs, rows)
            continue
        members = [box for box in above if rows[box] == rows[above[-1]]]
        surplus = len(last) - len(members)
        has_beside = any(source == above[-1] and target in aside for source, target in pairs)
        if surplus > 0 and has_beside:
            found += [way[:-surplus], *_split_row(way[-surplus:], pairs, rows)]
        else:
            found.append(way)
    return found


def _split_row(
    way: list[int], pairs: Sequence[tuple[int, int]], rows: Mapping[int, tuple[int, int]]
) -> list[list[int]]:
    """Return a way within one row without what stands beside where its values leave the row."""
    found = [way[:1]]
    for before, box in pairwise(way):
        if any(source == before and rows[target] != rows[before] for source, target in pairs):
            found.append([box])
        else:
            found[-1].append(box)
    return found


def _find_back(
    ways: Sequence[Sequence[int]], pairs: Sequence[tuple[int, int]]
) -> list[tuple[int, int]]:
    """Return where a way may be cut that takes values from what it gives to.

    That is before the box that takes them, and behind the last one before it that gives some.
    """
    way_of = {box: number for number, way in enumerate(ways) for box in way}
    following: dict[int, set[int]] = {}
    for source, target in pairs:
        if way_of[source] != way_of[target]:
            following.setdefault(way_of[source], set()).add(way_of[target])
    for number, way in enumerate(ways):
        reached, pending = set[int](), [*following.get(number, ())]
        while pending:
            each = pending.pop()
            if each not in reached and each != number:
                reached.add(each)
                pending += following.get(each, ())
        steps = list(pairwise(way))
        for at, (_, box) in enumerate(steps):
            if any(target == box and way_of[source] in reached for source, target in pairs):
                gives = [
                    step
                    for step in steps[: at + 1]
                    if any(source == step[0] and way_of[end] in reached for source, end in pairs)
                ]
                return [steps[at], *gives[-1:]]
    return []


def _make_arm(way: Sequence[int], rows: Mapping[int, tuple[int, int]]) -> Arm:
    low = min(rows[box][0] for box in way)
    high = max(rows[box][1] for box in way)
    at = tuple(sum(rows[box]) // 2 for box in way)
    return Arm(tuple(way), at, at[0] > at[-1], (low, high))
