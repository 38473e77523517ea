"""Pictures of what a canvas shows, as files: all of it, or what is seen in its window."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

from netloupe.explorer.errors import ViewError
from netloupe.explorer.layout import Scene, SceneEdge
from netloupe.explorer.layout.scene import Flat
from netloupe.explorer.render.picture import Picture, render_picture
from netloupe.explorer.render.sheet import Sheet

#: left, top, width and height in pixels of a scene
Part = tuple[float, float, float, float]
#: around an edge's points, for its width, head and label
_AROUND = 12.0
_LABEL = 200.0


def read_part(given: object, scene: Scene) -> Part | None:
    """Return the part of a scene that a window shows; None where all is asked for.

    Raises
    ------
    ViewError
        Where it is no rectangle, or nothing of the scene is in it.
    """
    if given is None:
        return None
    if not isinstance(given, list | tuple) or len(given) != 4:
        raise ViewError("the part of the picture is no rectangle.")
    if not all(type(side) in (int, float) and math.isfinite(side) for side in given):
        raise ViewError("the part of the picture is no rectangle.")
    x, y, width, height = map(float, given)
    left, top = max(x, 0.0), max(y, 0.0)
    right, bottom = min(x + width, scene.width), min(y + height, scene.height)
    if right - left < 1 or bottom - top < 1:
        raise ViewError("Nothing of the picture is in the window.")
    return left, top, right - left, bottom - top


def draw_still_page(picture: Picture) -> tuple[bytes, list[str]]:
    """Return a picture as a page that is only looked at, and notices about it."""
    return render_picture(picture, "html"), picture.notices


def crop_picture(picture: Picture, part: Part) -> Picture:
    """Return what of a picture lies in a part of its scene; what is cut stays cut at the border."""
    x, y, width, height = part
    scene = _crop(picture.scene, part)
    # what is on the canvas was measured in its own font
    options = replace(picture.options, font="")
    sheet = Sheet(width, height, -x, -y)
    return replace(picture, scene=scene, options=options, sheet=sheet)


def _crop(scene: Scene, part: Part) -> Scene:
    """Return a scene without what lies outside a part of it; places are as they were."""
    boxes = scene.boxes
    edges = [edge for edge in scene.edges if _touches(_bounds(edge), part)]
    kept = {k for k, box in enumerate(boxes) if _touches(box[1:5], part)}
    # where an edge leads to is told, and decides what its label stands on
    for edge in edges:
        for end in (edge.source, edge.target):
            while end >= 0 and end not in kept:
                kept.add(end)
                end = boxes[end].parent
    order = sorted(kept)
    places = {box: place for place, box in enumerate(order)} | {-1: -1}
    ports = [port for port in scene.ports if _touches((port.x, port.y, 0, 0), part)]
    flat = Flat(
        tuple(boxes[k]._replace(parent=places[boxes[k].parent]) for k in order),
        tuple(
            edge._replace(source=places[edge.source], target=places[edge.target]) for edge in edges
        ),
        tuple(port._replace(box=places[port.box]) for port in ports if port.box in places),
    )
    notices = (*scene.notices, "This is a part of the picture, as it stood in a window.")
    return replace(scene, root=None, by_hand=flat, notices=notices)


def _bounds(edge: SceneEdge) -> Part:
    across, down = edge.points[::2], edge.points[1::2]
    left, top = min(across) - _AROUND, min(down) - _AROUND
    right, bottom = max(across) + _AROUND, max(down) + _AROUND
    if edge.label:
        left, right = min(left, edge.label_x - _LABEL), max(right, edge.label_x + _LABEL)
        top, bottom = min(top, edge.label_y - _AROUND), max(bottom, edge.label_y + _AROUND)
    return left, top, right - left, bottom - top


def _touches(one: Sequence[float], other: Part) -> bool:
    return (
        one[0] <= other[0] + other[2]
        and other[0] <= one[0] + one[2]
        and one[1] <= other[1] + other[3]
        and other[1] <= one[1] + one[3]
    )
