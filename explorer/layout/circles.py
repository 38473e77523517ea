"""Edges that end at circles: what goes around the main stream reaches them from the side."""

from __future__ import annotations

import numpy as np

from .areas import AreaIndex, Flags
from .placement import Floats, Integers, sample_pieces

#: an edge comes to the side of a circle straight, over so many pixels at least
_APPROACH = 8.0
#: points on the last piece of an edge by which it is found whether it would strike a box,
_STEPS = 16
#: which it may touch by so much
_TOUCH = 2.0


def end_at_sides(
    points: Floats, heads: Integers, boxes: Floats, targets: Integers, axis: int
) -> None:
    """Let edges end at the sides of circles where they come from there.

    Graphviz ends all edges at the middle of the side that values flow to. An edge that comes
    from about there stays as it is, and so does one that a box beside the circle would be in the
    way of.

    Parameters
    ----------
    points
        Shape (points, 2): Bézier points of edges; changed in place.
    heads
        The last row of each edge that ends at a circle.
    boxes
        Shape (boxes, 4): left, top, width and height of all boxes.
    targets
        The number of the circle that each edge ends at.
    axis
        That along which the sides are: 0 where values flow down, 1 where they flow to the right.
    """
    circles = boxes[targets]
    radius = circles[:, 2] / 2
    middle = circles[:, :2] + radius[:, None]
    along = 1 - axis
    before = points[heads[:, None] - (3, 2), axis] - middle[:, None, axis]
    farthest = np.argmax(np.abs(before), axis=1)
    aside = before[np.arange(len(heads)), farthest]
    chosen = np.abs(aside) >= radius + _APPROACH
    chosen &= points[heads - 3, along] <= middle[:, along]
    if not chosen.any():
        return
    heads, radius, middle, aside = heads[chosen], radius[chosen], middle[chosen], aside[chosen]
    sign = np.sign(aside)
    pieces = points[heads[:, None] + np.arange(-3, 1)]
    pieces[:, 3, axis] = middle[:, axis] + sign * radius
    pieces[:, 3, along] = middle[:, along]
    pieces[:, 2] = pieces[:, 3]
    pieces[:, 2, axis] += sign * np.maximum((np.abs(aside) - radius) / 2, _APPROACH)
    is_free = ~_strike(pieces, boxes, targets[chosen])
    points[heads[is_free] - 1] = pieces[is_free, 2]
    points[heads[is_free]] = pieces[is_free, 3]


def _strike(pieces: Floats, boxes: Floats, targets: Integers) -> Flags:
    """Return which Bézier pieces run through a box that is not the one they lead to."""
    places = sample_pieces(pieces, _STEPS)
    low = np.minimum(places[:, :-1], places[:, 1:])
    high = np.maximum(places[:, :-1], places[:, 1:])
    areas = np.concatenate([low, high], axis=2).reshape(-1, 4)
    solid = np.concatenate([boxes[:, :2] + _TOUCH, boxes[:, :2] + boxes[:, 2:] - _TOUCH], axis=1)
    index = AreaIndex(solid, np.arange(len(boxes)))
    struck = index.meets(areas, np.repeat(targets, _STEPS))
    found: Flags = np.any(struck.reshape(-1, _STEPS), axis=1)
    return found
