"""From places and straight ways, found one by one, to the placement of a level.

What is no matter of ranks, a U or lanes, is placed without Graphviz: its edges end where they
should, at whatever side of a box that is.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from .bends import round_corners
from .level import Level
from .placement import Curve, Placement, Point

#: from boxes to lines led around them
AROUND = 14.0
_LANE = 9.0
_BEND = 10.0
_SAME = 0.5


def finish_placement(
    level: Level,
    at: Mapping[int, Point],
    ways: Mapping[int, list[Point] | Curve],
    inputs: Mapping[int, Point],
    outputs: Mapping[int, float],
) -> Placement:
    """Return a placement that begins at its upper left corner, with round corners.

    Parameters
    ----------
    level
        What is placed.
    at
        The left and upper end of each box.
    ways
        Corners of each wire's way, or its curve where it is one. One that comes from the border
        begins at height 0, one that goes there ends with two places: below where it comes down,
        and where the port is.
    inputs, outputs
        Where along the border the ports are.
    """
    xs = [x for x, _ in at.values()]
    ys = [y for _, y in at.values()]
    ends = [x + level.children[box].width for box, (x, _) in at.items()]
    feet = [y + level.children[box].height for box, (_, y) in at.items()]
    for number, way in ways.items():
        points = way if isinstance(way, list) else _pair(way)
        if level.wires[number].source >= 0:
            ends_inside = level.wires[number].target >= 0
            ys += [y for _, y in (points if ends_inside else points[:-2])]
        xs += [x for x, _ in points]
        ends += [x for x, _ in points]
        feet += [y for _, y in points]
    left, right = min(xs), max(ends)
    bottom = max(feet) + (AROUND if outputs else 0.0)
    top = min(ys)
    rise = AROUND * 2 + _LANE if level.input_count else 0.0

    def move(point: Point) -> Point:
        x, y = point
        if y == 0.0 and x in entering:
            return x - left, 0.0
        return x - left, y - top + rise

    entering = {x for x, _ in inputs.values()}
    edges: list[Curve] = [()] * len(level.wires)
    for number, way in ways.items():
        if not isinstance(way, list):
            edges[number] = tuple(
                value - left if n % 2 == 0 else value - top + rise for n, value in enumerate(way)
            )
            continue
        wire = level.wires[number]
        points = [move(point) for point in _thin(way)] if wire.source >= 0 else []
        if wire.source < 0:
            (x, _), *rest = _thin(way)
            points = [(x - left, 0.0), *((a - left, b - top + rise) for a, b in rest)]
        if wire.target < 0:
            (x, _), (end, _) = way[-2:]
            foot = bottom - top + rise
            points = [(a - left, b - top + rise) for a, b in way[:-2]]
            points += (
                [(x - left, foot)]
                if abs(x - end) < _SAME
                else [
                    (x - left, foot - AROUND),
                    (end - left, foot - AROUND),
                    (end - left, foot),
                ]
            )
        edges[number] = (*points[0], *round_corners(points, _BEND))
    boxes = [(0.0, 0.0)] * len(level.children)
    for box, (x, y) in at.items():
        width, height = level.children[box][:2]
        boxes[box] = x - left + width / 2, y - top + rise + height / 2
    entrances = [
        (inputs.get(port, (left, 0.0))[0] - left, 0.0) for port in range(level.input_count)
    ]
    exits = [
        (outputs.get(port, right) - left, bottom - top + rise) for port in range(level.output_count)
    ]
    height = bottom - top + rise
    return Placement(right - left, height, boxes, entrances, exits, edges, is_exact=True)


def _pair(curve: Curve) -> list[Point]:
    return list(zip(curve[::2], curve[1::2], strict=True))


def _thin(way: Sequence[Point]) -> list[Point]:
    """Return a way without places that stand where the one before does."""
    kept = [way[0]]
    for place in way[1:]:
        if abs(place[0] - kept[-1][0]) > 0.01 or abs(place[1] - kept[-1][1]) > 0.01:
            kept.append(place)
    return kept if len(kept) > 1 else [way[0], way[-1]]
