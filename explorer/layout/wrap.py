"""Long levels as a page on the canvas: in columns, read like a newspaper (LR: rows).

Here each open item has its own columns, so that opening something in them changes them alone; a
picture that is drawn into a file is cut as a whole (:mod:`.column_scene`). The placement is cut
where no box stands and one stream at most crosses. An edge that crosses a cut is led below its
column, up through the gutter and into the next column from above, at the place where it would
have gone on.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from netloupe.explorer.options import OPTIONS, Wrap

from .bends import round_corners, split_curve
from .level import Level
from .placement import (
    Curve,
    Curves,
    Floats,
    Integers,
    Places,
    Point,
    make_points,
    spread_runs,
    starts_of,
)

#: a picture that is so much longer than wide, and so long in pixels, is extreme
EXTREME_RATIO = 6.0
EXTREME_LENGTH = 4_000.0
#: what is in columns stays so while it is so much longer than wide, and so long
KEPT_RATIO = 1.5
KEPT_LENGTH = 2_000.0
#: a picture is cut into so many columns at most
MOST_COLUMNS: int = OPTIONS["wrap"].number.most  # type: ignore[assignment, union-attr] # it has
#: a page is about so much higher than wide
_PAGE_RATIO = 0.75
#: a cut may be so far from its ideal place, in column lengths
_SLACK = 0.3
#: room between columns, and between lines in a gutter
_GUTTER = 60.0
_LANE = 9.0
_BEND = 10.0


def is_extreme(width: float, height: float, direction: str) -> bool:
    """Return whether a picture is so long that it should be wrapped."""
    length, breadth = (height, width) if direction == "TB" else (width, height)
    return length > EXTREME_LENGTH and length > EXTREME_RATIO * breadth


def wrap_places(
    level: Level,
    places: Places,
    wrap: Wrap,
    *,
    was_wrapped: bool = False,
    is_outermost: bool = False,
) -> tuple[Places, int]:
    """Cut a level into columns.

    Parameters
    ----------
    level, places
        What is inside one open item.
    wrap
        As for :meth:`Composer.compose`.
    was_wrapped
        Whether it was in columns when it was shown before: who opens something in it does not
        want to lose them.
    is_outermost
        Whether nothing is around it: it is cut into a number of columns that is given, however
        long it is.

    Returns
    -------
    Places, int
        The wrapped ones and the number of columns; the ones given and 1 where they are not to
        be, or cannot be, wrapped.
    """
    if wrap is False:
        return places, 1
    is_asked = is_outermost and isinstance(wrap, int) and wrap is not True
    width, height = places.width, places.height
    length, breadth = (height, width) if level.direction == "TB" else (width, height)
    is_kept = was_wrapped and length > KEPT_LENGTH and length > KEPT_RATIO * breadth
    if not is_asked and not is_kept and not is_extreme(width, height, level.direction):
        return places, 1
    sizes, flows = level.arrays().sizes, level.arrays().sources
    if level.direction == "LR":
        wrapped, count = _wrap(places.turned(), sizes[:, ::-1], flows, wrap)
        return wrapped.turned(), count
    return _wrap(places, sizes, flows, wrap)


@dataclass(slots=True)
class _Column:
    top: float
    bottom: float
    left: float = 0.0
    #: offset of what stands in it, and its extent across
    shift: float = 0.0
    width: float = 0.0
    #: lines that leave it at the bottom, and that come in at the top
    leaving: int = 0
    entering: int = 0


def _wrap(places: Places, sizes: Floats, flows: Integers, wrap: Wrap) -> tuple[Places, int]:
    count = wrap if isinstance(wrap, int) and wrap is not True else _choose_count(places)
    cuts = _find_cuts(places, sizes, flows, count)
    if not cuts:
        return places, 1
    columns = [
        _Column(top, bottom)
        for top, bottom in zip([0.0, *cuts], [*cuts, places.height], strict=True)
    ]
    column_of = np.searchsorted(cuts, places.boxes[:, 1], side="right")
    _measure_columns(places, sizes, flows, column_of, columns, cuts)
    return _Writer(places, flows, columns, cuts, column_of).write(), len(columns)


def _choose_count(places: Places) -> int:
    breadth = places.width + _GUTTER
    count = math.sqrt(places.height / (breadth * _PAGE_RATIO))
    return max(2, min(MOST_COLUMNS, round(count)))


def _find_cuts(places: Places, sizes: Floats, flows: Integers, count: int) -> list[float]:
    """Return the heights at which to cut: where no box stands and one edge at most crosses.

    Edges from one box, which are led through a gutter as one line, count as one.
    """
    tops = places.boxes[:, 1] - sizes[:, 1] / 2
    order = np.argsort(tops, kind="stable")
    tops = tops[order]
    bottoms = np.maximum.accumulate(places.boxes[order, 1] + sizes[order, 1] / 2)
    is_gap = tops[1:] > bottoms[:-1] + 4
    gaps = ((bottoms[:-1] + tops[1:]) / 2)[is_gap]
    starts, ends = _list_spans(places.edges, flows)
    crossing = np.searchsorted(starts, gaps, "right") - np.searchsorted(ends, gaps, "right")
    ideal = places.height / count
    cuts: list[float] = []
    for number in range(1, count):
        wanted = number * ideal
        low = wanted - _SLACK * ideal
        first = np.searchsorted(gaps, low, "left")
        if cuts:
            first = max(first, np.searchsorted(gaps, cuts[-1] + 1, "right"))
        last = np.searchsorted(gaps, wanted + _SLACK * ideal, "right")
        if first >= last:
            continue
        near = np.flatnonzero(crossing[first:last] <= 1) + first
        if not len(near):
            continue
        cuts.append(float(gaps[near[np.argmin(np.abs(gaps[near] - wanted))]]))
    return cuts


def _list_spans(edges: Curves, flows: Integers) -> tuple[Floats, Floats]:
    """Return the upper and the lower ends of what the edges from one box span, each sorted."""
    drawn = np.flatnonzero(edges.counts > 0)
    if not len(drawn):
        return np.zeros(0), np.zeros(0)
    begin = edges.starts[drawn]
    _, which = np.unique(flows[drawn], return_inverse=True)
    starts = np.full(int(which.max()) + 1, np.inf)
    ends = np.full(len(starts), -np.inf)
    np.minimum.at(starts, which, np.minimum.reduceat(edges.points[:, 1], begin))
    np.maximum.at(ends, which, np.maximum.reduceat(edges.points[:, 1], begin))
    return np.sort(starts), np.sort(ends)


def _measure_columns(
    places: Places,
    sizes: Floats,
    flows: Integers,
    column_of: Integers,
    columns: list[_Column],
    cuts: list[float],
) -> None:
    lows = np.full(len(columns), np.inf)
    highs = np.full(len(columns), -np.inf)
    np.minimum.at(lows, column_of, places.boxes[:, 0] - sizes[:, 0] / 2)
    np.maximum.at(highs, column_of, places.boxes[:, 0] + sizes[:, 0] / 2)
    edges = places.edges
    four = edges.list_controls()
    upper = np.searchsorted(cuts, four[:, :, 1].min(axis=1), "right")
    lower = np.searchsorted(cuts, four[:, :, 1].max(axis=1), "right")
    spans = lower - upper + 1
    touched = spread_runs(upper, spans)
    np.minimum.at(lows, touched, np.repeat(four[:, :, 0].min(axis=1), spans))
    np.maximum.at(highs, touched, np.repeat(four[:, :, 0].max(axis=1), spans))
    crossing: list[set[int]] = [set() for _ in columns]
    for edge, crossed in _list_crossing(edges, cuts).items():
        for cut in crossed:
            crossing[cut].add(int(flows[edge]))
    for number in range(len(cuts)):
        columns[number].leaving = columns[number + 1].entering = len(crossing[number])
    left = 0.0
    for column, low, high in zip(columns, lows.tolist(), highs.tolist(), strict=True):
        low, high = (low, high) if low <= high else (0.0, 0.0)
        left += _LANE * column.entering
        column.left, column.shift, column.width = left, left - low, high - low
        left += column.width + _GUTTER


def _list_crossing(edges: Curves, cuts: list[float]) -> dict[int, range]:
    """Return the edges that have cuts between their ends, and the numbers of these."""
    drawn = np.flatnonzero(edges.counts >= 4)
    starts = np.searchsorted(cuts, edges.points[edges.starts[drawn], 1], "right")
    ends = np.searchsorted(cuts, edges.points[edges.starts[drawn + 1] - 1, 1], "right")
    found = np.flatnonzero(starts != ends)
    low, high = np.minimum(starts, ends)[found], np.maximum(starts, ends)[found]
    triples = zip(drawn[found].tolist(), low.tolist(), high.tolist(), strict=True)
    return {edge: range(first, last) for edge, first, last in triples}


class _Writer:
    def __init__(
        self,
        places: Places,
        flows: Integers,
        columns: list[_Column],
        cuts: list[float],
        column_of: Integers,
    ) -> None:
        self.places = places
        self.flows = flows
        self.columns = columns
        self.cuts = cuts
        self.column_of = column_of
        most_in = max(column.entering for column in columns)
        #: where what stands in the columns begins: lines come in above
        self.top = _LANE * most_in + (2 * _BEND if most_in else 0.0)
        #: by how much what stands in each column is moved
        self.moves = np.array([(column.shift, self.top - column.top) for column in columns])
        #: for each cut the lines in its gutter, by where their edges come from
        self.lanes: list[dict[int, int]] = [{} for _ in cuts]

    def write(self) -> Places:
        places, columns = self.places, self.columns
        low = max(column.bottom - column.top for column in columns)
        most_out = max(column.leaving for column in columns)
        last = columns[-1]
        return Places(
            last.left + last.width,
            self.top + low + _LANE * most_out + (2 * _BEND if most_out else 0.0),
            places.boxes + self.moves[self.column_of],
            places.inputs + self.moves[0],
            places.outputs + self.moves[-1],
            self._move_edges(),
        )

    def _move_edges(self) -> Curves:
        edges = self.places.edges
        counts = edges.counts
        drawn = np.flatnonzero(counts > 0)
        column_of = np.zeros(len(edges), np.int64)
        column_of[drawn] = np.searchsorted(self.cuts, edges.points[edges.starts[drawn], 1], "right")
        moved = edges.points + np.repeat(self.moves[column_of], counts, axis=0)
        led = {
            edge: make_points(self._lead(edges.curve(edge), int(self.flows[edge]), crossed))
            for edge, crossed in _list_crossing(edges, self.cuts).items()
        }
        if not led:
            return Curves(moved, edges.starts)
        new_counts = counts.copy()
        for edge, points in led.items():
            new_counts[edge] = len(points)
        starts = starts_of(new_counts)
        points = np.empty((int(starts[-1]), 2))
        stays = np.ones(len(edges), np.bool_)
        stays[list(led)] = False
        points[spread_runs(starts[:-1][stays], counts[stays])] = moved[np.repeat(stays, counts)]
        for edge, curve in led.items():
            points[starts[edge] : starts[edge + 1]] = curve
        return Curves(points, starts)

    def _lead(self, points: Curve, flow: int, crossed: range) -> Curve:
        if points[1] > points[-1]:  # runs upwards
            return _reverse(self._lead(_reverse(points), flow, crossed))
        result: list[float] = []
        rest = points
        for number in crossed:
            before, rest = split_curve(rest, self.cuts[number])
            result += self._shift(before, number)[2 if result else 0 :]
            end = self._shift(rest[:2], number + 1)
            lane = self.lanes[number].setdefault(flow, len(self.lanes[number]))
            result += self._gutter((result[-2], result[-1]), (end[0], end[1]), number, lane)
        result += self._shift(rest, crossed[-1] + 1)[2:]
        return tuple(result)

    def _shift(self, points: Curve, number: int) -> Curve:
        x, y = self.moves[number].tolist()
        moved = list(points)
        moved[0::2] = [coordinate + x for coordinate in points[0::2]]
        moved[1::2] = [coordinate + y for coordinate in points[1::2]]
        return tuple(moved)

    def _gutter(self, start: Point, end: Point, number: int, lane: int) -> list[float]:
        """Return the way from the bottom of a column to the top of the next, after the start."""
        (x0, y0), (x1, y1) = start, end
        column, following = self.columns[number], self.columns[number + 1]
        below = self.top + column.bottom - column.top + _BEND + lane * _LANE
        above = self.top - _BEND - lane * _LANE
        middle = following.left - _GUTTER / 2 - lane * _LANE
        return round_corners(
            [(x0, y0), (x0, below), (middle, below), (middle, above), (x1, above), (x1, y1)], _BEND
        )


def _reverse(points: Curve) -> Curve:
    pairs = list(zip(points[0::2], points[1::2], strict=True))
    return tuple(coordinate for pair in reversed(pairs) for coordinate in pair)
