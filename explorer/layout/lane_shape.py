"""Which levels are lanes: several resolutions side by side, with ways up and down between them.

Pyramids of features (Lin et al. 2017, figure 3), the path aggregation behind them (Liu et al.
2018, figure 1) and high-resolution networks are drawn in papers with one row for each resolution:
boxes that work at it stand in its row, and what goes from row to row is an arm, such as the
backbone downwards, or a way upwards beside it. A level is drawn so where boxes of several arms
work at the same resolutions. Names and operators are not asked.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from .lane_rows import Maps, Rows, find_ladder, find_rows
from .level import Level, Wire

if TYPE_CHECKING:
    from .lane_arms import Arm

#: levels of more boxes are no figure's
_MOST_BOXES = 150
#: two resolutions may exchange values; arms of fewer rows, or fewer with several arms, are none
_LEAST_LANES = 2
_LEAST_ROWS = 3
_LEAST_SHARED = 2
#: so many boxes of several rows each, one of so many, hide what lanes would show
_MANY_WIDE, _SHARE_WIDE = 3, 4
#: so many other parts give values to the lanes or take some
_MOST_PARTS = 6


class LaneShape(NamedTuple):
    """How the boxes of a level make lanes.

    Parameters
    ----------
    columns
        The arms of each column, from left to right, from above.
    row_count
        How many rows there are, from the highest resolution on.
    giving, taking
        Other parts, connected boxes each, that only give values to the lanes, and that only take
        some from them.
    stubs
        The stubs, each with the box that it stands at.
    is_exchange
        Whether lanes run level and give values to each other.
    """

    columns: tuple[tuple[Arm, ...], ...]
    row_count: int
    giving: tuple[tuple[int, ...], ...] = ()
    taking: tuple[tuple[int, ...], ...] = ()
    stubs: tuple[tuple[int, int], ...] = ()
    is_exchange: bool = False

    def choose_told(
        self, wires: Sequence[Wire], told: Mapping[int, str], sizes: Sequence[str]
    ) -> dict[int, str]:
        """Return the sizes that are written: one for each row.

        It stands beside the arm that comes first; where there are none, beside the longest edge
        within the row.

        Parameters
        ----------
        wires
            Those of the level.
        told
            What could be written beside the main stream, by the number of the wire.
        sizes
            That of each wire.
        """
        if self.is_exchange:
            return self._choose_level(wires, sizes)
        rows: dict[int, int] = {}
        for arm in self.columns[0]:
            for box in arm.boxes:
                for number in told:
                    if wires[number].source == box and wires[number].target in arm.boxes:
                        rows[arm.row_of(box)] = number
        return {number: told[number] for number in rows.values()}

    def _choose_level(self, wires: Sequence[Wire], sizes: Sequence[str]) -> dict[int, str]:
        places = {
            box: (column, row)
            for column, arms in enumerate(self.columns)
            for arm in arms
            for box, row in zip(arm.boxes, arm.rows, strict=True)
        }
        longest: dict[int, tuple[int, int]] = {}
        for number, wire in enumerate(wires):
            start, end = places.get(wire.source), places.get(wire.target)
            if start is None or end is None or start[1] != end[1] or not sizes[number]:
                continue
            length = end[0] - start[0]
            if length > longest.get(start[1], (0, 0))[0]:
                longest[start[1]] = length, number
        return {number: sizes[number] for _, number in longest.values()}


def find_lanes(level: Level, maps: Sequence[Maps], stubs: Collection[int]) -> LaneShape | None:
    """Return how a level is lanes; None where it is none.

    Parameters
    ----------
    level
        The boxes and wires.
    maps
        What is known of the values of each wire.
    stubs
        The boxes that are stubs.
    """
    if level.direction != "TB" or not 6 <= len(level.children) <= _MOST_BOXES:
        return None
    ladder = find_ladder(level, maps)
    if len(set(ladder.values())) < _LEAST_LANES:
        return None
    order = _order_boxes(level)
    found = find_rows(level, order, maps, ladder, stubs) if order is not None else None
    if order is None or found is None:
        return None
    rows, others = found
    parts = _list_parts(level, rows, others)
    placed_stubs = _list_stubs(level, stubs, rows)
    if parts is None or placed_stubs is None or _hides_lanes(rows):
        return None
    rows = _close_gaps(rows)
    order = [box for box in order if box in rows]
    from .lane_exchange import exchange_values

    is_exchange = exchange_values(level, order, rows)
    given = {rows[w.target][0] for w in level.wires if w.source < 0 and w.target in rows}
    columns = _find_columns(level, order, rows, given, is_exchange=is_exchange)
    if columns is None:
        return None
    row_count = 1 + max(high for _, high in rows.values())
    return LaneShape(columns, row_count, *parts, placed_stubs, is_exchange)


def _hides_lanes(rows: Rows) -> bool:
    """Return whether what happens between rows is mostly inside of boxes that have several."""
    wide = sum(low < high for low, high in rows.values())
    return wide >= _MANY_WIDE and wide * _SHARE_WIDE >= len(rows)


def _find_columns(
    level: Level, order: Sequence[int], rows: Rows, given: Collection[int], *, is_exchange: bool
) -> tuple[tuple[Arm, ...], ...] | None:
    """Return what stands in each column: arms, or the boxes of lanes that exchange values."""
    from .lane_arms import list_arms
    from .lane_columns import order_columns
    from .lane_exchange import order_by_flow

    if is_exchange:
        columns = order_by_flow(level, order, rows)
        return columns if columns is not None and _are_parallel(columns) else None
    arms = list_arms(level, order, rows)
    columns = order_columns(level, arms) if arms is not None else None
    return columns if columns is not None and are_lanes(columns, given) else None


def _are_parallel(columns: Sequence[Sequence[Arm]]) -> bool:
    """Return whether boxes of several rows stand above one another in several columns."""
    return sum(len({arm.span for arm in arms}) > 1 for arms in columns) >= _LEAST_SHARED


def _order_boxes(level: Level) -> list[int] | None:
    """Return the boxes in the order of flow; None where a cycle is among them."""
    count = len(level.children)
    waiting = [0] * count
    leaving: list[list[int]] = [[] for _ in range(count)]
    for wire in level.wires:
        if min(wire.source, wire.target) >= 0:
            waiting[wire.target] += 1
            leaving[wire.source].append(wire.target)
    order = [box for box in range(count) if not waiting[box]]
    for box in order:  # grows
        for target in leaving[box]:
            waiting[target] -= 1
            if not waiting[target]:
                order.append(target)
    return order if len(order) == count else None


_Parts = tuple[tuple[int, ...], ...]


def _list_parts(level: Level, rows: Rows, others: Sequence[int]) -> tuple[_Parts, _Parts] | None:
    """Return the parts that give values to the lanes, and those that take some.

    None where a part does both.
    """
    around: dict[int, list[int]] = {box: [] for box in others}
    gives, takes = set[int](), set[int]()
    for wire in level.wires:
        if wire.source in around and wire.target in around:
            around[wire.source].append(wire.target)
            around[wire.target].append(wire.source)
        elif wire.source in around and wire.target in rows:
            gives.add(wire.source)
        elif wire.target in around and wire.source in rows:
            takes.add(wire.target)
    giving: list[tuple[int, ...]] = []
    taking: list[tuple[int, ...]] = []
    seen = set[int]()
    for box in others:
        if box in seen:
            continue
        part = [box]
        seen.add(box)
        for member in part:  # grows
            for other in around[member]:
                if other not in seen:
                    seen.add(other)
                    part.append(other)
        if gives & {*part} and takes & {*part}:
            return None
        (taking if takes & {*part} else giving).append(tuple(sorted(part)))
    return (tuple(giving), tuple(taking)) if len(giving) + len(taking) <= _MOST_PARTS else None


def _close_gaps(rows: Rows) -> Rows:
    """Return rows without those in which no box is."""
    used = sorted({row for ends in rows.values() for row in ends})
    places = {row: at for at, row in enumerate(used)}
    return {box: (places[low], places[high]) for box, (low, high) in rows.items()}


def are_lanes(columns: Sequence[Sequence[Arm]], given: Collection[int]) -> bool:
    """Return whether arms stand side by side in several rows, one of them leading through these.

    Where they do in two rows alone, and in others not, it is one way with something beside it.
    What comes in at the border at several resolutions is one of them.
    """
    shared: dict[int, int] = dict.fromkeys(given, 1) if len(given) > 1 else {}
    for column in columns:
        for arm in column:
            for row in {*arm.rows}:
                shared[row] = shared.get(row, 0) + 1
    arms = [arm for column in columns for arm in column]
    leading = [{*arm.rows} for arm in arms if len({*arm.rows}) > 1]
    led = {*(given if len(given) > 1 else ())}.union(*leading)
    wide = sum(count > 1 and row in led for row, count in shared.items())
    rows = {row for arm in arms for row in arm.rows}
    is_shared = wide > _LEAST_SHARED or (wide == _LEAST_SHARED and 2 * wide > len(led))
    return bool(leading) and is_shared and len(rows) >= _LEAST_ROWS


def _list_stubs(
    level: Level, stubs: Collection[int], rows: Rows
) -> tuple[tuple[int, int], ...] | None:
    """Return the stubs at boxes of the lanes, each with its box; None where one has several."""
    found: dict[int, int] = {}
    for wire in level.wires:
        for stub, box in ((wire.source, wire.target), (wire.target, wire.source)):
            if stub in stubs and box in rows and found.setdefault(stub, box) != box:
                return None
    return tuple(found.items())
