"""Labels beside edges: placed after everything else, only where there is room."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterable
from itertools import pairwise
from typing import NamedTuple

from netloupe.explorer.model import Value
from netloupe.explorer.view import Item

from .scene import Inside, LayerEdge

HEIGHT = 14.0
_PADDING = 5.0
_CELL = 120.0
_COARSER = 8.0
_CROWDED = 400
_PLACES = (0.5, 0.35, 0.65, 0.2, 0.8)


#: what is written, its width in pixels, and a number that edges of one value have in common
Text = tuple[str, float, int]
_NO_LABEL: Text = ("", 0.0, -1)


class _Area(NamedTuple):
    left: float
    top: float
    right: float
    bottom: float
    #: number of the edge that runs here, -1 for boxes and labels
    edge: int = -1

    def meets(self, other: _Area) -> bool:
        return (
            self.left < other.right
            and other.left < self.right
            and self.top < other.bottom
            and other.top < self.bottom
        )


class _Grid:
    """Areas that are taken, found by the cells of grids that they touch.

    The longer an area, the coarser the grid that it is kept in, so that each touches few cells
    however large the picture is.
    """

    def __init__(self, inside: Inside, curves: list[list[tuple[float, float]]]) -> None:
        #: what is asked for lies along these curves: only what is near them matters
        self._axis = 1 if inside.layer.direction == "TB" else 0
        self._bands = sorted(
            {
                int(_place_on(curve, place)[self._axis] // _CELL) + step
                for curve in curves
                if curve
                for place in _PLACES
                for step in (-1, 0, 1)
            }
        )
        self._cells: dict[tuple[float, int, int], list[_Area]] = {}
        self._sizes: set[float] = set()

    def matters(self, points: tuple[float, ...]) -> bool:
        """Return whether a curve comes near to anything that is asked for."""
        along = points[self._axis :: 2]
        first = bisect_left(self._bands, min(along) // _CELL)
        return first < len(self._bands) and self._bands[first] <= max(along) // _CELL

    def add(self, area: _Area) -> None:
        if not self.matters(area[:4]):
            return
        size = _CELL
        while max(area.right - area.left, area.bottom - area.top) > _COARSER * size:
            size *= _COARSER
        self._sizes.add(size)
        for cell in _cells_of(area, size):
            self._cells.setdefault(cell, []).append(area)

    def is_free(self, area: _Area, edge: int) -> bool:
        """Return whether nothing but one edge runs through an area; no crowded place is free."""
        for size in self._sizes:
            for cell in _cells_of(area, size):
                taken = self._cells.get(cell, ())
                if len(taken) > _CROWDED:
                    return False
                if any(other.edge != edge and area.meets(other) for other in taken):
                    return False
        return True


def _cells_of(area: _Area, size: float) -> Iterable[tuple[float, int, int]]:
    for column in range(int(area.left // size), int(area.right // size) + 1):
        for row in range(int(area.top // size), int(area.bottom // size) + 1):
            yield size, column, row


def place_labels(
    inside: Inside, opened: tuple[bool, ...], texts: tuple[Text, ...]
) -> list[tuple[float, float] | None]:
    """Find room beside the edges of one layer for their labels.

    Parameters
    ----------
    inside
        The layer's places.
    opened
        For each box whether it is open: no label is placed on any box.
    texts
        As :func:`choose_texts` gives them.

    Returns
    -------
    list of tuple or None
        The labels' centres; None where there is no room.
    """
    curves = [
        sample_curve(points) if points and text else []
        for points, (text, _, _) in zip(inside.curves, texts, strict=True)
    ]
    grid = _Grid(inside, curves)
    # an open item is in the way with its title and its walls
    right, bottom = inside.width, inside.height
    for area in (
        _Area(0.0, 0.0, min(right, 220.0), min(bottom, 26.0)),
        _Area(0.0, -2.0, right, 2.0),
        _Area(0.0, bottom - 2.0, right, bottom + 2.0),
        _Area(-2.0, 0.0, 2.0, bottom),
        _Area(right - 2.0, 0.0, right + 2.0, bottom),
    ):
        grid.add(area)
    for (x, y, width, height), is_open in zip(inside.boxes, opened, strict=True):
        # the walls of an open box are drawn broader
        broad = 2.0 if is_open else 0.0
        grid.add(_Area(x - broad, y - broad, x + width + broad, y + height + broad))
    for number, points in enumerate(inside.curves):
        if points and grid.matters(points):
            _block_curve(grid, curves[number] or sample_curve(points), number)
    found: list[tuple[float, float] | None] = []
    done: set[int] = set()
    for number, (curve, (text, width, flow)) in enumerate(zip(curves, texts, strict=True)):
        place = None
        if text and curve and flow not in done:
            place = _find_room(grid, curve, width, number)
            if place is not None:
                done.add(flow)
        found.append(place)
    return found


def _find_room(
    grid: _Grid, curve: list[tuple[float, float]], width: float, number: int
) -> tuple[float, float] | None:
    half = width / 2 + _PADDING
    for place in _PLACES:
        x, y = _place_on(curve, place)
        area = _Area(x - half, y - HEIGHT / 2, x + half, y + HEIGHT / 2)
        if grid.is_free(area, number):
            grid.add(area)
            return round(x, 2), round(y, 2)
    return None


def _place_on(curve: list[tuple[float, float]], place: float) -> tuple[float, float]:
    return curve[min(int(place * len(curve)), len(curve) - 1)]


def choose_texts(
    edges: list[LayerEdge], children: list[Item], label_of: Callable[[Value], tuple[str, float]]
) -> tuple[Text, ...]:
    """Return the text of each edge's label where it says something new.

    An edge has a label where its type differs from those of the edges that enter its source,
    and only one of the edges of a value has it. Edges at inputs and outputs of the graph have
    none: the type stands on the box.
    """
    texts = [label_of(edge.value) for edge in edges]
    entering: dict[int, set[str]] = {}
    for edge, (text, _) in zip(edges, texts, strict=True):
        entering.setdefault(edge.target, set()).add(text)
    flows: dict[str, int] = {}
    chosen = []
    for edge, (text, width) in zip(edges, texts, strict=True):
        if text and _is_news(edge, children, text, entering):
            chosen.append((text, width, flows.setdefault(edge.path, len(flows))))
        else:
            chosen.append(_NO_LABEL)
    return tuple(chosen)


def _is_news(
    edge: LayerEdge, children: list[Item], text: str, entering: dict[int, set[str]]
) -> bool:
    if edge.source < 0 or edge.kind == "control":
        return False
    source = children[edge.source]
    if source.kind == "input" or source.is_open:
        return False
    if edge.target >= 0 and children[edge.target].kind == "output":
        return False
    return text not in entering.get(edge.source, ())


def _block_curve(grid: _Grid, curve: list[tuple[float, float]], number: int) -> None:
    if curve and all(x == curve[0][0] for x, _ in curve):
        curve = [curve[0], curve[-1]]  # straight down: one area will do
    for (x0, y0), (x1, y1) in pairwise(curve):
        grid.add(_Area(min(x0, x1) - 1, min(y0, y1) - 1, max(x0, x1) + 1, max(y0, y1) + 1, number))


def sample_curve(points: tuple[float, ...], steps: int = 8) -> list[tuple[float, float]]:
    """Return points on a Bézier curve, ``steps`` for each of its pieces."""
    curve = [(points[0], points[1])]
    for start in range(0, len(points) - 7, 6):
        x0, y0, x1, y1, x2, y2, x3, y3 = points[start : start + 8]
        for step in range(1, steps + 1):
            t = step / steps
            s = 1 - t
            a, b, c, d = s * s * s, 3 * s * s * t, 3 * s * t * t, t * t * t
            curve.append((a * x0 + b * x1 + c * x2 + d * x3, a * y0 + b * y1 + c * y2 + d * y3))
    return curve
