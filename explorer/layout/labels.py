"""Labels beside edges: placed after everything else, only where there is room."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import pairwise

from netloupe.explorer.model import Value

from .scene import Scene, SceneEdge

HEIGHT = 14.0
_PADDING = 5.0
_CELL = 120.0
_COARSER = 8.0
_CROWDED = 400
_PLACES = (0.5, 0.35, 0.65, 0.2, 0.8)


@dataclass(frozen=True, slots=True)
class _Area:
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

    def __init__(self) -> None:
        self._cells: dict[tuple[float, int, int], list[_Area]] = {}
        self._sizes: set[float] = set()

    def add(self, area: _Area) -> None:
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


def place_labels(scene: Scene, label_of: Callable[[Value], tuple[str, float]]) -> None:
    """Write types beside edges where they fit and say something new.

    An edge has a label where its type differs from those of the edges that enter its source,
    once for each value and level, and where the label covers neither boxes nor other edges.
    Edges at inputs and outputs of the graph have none: the type stands on the box.
    """
    grid = _Grid()
    for box in scene.boxes:
        if box.item.is_open:
            # an open box is in the way with its title and its walls
            right, bottom = box.x + box.width, box.y + box.height
            grid.add(_Area(box.x, box.y, min(right, box.x + 220), min(bottom, box.y + 26)))
            for area in (
                _Area(box.x, box.y - 2, right, box.y + 2),
                _Area(box.x, bottom - 2, right, bottom + 2),
                _Area(box.x - 2, box.y, box.x + 2, bottom),
                _Area(right - 2, box.y, right + 2, bottom),
            ):
                grid.add(area)
        else:
            grid.add(_Area(box.x, box.y, box.x + box.width, box.y + box.height))
    curves = [sample_curve(edge.points) for edge in scene.edges]
    for number, curve in enumerate(curves):
        _block_curve(grid, curve, number)
    entering: dict[int, set[str]] = {}
    texts: dict[Value, tuple[str, float]] = {}
    for edge in scene.edges:
        if edge.value not in texts:
            texts[edge.value] = label_of(edge.value)
        entering.setdefault(edge.target, set()).add(texts[edge.value][0])
    done: set[tuple[int, str]] = set()
    for number, (edge, curve) in enumerate(zip(scene.edges, curves, strict=True)):
        text, width = texts[edge.value]
        if not text or not _is_news(scene, edge, text, entering):
            continue
        level = scene.boxes[edge.source].parent if edge.source >= 0 else -1
        if (level, edge.path) in done:
            continue
        for place in _PLACES:
            x, y = curve[min(int(place * len(curve)), len(curve) - 1)]
            half = width / 2 + _PADDING
            area = _Area(x - half, y - HEIGHT / 2, x + half, y + HEIGHT / 2)
            if grid.is_free(area, number):
                edge.label, edge.label_x, edge.label_y = text, round(x, 2), round(y, 2)
                grid.add(area)
                done.add((level, edge.path))
                break


def _is_news(scene: Scene, edge: SceneEdge, text: str, entering: dict[int, set[str]]) -> bool:
    if edge.source < 0 or edge.kind == "control":
        return False
    source = scene.boxes[edge.source].item
    if source.kind == "input" or source.is_open:
        return False
    if edge.target >= 0 and scene.boxes[edge.target].item.kind == "output":
        return False
    return text not in entering.get(edge.source, ())


def _block_curve(grid: _Grid, curve: list[tuple[float, float]], number: int) -> None:
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
