"""Layers of several parts that no edge joins: each is laid out alone, all are set in rows."""

from __future__ import annotations

import math

from .dot import NODE_GAP, RANK_GAP, Layer
from .placement import Placement, shift_points
from .series import Part, take_part

#: rows are about so wide, unless what is in them is wider or there is much of it
_ROW = 2_400.0


def split_components(layer: Layer) -> list[Part]:
    """Return the connected parts of a layer, that with the border's ports first."""
    count = len(layer.children)
    parents = list(range(count + 1))  # the last is the border

    def find(child: int) -> int:
        while parents[child] != child:
            parents[child] = parents[parents[child]]
            child = parents[child]
        return child

    for wire in layer.wires:
        first = find(wire.source if wire.source >= 0 else count)
        second = find(wire.target if wire.target >= 0 else count)
        parents[first] = second
    groups: dict[int, tuple[list[int], list[int]]] = {}
    if layer.input_count or layer.output_count:
        groups[find(count)] = [], []
    for child in range(count):
        groups.setdefault(find(child), ([], []))[0].append(child)
    for number, wire in enumerate(layer.wires):
        end = max(wire.source, wire.target)
        groups[find(end if end >= 0 else count)][1].append(number)
    if len(groups) <= 1:
        return [Part(layer, list(range(count)), list(range(len(layer.wires))))]
    parts = [take_part(layer, children, wires) for children, wires in groups.values()]
    if layer.input_count or layer.output_count:
        # ports that no wire goes to stand on the border too
        parts[0].layer.input_count = layer.input_count
        parts[0].layer.output_count = layer.output_count
    return parts


def join_components(layer: Layer, parts: list[Part], placed: list[Placement]) -> Placement:
    """Set parts beside one another, and in rows where they are many.

    The part with the border's ports is as high as all, so that its ports stay on the border.
    """
    if layer.direction == "LR":
        turned = _join(layer, parts, [placement.turned() for placement in placed])
        return turned.turned()
    return _join(layer, parts, placed)


def _join(layer: Layer, parts: list[Part], placed: list[Placement]) -> Placement:
    has_ports = bool(layer.input_count or layer.output_count)
    main = placed[0] if has_ports else None
    # beside ports the others keep off the border
    free = placed[1:] if main else placed
    total = sum(placement.width + NODE_GAP for placement in free)
    area = sum((p.width + NODE_GAP) * (p.height + RANK_GAP) for p in free)
    widest = max((placement.width for placement in free), default=0.0)
    row_width = max(widest, min(total, max(_ROW, 1.3 * math.sqrt(area))))
    inset = RANK_GAP if main else 0.0
    left = main.width + NODE_GAP if main else 0.0
    x, y, height = 0.0, inset, 0.0
    shifts: list[tuple[float, float]] = []
    right = 0.0
    for placement in free:
        if x > 0 and x + placement.width > row_width + 0.01:
            x, y, height = 0.0, y + height + RANK_GAP, 0.0
        shifts.append((left + x, y))
        height = max(height, placement.height)
        right = max(right, left + x + placement.width)
        x += placement.width + NODE_GAP
    bottom = y + height + inset
    stretch = 0.0
    if main:
        bottom = max(bottom, main.height)
        stretch = bottom - main.height
        shifts.insert(0, (0.0, 0.0))
        right = max(right, main.width)
    boxes: list[tuple[float, float]] = [(0.0, 0.0)] * len(layer.children)
    edges: list[tuple[float, ...]] = [()] * len(layer.wires)
    for part, placement, (dx, dy) in zip(parts, placed, shifts, strict=True):
        for child, (cx, cy) in zip(part.children, placement.boxes, strict=True):
            boxes[child] = cx + dx, cy + dy
        for wire, points in zip(part.wires, placement.edges, strict=True):
            edges[wire] = shift_points(points, dx, dy)
            if stretch and layer.wires[wire].target < 0:
                edges[wire] = _lengthen(edges[wire], stretch)
    inputs = main.inputs if main else []
    outputs = [(x, y + stretch) for x, y in main.outputs] if main else []
    return Placement(right, bottom, boxes, inputs, outputs, edges)


def _lengthen(points: tuple[float, ...], by: float) -> tuple[float, ...]:
    """Lead an edge on straight down."""
    if len(points) < 2:
        return points
    x, y = points[-2:]
    return (*points, x, y + by / 3, x, y + 2 * by / 3, x, y + by)
