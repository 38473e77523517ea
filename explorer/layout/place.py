"""Placing one level: split into parts, cut into pieces, each piece laid out once.

What needs no Graphviz goes without it: single boxes, and two boxes with an edge. What takes
too long or fails gets the simpler layout.
"""

from __future__ import annotations

import time
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

from netloupe.explorer.errors import LayoutError
from netloupe.explorer.options import Direction
from netloupe.explorer.progress import step

from .assembly import Assembly, divide_level, join_pieces
from .bounded import BoundedCache
from .columns import place_columns
from .dot import PORT_SIZE, find_chain_gap, read_drawing, write_level_dot
from .engine import Drawing, LayoutEngine, LayoutMemoryError, LayoutTimeoutError
from .lane_shape import LaneShape
from .layout_stability import PieceHistory
from .level import Child, Level, Wire
from .patience import Patience
from .placement import Curve, Placement, Places
from .series import Part, take_part
from .sides import count_sides, is_more_one_sided, may_go_around
from .u_shape import UShape

Entry = TypeVar("Entry", Child, Wire)

#: so many numbers of placements are kept (8 bytes and more each)
_MOST_KEPT = 4_000_000
#: Graphviz would take minutes for a piece of more boxes, and gigabytes of memory
MOST_FOR_GRAPHVIZ = 20_000
MOST_WIRES_FOR_GRAPHVIZ = 60_000


@dataclass(slots=True)
class Budget:
    """How long a layout may go on, who does it, and what came of it.

    ``patience`` is that of the page that it is for; None outside pages.
    """

    end: float
    engine: LayoutEngine
    patience: Patience | None = None
    notices: list[str] = field(default_factory=list)

    @property
    def left(self) -> float:
        """Seconds that remain."""
        return self.end - time.monotonic()


class Placer:
    """Places levels; keeps the placements of pieces that it has seen."""

    def __init__(self) -> None:
        self._pieces: BoundedCache[Placement] = BoundedCache(_MOST_KEPT)

    def place(self, level: Level, budget: Budget) -> Assembly:
        """Place a level.

        Parameters
        ----------
        level
            What is placed.
        budget
            Time and notices.
        """
        if level.u is not None:
            from .lane_worth import READABLE, find_zoom

            placement = self._place_u(level, level.u, budget)
            ordinary = self.place(level.without_shape(), budget)
            places = join_pieces(ordinary, level)
            zoom = find_zoom(placement.width, placement.height)
            least = find_zoom(places.width, places.height)
            # a stream without skips is drawn as two arms only where one is too long
            if zoom <= least if not level.u.lanes else zoom < min(least, READABLE):
                return ordinary
            return Assembly(*divide_level(level), [placement])
        if level.lanes is not None:
            lanes = self._place_lanes(level, level.lanes, budget)
            ordinary = self.place(level.without_shape(), budget)
            if lanes is None:
                return ordinary
            from .lane_worth import reads_better

            assembly = Assembly(*divide_level(level), [lanes])
            both = join_pieces(assembly, level), join_pieces(ordinary, level)
            return assembly if reads_better(*both) else ordinary
        division, pieces = divide_level(level)
        return Assembly(
            division, pieces, [self._place_piece(piece.level, budget) for piece in pieces]
        )

    def replace(
        self, before: Assembly, old: Level, level: Level, budget: Budget, history: PieceHistory
    ) -> Assembly:
        """Place anew the pieces of a level that are not as they were.

        Parameters
        ----------
        before, old
            How the level was placed, and what it was then: wired as it is now.
        level
            What is placed.
        budget
            Time and notices.
        history
            What the pieces looked like; boxes keep their order as far as may be.
        """
        if before.is_exact and level.u is not None:
            placement = self._place_u(level, level.u, budget)
            return before.replaced({0: (level, placement)})
        if before.is_exact and level.lanes is not None:
            lanes = self._place_lanes(level, level.lanes, budget)
            if lanes is None:
                return self.place(level.without_shape(), budget)
            return before.replaced({0: (level, lanes)})
        children = _differences(old.children, level.children)
        wires = _differences(old.wires, level.wires)
        changes = {}
        for number in before.division.pieces_with(children, wires):
            piece = before.pieces[number]
            new = _renew(piece, level)
            if new.key() == piece.level.key():
                continue
            history.show(number, piece.level, before.placements[number])
            placement = history.settle(number, new, self._place_piece(new, budget))
            changes[number] = new, placement
        return before.replaced(changes) if changes else before

    def _place_u(self, level: Level, shape: UShape, budget: Budget) -> Placement:
        """Place a U, whose other parts are placed as levels of their own."""
        from .u_place import UPlacer  # few pictures have one

        beside = self._place_parts(level, (*shape.giving, *shape.taking), budget)
        return UPlacer(level, shape, beside).place()

    def _place_lanes(self, level: Level, shape: LaneShape, budget: Budget) -> Placement | None:
        """Place lanes; None where a line would run through a box."""
        from .lane_place import LanePlacer  # few pictures have any

        beside = self._place_parts(level, (*shape.giving, *shape.taking), budget)
        return LanePlacer(level, shape, beside).place()

    def _place_parts(
        self, level: Level, parts: Sequence[tuple[int, ...]], budget: Budget
    ) -> dict[tuple[int, ...], tuple[Places, list[int]]]:
        """Place parts of a level as levels of their own; return them with their wires."""
        beside = {}
        for part in parts:
            members = {*part}
            wires = [
                number
                for number, wire in enumerate(level.wires)
                if wire.source in members and wire.target in members
            ]
            taken = take_part(level.without_shape(), [*part], wires).level
            beside[part] = join_pieces(self.place(taken, budget), taken), wires
        return beside

    def _place_piece(self, level: Level, budget: Budget) -> Placement:
        from .simple import place_simply

        if level.is_list:
            return place_columns(level)
        if not level.wires and len(level.children) <= 1:
            return place_simply(level)
        key: Hashable = level.key()
        placement = self._pieces.get(key)
        if placement is None:
            step()
            placement = _place_pair(level, level.direction)
            if placement is None:
                try:
                    placement = self._ask(level, budget)
                except LayoutError as error:
                    budget.notices.append(f"Shown with a simpler layout: {error}.")
                    return place_simply(level)
            self._pieces.put(key, placement, placement.weight)
        return placement

    def _ask(self, level: Level, budget: Budget) -> Placement:
        boxes, wires = len(level.children), len(level.wires)
        if boxes > MOST_FOR_GRAPHVIZ or wires > MOST_WIRES_FOR_GRAPHVIZ:
            raise LayoutError(f"{boxes:,} boxes and {wires:,} edges hang together here")
        patience = budget.patience
        if budget.left <= 0 or (patience is not None and not patience.allows(level)):
            raise LayoutTimeoutError
        drawing = _draw(level, budget, is_reversed=False)
        placement = read_drawing(level, drawing)
        if placement is None:
            raise LayoutError("Graphviz left out some of the boxes")
        if may_go_around(level) and min(count_sides(level, placement)):
            other = self._draw_reversed(level, budget)
            if other is not None and is_more_one_sided(level, other, placement):
                return other
        return placement

    def _draw_reversed(self, level: Level, budget: Budget) -> Placement | None:
        """Return what Graphviz says where boxes are told in the opposite order."""
        if budget.left <= 0:
            return None
        return read_drawing(level, _draw(level, budget, is_reversed=True))


