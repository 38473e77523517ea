"""Levels of several parts that no edge joins: each is laid out alone, all are set in rows."""

from __future__ import annotations

import math

import numpy as np

from netloupe.explorer.options import Direction

from .dot import NODE_GAP, RANK_GAP
from .level import Level
from .placement import Floats
from .series import Part, take_part

#: rows are about so wide, unless what is in them is wider or there is much of it
_ROW = 2_400.0


def split_components(level: Level) -> list[Part]:
    """Return the connected parts of a level, that with the border's ports first."""
    count = len(level.children)
    parents = list(range(count + 1))  # the last is the border

    def find(child: int) -> int:
        while parents[child] != child:
            parents[child] = parents[parents[child]]
            child = parents[child]
        return child

    for wire in level.wires:
        first = find(wire.source if wire.source >= 0 else count)
        second = find(wire.target if wire.target >= 0 else count)
        parents[first] = second
    groups: dict[int, tuple[list[int], list[int]]] = {}
    if level.input_count or level.output_count:
        groups[find(count)] = [], []
    for child in range(count):
        groups.setdefault(find(child), ([], []))[0].append(child)
    for number, wire in enumerate(level.wires):
        end = max(wire.source, wire.target)
        groups[find(end if end >= 0 else count)][1].append(number)
    if len(groups) <= 1:
        return [Part(level, list(range(count)), list(range(len(level.wires))))]
    parts = [take_part(level, children, wires) for children, wires in groups.values()]
    if level.input_count or level.output_count:
        # ports that no wire goes to stand on the border too
        parts[0].level.input_count = level.input_count
        parts[0].level.output_count = level.output_count
    return parts


def set_in_rows(
    extents: Floats, direction: Direction, *, has_ports: bool
) -> tuple[Floats, tuple[float, float], float]:
    """Set parts beside one another, and in rows where they are many.

    The part with the border's ports is as high as all, so that its ports stay on the border.

    Parameters
    ----------
    extents
        Shape (parts, 2): width and height of each part.
    direction
        Where values flow to: rows run across it.
    has_ports
        Whether the first part is the one with the border's ports.

    Returns
    -------
    array
        Shape (parts, 2): by how much each part is moved.
    tuple
        Width and height of all.
    float
        How much longer the edges to the ports where values leave have to be.
    """
    if direction == "LR":
        shifts, (height, width), stretch = _set(extents[:, ::-1].tolist(), has_ports)
        return np.array(shifts)[:, ::-1], (width, height), stretch
    shifts, extent, stretch = _set(extents.tolist(), has_ports)
    return np.array(shifts), extent, stretch


def _set(
    extents: list[tuple[float, float]], has_ports: bool
) -> tuple[list[tuple[float, float]], tuple[float, float], float]:
    # beside ports the others keep off the border
    free = extents[1:] if has_ports else extents
    total = sum([width + NODE_GAP for width, _ in free])
    area = sum([(width + NODE_GAP) * (height + RANK_GAP) for width, height in free])
    widest = max([width for width, _ in free], default=0.0)
    row_width = max(widest, min(total, max(_ROW, 1.3 * math.sqrt(area))))
    inset = RANK_GAP if has_ports else 0.0
    left = extents[0][0] + NODE_GAP if has_ports else 0.0
    x, y, row_height = 0.0, inset, 0.0
    shifts: list[tuple[float, float]] = []
    right = 0.0
    for width, height in free:
        if x > 0 and x + width > row_width + 0.01:
            x, y, row_height = 0.0, y + row_height + RANK_GAP, 0.0
        shifts.append((left + x, y))
        row_height = max(row_height, height)
        right = max(right, left + x + width)
        x += width + NODE_GAP
    bottom = y + row_height + inset
    stretch = 0.0
    if has_ports:
        width, height = extents[0]
        bottom = max(bottom, height)
        stretch = bottom - height
        shifts.insert(0, (0.0, 0.0))
        right = max(right, width)
    return shifts, (right, bottom), stretch
