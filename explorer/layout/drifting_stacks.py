"""Stacks that drift: a stream that leaves each layer further aside than it entered it.

Drawn straight from layer to layer, it moves each of them aside by as much, and a hundred open
layers are a staircase. Where it would become too wide each layer stands below the one before it,
and the stream bends between them.
"""

from __future__ import annotations

from collections.abc import Sequence

from .bends import round_corners
from .dot import find_chain_gap
from .level import Child, Level
from .placement import Curve, Placement, Point

#: a stack may drift by so many times its widest box
MOST_DRIFT = 2.0
#: boxes that stand aside by less, in pixels, remain where they are
LEAST_STEP = 8.0
#: how far a stream runs along before and behind its turns, how round these are, and how far
#: it is from the next one beside it
_LEAD = 12.0
_BEND = 8.0
_LANE = 9.0
#: room beside a stub
_APART = 6.0


def place_below(level: Level, placement: Placement) -> Placement | None:
    """Place the last box of a piece straight below its first one (to its right, for LR).

    Parameters
    ----------
    level
        A piece that begins and ends with a box.
    placement
        Tells which of its wires are drawn.

    Returns
    -------
    Placement or None
        None where there is more between the boxes than wires and stubs of the last one.
    """
    if level.direction == "LR":
        turned = Level(
            "TB",
            [child._replace(width=child.height, height=child.width) for child in level.children],
            wires=level.wires,
            first=level.first,
            last=level.last,
        )
        placed = _place(turned, placement.edges, find_chain_gap(level.wires[0], "LR"))
        return placed.turned() if placed is not None else None
    return _place(level, placement.edges, find_chain_gap(level.wires[0], "TB"))


def _place(level: Level, drawn: Sequence[Curve], gap: float) -> Placement | None:
    first, last = level.first, level.last
    above, below = level.children[first], level.children[last]
    if any(wire.target != last or wire.source < 0 for wire in level.wires):
        return None
    stubs = {child: wire for wire in level.wires if (child := wire.source) != first}
    if len(stubs) + 2 != len(level.children) or last in stubs:
        return None
    if len(stubs) + sum(wire.source == first for wire in level.wires) < len(level.wires):
        return None  # one gives several values
    streams: list[tuple[int, float, float]] = []
    for number, wire in enumerate(level.wires):
        if wire.source == first and drawn[number]:
            start = _find_port(above, above.outputs, wire.source_port)
            streams.append((number, start, _find_port(below, below.inputs, wire.target_port)))
    lanes = {number: lane for lane, number in enumerate(_order_turns(streams))}
    places = _place_stubs(
        level, {child: wire.target_port for child, wire in stubs.items()}, streams
    )
    if places is None:
        return None
    turn = above.height + 2 * _LEAD + max(len(lanes) - 1, 0) * _LANE
    row = max((level.children[child].height for child in stubs), default=0.0)
    top = turn + (row + gap if stubs else 0.0)
    boxes: list[Point] = [(0.0, 0.0)] * len(level.children)
    boxes[first] = 0.0, above.height / 2
    boxes[last] = 0.0, top + below.height / 2
    edges: list[Curve] = [()] * len(level.wires)
    for number, start, end in streams:
        line = [(start, above.height), (end, top)]
        if number in lanes:
            lane = above.height + _LEAD + lanes[number] * _LANE
            line[1:1] = [(start, lane), (end, lane)]
        edges[number] = (*line[0], *round_corners(line, _BEND))
    for child, x in places.items():
        boxes[child] = x, turn + row / 2
        begin = turn + (row + level.children[child].height) / 2
        end = _find_port(below, below.inputs, stubs[child].target_port)
        third = (top - begin) / 3
        number = next(n for n, wire in enumerate(level.wires) if wire.source == child)
        if drawn[number]:
            edges[number] = (x, begin, x, begin + third, end, top - third, end, top)
    return _move_to_corner(level, Placement(0.0, top + below.height, boxes, [], [], edges))


def _order_turns(streams: Sequence[tuple[int, float, float]]) -> list[int]:
    """Return the streams that turn aside, those in the uppermost lane first.

    Of those that go left the leftmost crosses no other there, and of those that go right the
    rightmost.
    """
    left = sorted((start, number) for number, start, end in streams if end < start - 0.5)
    right = sorted((-start, number) for number, start, end in streams if end > start + 0.5)
    return [number for _, number in [*left, *right]]


def _place_stubs(
    level: Level, ports: dict[int, int | None], streams: Sequence[tuple[int, float, float]]
) -> dict[int, float] | None:
    """Return where stubs stand above their ports, side by side; None where streams are too near."""
    below = level.children[level.last]
    lines = [end for _, _, end in streams]
    places: dict[int, float] = {}
    end = float("-inf")
    found = sorted((_find_port(below, below.inputs, port), child) for child, port in ports.items())
    for port, child in found:
        half = level.children[child].width / 2
        x = max(port, end + half)
        for line in sorted(lines):
            if abs(x - line) < half + _APART and line <= port:
                x = line + half + _APART
        if any(abs(x - line) < half for line in lines):
            return None
        places[child] = x
        end = x + half + _APART
    return places


def _find_port(child: Child, offsets: Sequence[float], port: int | None) -> float:
    """Return how far from the middle of a box a port is."""
    return 0.0 if port is None else offsets[port] - child.width / 2


def _move_to_corner(level: Level, placement: Placement) -> Placement:
    """Return what was placed around 0 with its left border there."""
    halves = [child.width / 2 for child in level.children]
    low = min(x - half for (x, _), half in zip(placement.boxes, halves, strict=True))
    high = max(x + half for (x, _), half in zip(placement.boxes, halves, strict=True))
    return Placement(
        high - low,
        placement.height,
        [(x - low, y) for x, y in placement.boxes],
        [],
        [],
        [
            tuple(value if n % 2 else value - low for n, value in enumerate(points))
            for points in placement.edges
        ],
    )
