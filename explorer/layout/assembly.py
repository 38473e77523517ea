"""A level put together from pieces: each is placed alone, all are moved to where they belong.

Pieces of one part follow each other along the flow and share a child where they meet; parts
stand beside one another. What is known of the pieces is kept in arrays, so that one changed
piece costs its own layout, and moving all others next to nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import chain
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from netloupe.explorer.arrays import sort_distinct
from netloupe.explorer.options import Direction

from .components import set_in_rows, split_components
from .level import Level
from .placement import (
    Curves,
    Floats,
    Integers,
    Placement,
    Places,
    Point,
    make_points,
    spread_runs,
    starts_of,
)
from .series import Part, cut_series


@dataclass(slots=True, eq=False)
class Division:
    """How a level falls into pieces, which depends on its wiring alone.

    Parameters
    ----------
    children, wires
        Numbers of the children and wires of all pieces, piece after piece. A child where two
        pieces meet is in both, every wire in one.
    child_starts, wire_starts
        Where each piece begins in these, and the end.
    part_starts
        Number of the first piece of each part, and the end.
    part_of
        The part of each piece.
    firsts, lasts
        Where in ``children`` the first and the last child of each piece are, at which it meets
        its neighbours; any place for those without.
    is_between
        Shape (pieces,): whether a piece meets others at both ends.
    with_ports
        The pieces that hold ports on the border; they are in the first part.
    """

    children: Integers
    wires: Integers
    child_starts: Integers
    wire_starts: Integers
    part_starts: Integers
    part_of: Integers
    firsts: Integers
    lasts: Integers
    is_between: NDArray[np.bool_]
    with_ports: list[int]

    def pieces_with(self, children: Iterable[int], wires: Iterable[int]) -> list[int]:
        """Return the pieces that hold some children or wires."""
        held = np.flatnonzero(np.isin(self.children, list(children)))
        drawn = np.flatnonzero(np.isin(self.wires, list(wires)))
        found = np.concatenate(
            [
                np.searchsorted(self.child_starts, held, side="right") - 1,
                np.searchsorted(self.wire_starts, drawn, side="right") - 1,
            ]
        )
        pieces: list[int] = sort_distinct(found).tolist()
        return pieces


def divide_level(level: Level) -> tuple[Division, list[Part]]:
    """Return how a level falls into pieces, and these.

    Their children and wires have the numbers that they have in the whole level.
    """
    if level.is_list or level.has_shape:
        whole = Part(level, list(range(len(level.children))), list(range(len(level.wires))))
        parts = [(whole, [whole])]
    else:
        parts = [(part, cut_series(part.level)) for part in split_components(level)]
    pieces = [
        Part(
            piece.level,
            [part.children[child] for child in piece.children],
            [part.wires[wire] for wire in piece.wires],
        )
        for part, cut in parts
        for piece in cut
    ]
    child_starts = starts_of(np.array([len(piece.children) for piece in pieces], np.int64))
    wire_starts = starts_of(np.array([len(piece.wires) for piece in pieces], np.int64))
    counts = np.array([len(cut) for _, cut in parts], np.int64)
    division = Division(
        np.array([child for piece in pieces for child in piece.children], np.int64),
        np.array([wire for piece in pieces for wire in piece.wires], np.int64),
        child_starts,
        wire_starts,
        starts_of(counts),
        np.repeat(np.arange(len(parts)), counts),
        child_starts[:-1] + np.array([max(piece.level.first, 0) for piece in pieces]),
        child_starts[:-1] + np.array([max(piece.level.last, 0) for piece in pieces]),
        np.array([min(piece.level.first, piece.level.last) >= 0 for piece in pieces], np.bool_),
        [
            number
            for number, piece in enumerate(pieces)
            if piece.level.input_count or piece.level.output_count
        ],
    )
    return division, pieces


class Assembly:
    """The pieces of a level, each with its placement. Never changed once it is made."""

    __slots__ = ("_boxes", "_edges", "_extents", "division", "pieces", "placements")

    def __init__(self, division: Division, pieces: list[Part], placed: list[Placement]) -> None:
        self.division = division
        self.pieces = pieces
        self.placements = placed
        #: centres of the children and points of the wires, in the order of the division, each
        #: from its piece's top left corner
        self._boxes = _list_points(placement.boxes for placement in placed)
        self._edges = Curves.of(chain.from_iterable(placement.edges for placement in placed))
        self._extents = np.array([(p.width, p.height) for p in placed], np.float64)

    @property
    def is_exact(self) -> bool:
        """Whether edges end where they should, at whatever side of a box that is."""
        return len(self.placements) == 1 and self.placements[0].is_exact

    def replaced(self, changes: Mapping[int, tuple[Level, Placement]]) -> Assembly:
        """Return an assembly with some pieces placed anew.

        Parameters
        ----------
        changes
            By the piece's number it as a level, and its placement.
        """
        new = object.__new__(Assembly)
        division = new.division = self.division
        new.pieces, new.placements = self.pieces.copy(), self.placements.copy()
        new._boxes, new._extents = self._boxes.copy(), self._extents.copy()
        points: list[Floats] = []
        counts = self._edges.counts
        end = 0
        for number in sorted(changes):
            level, placement = changes[number]
            old = self.pieces[number]
            new.pieces[number] = Part(level, old.children, old.wires)
            new.placements[number] = placement
            first, last = division.child_starts[number : number + 2]
            new._boxes[first:last] = np.array(placement.boxes, np.float64).reshape(-1, 2)
            new._extents[number] = placement.width, placement.height
            first, last = division.wire_starts[number : number + 2]
            curves = Curves.of(placement.edges)
            counts[first:last] = curves.counts
            points += [self._edges.points[end : self._edges.starts[first]], curves.points]
            end = self._edges.starts[last]
        points.append(self._edges.points[end:])
        new._edges = Curves(np.concatenate(points), starts_of(counts))
        return new

    def without_drift(self, level: Level) -> Assembly:
        """Return it with boxes below one another where they would stand far aside otherwise."""
        division, pieces = self.division, self.pieces
        if not division.is_between.any():
            return self
        from .drifting_stacks import LEAST_STEP, MOST_DRIFT, place_below

        axis = 0 if level.direction == "TB" else 1
        starts = division.part_starts[:-1]
        # what holds ports alone has no boxes: it counts for nothing
        firsts, lasts = np.minimum((division.firsts, division.lasts), len(self._boxes) - 1)
        steps = (self._boxes[lasts] - self._boxes[firsts])[:, axis] * division.is_between
        places = np.cumsum(steps)
        spread = np.maximum.reduceat(places, starts) - np.minimum.reduceat(places, starts)
        sizes = level.arrays().sizes[division.children[lasts], axis]
        widest = np.maximum.reduceat(sizes * division.is_between, starts)
        drifts = (spread > MOST_DRIFT * widest)[division.part_of]
        known: dict[int, Placement | None] = {}
        changes = {}
        for number in np.flatnonzero(drifts & (np.abs(steps) >= LEAST_STEP)).tolist():
            placed = self.placements[number]
            if id(placed) not in known:
                known[id(placed)] = place_below(pieces[number].level, placed)
            below = known[id(placed)]
            if below is not None:
                changes[number] = pieces[number].level, below
        return self.replaced(changes) if changes else self

    def join(self, level: Level) -> Places:
        """Return the positions of the whole level."""
        division = self.division
        shifts, (width, height), stretch = self._arrange_pieces(level.direction)
        boxes = np.zeros((len(level.children), 2))
        held = np.repeat(shifts, np.diff(division.child_starts), axis=0)
        boxes[division.children] = self._boxes + held
        edges = self._join_edges(shifts)
        axis = 1 if level.direction == "TB" else 0
        if stretch:
            edges = _lengthen(edges, level.arrays().targets < 0, stretch, axis)
        inputs = self._join_ports(shifts, "inputs")
        outputs = self._join_ports(shifts, "outputs")
        outputs[:, axis] += stretch
        return Places(width, height, boxes, inputs, outputs, edges, self.is_exact)

    def _arrange_pieces(self, direction: Direction) -> tuple[Floats, tuple[float, float], float]:
        """Return by how much each piece is moved, the size of all, and how far ports are moved."""
        division = self.division
        starts, part_of = division.part_starts[:-1], division.part_of
        shifts = np.zeros((len(self.pieces), 2))
        steps = self._boxes[division.lasts[:-1]] - self._boxes[division.firsts[1:]]
        steps[starts[1:] - 1] = 0.0
        np.cumsum(steps, axis=0, out=shifts[1:])
        shifts -= shifts[starts][part_of]
        low = np.minimum.reduceat(shifts, starts)
        extents = np.maximum.reduceat(shifts + self._extents, starts) - low
        shifts -= low[part_of]
        if len(starts) == 1:
            return shifts, (float(extents[0, 0]), float(extents[0, 1])), 0.0
        moves, extent, stretch = set_in_rows(
            extents, direction, has_ports=bool(division.with_ports)
        )
        return shifts + moves[part_of], extent, stretch

    def _join_edges(self, shifts: Floats) -> Curves:
        """Return the wires' curves in the order of the level's wires."""
        counts = self._edges.counts
        moved = self._edges.points + np.repeat(
            shifts, np.diff(self._edges.starts[self.division.wire_starts]), axis=0
        )
        ordered = np.zeros_like(counts)
        ordered[self.division.wires] = counts
        starts = starts_of(ordered)
        points = np.empty_like(moved)
        points[spread_runs(starts[self.division.wires], counts)] = moved
        return Curves(points, starts)

    def _join_ports(self, shifts: Floats, side: Literal["inputs", "outputs"]) -> Floats:
        places = [np.zeros((0, 2))]
        for number in self.division.with_ports:
            found: list[Point] = getattr(self.placements[number], side)
            places.append(np.array(found, np.float64).reshape(-1, 2) + shifts[number])
        return np.concatenate(places)


def join_pieces(assembly: Assembly, level: Level, *, is_mirrored: bool = False) -> Places:
    """Return the positions of a level, ``is_mirrored`` where its pieces are left for right."""
    places = assembly.without_drift(level).join(level)
    return places.mirrored() if is_mirrored else places


def _list_points(lists: Iterable[list[Point]]) -> Floats:
    return make_points(chain.from_iterable(chain.from_iterable(lists)))


def _lengthen(edges: Curves, chosen: np.ndarray, by: float, axis: int) -> Curves:
    """Lead some edges on straight along the flow."""
    chosen = chosen & (edges.counts > 0)
    counts = edges.counts + 3 * chosen
    starts = starts_of(counts)
    points = np.empty((int(starts[-1]), 2))
    points[spread_runs(starts[:-1], edges.counts)] = edges.points
    ends = edges.points[edges.starts[1:][chosen] - 1]
    for number in (1, 2, 3):
        further = ends.copy()
        further[:, axis] += by * number / 3
        points[starts[1:][chosen] - 4 + number] = further
    return Curves(points, starts)
