"""Long pictures as a page: what is extremely long in columns, read like a newspaper (LR: rows).

The placement is cut where no box stands and few edges cross. An edge that crosses a cut is led
below its column, up through the gutter and into the next column from above, at the place where
it would have gone on.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

from .dot import Layer
from .placement import Curve, Placement, Point

#: whether, how, or into how many columns
Wrap = bool | int | Literal["auto"]

#: a picture that is so much longer than wide, and so long in pixels, is extreme
EXTREME_RATIO = 6.0
EXTREME_LENGTH = 4_000.0
MOST_COLUMNS = 200
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


def wrap_placement(layer: Layer, placement: Placement, wrap: Wrap) -> tuple[Placement, int]:
    """Cut a placement into columns.

    Parameters
    ----------
    layer, placement
        What is inside one open item.
    wrap
        As for :meth:`Composer.compose`.

    Returns
    -------
    Placement, int
        The wrapped one and the number of its columns; the one given and 1 where it is not to
        be, or cannot be, wrapped.
    """
    if wrap is False or not is_extreme(placement.width, placement.height, layer.direction):
        return placement, 1
    if layer.direction == "LR":
        sizes = [(child.height, child.width) for child in layer.children]
        wrapped, count = _wrap(layer, placement.turned(), sizes, wrap)
        return wrapped.turned(), count
    sizes = [(child.width, child.height) for child in layer.children]
    return _wrap(layer, placement, sizes, wrap)


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


def _wrap(
    layer: Layer, placement: Placement, sizes: list[Point], wrap: Wrap
) -> tuple[Placement, int]:
    count = wrap if isinstance(wrap, int) and wrap is not True else _choose_count(placement)
    flows = [wire.source for wire in layer.wires]
    cuts = _find_cuts(placement, sizes, flows, count)
    if not cuts:
        return placement, 1
    columns = [
        _Column(top, bottom)
        for top, bottom in zip([0.0, *cuts], [*cuts, placement.height], strict=True)
    ]
    column_of = [bisect_right(cuts, y) for _, y in placement.boxes]
    _measure_columns(placement, sizes, flows, column_of, columns, cuts)
    return _Writer(placement, flows, columns, cuts, column_of).write(), len(columns)


def _choose_count(placement: Placement) -> int:
    breadth = placement.width + _GUTTER
    count = math.sqrt(placement.height / (breadth * _PAGE_RATIO))
    return max(2, min(MOST_COLUMNS, round(count)))


def _find_cuts(
    placement: Placement, sizes: list[Point], flows: list[int], count: int
) -> list[float]:
    """Return the heights at which to cut: where no box stands and fewest edges cross.

    Edges from one box, which are led through a gutter as one line, count as one.
    """
    spans = sorted(
        (y - height / 2, y + height / 2)
        for (_, y), (_, height) in zip(placement.boxes, sizes, strict=True)
    )
    gaps = []
    bottom = None
    for low, high in spans:
        if bottom is not None and low > bottom + 4:
            gaps.append((bottom + low) / 2)
        bottom = high if bottom is None else max(bottom, high)
    spans_of: dict[int, tuple[float, float]] = {}
    for flow, points in zip(flows, placement.edges, strict=True):
        if points:
            low, high = spans_of.get(flow, (math.inf, -math.inf))
            ys = points[1::2]
            spans_of[flow] = min(low, *ys), max(high, *ys)
    starts = sorted(low for low, _ in spans_of.values())
    ends = sorted(high for _, high in spans_of.values())
    ideal = placement.height / count
    cuts: list[float] = []
    for number in range(1, count):
        wanted = number * ideal
        near = [
            gap
            for gap in gaps
            if abs(gap - wanted) <= _SLACK * ideal and (not cuts or gap > cuts[-1] + 1)
        ]
        if near:
            cuts.append(
                min(
                    near,
                    key=lambda gap: (
                        bisect_right(starts, gap) - bisect_right(ends, gap),
                        abs(gap - wanted),
                    ),
                )
            )
    return cuts


def _measure_columns(
    placement: Placement,
    sizes: list[Point],
    flows: list[int],
    column_of: list[int],
    columns: list[_Column],
    cuts: list[float],
) -> None:
    lows = [math.inf] * len(columns)
    highs = [-math.inf] * len(columns)
    for (x, _), (width, _), number in zip(placement.boxes, sizes, column_of, strict=True):
        lows[number] = min(lows[number], x - width / 2)
        highs[number] = max(highs[number], x + width / 2)
    crossing: list[set[int]] = [set() for _ in columns]
    for flow, points in zip(flows, placement.edges, strict=True):
        for start in range(0, len(points) - 7, 6):
            xs = points[start : start + 8 : 2]
            ys = points[start + 1 : start + 8 : 2]
            for number in range(bisect_right(cuts, min(ys)), bisect_right(cuts, max(ys)) + 1):
                lows[number] = min(lows[number], *xs)
                highs[number] = max(highs[number], *xs)
        for cut in _cuts_crossed(points, cuts):
            crossing[cut].add(flow)
    for number in range(len(cuts)):
        columns[number].leaving = columns[number + 1].entering = len(crossing[number])
    left = 0.0
    for column, low, high in zip(columns, lows, highs, strict=True):
        low, high = (low, high) if low <= high else (0.0, 0.0)
        left += _LANE * column.entering
        column.left, column.shift, column.width = left, left - low, high - low
        left += column.width + _GUTTER


def _cuts_crossed(points: Curve, cuts: list[float]) -> range:
    """Return the numbers of the cuts between the ends of an edge."""
    if len(points) < 8:
        return range(0)
    first, last = sorted((bisect_right(cuts, points[1]), bisect_right(cuts, points[-1])))
    return range(first, last)


class _Writer:
    def __init__(
        self,
        placement: Placement,
        flows: list[int],
        columns: list[_Column],
        cuts: list[float],
        column_of: list[int],
    ) -> None:
        self.placement = placement
        self.flows = flows
        self.columns = columns
        self.cuts = cuts
        self.column_of = column_of
        most_in = max(column.entering for column in columns)
        #: where what stands in the columns begins: lines come in above
        self.top = _LANE * most_in + (2 * _BEND if most_in else 0.0)
        #: for each cut the lines in its gutter, by where their edges come from
        self.lanes: list[dict[int, int]] = [{} for _ in cuts]

    def write(self) -> Placement:
        placement, columns = self.placement, self.columns
        boxes = [
            self._move(x, y, column)
            for (x, y), column in zip(placement.boxes, self.column_of, strict=True)
        ]
        edges = [
            self._lead(points, flow)
            for points, flow in zip(placement.edges, self.flows, strict=True)
        ]
        low = max(column.bottom - column.top for column in columns)
        most_out = max(column.leaving for column in columns)
        last = columns[-1]
        return Placement(
            last.left + last.width,
            self.top + low + _LANE * most_out + (2 * _BEND if most_out else 0.0),
            boxes,
            [self._move(x, y, 0) for x, y in placement.inputs],
            [self._move(x, y, len(columns) - 1) for x, y in placement.outputs],
            edges,
        )

    def _move(self, x: float, y: float, number: int) -> Point:
        column = self.columns[number]
        return x + column.shift, y - column.top + self.top

    def _lead(self, points: Curve, flow: int) -> Curve:
        crossed = _cuts_crossed(points, self.cuts)
        if not crossed:
            number = bisect_right(self.cuts, points[1]) if points else 0
            return self._shift(points, number)
        if points[1] > points[-1]:  # runs upwards
            return _reverse(self._lead(_reverse(points), flow))
        result: list[float] = []
        rest = points
        for number in crossed:
            before, rest = _split(rest, self.cuts[number])
            result += self._shift(before, number)[2 if result else 0 :]
            end = self._move(rest[0], rest[1], number + 1)
            lane = self.lanes[number].setdefault(flow, len(self.lanes[number]))
            result += self._gutter((result[-2], result[-1]), end, number, lane)
        result += self._shift(rest, crossed[-1] + 1)[2:]
        return tuple(result)

    def _shift(self, points: Curve, number: int) -> Curve:
        moved: list[float] = []
        for at in range(0, len(points), 2):
            moved += self._move(points[at], points[at + 1], number)
        return tuple(moved)

    def _gutter(self, start: Point, end: Point, number: int, lane: int) -> list[float]:
        """Return the way from the bottom of a column to the top of the next, after the start."""
        (x0, y0), (x1, y1) = start, end
        column, following = self.columns[number], self.columns[number + 1]
        below = self.top + column.bottom - column.top + _BEND + lane * _LANE
        above = self.top - _BEND - lane * _LANE
        middle = following.left - _GUTTER / 2 - lane * _LANE
        return _round_corners(
            [(x0, y0), (x0, below), (middle, below), (middle, above), (x1, above), (x1, y1)]
        )


def _round_corners(places: list[Point]) -> list[float]:
    """Return a way along straight lines with rounded corners as Bézier points, but the first."""
    points: list[float] = []
    x, y = places[0]
    for number in range(1, len(places)):
        to_x, to_y = places[number]
        length = math.hypot(to_x - x, to_y - y)
        if number == len(places) - 1:
            points += _line(x, y, to_x, to_y)
            break
        next_x, next_y = places[number + 1]
        after = math.hypot(next_x - to_x, next_y - to_y)
        bend = min(_BEND, length, after / 2)
        if length <= 0 or after <= 0:
            continue
        before_x = to_x - (to_x - x) * bend / length
        before_y = to_y - (to_y - y) * bend / length
        after_x = to_x + (next_x - to_x) * bend / after
        after_y = to_y + (next_y - to_y) * bend / after
        points += _line(x, y, before_x, before_y)
        points += (to_x, to_y, to_x, to_y, after_x, after_y)
        x, y = after_x, after_y
    return points


def _line(x0: float, y0: float, x1: float, y1: float) -> tuple[float, ...]:
    dx, dy = (x1 - x0) / 3, (y1 - y0) / 3
    return (x0 + dx, y0 + dy, x0 + 2 * dx, y0 + 2 * dy, x1, y1)


def _reverse(points: Curve) -> Curve:
    pairs = list(zip(points[0::2], points[1::2], strict=True))
    return tuple(coordinate for pair in reversed(pairs) for coordinate in pair)


def _split(points: Curve, height: float) -> tuple[Curve, Curve]:
    """Cut a curve in two where it first comes down to a height (de Casteljau)."""
    for start in range(0, len(points) - 7, 6):
        if points[start + 7] < height and start + 8 < len(points):
            continue
        piece = points[start : start + 8]
        low, high = 0.0, 1.0
        for _ in range(24):
            middle = (low + high) / 2
            if _height_at(piece, middle) < height:
                low = middle
            else:
                high = middle
        first, second = _divide(piece, high)
        return points[:start] + first, second + points[start + 8 :]
    return points, points[-2:] * 4


def _height_at(piece: Curve, t: float) -> float:
    s = 1 - t
    return (
        s * s * s * piece[1]
        + 3 * s * s * t * piece[3]
        + 3 * s * t * t * piece[5]
        + t * t * t * piece[7]
    )


def _divide(piece: Curve, t: float) -> tuple[Curve, Curve]:
    places = list(zip(piece[0::2], piece[1::2], strict=True))
    first, second = [places[0]], [places[-1]]
    while len(places) > 1:
        places = [
            (ax + (bx - ax) * t, ay + (by - ay) * t) for (ax, ay), (bx, by) in pairwise(places)
        ]
        first.append(places[0])
        second.insert(0, places[-1])
    return (
        tuple(coordinate for place in first for coordinate in place),
        tuple(coordinate for place in second for coordinate in place),
    )
