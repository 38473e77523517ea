"""The columns of lanes: in which order arms stand from left to right."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from .lane_arms import Arm
from .level import Level

#: more columns are no figure's
_MOST_COLUMNS = 16
#: so many boxes of short arms may stand above one another in one row
_MOST_IN_CELL = 4


def order_columns(level: Level, arms: Sequence[Arm]) -> tuple[tuple[Arm, ...], ...] | None:
    """Return the arms of each column; None where there is no order, or a very wide one.

    An arm stands behind all that it takes values from, as far left as its rows are free. What
    only others take from that are no lanes, or nothing, stands at the end.
    """
    arm_of = {box: number for number, arm in enumerate(arms) for box in arm.boxes}
    before: list[set[int]] = [set() for _ in arms]
    behind: list[set[int]] = [set() for _ in arms]
    for wire in level.wires:
        source, target = arm_of.get(wire.source, -1), arm_of.get(wire.target, -1)
        if source != target and min(source, target) >= 0:
            before[target].add(source)
            behind[source].add(target)
    columns: dict[int, int] = {}
    waiting = [len(each) for each in before]
    ready = [number for number, count in enumerate(waiting) if not count]
    while ready:
        ready.sort(key=lambda number: (-len(arms[number].boxes), number))
        number = ready.pop(0)
        column = max((columns[each] + 1 for each in before[number]), default=0)
        while not _is_free(arms, columns, number, column):
            column += 1
        columns[number] = column
        for each in behind[number]:
            waiting[each] -= 1
            if not waiting[each]:
                ready.append(each)
    if len(columns) < len(arms):
        return None
    heights = [_find_height(arms, sources) for sources in before]
    last = max(columns.values(), default=0)
    if last >= _MOST_COLUMNS:
        return None
    for number in sorted(columns, key=lambda each: (-columns[each], each)):
        low, high = arms[number].span
        if behind[number] or low < high:
            continue
        column = columns[number]
        while column < last and _is_free(arms, columns, number, column + 1):
            column += 1
        columns[number] = column
    return tuple(
        tuple(
            arms[number]
            for number in sorted(columns, key=lambda each: (arms[each].span, heights[each], each))
            if columns[number] == column
        )
        for column in range(last + 1)
        if column in columns.values()
    )


def _is_free(arms: Sequence[Arm], columns: dict[int, int], number: int, column: int) -> bool:
    """Return whether no other arm of a column has rows of an arm.

    A few short ones that stay within one row may stand above one another.
    """
    low, high = arms[number].span
    there = [
        arms[other]
        for other, at in columns.items()
        if at == column and other != number
        if low <= arms[other].span[1] and arms[other].span[0] <= high
    ]
    is_short = all(arm.span == (low, low) for arm in (*there, arms[number]))
    boxes = sum(len(arm.boxes) for arm in (*there, arms[number]))
    return not there or (is_short and boxes <= _MOST_IN_CELL)


def _find_height(arms: Sequence[Arm], sources: Collection[int]) -> float:
    """Return the mean row of what an arm takes values from."""
    rows = [sum(arms[source].span) / 2 for source in sources]
    return sum(rows) / len(rows) if rows else 0.0
