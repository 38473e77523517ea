"""What nobody lets stand in a figure.

Texts over texts or boxes, lines through texts, boxes beneath titles, ends of lines where nothing
is, zoom wedges over what they do not join: these are found by geometry alone. And inputs that the
model has not.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations
from typing import NamedTuple

import numpy as np

from netloupe.explorer.layout import Scene, SceneBox, SceneEdge
from netloupe.explorer.layout.placement import Curves, sample_pieces
from netloupe.explorer.layout.scene import Zoom
from netloupe.explorer.model import Value
from netloupe.explorer.render.labels import Labels
from netloupe.explorer.render.picture import Picture
from netloupe.explorer.render.sizes import TEXT_STYLES
from netloupe.explorer.render.text import measure_text
from tests.crossings import list_titles

#: texts and boxes may touch so much
_TOUCH = 2.0
#: an end of a line may be so far from what it belongs to
_END = 1.5
#: a line of text is so high
_TEXT_HEIGHT = 11.0
_SAMPLES = 24
#: rows of a wedge that are looked at
_ROWS = 40


class Area(NamedTuple):
    """A rectangle."""

    left: float
    top: float
    right: float
    bottom: float

    def meets(self, other: Area) -> bool:
        """Return whether it overlaps another one by more than a touch."""
        return (
            min(self.right, other.right) - max(self.left, other.left) > _TOUCH
            and min(self.bottom, other.bottom) - max(self.top, other.top) > _TOUCH
        )


def find_figure_faults(picture: Picture) -> list[str]:
    """Return a line for everything that a designer would not let stand."""
    scene = picture.scene
    titles = [*_list_titles(scene, picture.labels)]
    labels = [*_list_labels(scene)]
    return [
        *_find_covered(scene, titles, labels),
        *_find_struck_labels(scene, labels),
        *_find_loose_ends(scene),
        *_find_wedges(scene),
        *_find_false_inputs(scene),
    ]


def _area(box: SceneBox) -> Area:
    return Area(box.x, box.y, box.x + box.width, box.y + box.height)


def _list_titles(scene: Scene, labels: Labels) -> Iterator[tuple[int, Area]]:
    """Yield the parts of the titles of open groups, each with the number of its group."""
    for number, box in enumerate(scene.boxes):
        if box.item.is_open:
            for left, right, height in list_titles(box, labels, scene.direction):
                yield number, Area(box.x + left, box.y, box.x + right, box.y + height)


def _list_labels(scene: Scene) -> Iterator[tuple[SceneEdge, Area]]:
    """Yield the areas of the texts beside edges."""
    for edge in scene.edges:
        if edge.label:
            style = "text" if edge.kind == "loop" else "label"
            half = measure_text(edge.label, *TEXT_STYLES[style]) / 2
            x, y = edge.label_x, edge.label_y
            yield edge, Area(x - half, y - _TEXT_HEIGHT / 2, x + half, y + _TEXT_HEIGHT / 2)


def _find_covered(
    scene: Scene,
    titles: Sequence[tuple[int, Area]],
    labels: Sequence[tuple[SceneEdge, Area]],
) -> Iterator[str]:
    """Yield boxes and labels over titles, and labels over boxes and other labels."""
    closed = [box for box in scene.boxes if not box.item.is_open]
    for box in closed:
        for number, area in titles:
            if _area(box).meets(area):
                yield f"{box.item.key} lies over the title of {scene.boxes[number].item.path}"
    for edge, text in labels:
        for number, area in titles:
            if text.meets(area):
                yield f"the text {edge.label!r} lies over the title of {_name(scene, number)}"
        for box in closed:
            if text.meets(_area(box)):
                yield f"the text {edge.label!r} lies over {box.item.key}"
    for (one, first), (other, second) in combinations(labels, 2):
        if first.meets(second):
            yield f"the texts {one.label!r} and {other.label!r} lie one over the other"


def _find_struck_labels(scene: Scene, labels: Sequence[tuple[SceneEdge, Area]]) -> Iterator[str]:
    """Yield sizes that a line runs through; numbers of values stand on their line."""
    lines = [_sample(edge) for edge in scene.edges]
    for edge, text in labels:
        for other, points in zip(scene.edges, lines, strict=True):
            are_one = (other.source, other.target) == (edge.source, edge.target)
            if are_one or other.path in edge.paths or edge.path in other.paths:
                continue
            x, y = points.T
            inside = (x > text.left + 1) & (x < text.right - 1)
            if np.any(inside & (y > text.top + 1) & (y < text.bottom - 1)):
                yield f"a line of {other.path} runs through the text {edge.label!r}"


def _sample(edge: SceneEdge) -> np.ndarray:
    controls = Curves.of([edge.points]).list_controls()
    return sample_pieces(controls, _SAMPLES).reshape(-1, 2)


def _find_loose_ends(scene: Scene) -> Iterator[str]:
    """Yield lines that end at an open group where it has no port, or where nothing is.

    What nothing shown inside takes, such as the condition of an If, ends there in an arrow.
    """
    ports: dict[int, list[tuple[float, float]]] = {}
    for port in scene.ports:
        ports.setdefault(port.box, []).append((port.x, port.y))
    joints = {
        (x, y)
        for edge in scene.edges
        for x, y in zip(edge.points[6:-2:6], edge.points[7:-2:6], strict=True)
    }
    for edge in scene.edges:
        if edge.kind == "loop" or edge.source == edge.target:
            continue
        for index, (x, y) in ((edge.source, edge.points[:2]), (edge.target, edge.points[-2:])):
            if index < 0 or (x, y) in joints:
                continue
            box = scene.boxes[index]
            if box.item.is_open and index == edge.target and edge.arrow:
                continue
            if box.item.is_open:
                near = any(abs(a - x) + abs(b - y) < _END for a, b in ports.get(index, ()))
                if not near:
                    yield f"{edge.path} ends at {box.item.path} without a port"
            elif box.width != box.height and (away := _leave(_area(box), x, y)) > _END:
                yield f"{edge.path} ends in the air, {away:.0f} from {box.item.key}"


def _leave(area: Area, x: float, y: float) -> float:
    """Return how far a place is from the border of an area."""
    aside = max(area.left - x, x - area.right, 0.0) + max(area.top - y, y - area.bottom, 0.0)
    inside = min(x - area.left, area.right - x, y - area.top, area.bottom - y)
    return aside if aside else max(inside, 0.0)


def _find_false_inputs(scene: Scene) -> Iterator[str]:
    """Yield a line for each input drawn that a node of the same graph gives."""
    for box in scene.boxes:
        value = box.item.element
        if box.item.kind == "input" and isinstance(value, Value) and value.producer is not None:
            yield f"{box.item.key} is drawn as an input, and {value.producer.path} gives it"


def _find_wedges(scene: Scene) -> Iterator[str]:
    """Yield boxes that stand in the wedge between a closed box and the frame of its inside."""
    for zoom in scene.zooms:
        for box in scene.boxes:
            if any(_covers(zoom, left, *_area(box)) for left in (0.25, 0.5, 0.75)):
                around = box.item.is_open and _holds(_area(box), zoom)
                if not around:
                    yield f"a zoom lies over {box.item.key}"


def _covers(zoom: Zoom, share: float, left: float, top: float, right: float, bottom: float) -> bool:
    """Return whether a wedge covers the inside of a box at some share of its length."""
    if zoom.is_turned:
        left, top, right, bottom = top, left, bottom, right
    near, far = sorted((zoom.near, zoom.far))
    low, high = max(left, near) + _TOUCH, min(right, far) - _TOUCH
    if low >= high:
        return False
    x = low + share * (high - low)
    along = (x - zoom.bend) / (zoom.far - zoom.bend) if zoom.far != zoom.bend else 1.0
    along = min(max(along, 0.0), 1.0)
    upper = zoom.near_top + along * (zoom.far_top - zoom.near_top)
    lower = zoom.near_bottom + along * (zoom.far_bottom - zoom.near_bottom)
    return min(lower, bottom) - max(upper, top) > 2 * _TOUCH


def _holds(area: Area, zoom: Zoom) -> bool:
    """Return whether the closed box at which a wedge begins is inside an area."""
    x, y = (zoom.near, zoom.near_top) if not zoom.is_turned else (zoom.near_top, zoom.near)
    return area.left - 1 <= x <= area.right + 1 and area.top - 1 <= y <= area.bottom + 1


def _name(scene: Scene, index: int) -> str:
    return scene.boxes[index].item.key if index >= 0 else "outside"
