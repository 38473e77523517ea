"""Stability of the layout: what is opened grows, and all else keeps its order around it.

Graphviz may arrange a level quite differently when one of its boxes becomes larger. The eye
would lose its place, so its answer is taken only where boxes keep their order; elsewhere the
placement before is stretched at the box that grew.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .growth import Growth, split_bent
from .level import Level
from .placement import Curve, Curves, Floats, Placement, Point

#: in pieces of more boxes the order is not compared: they are rarely opened and costly
_MOST_COMPARED = 1_500
#: so many states of a piece are remembered
_MOST_STATES = 12


@dataclass(slots=True)
class _State:
    level: Level
    key: Hashable
    placement: Placement


class PieceHistory:
    """What the pieces of one open item looked like, the last state of each at the end.

    Parameters
    ----------
    connections
        The item's :meth:`Level.connections`: only states that are wired alike can be compared.
    """

    def __init__(self, connections: Hashable) -> None:
        self.connections = connections
        self._states: dict[Hashable, list[_State]] = {}

    def copy(self) -> PieceHistory:
        """Return a history that begins with this one and does not change it."""
        copy = PieceHistory(self.connections)
        copy._states = {piece: states.copy() for piece, states in self._states.items()}
        return copy

    def show(self, piece: Hashable, level: Level, placement: Placement) -> None:
        """Note what a piece looks like now, before it changes."""
        states = self._states.setdefault(piece, [])
        known = next((state for state in states if state.placement is placement), None)
        if known is None:
            known = _State(level, level.key(), placement)
        elif known is not states[-1]:
            states.remove(known)
        else:
            return
        states.append(known)

    def settle(self, piece: Hashable, level: Level, proposed: Placement) -> Placement:
        """Return the placement of a piece that fits to what was shown before.

        Parameters
        ----------
        piece
            Which piece of the item it is.
        level
            The piece.
        proposed
            What Graphviz says.
        """
        states = self._states.setdefault(piece, [])
        key = level.key()
        chosen = proposed
        if states:
            known = next((state for state in reversed(states) if state.key == key), None)
            if known is not None:
                if _may_show_again(known, states[-1]):
                    states.remove(known)
                    states.append(known)
                    return known.placement
                if known is not states[0]:
                    states.remove(known)
            chosen = _choose(states, level, proposed)
        states.append(_State(level, key, chosen))
        del states[1:-_MOST_STATES]  # the first stays: most is closed in it
        return chosen


def _may_show_again(known: _State, last: _State) -> bool:
    """Return whether what was shown before can follow the last state.

    What is closed goes back to where it was; where a box grows, boxes must not change sides, as
    they may have done over several states since then.
    """
    return not _has_grown(last.level, known.level) or _fits_order(
        last, known.level, known.placement
    )


def _has_grown(level: Level, new_level: Level) -> bool:
    return any(
        new.width > old.width + 0.01 or new.height > old.height + 0.01
        for new, old in zip(new_level.children, level.children, strict=True)
    )


def _measure_area(level: Level) -> float:
    return sum(child.width * child.height for child in level.children)


def _fits_order(last: _State, level: Level, placement: Placement) -> bool:
    """Return whether boxes keep their sides, or are too many to compare."""
    return len(level.children) > _MOST_COMPARED or keeps_order(
        last.level, last.placement, level, placement
    )


def _choose(states: list[_State], level: Level, proposed: Placement) -> Placement:
    last = states[-1]
    if len(last.level.children) != len(level.children) or not level.children:
        return proposed
    if _fits_order(last, level, proposed):
        return proposed
    for state in reversed(states):
        if _has_grown(level, state.level):  # a box is smaller than it was
            continue
        stretched = stretch(state.level, state.placement, level)
        if is_sound(level, stretched) and (
            state is last or keeps_order(last.level, last.placement, level, stretched)
        ):
            return stretched
    # where a box is opened, one that becomes narrower by it may keep its room, so that it comes to
    # overlap no other, across the flow at least; what is closed shall take less room
    across = 0 if level.direction == "TB" else 1
    rooms: tuple[tuple[int, ...], ...] = ((), (across,), (0, 1))
    for kept in rooms if _measure_area(level) > _measure_area(last.level) else rooms[:1]:
        stretched = stretch(last.level, last.placement, level, keeps_room=kept)
        if is_sound(level, stretched):
            return stretched
    return proposed


def keeps_order(
    level: Level, placement: Placement, new_level: Level, new_placement: Placement
) -> bool:
    """Return whether no two boxes have changed sides.

    A box that was wholly before another in the direction of flow must not be wholly behind it,
    and one that was on the left of another beside it (above it, where values flow to the
    right) must not be on its right.
    """
    along = 1 if level.direction == "TB" else 0
    before, left = _relations(*_bounds(level, placement), along)
    new_before, new_left = _relations(*_bounds(new_level, new_placement), along)
    return not (np.any(before & new_before.T) or np.any(left & new_left.T))


def is_sound(level: Level, placement: Placement) -> bool:
    """Return whether no boxes overlap, and those where pieces are joined stand at the ends."""
    low, high = _bounds(level, placement)
    apart = np.any(high[:, None, :] <= low[None, :, :] + 0.5, axis=2)
    touching = ~(apart | apart.T)
    np.fill_diagonal(touching, False)
    if np.any(touching):
        return False
    along = 1 if level.direction == "TB" else 0
    if level.first >= 0 and np.any(low[:, along] < low[level.first, along] - 0.5):
        return False
    others = np.arange(len(low)) != level.last
    return level.last < 0 or not np.any(high[others, along] > low[level.last, along] + 0.5)


def _bounds(level: Level, placement: Placement) -> tuple[Floats, Floats]:
    centres = np.array(placement.boxes, float).reshape(-1, 2)
    sizes = np.array([(c.width, c.height) for c in level.children], float).reshape(-1, 2)
    return centres - sizes / 2, centres + sizes / 2


def _relations(
    low: Floats, high: Floats, along: int
) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Return for all pairs whether the first is before, and beside and left of, the second."""
    before = high[:, None, along] <= low[None, :, along] + 0.5
    across = 1 - along
    left_of = high[:, None, across] <= low[None, :, across] + 0.5
    beside = ~before & ~before.T
    return before, left_of & beside


