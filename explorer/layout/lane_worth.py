"""Whether a level reads better as lanes than as Graphviz places it.

This is the one place that decides it. Three things are compared, of the level alone, and a strip
is never drawn:

zoom
    At which a window of a usual size shows all. Lanes may be somewhat smaller where they can be
    read all the same: they tell more. Where they are much easier to follow they may be smaller
    still, as their first boxes can go into a column of their own.
length
    Of all lines together: whoever follows a value reads along them. Where several edges run as
    one it counts once.
crossings
    Of lines with others. One costs as much as so many pixels more.
"""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np

from .placement import Curves, Floats, Places, sample_pieces

#: a window of a usual size, and the zoom from which on titles are read at ease
WINDOW = 1100.0, 800.0
READABLE = 0.7
#: lanes may be so much smaller, and so much where they save a share of the effort
_SMALLER, _MUCH_SMALLER, _SAVED = 0.9, 0.75, 0.3
#: what is so many times as wide as the window is at most so many times as wide as high
_LEAST_STRIP, _WIDEST = 1.4, 2.8
#: they may have so much longer edges, where a crossing counts as a length
_LONGER = 1.45
_CROSSING = 120.0
#: pieces of curves are looked at as so many straight lines
_STEPS = 5
#: what is level or upright, and crossings at one place, to so many pixels
_SAME = 0.5
_NEAR = 3.0
#: of more lines crossings are not counted
_MOST_LINES = 4_000


def find_zoom(width: float, height: float) -> float:
    """Return the zoom at which a window of a usual size shows a level."""
    return min(WINDOW[0] / max(width, 1.0), WINDOW[1] / max(height, 1.0), 1.0)


def reads_better(lanes: Places, ordinary: Places) -> bool:
    """Return whether lanes are drawn in place of another way to place a level."""
    least = min(find_zoom(ordinary.width, ordinary.height), READABLE)
    zoom = find_zoom(lanes.width, lanes.height)
    is_strip = lanes.width > max(_WIDEST * lanes.height, _LEAST_STRIP * WINDOW[0])
    if zoom < _MUCH_SMALLER * least or is_strip:
        return False
    effort = _measure_effort(lanes.edges) / max(_measure_effort(ordinary.edges), 1.0)
    return effort <= (_LONGER if zoom >= _SMALLER * least else 1 - _SAVED)


def _measure_effort(edges: Curves) -> float:
    """Return how long all lines are, and what their crossings cost."""
    lines = _list_lines(edges)
    return _measure_lines(lines) + _CROSSING * count_crossings(lines)


def _list_lines(edges: Curves) -> Floats:
    """Return edges as straight lines: shape (lines, 5), both ends and the number of the edge."""
    controls = edges.list_controls()
    owners = np.repeat(np.arange(len(edges)), edges.piece_counts)
    points = sample_pieces(controls, _STEPS)
    pairs = [np.concatenate([a, b], axis=1) for a, b in pairwise(points.swapaxes(0, 1))]
    if not pairs:
        return np.zeros((0, 5))
    lines = np.stack(pairs, axis=1).reshape(-1, 4)
    return np.column_stack([lines, np.repeat(owners, _STEPS)])


def _measure_lines(lines: Floats) -> float:
    """Return the length of lines; of level and upright ones what lies on one another is one."""
    total = 0.0
    straight: dict[tuple[int, float], list[tuple[float, float]]] = {}
    for x0, y0, x1, y1, _ in lines.tolist():
        if abs(y0 - y1) < _SAME:
            straight.setdefault((0, round(y0)), []).append((min(x0, x1), max(x0, x1)))
        elif abs(x0 - x1) < _SAME:
            straight.setdefault((1, round(x0)), []).append((min(y0, y1), max(y0, y1)))
        else:
            total += math.hypot(x1 - x0, y1 - y0)
    for runs in straight.values():
        reached = -math.inf
        for start, end in sorted(runs):
            total += max(end - max(start, reached), 0.0)
            reached = max(reached, end)
    return total


def count_crossings(lines: Floats) -> int:
    """Return at how many places lines of different edges cross."""
    if len(lines) > _MOST_LINES:
        return 0
    found: set[tuple[int, int]] = set()
    for number, (x0, y0, x1, y1, owner) in enumerate(lines.tolist()):
        rest = lines[number + 1 :]
        ax, ay, bx, by = rest[:, 0], rest[:, 1], rest[:, 2], rest[:, 3]
        one = (x1 - x0) * (ay - y0) - (y1 - y0) * (ax - x0)
        other = (x1 - x0) * (by - y0) - (y1 - y0) * (bx - x0)
        this = (bx - ax) * (y0 - ay) - (by - ay) * (x0 - ax)
        that = (bx - ax) * (y1 - ay) - (by - ay) * (x1 - ax)
        crossing = (one * other < -1e-6) & (this * that < -1e-6) & (rest[:, 4] != owner)
        along = one[crossing] / (one[crossing] - other[crossing])
        xs = ax[crossing] + along * (bx - ax)[crossing]
        ys = ay[crossing] + along * (by - ay)[crossing]
        places = np.round(np.column_stack([xs, ys]) / _NEAR).astype(int)
        found.update((x, y) for x, y in places.tolist())
    return len(found)