def _draw(level: Level, budget: Budget, *, is_reversed: bool) -> Drawing:
    """Return what Graphviz says; what was stopped for want of patience is remembered there."""
    text = write_level_dot(level, is_reversed=is_reversed)
    patience, left = budget.patience, budget.left
    if patience is None or left < patience.seconds:  # then the end of the budget stops it
        return budget.engine.place(text, left)
    try:
        return budget.engine.place(text, left, work=patience.seconds)
    except (LayoutTimeoutError, LayoutMemoryError):
        patience.note_stopped(level)
        raise


def _differences(old: Sequence[Entry], new: Sequence[Entry]) -> list[int]:
    pairs = zip(old, new, strict=True)
    return [number for number, (a, b) in enumerate(pairs) if a is not b and a != b]


def _renew(piece: Part, level: Level) -> Level:
    """Return a piece with the children and wires that a changed level has in its places."""
    old = piece.level
    wires = [level.wires[number] for number in piece.wires]
    return Level(
        old.direction,
        [level.children[child] for child in piece.children],
        old.input_count,
        old.output_count,
        [
            new._replace(source=wire.source, target=wire.target)
            for wire, new in zip(old.wires, wires, strict=True)
        ],
        old.first,
        old.last,
        old.is_list,
    )


def _place_pair(level: Level, written: Direction) -> Placement | None:
    """Place two boxes, or a box and a port, with one edge between them; None for anything else.

    The edge is straight. Graphviz would say the same, a thousand times slower.

    Parameters
    ----------
    level
        What is placed.
    written
        The direction in which the picture runs that the level may have been turned for.
    """
    if len(level.children) > 2:
        return None
    drawn = [number for number, wire in enumerate(level.wires) if wire.values]
    if len(drawn) != 1:
        return None
    wire = level.wires[drawn[0]]
    if wire.source == wire.target >= 0:
        return None
    is_whole = (
        len(level.children) == (wire.source >= 0) + (wire.target >= 0)
        and level.input_count == (wire.source < 0)
        and level.output_count == (wire.target < 0)
    )
    if not is_whole:
        return None
    if level.direction == "LR":
        turned = Level(
            "TB",
            [Child(c.height, c.width, c.inputs, c.outputs) for c in level.children],
            level.input_count,
            level.output_count,
            level.wires,
        )
        placement = _place_pair(turned, written)
        return placement.turned() if placement is not None else None
    tail = level.children[wire.source] if wire.source >= 0 else None
    head = level.children[wire.target] if wire.target >= 0 else None
    start = _port_offset(tail, wire.source_port, "outputs")
    end = _port_offset(head, wire.target_port, "inputs")
    tail_width, tail_height = (tail.width, tail.height) if tail else (PORT_SIZE, PORT_SIZE)
    head_width, head_height = (head.width, head.height) if head else (PORT_SIZE, PORT_SIZE)
    line = max(start, end)
    width = max(line - start + tail_width, line - end + head_width)
    gap = find_chain_gap(wire, written)
    top, bottom = tail_height, tail_height + gap
    tail_place = (line - start + tail_width / 2, tail_height / 2)
    head_place = (line - end + head_width / 2, bottom + head_height / 2)
    boxes = [(0.0, 0.0)] * len(level.children)
    if tail is not None:
        boxes[wire.source] = tail_place
    if head is not None:
        boxes[wire.target] = head_place
    third = gap / 3
    edges: list[Curve] = [()] * len(level.wires)
    edges[drawn[0]] = (line, top, line, top + third, line, bottom - third, line, bottom)
    return Placement(
        width,
        bottom + head_height,
        boxes,
        [tail_place] if tail is None else [],
        [head_place] if head is None else [],
        edges,
    )


def _port_offset(child: Child | None, port: int | None, side: str) -> float:
    if child is None:
        return PORT_SIZE / 2
    offsets: tuple[float, ...] = getattr(child, side)
    return child.width / 2 if port is None else offsets[port]
