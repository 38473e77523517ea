"""Ways of edges: straight lines with round corners, and curves that are cut in two."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise

from .placement import Curve, Point

#: of the way to a corner, where the control points of a quarter circle are
_ARC = 0.5522847498


def round_corners(places: Sequence[Point], radius: float) -> list[float]:
    """Return a way along straight lines with round corners as Bézier points, but the first."""
    points: list[float] = []
    x, y = places[0]
    for number in range(1, len(places)):
        to_x, to_y = places[number]
        length = math.hypot(to_x - x, to_y - y)
        if number == len(places) - 1:
            points += draw_line(x, y, to_x, to_y)
            break
        next_x, next_y = places[number + 1]
        after = math.hypot(next_x - to_x, next_y - to_y)
        bend = min(radius, length, after / 2)
        if length <= 0 or after <= 0:
            continue
        before_x = to_x - (to_x - x) * bend / length
        before_y = to_y - (to_y - y) * bend / length
        after_x = to_x + (next_x - to_x) * bend / after
        after_y = to_y + (next_y - to_y) * bend / after
        if bend < length:
            points += draw_line(x, y, before_x, before_y)
        points += (
            *(before_x + (to_x - before_x) * _ARC, before_y + (to_y - before_y) * _ARC),
            *(after_x + (to_x - after_x) * _ARC, after_y + (to_y - after_y) * _ARC),
            *(after_x, after_y),
        )
        x, y = after_x, after_y
    return points


def draw_line(x0: float, y0: float, x1: float, y1: float) -> tuple[float, ...]:
    """Return a straight line as Bézier points, but the first."""
    dx, dy = (x1 - x0) / 3, (y1 - y0) / 3
    return (x0 + dx, y0 + dy, x0 + 2 * dx, y0 + 2 * dy, x1, y1)


def split_curve(points: Curve, height: float) -> tuple[Curve, Curve]:
    """Cut a curve in two where it first comes down to a height (de Casteljau)."""
    for start in range(0, len(points) - 7, 6):
        if points[start + 7] < height and start + 8 < len(points):
            continue
        piece = points[start : start + 8]
        low, high = 0.0, 1.0
        for _ in range(24):
            middle = (low + high) / 2
            if _height_at(piece, middle) < height:
                low = middle
            else:
                high = middle
        first, second = _divide(piece, high)
        return points[:start] + first, second + points[start + 8 :]
    return points, points[-2:] * 4


def _height_at(piece: Curve, t: float) -> float:
    s = 1 - t
    return (
        s * s * s * piece[1]
        + 3 * s * s * t * piece[3]
        + 3 * s * t * t * piece[5]
        + t * t * t * piece[7]
    )


def _divide(piece: Curve, t: float) -> tuple[Curve, Curve]:
    places = list(zip(piece[0::2], piece[1::2], strict=True))
    first, second = [places[0]], [places[-1]]
    while len(places) > 1:
        places = [
            (ax + (bx - ax) * t, ay + (by - ay) * t) for (ax, ay), (bx, by) in pairwise(places)
        ]
        first.append(places[0])
        second.insert(0, places[-1])
    return (
        tuple(coordinate for place in first for coordinate in place),
        tuple(coordinate for place in second for coordinate in place),
    )
