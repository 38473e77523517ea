"""The back edge of a loop: from the end of its body around the left side to its beginning.

It runs outside of the open loop, which keeps room for it (LR: above it). Two lines are written over
it: how often the body runs, and what is carried from one step to the next.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from netloupe.explorer.options import Direction
from netloupe.explorer.view import Item

from .bends import round_corners
from .placement import Curves, Floats, Point
from .plan import LoopMeasure, Plan, path_of_value
from .scene import Inside, LevelEdge

#: from the border to the way beside the body, and to that over it
_ASIDE = 24.0
_ABOVE = 24.0
#: from the lower border up to where it begins
_FROM_END = 10.0
#: beside the stream, which comes in at the same port
_BESIDE = 14.0
_BEND = 12.0
#: what is written over it: from line to line, and around
_LINE = 16.0
_GAP = 8.0
#: how much longer a body is for it
_LONGER = 14.0
#: ends of edges are so near to the borders where they end
_NEAR = 0.5
#: half of what the line takes
_HALF_WIDTH = 4.0


class LoopRoom(NamedTuple):
    """What the way of a back edge depends on.

    Parameters
    ----------
    start, end
        Ports of the border where the next step begins and where one ends; -1 where there is none.
    is_alone
        Whether nothing else comes in at the port where the next step begins.
    widths
        Of the two lines over it, the lower one first.
    others
        Further ports where something begins outside that later steps take from the one before.
    results
        Ports where what the next step takes leaves the loop, too.
    """

    start: int
    end: int
    is_alone: bool
    widths: tuple[float, ...]
    others: tuple[int, ...] = ()
    results: tuple[int, ...] = ()


class BackEdge(NamedTuple):
    """A back edge, drawn as two edges: from the end of the body to beside it, and on from there.

    What is carried besides, and begins outside at a port of its own, has one more from there.

    Parameters
    ----------
    edges, texts
        The edges, each with what is written over it.
    room
        What its way depends on.
    """

    edges: tuple[LevelEdge, ...]
    texts: tuple[str, ...]
    room: LoopRoom


def plan_back_edge(item: Item, plan: Plan, measure: LoopMeasure) -> BackEdge | None:
    """Return the back edge of an open item; None where it is no loop that shows one step."""
    repeat, carried = item.repeat, item.carried
    is_loop = repeat.is_loop if repeat is not None else bool(carried.loop)
    if not is_loop or item.is_unrolled:
        return None
    borders = plan.borders
    value = carried.end or carried.start or next(iter(carried.names), None)
    if value is None:
        return None
    labels = measure.loop_labels(item)
    if not labels:
        return None
    start = -1 if carried.start is None else borders.inputs.get(carried.start, -1)
    others = {borders.inputs.get(one, -1) for one in carried.starts} - {start, -1}
    room = LoopRoom(
        start,
        -1 if carried.end is None else borders.outputs.get(carried.end, -1),
        carried.start in carried.entering,
        tuple(width for _, width in labels),
        (*sorted(others),) if start >= 0 else (),
        (*sorted({borders.outputs.get(one, -1) for one in carried.ends} - {-1}),),
    )
    first = LevelEdge(value, path_of_value(value, item.instance), -1, -1, "loop", False)
    last = first._replace(arrow=True)
    texts = [text for text, _ in labels] + [""] * len(room.others)
    return BackEdge((first, last, *[last] * len(room.others)), (*texts,), room)


def lay_back_edge(inside: Inside, room: LoopRoom, direction: Direction) -> tuple[Inside, Floats]:
    """Return an open loop with its back edge as the last two curves, and with room for it.

    Parameters
    ----------
    inside
        Where everything in the loop is.
    room
        What the way depends on.
    direction
        Where values flow to.

    Returns
    -------
    tuple
        The inside, and the centres of what is written over the back edge: shape (lines, 2).
    """
    inside = _lengthen(inside, direction)
    is_down = direction == "TB"
    length, breadth = inside.width, inside.height
    if is_down:
        length, breadth = breadth, length
    start = _place_of(inside.inputs, room.start, breadth)
    # what is only carried on has no port: it is made on the way to those that there are
    ends = [port for port in (room.end, *room.results) if port >= 0] or [0]
    end = max(_place_of(inside.outputs, port, breadth) for port in ends)
    if not room.is_alone:
        start = max(start - _BESIDE, _BESIDE)
    beside = length - _FROM_END
    middle = -_ASIDE, beside / 2
    ways: list[list[Point]] = [
        [(end, beside), (-_ASIDE, beside), middle],
        [middle, (-_ASIDE, -_ABOVE), (start, -_ABOVE), (start, 0.0)],
    ]
    for number in room.others:  # beside what comes in at the same port
        other = inside.inputs[number] - (_BESIDE if inside.inputs[number] > start else -_BESIDE)
        ways.append([(min(start, other) - _BEND, -_ABOVE), (other, -_ABOVE), (other, 0.0)])
    curves = [np.array([*way[0], *round_corners(way, _BEND)]).reshape(-1, 2) for way in ways]
    if not is_down:
        curves = [curve[:, ::-1] for curve in curves]
    # what is written stands before the streams that come in from above
    widest = max(room.widths, default=0.0)
    free = min((*inside.inputs, breadth)) - _GAP if is_down else length
    first = min(free - widest, _HALF_WIDTH - _ASIDE)
    over = _HALF_WIDTH + (_ABOVE if is_down else _ASIDE)
    places = [
        (first + width / 2, -over - _LINE * (line + 0.5)) for line, width in enumerate(room.widths)
    ] + [(0.0, 0.0)] * len(room.others)
    laid = replace(
        inside,
        curves=_add_curves(inside.curves, curves),
        left=max(_ASIDE + _HALF_WIDTH, -first),
        top=over + _LINE * len(room.widths),
    )
    return laid, np.array(places, np.float64).reshape(-1, 2)


def _lengthen(inside: Inside, direction: Direction) -> Inside:
    """Return an open loop that is so much longer that the back edge can begin behind the body."""
    axis = 1 if direction == "TB" else 0
    length = inside.height if direction == "TB" else inside.width
    longer = np.zeros(2)
    longer[axis] = _LONGER
    curves = [
        _go_on(np.array(curve).reshape(-1, 2), longer, axis, length)
        for curve in inside.curves.tuples()
    ]
    at_end = np.abs(inside.ports[:, axis] - length) < _NEAR
    return replace(
        inside,
        width=inside.width + longer[0],
        height=inside.height + longer[1],
        ports=inside.ports + at_end[:, None] * longer,
        curves=_add_curves(Curves(np.zeros((0, 2)), np.zeros(1, np.int64)), curves),
    )


def _go_on(curve: Floats, longer: Floats, axis: int, length: float) -> Floats:
    """Return a curve that goes on to the border where it ended there."""
    if not len(curve) or abs(curve[-1, axis] - length) >= _NEAR:
        return curve
    added = curve[-1] + np.array([[1.0], [2.0], [3.0]]) / 3 * longer
    return np.concatenate([curve, added])


def _add_curves(known: Curves, curves: Sequence[Floats]) -> Curves:
    """Return curves with others behind them."""
    ends = known.starts[-1] + np.cumsum([len(curve) for curve in curves], dtype=np.int64)
    points = np.round(np.concatenate([known.points, *curves]), 2)
    return Curves(points, np.concatenate([known.starts, ends]))


def _place_of(ports: tuple[float, ...], number: int, breadth: float) -> float:
    return ports[number] if 0 <= number < len(ports) else breadth / 2
