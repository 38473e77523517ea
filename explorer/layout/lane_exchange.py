"""Lanes that exchange values: the columns of a network of parallel resolutions.

A high-resolution network (Sun et al. 2019, figure 2) keeps several resolutions at the same time,
and after some blocks each takes values from all others. Its lanes run level, from left to right:
a box stands behind all that it takes values from, in the row of its resolution.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from .lane_arms import Arm
from .level import Level

#: more columns are no figure's
_MOST_COLUMNS = 12
#: so many boxes of one row may stand in one column
_MOST_IN_CELL = 6

Rows = Mapping[int, tuple[int, int]]


def exchange_values(level: Level, order: Sequence[int], rows: Rows) -> bool:
    """Return whether two lanes give values to each other at the same time.

    That is so where each of two boxes, of which none comes behind the other, gives a value to a
    box in the row of the other.

    Parameters
    ----------
    level
        The boxes and wires.
    order, rows
        The boxes of the lanes in the order of flow, and their rows.
    """
    following: dict[int, set[int]] = {box: set() for box in order}
    for wire in level.wires:
        if wire.source in rows and wire.target in rows:
            following[wire.source].add(wire.target)
    behind: dict[int, set[int]] = {}
    for box in reversed(order):
        found = set(following[box])
        for target in following[box]:
            found |= behind[target]
        behind[box] = found
    leaving = {
        box: {rows[target] for target in following[box]} - {rows[box]}
        for box in order
        if rows[box][0] == rows[box][1]
    }
    return any(
        rows[one] in leaving[other] and rows[other] in leaving[one]
        for one in leaving
        for other in leaving
        if one < other and other not in behind[one] and one not in behind[other]
    )


def order_by_flow(
    level: Level, order: Sequence[int], rows: Rows
) -> tuple[tuple[Arm, ...], ...] | None:
    """Return the boxes of each column, each an arm of its own; None where there are too many.

    What begins a lane stands right below what it takes its values from, if there is room, and is
    of one arm with it.

    Parameters
    ----------
    level, order, rows
        As for :func:`exchange_values`.
    """
    before: dict[int, list[int]] = {}
    for wire in level.wires:
        if wire.source in rows and wire.target in rows:
            before.setdefault(wire.target, []).append(wire.source)
    column: dict[int, int] = {}
    above: dict[int, int] = {}
    taken: set[tuple[int, int]] = set()
    for box in order:
        sources = before.get(box, [])
        column[box] = max((column[source] + 1 for source in sources), default=0)
        if len(sources) == 1 and _is_next_below(rows, sources[0], box):
            cell = column[sources[0]], rows[box][0]
            if cell not in taken and sources[0] not in above.values():
                above[box], column[box] = sources[0], cell[0]
        taken.add((column[box], rows[box][0]))
    count = 1 + max(column.values(), default=-1)
    if not 1 < count <= _MOST_COLUMNS:
        return None
    columns: list[list[Arm]] = [[] for _ in range(count)]
    below = {source: box for box, source in above.items()}
    for box in sorted(order, key=lambda each: (rows[each], _find_height(each, before, rows), each)):
        if box in above:
            continue
        way = [box]
        while way[-1] in below:
            way.append(below[way[-1]])
        places = tuple(sum(rows[each]) // 2 for each in way)
        span = rows[way[0]][0], rows[way[-1]][1]
        columns[column[box]].append(Arm(tuple(way), places, False, span))
    cells = [[arm.span for arm in arms] for arms in columns]
    if any(cell.count(span) > _MOST_IN_CELL for cell in cells for span in cell):
        return None
    return tuple(map(tuple, columns))


def _is_next_below(rows: Rows, source: int, box: int) -> bool:
    low, high = rows[source]
    return low == high and rows[box] == (low + 1, low + 1)


def _find_height(box: int, before: Mapping[int, Sequence[int]], rows: Rows) -> float:
    """Return the mean row of what a box takes values from."""
    found = [sum(rows[source]) / 2 for source in before.get(box, ())]
    return sum(found) / len(found) if found else 0.0
