"""Where everything is inside one open item, before it is put into its place in the scene."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import chain, pairwise

import numpy as np
from numpy.typing import NDArray

Point = tuple[float, float]
Curve = tuple[float, ...]
Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


@dataclass(slots=True)
class Placement:
    """Positions of one piece of a level, in pixels from its top left corner, y growing downwards.

    Parameters
    ----------
    width, height
        Of everything that is placed.
    boxes
        Centres of the children.
    inputs, outputs
        Centres of the border ports.
    edges
        Bézier points of each wire: start, then three points for each piece, x and y in turn.
    is_exact
        Whether edges end where they should, at whatever side of a box that is.
    """

    width: float
    height: float
    boxes: list[Point]
    inputs: list[Point]
    outputs: list[Point]
    edges: list[Curve]
    is_exact: bool = False

    @property
    def weight(self) -> int:
        """How many numbers it holds, about."""
        return 8 * len(self.boxes) + sum(map(len, self.edges))

    def turned(self) -> Placement:
        """Return it with x and y swapped."""
        return Placement(
            self.height,
            self.width,
            [(y, x) for x, y in self.boxes],
            [(y, x) for x, y in self.inputs],
            [(y, x) for x, y in self.outputs],
            [tuple(points[i ^ 1] for i in range(len(points))) for points in self.edges],
        )


@dataclass(slots=True, eq=False)
class Curves:
    """The Bézier points of many edges in one array, edge after edge.

    Parameters
    ----------
    points
        Shape (points, 2): of each edge the start, then three for each of its pieces.
    starts
        Shape (edges + 1,): row of ``points`` where each edge begins, and the end of the last.
    """

    points: Floats
    starts: Integers

    @classmethod
    def of(cls, curves: Iterable[Curve]) -> Curves:
        """Return curves that are given one by one, x and y in turn."""
        curves = list(curves)
        points = make_points(chain.from_iterable(curves))
        return cls(points, starts_of(np.array([len(curve) // 2 for curve in curves], np.int64)))

    @property
    def counts(self) -> Integers:
        """How many points each edge has."""
        counts: Integers = self.starts[1:] - self.starts[:-1]
        return counts

    @property
    def drawn_count(self) -> int:
        """How many edges have a curve."""
        return int(np.count_nonzero(self.counts))

    def __len__(self) -> int:
        return len(self.starts) - 1

    def curve(self, edge: int) -> Curve:
        """Return the points of one edge, x and y in turn."""
        start, end = self.starts[edge : edge + 2].tolist()
        return tuple(self.points[start:end].ravel().tolist())

    def tuples(self) -> list[Curve]:
        """Return the points of each edge, x and y in turn."""
        flat = self.points.ravel().tolist()
        bounds = (2 * self.starts).tolist()
        return [tuple(flat[start:end]) for start, end in pairwise(bounds)]

    @property
    def piece_counts(self) -> Integers:
        """Of how many Bézier pieces each edge consists."""
        return np.maximum(self.counts - 1, 0) // 3

    def list_controls(self) -> Floats:
        """Return the control points of the pieces of all edges, shape (pieces, 4, 2)."""
        counts = self.piece_counts
        within = spread_runs(np.zeros(len(self), np.int64), counts)
        first = np.repeat(self.starts[:-1], counts) + 3 * within
        controls: Floats = self.points[first[:, None] + np.arange(4)]
        return controls


def sample_pieces(controls: Floats, steps: int) -> Floats:
    """Return points on Bézier pieces from begin to end: shape (pieces, steps + 1, 2)."""
    return evaluate(controls[:, None], np.arange(steps + 1)[None] / steps)


def evaluate(controls: Floats, t: Floats) -> Floats:
    """Return points on Bézier pieces: shapes (…, 4, 2) and (…) give (…, 2)."""
    t = t[..., None]
    s = 1 - t
    first, second, third, fourth = (controls[..., number, :] for number in range(4))
    found: Floats = (
        s * s * s * first + 3 * s * s * t * second + 3 * s * t * t * third + t * t * t * fourth
    )
    return found


def make_points(numbers: Iterable[float]) -> Floats:
    """Return coordinates, x and y in turn, as an array of shape (points, 2)."""
    return np.fromiter(numbers, np.float64).reshape(-1, 2)


def starts_of(counts: Integers) -> Integers:
    """Return where each of many runs begins, and the end of the last."""
    starts = np.zeros(len(counts) + 1, np.int64)
    np.cumsum(counts, out=starts[1:])
    return starts


def spread_runs(starts: Integers, counts: Integers) -> Integers:
    """Return the numbers ``start … start + count - 1`` of each run, one run after another."""
    ends = np.cumsum(counts)
    total = int(ends[-1]) if len(ends) else 0
    return np.repeat(starts - (ends - counts), counts) + np.arange(total)


@dataclass(slots=True, eq=False)
class Places:
    """Positions of a whole level, as :class:`Placement` but in arrays.

    Parameters
    ----------
    width, height
        Of everything that is placed.
    boxes, inputs, outputs
        Shape (…, 2): centres of the children and of the border ports.
    edges
        The wires' curves.
    is_exact
        As of a placement.
    """

    width: float
    height: float
    boxes: Floats
    inputs: Floats
    outputs: Floats
    edges: Curves
    is_exact: bool = False

    def turned(self) -> Places:
        """Return it with x and y swapped."""
        return Places(
            self.height,
            self.width,
            self.boxes[:, ::-1],
            self.inputs[:, ::-1],
            self.outputs[:, ::-1],
            Curves(self.edges.points[:, ::-1], self.edges.starts),
        )

    def mirrored(self) -> Places:
        """Return it with left and right exchanged."""
        return Places(
            self.width,
            self.height,
            self._mirror(self.boxes),
            self._mirror(self.inputs),
            self._mirror(self.outputs),
            Curves(self._mirror(self.edges.points), self.edges.starts),
        )

    def _mirror(self, points: Floats) -> Floats:
        return points * (-1.0, 1.0) + (self.width, 0.0)
