"""The columns of lanes: in which order arms stand from left to right."""

from __future__ import annotations

from collections.abc import Sequence

from .lane_arms import Arm
from .level import Level

#: more columns are no figure's
_MOST_COLUMNS = 16


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
            for number in sorted(columns, key=lambda each: arms[each].span)
            if columns[number] == column
        )
        for column in range(last + 1)
        if column in columns.values()
    )


def _is_free(arms: Sequence[Arm], columns: dict[int, int], number: int, column: int) -> bool:
    """Return whether no other arm of a column has rows of an arm."""
    low, high = arms[number].span
    return all(
        at != column or other == number or arms[other].span[1] < low or high < arms[other].span[0]
        for other, at in columns.items()
    )