def stretch(
    level: Level, placement: Placement, new_level: Level, *, keeps_room: tuple[int, ...] = ()
) -> Placement:
    """Return a placement with room for boxes that have grown, everything in the same order.

    For each box that has another size, coordinates along either axis are mapped by a piecewise
    linear function: slope 1 outside the box's extent, new by old size within. No slope is
    below 1 where boxes grow, so that distances only grow and nothing comes to overlap that did
    not before; where boxes shrink, :func:`is_sound` tells. Curves are mapped by their control
    points; pieces that would be bent are cut before.

    Parameters
    ----------
    level, placement
        What was placed, and where.
    new_level
        The same children and wires, of other sizes.
    keeps_room
        The axes (0 for x, 1 for y) along which a box that shrinks keeps the room it had.
    """
    count, input_count = len(placement.boxes), len(placement.inputs)
    growths = Growth(), Growth()
    for place, old, new in zip(placement.boxes, level.children, new_level.children, strict=True):
        for axis in (0, 1):
            before, after = old[:2][axis], new[:2][axis]
            room = max(before, after) if axis in keeps_room else after
            growths[axis].add(place[axis], before, room)
    curves = split_bent(Curves.of(placement.edges), growths)
    ports = [*placement.boxes, *placement.inputs, *placement.outputs]
    ends = [(0.0, 0.0), (placement.width, placement.height)]
    places = np.concatenate([np.array([*ports, *ends]).reshape(-1, 2), curves.points])
    places = np.stack([growths[axis].move(places[:, axis]) for axis in (0, 1)], axis=1)
    halves = np.array([(c.width, c.height) for c in new_level.children]).reshape(-1, 2) / 2
    boxes, corners = places[:count], places[len(ports) : len(ports) + 2]
    first, along = new_level.first, 1 if new_level.direction == "TB" else 0
    if first >= 0:
        # what stood beside the first box may have become higher: it hangs down from its top
        top = (boxes - halves)[first, along]
        place = boxes[first].copy()
        places[:, along] += top - np.min((boxes - halves)[:, along])
        corners[0, along] = top
        boxes[first] = place
    # what stands beside a box that shrinks moves by less than the border does
    corners[0] = np.min([corners[0], *(boxes - halves)], axis=0)
    corners[1] = np.max([corners[1], *(boxes + halves)], axis=0)
    places -= corners[0].copy()
    edges = Curves(places[len(ports) + 2 :], curves.starts).tuples()
    _draw_alike(new_level, edges)
    numbers: list[Point] = [(x, y) for x, y in places[: len(ports)].tolist()]
    width, height = corners[1].tolist()
    return Placement(
        width,
        height,
        numbers[:count],
        numbers[count : count + input_count],
        numbers[count + input_count :],
        edges,
    )


def _draw_alike(level: Level, edges: list[Curve]) -> None:
    """Draw wires that ran as one and do not any more where that one ran, and the reverse."""
    known: dict[tuple[int, int], Curve] = {}
    for wire, curve in zip(level.wires, edges, strict=True):
        if curve:
            known.setdefault((wire.source, wire.target), curve)
    for number, wire in enumerate(level.wires):
        if not wire.values:
            edges[number] = ()
        elif not edges[number]:
            edges[number] = known.get((wire.source, wire.target), ())
