"""A picture in columns that are read one after the other, as those of a newspaper (LR: rows).

What is composed is cut at some of its cuts and each piece moved to its column. The stream that
passes a cut is led on, from the foot of one column around to the head of the next; open groups
that are cut go on there with another frame.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple, Protocol

import numpy as np

from netloupe.explorer.view import Item

from .arrange import END, MARGIN
from .bends import round_corners, split_curve
from .placement import Curve, Floats, Integers, Point
from .scene import Flat, Scene, SceneBox, SceneEdge, ScenePort
from .titles import SIDE, Title

if TYPE_CHECKING:
    from .cuts import Cut, Drawn

#: half the height of a text beside an edge
_HALF_TEXT = 9.0
#: between columns, where a stream is led up
_GUTTER = 56.0
#: from what is in a column to the way below it or above it, and the radius of its corners
_LEAD = 20.0
_BEND = 18.0
#: above what goes on in a column: the title of each group that goes on
CONTINUED = 24.0
#: below what stands last in a column, where a group goes on in the next one
FOOT = 14.0
#: the least width of a part of a group
_LEAST_WIDTH = 130.0
#: ends of edges are so near to the borders where they end
_NEAR = 0.5
#: room for the title of a group that goes on
_MOST_TITLE = 200.0


class Titles(Protocol):
    """What the columns ask of whoever knows faces."""

    #: width of what stands behind the title of a group that goes on in another column
    continued_width: float

    def title(self, item: Item) -> Title:
        """Return the room that the title of an open group takes."""
        ...

    def label(self, text: str) -> tuple[str, float]:
        """Return a text as it stands beside an edge, and its width in pixels."""
        ...


class _Part(NamedTuple):
    """An open group, or its part in one column: left, top, right, bottom where it was."""

    left: float
    top: float
    right: float
    bottom: float
    enters: bool
    leaves: bool


class Columns:
    """A picture cut at some places, measured; drawn only where it is asked for.

    Parameters
    ----------
    scene
        The picture in one column.
    drawn
        The same as arrays, running downwards.
    cuts
        Where it is cut.
    titles
        Gives the room of titles.
    """

    def __init__(self, scene: Scene, drawn: Drawn, cuts: list[Cut], titles: Titles) -> None:
        self._original = scene
        self._drawn = drawn
        self._cuts = cuts
        self._titles = titles
        self._heights = np.array([cut.y for cut in cuts])
        #: the column of each box, for open groups where they begin and where they end
        tops, bottoms = drawn.areas[:, 1] + _NEAR, drawn.areas[:, 3] - _NEAR
        self._firsts: Integers = np.searchsorted(self._heights, tops, "right")
        self._lasts = np.where(
            drawn.is_open, np.searchsorted(self._heights, bottoms, "left"), self._firsts
        )
        self._parts: dict[tuple[int, int], _Part] = {}
        self._measure_parts()
        self._measure_columns()

    @property
    def count(self) -> int:
        """Number of columns."""
        return len(self._cuts) + 1

    @property
    def evenness(self) -> float:
        """Length of the shortest column, as a share of the longest one's."""
        lengths = self._ends - self._top
        return float(lengths.min() / lengths.max()) if self._cuts else 1.0

    @property
    def size(self) -> tuple[float, float]:
        """Width and height of the picture."""
        if not self._cuts:
            return self._original.width, self._original.height
        return self._size if self._original.direction == "TB" else self._size[::-1]

    # measuring

    def _bounds(self, column: int) -> tuple[float, float]:
        begin = self._heights[column - 1] if column else -np.inf
        end = self._heights[column] if column < len(self._cuts) else np.inf
        return float(begin), float(end)

    @cached_property
    def _pieces(self) -> tuple[Floats, Integers]:
        """Left, top, right and bottom of each piece of the edges, and what it is inside of."""
        curves = self._drawn.curves
        controls = curves.list_controls()
        extents = np.concatenate([controls.min(axis=1), controls.max(axis=1)], axis=1)
        return extents, np.repeat(self._drawn.holders, curves.piece_counts)

    def _measure_parts(self) -> None:
        """Find how broad the parts of groups that are cut have to be, the innermost first."""
        drawn = self._drawn
        is_cut = drawn.is_open & (self._lasts > self._firsts)
        depths = np.array([box.depth for box in drawn.boxes], np.int64)
        found = np.flatnonzero(is_cut)
        for number in found[np.argsort(-depths[found], kind="stable")].tolist():
            left, top, right, bottom = drawn.areas[number].tolist()
            first, last = int(self._firsts[number]), int(self._lasts[number])
            title = self._titles.title(drawn.boxes[number].item)
            before, after = (SIDE, SIDE) if self._is_down else (title.band, END)
            for column in range(first, last + 1):
                low, high = self._find_extent(column, number)
                begin, end = self._bounds(column)
                passing = self._find_passing(number, first=column == first, last=column == last)
                low, high = min([low, *passing]), max([high, *passing])
                low, high = max(left, low - before), min(right, high + after)
                if column == first:
                    low = left
                    if self._is_down:
                        high = max(high, left + title.width, *(at + title.right for at in passing))
                elif self._is_down:
                    wanted = min(title.left + self._titles.continued_width, _MOST_TITLE)
                    low = max(left, min(low, self._passing[column - 1] - wanted))
                high = max(high, low + _LEAST_WIDTH)
                if high > right:
                    low, high = max(left, low - (high - right)), right
                self._parts[number, column] = _Part(
                    low,
                    top if column == first else begin,
                    high,
                    bottom if column == last else end,
                    column > first,
                    column < last,
                )

    def _find_passing(self, number: int, *, first: bool, last: bool) -> list[float]:
        """Return where along its border values pass the first or the last part of a group."""
        top, bottom = self._drawn.areas[number, 1::2].tolist()
        found = []
        for x, y in self._drawn.border_ends.get(number, ()):
            is_above = abs(y - top) <= abs(y - bottom)
            if (first and is_above) or (last and not is_above):
                found.append(x)
        return found

    def _find_extent(self, column: int, holder: int) -> tuple[float, float]:
        """Return how far what is directly in an open group reaches in a column."""
        drawn = self._drawn
        begin, end = self._bounds(column)
        here = (self._firsts <= column) & (self._lasts >= column) & (drawn.parents == holder)
        extents, holders = self._pieces
        pieces = (extents[:, 3] >= begin) & (extents[:, 1] <= end) & (holders == holder)
        whole = here & (self._firsts == self._lasts)
        lows = [*drawn.areas[whole, 0].tolist(), *extents[pieces, 0].tolist()]
        highs = [*drawn.areas[whole, 2].tolist(), *extents[pieces, 2].tolist()]
        for number in np.flatnonzero(here & ~whole).tolist():
            part = self._parts[number, column]
            lows.append(part.left)
            highs.append(part.right)
        return min(lows, default=0.0), max(highs, default=0.0)

    def _measure_columns(self) -> None:
        """Find by how much what is in each column is moved, and how large the picture is."""
        lows, highs, bottoms = self._find_contents()
        has_streams = any(cut.stream >= 0 for cut in self._cuts)
        self._top = MARGIN + (_LEAD if has_streams else 0.0)
        depths = [cut.depth for cut in self._cuts]
        head = CONTINUED if self._is_down else FOOT
        heads = head * np.array([0, *depths], np.float64)
        begins = np.array([MARGIN, *self._heights])
        down = self._top + heads - begins
        feet = np.array([*(FOOT if depth else 0.0 for depth in depths), 0.0])
        self._ends = bottoms + down + feet
        widths = highs - lows + _GUTTER
        self._lefts = MARGIN + np.cumsum(widths) - widths
        self._moves = np.stack([self._lefts - lows, down], axis=1)
        leads = np.array([*(_LEAD if cut.stream >= 0 else 0.0 for cut in self._cuts), 0.0])
        self._size = (
            float(MARGIN + widths.sum() - _GUTTER + MARGIN),
            float((self._ends + leads).max() + MARGIN),
        )

    def _find_contents(self) -> tuple[Floats, Floats, Floats]:
        """Return how far to the left, to the right and down each column reaches."""
        drawn = self._drawn
        lows, highs = np.full(self.count, np.inf), np.full(self.count, -np.inf)
        bottoms = np.array([0.0, *self._heights])
        whole = self._firsts == self._lasts
        columns, areas = self._firsts[whole], drawn.areas[whole]
        np.minimum.at(lows, columns, areas[:, 0])
        np.maximum.at(highs, columns, areas[:, 2])
        np.maximum.at(bottoms, columns, areas[:, 3])
        extents, _ = self._pieces
        upper = np.searchsorted(self._heights, extents[:, 1], "right")
        lower = np.searchsorted(self._heights, extents[:, 3], "right")
        for places in (upper, lower):
            np.minimum.at(lows, places, extents[:, 0])
            np.maximum.at(highs, places, extents[:, 2])
        inside = upper == lower
        np.maximum.at(bottoms, upper[inside], extents[inside, 3])
        for edge in drawn.edges:
            if edge.label:
                half = self._titles.label(edge.label)[1] / 2 if self._is_down else _HALF_TEXT
                column = int(np.searchsorted(self._heights, edge.label_y, "right"))
                lows[column] = min(lows[column], edge.label_x - half)
                highs[column] = max(highs[column], edge.label_x + half)
        for (_, column), part in self._parts.items():
            lows[column] = min(lows[column], part.left)
            highs[column] = max(highs[column], part.right)
            if not part.leaves:
                bottoms[column] = max(bottoms[column], part.bottom)
        is_empty = ~np.isfinite(lows)
        lows[is_empty] = highs[is_empty] = 0.0
        return lows, highs, bottoms

    @property
    def _is_down(self) -> bool:
        return self._original.direction == "TB"

    # drawing

    def draw(self) -> Scene:
        """Return the picture."""
        if not self._cuts:
            return self._original
        boxes, number_of = self._place_boxes()
        edges = self._place_edges(number_of)
        ports = self._place_ports(number_of)
        if not self._is_down:
            boxes, edges = [*map(turn_box, boxes)], [*map(turn_edge, edges)]
            ports = [port._replace(x=port.y, y=port.x) for port in ports]
        width, height = self.size
        flat = Flat(tuple(boxes), tuple(edges), tuple(ports))
        return replace(self._original, width=width, height=height, root=None, by_hand=flat)

    def _place_boxes(self) -> tuple[list[SceneBox], dict[tuple[int, int], int]]:
        """Return boxes and parts of groups, and the numbers of each by its number and column."""
        boxes: list[SceneBox] = []
        number_of: dict[tuple[int, int], int] = {}
        for number, box in enumerate(self._drawn.boxes):
            for column in range(int(self._firsts[number]), int(self._lasts[number]) + 1):
                number_of[number, column] = len(boxes)
                parent = number_of[box.parent, column] if box.parent >= 0 else -1
                part = self._parts.get((number, column))
                if part is None:
                    x, y = self._moves[column].tolist()
                    moved = box._replace(x=round(box.x + x, 2), y=round(box.y + y, 2))
                else:
                    moved = self._place_part(box, part, column)
                boxes.append(moved._replace(parent=parent))
        return boxes, number_of

    def _place_part(self, box: SceneBox, part: _Part, column: int) -> SceneBox:
        x, y = self._moves[column].tolist()
        left, top, bottom = part.left + x, part.top + y, part.bottom + y
        if part.enters:
            step = CONTINUED if self._is_down else FOOT
            top = self._top + step * box.depth
        if part.leaves:
            bottom = float(self._ends[column])
        enters = self._find_stream(column - 1, part) if part.enters else None
        leaves = self._find_stream(column, part) if part.leaves else None
        return box._replace(
            x=round(left, 2),
            y=round(top, 2),
            width=round(part.right - part.left, 2),
            height=round(bottom - top, 2),
            enters=enters,
            leaves=leaves,
        )

    def _find_stream(self, number: int, part: _Part) -> float:
        """Return where along the border of a group its stream passes a cut."""
        return round(self._passing[number] - part.left, 2)

    @cached_property
    def _led(self) -> list[list[int]]:
        """The edges of the stream that go on beyond each cut."""
        drawn = self._drawn
        ends = drawn.heights[:, 1]
        return [
            np.flatnonzero((drawn.streams == cut.stream) & (ends > cut.y)).tolist()
            for cut in self._cuts
        ]

    @cached_property
    def _passing(self) -> list[float]:
        """Where across the flow the stream passes each cut; 0 where there is none."""
        edges = self._drawn.edges
        return [
            split_at(edges[led[0]].points, cut.y)[1][0] if led else 0.0
            for cut, led in zip(self._cuts, self._led, strict=True)
        ]

    def _place_edges(self, number_of: dict[tuple[int, int], int]) -> list[SceneEdge]:
        drawn = self._drawn
        led: dict[int, list[int]] = {}
        for cut, passing in enumerate(self._led):
            for number in passing:
                led.setdefault(number, []).append(cut)
        columns = np.searchsorted(self._heights, drawn.heights.mean(axis=1), "right")
        edges = []
        for number, edge in enumerate(drawn.edges):
            crossed = led.get(number)
            first = last = int(columns[number])
            if crossed:
                first, last = crossed[0], crossed[-1] + 1
                points = self._lead(number, crossed)
            else:
                points = self._move(edge.points, first)
            x, y = edge.label_x, edge.label_y
            if edge.label:
                place = int(np.searchsorted(self._heights, y, "right"))
                x, y = self._move((x, y), min(max(place, first), last))
            source = self._end_at(edge.source, first, number_of)
            target = self._end_at(edge.target, last, number_of)
            edges.append(
                edge._replace(points=points, source=source, target=target, label_x=x, label_y=y)
            )
        return edges

    def _end_at(self, box: int, column: int, number_of: dict[tuple[int, int], int]) -> int:
        """Return the number of the box, or the part of it, that an edge ends at in a column."""
        if box < 0:
            return -1
        column = min(max(column, int(self._firsts[box])), int(self._lasts[box]))
        return number_of[box, column]

    def _place_ports(self, number_of: dict[tuple[int, int], int]) -> list[ScenePort]:
        ports = []
        original = self._original.ports
        for port in original:
            x, y = (port.x, port.y) if self._is_down else (port.y, port.x)
            top, bottom = self._drawn.areas[port.box, 1::2].tolist()
            is_first = abs(y - top) <= abs(y - bottom)
            column = int((self._firsts if is_first else self._lasts)[port.box])
            x, y = self._move((x, y), column)
            ports.append(port._replace(x=x, y=y, box=number_of[port.box, column]))
        return ports

    def _move(self, points: Curve, column: int) -> Curve:
        x, y = self._moves[column].tolist()
        moved = list(points)
        moved[0::2] = [round(coordinate + x, 2) for coordinate in points[0::2]]
        moved[1::2] = [round(coordinate + y, 2) for coordinate in points[1::2]]
        return tuple(moved)

    def _lead(self, edge: int, crossed: list[int]) -> Curve:
        """Return the way of an edge from column to column.

        Edges that leave one place run together to the next column: one of them is drawn there,
        and the others leave it where it comes in.
        """
        result: list[float] = []
        rest = self._drawn.edges[edge].points
        for number in crossed:
            before, rest = split_at(rest, self._cuts[number].y)
            end = self._move(rest[:2], number + 1)
            if not before and self._led[number][0] != edge:
                result = [*end]
                continue
            start = self._move(before or rest[:2], number)
            result += start[2:] if result else start
            result += self._around((result[-2], result[-1]), (end[0], end[1]), number)
        result += self._move(rest, crossed[-1] + 1)[2:]
        return tuple(round(coordinate, 2) for coordinate in result)

    def _around(self, start: Point, end: Point, number: int) -> list[float]:
        """Return the way from the foot of a column to the head of the next, after the start."""
        (x0, y0), (x1, y1) = start, end
        below, above = float(self._ends[number]) + _LEAD, self._top - _LEAD
        middle = float(self._lefts[number + 1]) - _GUTTER / 2
        corners = [(x0, y0), (x0, below), (middle, below), (middle, above), (x1, above), (x1, y1)]
        return round_corners(corners, _BEND)


def split_at(points: Curve, height: float) -> tuple[Curve, Curve]:
    """Cut a curve at a height; what is before is empty where it begins there."""
    if points[1] >= height - 0.01:
        return (), points
    return split_curve(points, height)


def turn_box(box: SceneBox) -> SceneBox:
    """Return a box of a picture from left to right as in one downwards, or back."""
    return box._replace(x=box.y, y=box.x, width=box.height, height=box.width)


def turn_edge(edge: SceneEdge) -> SceneEdge:
    """Return an edge of a picture from left to right as in one downwards, or back."""
    points = edge.points
    turned = tuple(points[place ^ 1] for place in range(len(points)))
    return edge._replace(points=turned, label_x=edge.label_y, label_y=edge.label_x)
