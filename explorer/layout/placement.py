"""Where everything is inside one open item, before it is put into its place in the scene."""

from __future__ import annotations

from dataclasses import dataclass

Point = tuple[float, float]
Curve = tuple[float, ...]


@dataclass(slots=True)
class Placement:
    """Positions of one layer, in pixels from its top left corner, y growing downwards.

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
    """

    width: float
    height: float
    boxes: list[Point]
    inputs: list[Point]
    outputs: list[Point]
    edges: list[Curve]

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


def shift_points(points: Curve, x: float, y: float) -> Curve:
    """Return points moved by an offset."""
    moved = list(points)
    moved[0::2] = [coordinate + x for coordinate in points[0::2]]
    moved[1::2] = [coordinate + y for coordinate in points[1::2]]
    return tuple(moved)
