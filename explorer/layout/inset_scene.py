"""A picture in two parts: a closed box, and beside it what is in it, joined by two thin lines.

So papers draw a stack of blocks: the model with the stack closed, and one of its blocks open.
What is open is laid out as it is inside of the model; here it is put beside the rest, at a side
where nothing stands between it and the closed box (LR: below or above), where both together fill
a sheet (:mod:`.inset_place`).
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import NamedTuple

from netloupe.explorer.grouping import Group
from netloupe.explorer.model import Value
from netloupe.explorer.options import Direction
from netloupe.explorer.view import Item, View
from netloupe.explorer.view.value_names import name_passing_values

from .arrange import MARGIN
from .compose import DEADLINE, Composer
from .inset_names import NAME_ABOVE, NameValues, Write, name_entries
from .inset_place import CLEAR, InsetPlace, InsetRoom, find_inset_place
from .plan import Measure
from .scene import Flat, Scene, SceneBox, SceneEdge, SceneLevel, ScenePort, Zoom, flatten

#: how far the stream is drawn beyond the frame
_STREAM = 26.0


class Inset(NamedTuple):
    """What is in a closed box of a picture, and is drawn open beside it.

    Parameters
    ----------
    item
        The open item, of a view of its own: the closed one, or one inside of that. It may be
        closed in an inset before it.
    view
        That view; all around the item is as in the picture.
    """

    item: Item
    view: View


def join_insets(
    scene: Scene,
    insets: Sequence[tuple[Item, SceneLevel]],
    write: Write = lambda text: (text, 0.0),
    name: NameValues = lambda values: values[0].name,
) -> Scene | None:
    """Return a picture with what is in some of its closed boxes beside it.

    Parameters
    ----------
    scene
        The picture, in one column.
    insets
        Items that are closed in it and open elsewhere, and their insides.
    write
        Gives a text as it stands beside an edge, and its width.
    name
        Says what values are that enter together; "" where that is not known.

    Returns
    -------
    Scene or None
        None where a box stands between a closed box and the place of its inside.
    """
    is_down = scene.direction == "TB"
    flat = Flat(scene.boxes, scene.edges, scene.ports)
    flat = flat if is_down else _turn(flat)
    width, height = (scene.width, scene.height) if is_down else (scene.height, scene.width)
    zooms: list[Zoom] = []
    own = len(flat.boxes)
    for item, level in insets:
        inside = flatten(level)
        size = level.inside.width, level.inside.height
        free = level.inside.left, level.inside.top
        if not is_down:
            inside, size, free = _turn(inside), size[::-1], free[::-1]
        number = _find_closed(flat, item)
        if number is None:
            return None
        piece = _make_piece(item, inside, size, free[1])
        piece = name_entries(item, piece, write, name)
        room = _measure_piece(piece, size, free, write)
        place = find_inset_place(
            flat,
            number,
            _list_around(flat, number),
            room,
            (width, height),
            {zoom.side for zoom in zooms} if number < own else set(),
            lambda text: write(text)[1],
            margin=MARGIN,
            is_down=is_down,
        )
        if place is None:
            return None
        flat, zooms, (width, height) = _put_beside(
            flat, zooms, (width, height), number, piece, room, place
        )
    zooms = zooms if is_down else [_turn_zoom(zoom) for zoom in zooms]
    flat = flat if is_down else _turn(flat)
    size = (width, height) if is_down else (height, width)
    return replace(
        scene, width=size[0], height=size[1], root=None, by_hand=flat, zooms=tuple(zooms)
    )


def _find_closed(flat: Flat, item: Item) -> int | None:
    """Return the number of the closed box that holds an item: its own, or one around it."""
    closed = {box.item.key: n for n, box in enumerate(flat.boxes) if not box.item.is_open}
    outer: Item | None = item
    while outer is not None:
        if outer.key in closed:
            return closed[outer.key]
        outer = outer.parent
    return None


def open_inset(view: View, item: Item, way: Sequence[Group] = ()) -> Inset:
    """Return what is in a closed item of a view, open in a view of its own.

    Parameters
    ----------
    view
        The view that it is drawn beside.
    item
        A closed item.
    way
        Groups inside of it, each in the one before: the last one is drawn beside the view, and
        the item stays closed there.
    """
    beside = View(view.model, view.graph, view.grouping, view.only, view.unnamed, like=view)
    beside.reopen(view.open_state())
    inner = beside.open(item.key)
    for group in way:
        inner = next(child for child in inner.children if child.element is group)
        beside.open_item(inner)
    return Inset(inner, beside)


def has_place(view: View, inset: Inset) -> bool:
    """Return whether a view shows a closed box that holds what an inset shows."""
    outer: Item | None = inset.item
    while outer is not None:
        shown = view.items.get(outer.key)
        if shown is not None:
            return not shown.is_open
        outer = outer.parent
    return False


def compose_with_insets(
    composer: Composer,
    view: View,
    insets: Sequence[Inset],
    measure: Measure,
    direction: Direction,
    deadline: float = DEADLINE,
) -> Scene:
    """Lay out a view and what is open beside it, as one picture.

    Where there is no room for an inset beside its box the picture has none.
    """
    end = time.monotonic() + deadline
    scene = composer.compose(view, measure, direction, deadline=deadline)
    levels = []
    for inset in insets:
        left = max(end - time.monotonic(), 0.0)
        around = composer.compose(inset.view, measure, direction, deadline=left)
        levels.append((inset.item, _find_level(around, inset.item)))
    if not levels:
        return scene
    return join_insets(scene, levels, measure.label, partial(_name_values, view)) or scene


def _name_values(view: View, values: Sequence[Value]) -> str:
    return name_passing_values(values, view.borders(values[0].graph).tree)


def _find_level(scene: Scene, item: Item) -> SceneLevel:
    """Return the inside of an open item of a scene."""
    level = scene.root
    assert level is not None  # noqa: S101 - it was composed
    way = []
    outer: Item | None = item
    while outer is not None and outer is not level.item:
        way.append(outer)
        outer = outer.parent
    for each in reversed(way):
        level = next(inner for inner in level.inner.values() if inner.item is each)
    return level


def _make_piece(item: Item, inside: Flat, size: tuple[float, float], free_top: float) -> Flat:
    """Return the frame of an open item, what is in it, and its stream above and below.

    Streams come in from above what is written over the back edge of a loop.
    """
    frame = SceneBox(item, 0.0, 0.0, *size, -1, 0)
    boxes = [frame]
    boxes += [box._replace(parent=box.parent + 1, depth=box.depth + 1) for box in inside.boxes]
    edges = [edge._replace(source=edge.source + 1, target=edge.target + 1) for edge in inside.edges]
    seen: set[tuple[float, float]] = set()
    for edge in inside.edges:
        if edge.kind == "loop" or (item.carried.loop and _is_handed_on(item, edge)):
            continue  # it goes around, outside of the frame
        for end, is_start in ((edge.points[:2], True), (edge.points[-2:], False)):
            if (edge.source if is_start else edge.target) >= 0 or end in seen:
                continue
            seen.add((end[0], end[1]))
            edges.append(_lead_on(edge, end[0], end[1], size[1], max(_STREAM, free_top)))
    ports = [port._replace(box=port.box + 1) for port in inside.ports]
    return Flat(tuple(boxes), tuple(edges), tuple(ports))


def _is_handed_on(item: Item, edge: SceneEdge) -> bool:
    """Return whether an edge at the border of a repetition leads to or from another one alone."""
    carried = item.carried
    return (edge.source < 0 and edge.value in carried.entering) or (
        edge.target < 0 and edge.value in carried.leaving
    )


def _lead_on(edge: SceneEdge, x: float, y: float, height: float, above: float) -> SceneEdge:
    """Return the stream outside of a frame, at a place on its border."""
    if y < height / 2:
        points = (x, -above, x, -above, x, y, x, y)
        source, target = -1, 0
    else:
        points = (x, y, x, y, x, height + _STREAM, x, height + _STREAM)
        source, target = 0, -1
    return edge._replace(
        points=points, source=source, target=target, arrow=target < 0, label="", bundle=()
    )


def _measure_piece(
    piece: Flat,
    size: tuple[float, float],
    free: tuple[float, float],
    write: Write,
) -> InsetRoom:
    """Return what a piece takes; ``free`` is what it has left and above for a back edge."""
    names = [edge.label_y for edge in piece.edges if edge.label and edge.source < 0]
    above = max(_STREAM, free[1], *(NAME_ABOVE - y for y in names))
    texts = [(edge.label_x, write(edge.label)[1] / 2) for edge in piece.edges if edge.label]
    before = max([free[0], *(half - x for x, half in texts)])
    after = max([0.0, *(x + half - size[0] for x, half in texts)])
    return InsetRoom(*size, before, after, above, _STREAM)


def _put_beside(
    flat: Flat,
    zooms: list[Zoom],
    size: tuple[float, float],
    number: int,
    piece: Flat,
    room: InsetRoom,
    place: InsetPlace,
) -> tuple[Flat, list[Zoom], tuple[float, float]]:
    """Put a piece at a place; return all, its zooms and its size."""
    width, height = size
    side, left, top = place
    right = max(MARGIN + room.before - left, 0.0)
    down = max(MARGIN + room.above - top, 0.0)
    left, top = left + right, top + down
    box = flat.boxes[number]
    if side > 0:
        near, far = box.x + right + box.width, left + min((0.0, *_list_loop_ways(piece)))
    else:
        near, far = box.x + right, left + room.width
    moved = _move(flat, right, down)
    zooms = [
        zoom._replace(
            near=zoom.near + right,
            bend=zoom.bend + right,
            far=zoom.far + right,
            near_top=zoom.near_top + down,
            near_bottom=zoom.near_bottom + down,
            far_top=zoom.far_top + down,
            far_bottom=zoom.far_bottom + down,
        )
        for zoom in zooms
    ]
    box = moved.boxes[number]
    ends = (box.y, box.y + box.height, near, far, top, top + room.height)
    near_top, near_bottom, near, far, far_top, far_bottom = (round(end, 2) for end in ends)
    zoom = Zoom(near, near_top, near_bottom, near, far, far_top, far_bottom, side)
    zooms.append(zoom._replace(bend=_find_bend(moved, number, zoom)))
    first = len(moved.boxes)
    added = _move(piece, left, top)
    joined = Flat(
        (*moved.boxes, *(b._replace(parent=_shift(b.parent, first)) for b in added.boxes)),
        (
            *moved.edges,
            *(
                e._replace(source=_shift(e.source, first), target=_shift(e.target, first))
                for e in added.edges
            ),
        ),
        (*moved.ports, *(p._replace(box=_shift(p.box, first)) for p in added.ports)),
    )
    wide = max(width + right, left + room.width + room.after + MARGIN)
    tall = max(height + down, top + room.height + room.below + MARGIN)
    return joined, zooms, (wide, tall)


def _list_loop_ways(piece: Flat) -> list[float]:
    """Return how far at the left the back edge of a loop runs."""
    return [min(edge.points[::2]) - CLEAR for edge in piece.edges if edge.kind == "loop"]


def _find_bend(flat: Flat, number: int, zoom: Zoom) -> float:
    """Return up to where zoom lines run beside a box, so that they pass no other."""
    around, bend = _list_around(flat, number), zoom.near
    for place, box in enumerate(flat.boxes):
        if place == number or place in around:
            continue
        x = box.x + box.width if zoom.side > 0 else box.x
        share = (x - zoom.near) / (zoom.far - zoom.near)
        if not 0 < share < 1:
            continue
        top = zoom.near_top + share * (zoom.far_top - zoom.near_top) - CLEAR
        bottom = zoom.near_bottom + share * (zoom.far_bottom - zoom.near_bottom) + CLEAR
        if box.y < bottom and box.y + box.height > top:
            bend = max(bend, x) if zoom.side > 0 else min(bend, x)
    return bend


def _list_around(flat: Flat, number: int) -> set[int]:
    """Return the numbers of the frames around a box."""
    around = set()
    outer = flat.boxes[number].parent
    while outer >= 0:
        around.add(outer)
        outer = flat.boxes[outer].parent
    return around


def _shift(number: int, by: int) -> int:
    return number + by if number >= 0 else number


def _move(flat: Flat, right: float, down: float) -> Flat:
    if not right and not down:
        return flat
    return Flat(
        tuple(b._replace(x=round(b.x + right, 2), y=round(b.y + down, 2)) for b in flat.boxes),
        tuple(_move_edge(edge, right, down) for edge in flat.edges),
        tuple(p._replace(x=round(p.x + right, 2), y=round(p.y + down, 2)) for p in flat.ports),
    )


def _move_edge(edge: SceneEdge, right: float, down: float) -> SceneEdge:
    points = tuple(
        round(at + (down if place % 2 else right), 2) for place, at in enumerate(edge.points)
    )
    return edge._replace(points=points, label_x=edge.label_x + right, label_y=edge.label_y + down)


def _turn(flat: Flat) -> Flat:
    from .column_scene import turn_box, turn_edge

    return Flat(
        tuple(map(turn_box, flat.boxes)),
        tuple(map(turn_edge, flat.edges)),
        tuple(ScenePort(port.y, port.x, port.box, port.path) for port in flat.ports),
    )


def _turn_zoom(zoom: Zoom) -> Zoom:
    return zoom._replace(is_turned=True)
