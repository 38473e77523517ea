"""Edges that run where something is to be read: through boxes or through titles of open groups."""

from __future__ import annotations

import numpy as np

from netloupe.explorer.layout import Scene, SceneBox
from netloupe.explorer.layout.placement import Curves, sample_pieces
from netloupe.explorer.options import Direction
from netloupe.explorer.render.labels import Labels
from netloupe.explorer.render.marks import TextMark, mark_frame
from netloupe.explorer.render.text import measure_text
from netloupe.explorer.render.theme import load_theme

TITLE_HEIGHT = 22.0
#: an edge may touch so much of a box or a title, in pixels
_TOUCH = 3.0
_SAMPLES = 24


def find_crossings(scene: Scene, labels: Labels) -> list[str]:
    """Return a line for every box that an edge of another runs through, and every such title."""
    boxes = scene.boxes
    parents = np.array([box.parent for box in boxes], np.int64)
    frames = np.array([(b.x, b.y, b.x + b.width, b.y + b.height) for b in boxes]).reshape(-1, 4)
    is_open = np.array([box.item.is_open for box in boxes], bool)
    owners, areas = [], []
    for index in np.flatnonzero(is_open).tolist():
        for left, right, height in list_titles(boxes[index], labels, scene.direction):
            x, y = boxes[index].x, boxes[index].y
            owners.append(index)
            areas.append((x + left, y, x + right, y + height))
    titles, titled = np.array(areas).reshape(-1, 4), np.array(owners, np.int64)
    found: dict[str, None] = {}
    for edge in scene.edges:
        curves = Curves.of([edge.points])
        points = sample_pieces(curves.list_controls(), _SAMPLES).reshape(-1, 2)
        ends = (edge.source, edge.target)
        level = _find_level(parents, *ends)
        beside = (parents == level) & ~np.isin(np.arange(len(boxes)), ends)
        name = f"{edge.path} from {_name(scene, edge.source)} to {_name(scene, edge.target)}"
        for index in np.flatnonzero(beside & _hold(frames, points)):
            found[f"{name} runs through {boxes[index].item.key}"] = None
        for index in titled[(titled == level) & _hold(titles, points)]:
            found[f"{name} runs through the title of {boxes[index].item.key}"] = None
    return list(found)


def list_titles(
    box: SceneBox, labels: Labels, direction: Direction
) -> list[tuple[float, float, float]]:
    """Return where the parts of an open group's title are, from the group's upper left corner.

    Of each from where to where it reaches, and how far down.
    """
    face = labels.faces.face(box.item)
    if box.enters is None:
        title = labels.title(box.item)
        parts = [(0.0, title.left), (box.width - title.right, box.width)]
        return [(*part, face.height) for part in parts if part[1] > part[0]]
    return [
        (mark.x, mark.x + measure_text(mark.text, mark.size, mark.bold), TITLE_HEIGHT)
        for mark in mark_frame(face, box, load_theme("light"), direction=direction)
        if isinstance(mark, TextMark)
    ]


def _name(scene: Scene, index: int) -> str:
    return scene.boxes[index].item.key if index >= 0 else "outside"


def _find_level(parents: np.ndarray, source: int, target: int) -> int:
    """Return the box in which an edge runs; -1 for the scene."""
    if source == target or (target >= 0 and parents[target] == source):
        return source
    if source >= 0 and parents[source] == target:
        return target
    return int(parents[max(source, target)])


def _hold(frames: np.ndarray, points: np.ndarray) -> np.ndarray:
    """Return for each frame whether a point is well inside it."""
    x, y = points[:, 0, None], points[:, 1, None]
    left, top, right, bottom = frames.T
    inside = (x > left + _TOUCH) & (x < right - _TOUCH)
    return np.any(inside & (y > top + _TOUCH) & (y < bottom - _TOUCH), axis=0)
