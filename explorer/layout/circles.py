"""Edges that end at circles: what goes around the main stream reaches them from the side."""

from __future__ import annotations

import numpy as np

from .placement import Floats, Integers

#: an edge comes to the side of a circle straight, over so many pixels at least
_APPROACH = 12.0


def end_at_sides(points: Floats, heads: Integers, boxes: Floats, axis: int) -> None:
    """Let edges end at the sides of circles where they come from there.

    Graphviz ends all edges at the middle of the side that values flow to. An edge that comes
    from about there stays as it is.

    Parameters
    ----------
    points
        Shape (points, 2): Bézier points of edges; changed in place.
    heads
        The last row of each edge that ends at a circle.
    boxes
        Shape (heads, 4): left, top, width and height of the circle that each ends at.
    axis
        That along which the sides are: 0 where values flow down, 1 where they flow to the right.
    """
    radius = boxes[:, 2] / 2
    middle = boxes[:, :2] + radius[:, None]
    along = 1 - axis
    before = points[heads[:, None] - (3, 2), axis] - middle[:, None, axis]
    farthest = np.argmax(np.abs(before), axis=1)
    aside = before[np.arange(len(heads)), farthest]
    chosen = np.abs(aside) >= radius + _APPROACH
    chosen &= points[heads - 3, along] <= middle[:, along]
    heads, radius, middle, aside = heads[chosen], radius[chosen], middle[chosen], aside[chosen]
    sign = np.sign(aside)
    points[heads, axis] = middle[:, axis] + sign * radius
    points[heads, along] = middle[:, along]
    points[heads - 1] = points[heads]
    points[heads - 1, axis] += sign * np.maximum((np.abs(aside) - radius) / 2, _APPROACH)
