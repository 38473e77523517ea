"""The geometry that every Scene must have."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from math import hypot

from netloupe.explorer.layout import Scene, SceneBox, SceneEdge, ScenePort
from netloupe.explorer.layout.inset_scene import Inset
from netloupe.explorer.layout.scene import Zoom
from netloupe.explorer.view import Item, View
from netloupe.explorer.view.item import MOST_SELECTED
from netloupe.explorer.view.open_state import list_open

#: how far the end of an edge may be from the border that it should touch, in pixels
TOLERANCE = 1.5
_SAME_PLACE = 0.1
#: a sum and the like are circles; no other box is so small and as high as wide
_LARGEST_CIRCLE = 24.0
_LABEL_HEIGHT = 8.0
#: zoom lines end so far before a back edge
_BEFORE_BACK_EDGE = 4.0


def find_geometry_faults(
    scene: Scene, view: View | None = None, insets: Sequence[Inset] = ()
) -> list[str]:
    """Return a line for everything that is not where it should be.

    ``insets`` are those of the picture: the stream goes on outside of their frames.
    """
    faults = [*_check_boxes(scene), *_check_edges(scene), *_check_ports(scene)]
    faults += _check_labels(scene)
    if view is not None:
        lines = sum(_count_lines(view, item) for item in view.open_items())
        for inset in insets:
            inside = [inset.item, *list_open(inset.item.children)]
            lines += sum(_count_lines(inset.view, item) for item in inside)
        lines += sum(_leads_on(scene, edge) for edge in scene.edges)
        drawn = sum(edge.kind != "loop" for edge in scene.edges)
        if lines != drawn:
            faults.append(f"links of {lines} lines are drawn as {drawn} edges")
    return faults


def _count_lines(view: View, item: Item) -> int:
    """Return as how many lines the links of an item are drawn: at groups they run together."""
    lines: set[tuple[object, ...]] = set()
    for number, link in enumerate(view.links(item)):
        ends = [item.children[end] for end in (link.source, link.target) if end >= 0]
        is_stub = any(end.kind == "stub" for end in ends)
        has_group = any(
            end.kind in ("group", "branch") or (end.kind == "node" and end.openable) for end in ends
        )
        is_whole = any(end.is_selected_whole for end in ends) and link.count > MOST_SELECTED
        if len(ends) < 2 or is_stub or is_whole or not has_group or link.source == link.target:
            lines.add((number,))
            continue
        leaves = link.source_value if ends[0].is_open else None
        enters = link.target_value if ends[1].is_open else None
        lines.add((link.source, link.target, link.kind, leaves, enters))
    return len(lines)


def _name(scene: Scene, index: int) -> str:
    return scene.boxes[index].item.key if index >= 0 else "the scene"


def _check_boxes(scene: Scene) -> Iterator[str]:
    levels: dict[int, list[int]] = {}
    for index, box in enumerate(scene.boxes):
        levels.setdefault(box.parent, []).append(index)
        if box.parent >= index:
            yield f"{box.item.key} comes before its parent"
        outer = scene.boxes[box.parent] if box.parent >= 0 else None
        left, top, right, bottom = (
            (0.0, 0.0, scene.width, scene.height)
            if outer is None
            else (outer.x, outer.y, outer.x + outer.width, outer.y + outer.height)
        )
        if not (
            left - 0.5 <= box.x
            and top - 0.5 <= box.y
            and box.x + box.width <= right + 0.5
            and box.y + box.height <= bottom + 0.5
        ):
            yield f"{box.item.key} is not inside {_name(scene, box.parent)}"
    for indexes in levels.values():
        ordered = sorted(indexes, key=lambda index: scene.boxes[index].y)
        active: list[int] = []
        for index in ordered:
            box = scene.boxes[index]
            active = [i for i in active if scene.boxes[i].y + scene.boxes[i].height > box.y + 0.5]
            for other_index in active:
                other = scene.boxes[other_index]
                if other.x + 0.5 < box.x + box.width and box.x + 0.5 < other.x + other.width:
                    yield f"{box.item.key} and {other.item.key} overlap"
            active.append(index)


def _leads_on(scene: Scene, edge: SceneEdge) -> bool:
    """Return whether an edge is the stream outside of a frame that stands beside the picture."""
    frame = max(edge.source, edge.target)
    if min(edge.source, edge.target) >= 0 or frame < 0:
        return False
    return any(_is_far_end(zoom, scene, frame) for zoom in scene.zooms)


def _is_far_end(zoom: Zoom, scene: Scene, frame: int) -> bool:
    """Return whether zoom lines end at the corners of a frame.

    Where the back edge of a loop runs at that side of it they end beside this, as high as corners.
    """
    (*_, x, y), (*_, u, v) = zoom.lines
    box, axis = scene.boxes[frame], 0 if scene.direction == "TB" else 1
    around = [
        min(edge.points[axis::2]) - _BEFORE_BACK_EDGE
        for edge in scene.edges
        if edge.kind == "loop" and edge.source == edge.target == frame
    ]
    ends = [[box.x, box.x + box.width], [box.y, box.y + box.height]]
    if around and zoom.side > 0:
        ends[axis][0] = min(around)
    corners = [(left, top) for left in ends[0] for top in ends[1]]
    return all(
        any(abs(at - left) + abs(down - top) < TOLERANCE for left, top in corners)
        for at, down in ((x, y), (u, v))
    )


def _distance_to_border(box: SceneBox, x: float, y: float) -> float:
    if box.width == box.height <= _LARGEST_CIRCLE:
        radius = box.width / 2
        distance = abs(hypot(x - box.x - radius, y - box.y - radius) - radius)
        if distance <= TOLERANCE:
            return distance
    right, bottom = box.x + box.width, box.y + box.height
    outside_x = max(box.x - x, x - right, 0.0)
    outside_y = max(box.y - y, y - bottom, 0.0)
    if outside_x or outside_y:
        return max(outside_x, outside_y)
    return min(x - box.x, right - x, y - box.y, bottom - y)


def _check_edges(scene: Scene) -> Iterator[str]:
    """Check that edges end at boxes, or leave one of the same value that comes into a column."""
    ways: dict[tuple[str, int], set[tuple[float, float]]] = {}
    for edge in scene.edges:
        ways.setdefault((edge.path, edge.source), set()).update(_list_joints(edge))
    for edge in scene.edges:
        if len(edge.points) < 8 or len(edge.points) % 6 != 2:
            yield f"{_describe(scene, edge)} has {len(edge.points)} numbers"
            continue
        for index, (x, y) in ((edge.source, edge.points[:2]), (edge.target, edge.points[-2:])):
            if _leads_on(scene, edge):
                continue
            if index < 0:
                yield f"{_describe(scene, edge)} ends nowhere"
                continue
            if edge.kind == "loop" and index == edge.source == edge.target:
                continue  # it goes around outside, and begins before the border
            distance = _distance_to_border(scene.boxes[index], x, y)
            leaves_other = (x, y) == edge.points[:2] and (x, y) in ways[edge.path, edge.source]
            if distance > TOLERANCE and not leaves_other:
                yield (f"{_describe(scene, edge)} ends {distance:.1f} from {_name(scene, index)}")


def _describe(scene: Scene, edge: SceneEdge) -> str:
    return f"{edge.path}: {_name(scene, edge.source)} -> {_name(scene, edge.target)}"


def _check_ports(scene: Scene) -> Iterator[str]:
    """Check that values go through walls at ports, and that edges run on from each port.

    An edge that ends at a wall, as the condition of an If does, has an arrow and no port there.
    """
    ports: dict[int, list[ScenePort]] = {}
    for port in scene.ports:
        ports.setdefault(port.box, []).append(port)
        distance = _distance_to_border(scene.boxes[port.box], port.x, port.y)
        if distance > 0.1:
            yield f"a port of {port.path} is {distance:.1f} from {_name(scene, port.box)}"
    branches = {point for edge in scene.edges for point in _list_joints(edge)}
    own = {(edge.source, edge.path) for edge in scene.edges if edge.source == edge.target}
    outside: set[tuple[int, float, float]] = set()
    inside: set[tuple[int, float, float]] = set()
    for edge in scene.edges:
        ends = ((edge.source, edge.target, edge.points[:2]),)
        for index, other, (x, y) in (*ends, (edge.target, edge.source, edge.points[-2:])):
            if index < 0 or not scene.boxes[index].item.is_open:
                continue
            if (x, y) == edge.points[:2] and (x, y) in branches:
                continue  # it leaves another edge of its value
            near = [
                port
                for port in ports.get(index, ())
                if max(abs(port.x - x), abs(port.y - y)) < _SAME_PLACE
            ]
            inner = other == index or _is_in(scene, other, index)
            for port in near:
                (inside if inner else outside).add((index, port.x, port.y))
                if other == index:
                    outside.add((index, port.x, port.y))
            wanted = inner or any(port.path == edge.path for port in ports.get(index, ()))
            if index == edge.source and (index, edge.path) in own:
                wanted = inner  # its port may be only where the box takes its own value
            wanted = wanted or (index == edge.target and not edge.arrow)
            if wanted and not near and other != index:
                yield f"{_describe(scene, edge)} misses the ports of {_name(scene, index)}"
    for port in scene.ports:
        place = (port.box, port.x, port.y)
        if place not in inside:
            yield f"nothing inside goes to the port of {port.path} on {_name(scene, port.box)}"
        if place not in outside and not _is_dropped(scene, port):
            yield f"nothing outside goes to the port of {port.path} on {_name(scene, port.box)}"


def _is_in(scene: Scene, index: int, outer: int) -> bool:
    """Return whether a box is directly inside another, or inside another part of the same."""
    parent = scene.boxes[index].parent if index >= 0 else -1
    return parent >= 0 and scene.boxes[parent].item is scene.boxes[outer].item


def _list_joints(edge: SceneEdge) -> Iterator[tuple[float, float]]:
    """Yield where an edge can be left by another one of its value: at joints of its pieces."""
    yield from zip(edge.points[6:-2:6], edge.points[7:-2:6], strict=True)


def _is_dropped(scene: Scene, port: ScenePort) -> bool:
    """Return whether a value may go nowhere, or come from there.

    So does an output of a body whose result is not used, and what repetitions hand on.
    """
    item = scene.boxes[port.box].item
    handed = (*item.carried.entering.values(), *item.carried.leaving.values())
    if any(port.path.endswith(f"/%{value.name}") for value in handed):
        return True
    return any(
        value.is_output and value.graph.kind != "main" and port.path.endswith(f"/%{value.name}")
        for value in item.outputs
    )


def _check_labels(scene: Scene) -> Iterator[str]:
    closed = [box for box in scene.boxes if not box.item.is_open]
    closed.sort(key=lambda box: box.y)
    labels = sorted((e for e in scene.edges if e.label), key=lambda e: e.label_y)
    for first, second in pairwise(labels):
        if (first.label_x, first.label_y) == (second.label_x, second.label_y):
            yield f"two labels at {first.label_x}, {first.label_y}"
    for edge in labels:
        x, y = edge.label_x, edge.label_y
        if not (0 <= x <= scene.width and 0 <= y <= scene.height):
            yield f"the label {edge.label!r} is outside the scene"
        for box in closed:
            if box.y > y + _LABEL_HEIGHT:
                break
            if (
                box.x < x < box.x + box.width
                and box.y - _LABEL_HEIGHT / 2 < y < box.y + box.height + _LABEL_HEIGHT / 2
            ):
                yield f"the label {edge.label!r} covers {box.item.key}"
