"""Room for boxes that have grown: how coordinates along one axis move.

``widgets/frontend/src/standalone/growth.ts`` is the same for pages that compose pictures
themselves; ``tests/standalone/test_composition.py`` compares what both make of the same pictures.
"""

from __future__ import annotations

import numpy as np

from .placement import Curves, Floats, starts_of

#: into so many parts a piece of a curve is cut where only a part of it is stretched
PARTS = 4


class Growth:
    """Where coordinates go when boxes along an axis get other sizes, one after the other.

    It is a piecewise linear function: slope 1 but within boxes that have another size.
    """

    def __init__(self) -> None:
        self._old = np.zeros(0)
        self._new = np.zeros(0)

    def __bool__(self) -> bool:
        return len(self._old) > 0

    def add(self, centre: float, before: float, after: float) -> None:
        """Let a box around a place, by its coordinate before any growth, have another size."""
        if before == after or before <= 0:
            return
        start = float(self.move(np.array([centre]))[0]) - before / 2
        ends = np.array([start, start + before])
        at = np.searchsorted(self._new, ends, "left")
        self._old = np.insert(self._old, at, _follow(ends, self._new, self._old))
        new = np.insert(self._new, at, ends)
        inside = np.clip(new - start, 0.0, before)
        self._new = new + inside * ((after - before) / before)

    def move(self, places: Floats) -> Floats:
        """Return where coordinates are afterwards."""
        return _follow(places, self._old, self._new)

    def bends(self, low: Floats, high: Floats) -> np.ndarray:
        """Return which spans have a place inside at which the slope changes."""
        first = np.searchsorted(self._old, low, "right")
        last = np.searchsorted(self._old, high, "left")
        return first < last


def _follow(places: Floats, old: Floats, new: Floats) -> Floats:
    if not len(old):
        return places
    beyond = np.where(places < old[0], places - old[0], np.maximum(places - old[-1], 0.0))
    moved: Floats = np.interp(places, old, new) + beyond
    return moved


def split_bent(curves: Curves, growths: tuple[Growth, Growth]) -> Curves:
    """Cut the pieces of curves that growth bends, so that they keep to their way.

    A piece of a curve is moved by its control points, as if these were on it. Where it is short
    that is nearly so.
    """
    controls = curves.list_controls()
    if not len(controls):
        return curves
    low, high = controls.min(axis=1), controls.max(axis=1)
    bent = growths[0].bends(low[:, 0], high[:, 0]) | growths[1].bends(low[:, 1], high[:, 1])
    if not bent.any():
        return curves
    parts = np.where(bent, PARTS, 1)
    numbers = np.repeat(np.arange(len(controls)), parts)
    within = np.arange(len(numbers)) - np.repeat(np.cumsum(parts) - parts, parts)
    pieces = _cut(controls[numbers], within / parts[numbers], (within + 1) / parts[numbers])
    owners = np.repeat(np.arange(len(curves)), curves.piece_counts)
    counts = np.bincount(owners[numbers], minlength=len(curves))
    starts = starts_of(3 * counts + (curves.counts > 0))
    points = np.empty((int(starts[-1]), 2))
    first = starts[:-1][curves.counts > 0]
    points[first] = curves.points[curves.starts[:-1][curves.counts > 0]]
    rest = np.ones(len(points), np.bool_)
    rest[first] = False
    points[rest] = pieces[:, 1:].reshape(-1, 2)
    return Curves(points, starts)


def _cut(controls: Floats, begin: Floats, end: Floats) -> Floats:
    """Return the parts of Bézier pieces between two parameters: shape (pieces, 4, 2)."""
    found = np.empty_like(controls)
    for number, parameters in enumerate(
        [(begin, begin, begin), (begin, begin, end), (begin, end, end), (end, end, end)]
    ):
        places = controls
        for each in parameters:  # the blossom of a Bézier curve (Ramshaw 1987)
            t = each[:, None, None]
            places = places[:, :-1] * (1 - t) + places[:, 1:] * t
        found[:, number] = places[:, 0]
    return found
