"""Labels beside edges: placed after everything else.

Those that say how many values an edge has come first; where nothing on their edge is free they
stand beside it. The others, which tell sizes, stand beside their edge at once. What finds no room
is left out, for a line through a number makes both hard to read. Edges are served in their order,
each at the first of some places along it where nothing else is. Most labels have no other near, so
that only what boxes and curves leave free decides: that is found for all of them at once. Only the
others are looked at one after the other.
"""

from __future__ import annotations

import numpy as np

from netloupe.explorer.options import Direction

from .areas import AreaIndex, Flags, ProximityFilter
from .placement import Curves, Floats, Integers, evaluate, sample_pieces, starts_of
from .scene import Inside
from .texts import Texts

HEIGHT = 15.0
_PADDING = 5.0
#: shorter edges would be hidden by labels on them
_LEAST_LENGTH = 40.0
#: from an edge to a label that stands beside it, its number or its size, and to a size above it
_ASIDE = 5.0
_SIZE_ASIDE = 7.0
_LEVEL_ASIDE = 3.0
#: where along an edge its label may stand and on which side of it, best first
Spot = tuple[float, float]
_SHARES = (0.45, 0.35, 0.6, 0.2, 0.75)
_NEAR: tuple[Spot, ...] = tuple((share, side) for side in (1, -1) for share in _SHARES)
#: in the end a little farther from a long piece that is level but for a slope
SIZE_SPOTS: tuple[Spot, ...] = (
    *_NEAR,
    *((share, side) for side in (2.2, -2.2) for share in _SHARES),
)
_LONG_PIECE = 200.0
#: the same for the number of its values: on the edge, rather near its end; one that is too short
#: has it at one of its sides
COUNT_SPOTS: tuple[Spot, ...] = (
    *((share, 0) for share in (0.7, 0.8, 0.6, 0.5, 0.9, 0.4, 0.3, 0.2, 0.1, 0.05)),
    *((share, side) for share in (0.5, 0.65, 0.8, 0.35, 0.2, 0.95, 0.05) for side in (1, -1)),
)
#: and so far from the end, where the arrow is
LEAST_LEFT = 17.0
#: length and half the width of an arrow, with a little around it
_ARROW = 8.0
_HALF_ARROW = 4.0
#: points on each piece of a curve by which areas that it runs through are found
_STEPS = 8
#: half of what the walls of an open item take
_WALL = 2.0
#: a line with what is beside it
_LINE = np.array([-1.0, -1.0, 1.0, 1.0])
#: places of one label that are farther from each other are looked at one by one
_LONG = 300.0
#: labels that may be in each other's way are looked at so many at once in the beginning
_FEW = 64
_CELL = 120.0


def place_labels(inside: Inside, direction: Direction, opened: Integers, texts: Texts) -> Floats:
    """Find room beside the edges of one level for their labels.

    Parameters
    ----------
    inside
        The level's places.
    direction
        Where values flow to.
    opened
        The numbers of the open boxes: no label is placed on any box, and their walls are drawn
        broader.
    texts
        What is to be written.

    Returns
    -------
    array
        Shape (edges, 2): the labels' centres; NaN where there is none.
    """
    found = np.full((len(inside.curves), 2), np.nan)
    lengths = _measure_along(inside.curves, direction)
    wanted = texts.wanted & (inside.curves.counts > 0)
    is_long = lengths >= _LEAST_LENGTH
    counted = np.flatnonzero(wanted & texts.counted)
    sized = np.flatnonzero(wanted & ~texts.counted)
    if not len(counted) and not len(sized):
        return found
    curves = _Samples(inside.curves)
    walls = np.zeros((0, 4))
    if len(counted):
        labels = _Labels(inside, direction, opened, texts, curves, counted, COUNT_SPOTS)
        on_edge = np.array([side == 0 for _, side in COUNT_SPOTS])
        left = lengths[counted][:, None] * (1 - np.array([share for share, _ in COUNT_SPOTS]))
        labels.allowed = np.where(
            (is_long & ~texts.named)[counted][:, None], on_edge & (left >= LEAST_LEFT), ~on_edge
        )
        labels.choose_in_turn(np.arange(len(counted)))
        crowded = np.flatnonzero(labels.chosen < 0)  # such stand beside long edges, too
        labels.allowed[crowded] |= ~on_edge
        labels.choose_in_turn(crowded)
        found[counted] = labels.list_centres()
        walls = labels.list_areas()
    if len(sized):
        labels = _Labels(inside, direction, opened, texts, curves, sized, SIZE_SPOTS, walls)
        alone = _find_alone(labels.areas, labels.flows)
        labels.choose_alone(np.flatnonzero(alone))
        labels.choose_in_turn(np.flatnonzero(~alone))
        found[sized] = labels.list_centres()
    return found


def _measure_along(curves: Curves, direction: Direction) -> Floats:
    """Return how far each edge goes in the direction of flow."""
    axis = 1 if direction == "TB" else 0
    along = curves.points[:, axis]
    lengths = np.zeros(len(curves))
    drawn = np.flatnonzero(curves.counts)
    lengths[drawn] = np.abs(along[curves.starts[drawn + 1] - 1] - along[curves.starts[drawn]])
    return lengths


class _Samples:
    """Points on the curves of a level, the same number for each of their pieces."""

    def __init__(self, curves: Curves) -> None:
        counts = curves.piece_counts
        #: the first piece of each edge, and the end; and the edge of each piece
        self.pieces = starts_of(counts)
        self.edges = np.repeat(np.arange(len(curves)), counts)
        #: shape (pieces, 4, 2)
        self.controls = curves.list_controls()

    def places(
        self, edges: Integers, halves: Floats, axis: int | None, spots: tuple[Spot, ...]
    ) -> Floats:
        """Return the places at edges where their labels may stand, shape (edges, places, 2).

        Parameters
        ----------
        edges
            Numbers of edges.
        halves
            Shape (edges,): half the width of each label.
        axis
            That across the flow, 0 where values flow down, in which what stands beside an edge
            is moved from it; None for sizes, which stand at the longest piece of an edge: right
            of it, or above where it runs level.
        spots
            Where they may stand.
        """
        shares = np.array([share for share, _ in spots])
        sides = np.array([side for _, side in spots])
        if axis is None:
            controls = self.controls[self._find_longest(edges)]
            places = evaluate(controls[:, None], shares[None])
            runs = np.abs(controls[:, 3] - controls[:, 0])
            is_level = (runs[:, 0] > runs[:, 1])[:, None]
            beside = (halves + _SIZE_ASIDE)[:, None] * np.sign(sides)
            places[..., 0] += np.where(is_level, 0.0, beside)
            places[..., 1] -= np.where(is_level, (HEIGHT / 2 + _LEVEL_ASIDE) * sides, 0.0)
            return places
        lengths = 1 + _STEPS * np.diff(self.pieces)[edges][:, None]
        index = np.minimum((shares * lengths).astype(np.int64), lengths - 1)
        # the end of a piece is the beginning of the next
        piece = np.maximum(index - 1, 0) // _STEPS
        controls = self.controls[self.pieces[edges][:, None] + piece]
        places = evaluate(controls, (index - _STEPS * piece) / _STEPS)
        aside = (halves if axis == 0 else np.full(len(edges), HEIGHT / 2)) + _ASIDE
        places[..., axis] += aside[:, None] * sides
        return places

    def measure_runs(self, edges: Integers) -> Floats:
        """Return how far across the flow the longest piece of each of some edges runs."""
        controls = self.controls[self._find_longest(edges)]
        runs = np.abs(controls[:, 3] - controls[:, 0])
        found: Floats = np.where(runs[:, 0] > runs[:, 1], runs[:, 0], 0.0)
        return found

    def _find_longest(self, edges: Integers) -> Integers:
        """Return the longest piece of each of some edges."""
        runs = self.controls[:, 3] - self.controls[:, 0]
        lengths = np.round(np.hypot(runs[:, 0], runs[:, 1]), 3)
        starts, ends = self.pieces[edges], self.pieces[edges + 1]
        found = [
            start + int(np.argmax(lengths[start:end]))
            for start, end in zip(starts.tolist(), ends.tolist(), strict=True)
        ]
        return np.array(found, np.int64)

    def list_arrows(self) -> Floats:
        """Return the areas of the arrows in which edges end, shape (drawn edges, 4)."""
        last = self.controls[self.pieces[1:][np.diff(self.pieces) > 0] - 1]
        ends = last[:, 3]
        steps = ends[:, None] - last[:, 2::-1]
        lengths = np.hypot(steps[..., 0], steps[..., 1])
        # points that lie where the edge ends have no direction
        chosen = np.argmax(lengths > 0.01, axis=1)
        rows = np.arange(len(last))
        steps, lengths = steps[rows, chosen], lengths[rows, chosen]
        ways = steps / np.maximum(lengths, 0.01)[:, None]
        backs = ends - _ARROW * ways
        halves = _HALF_ARROW * np.abs(ways[:, ::-1])
        low, high = np.minimum(ends, backs) - halves, np.maximum(ends, backs) + halves
        return np.concatenate([low, high], axis=1)

    def areas(self, wanted: ProximityFilter) -> tuple[Floats, Integers]:
        """Return the areas near by that curves run through, and the edges that these belong to.

        What runs straight along an axis is one area, anything else one between each two points.
        """
        extents = np.concatenate([self.controls.min(axis=1), self.controls.max(axis=1)], axis=1)
        kept = wanted.near(extents + _LINE)
        controls, edges, extents = self.controls[kept], self.edges[kept], extents[kept]
        is_straight = np.any(np.all(controls == controls[:, :1], axis=1), axis=1)
        points = sample_pieces(controls[~is_straight], _STEPS)
        low = np.minimum(points[:, :-1], points[:, 1:])
        high = np.maximum(points[:, :-1], points[:, 1:])
        areas = np.concatenate([low, high], axis=2).reshape(-1, 4)
        owners = np.concatenate([np.repeat(edges[~is_straight], _STEPS), edges[is_straight]])
        areas = np.concatenate([areas, extents[is_straight]]) + _LINE
        kept = wanted.near(areas)
        return areas[kept], owners[kept]


class _Labels:
    """The labels of one level while room is found for them."""

    def __init__(
        self,
        inside: Inside,
        direction: Direction,
        opened: Integers,
        texts: Texts,
        curves: _Samples,
        edges: Integers,
        spots: tuple[Spot, ...],
        taken: Floats | None = None,
    ) -> None:
        self.inside = inside
        self.spots = spots
        #: areas of other labels
        self.taken = np.zeros((0, 4)) if taken is None else taken
        self.direction = direction
        self.opened = opened
        self.curves = curves
        self.edges = edges
        #: whose lines may be in the way of a label: its own as well where it stands beside it
        self.owners = np.full(len(edges), -2) if spots is SIZE_SPOTS else edges
        self.flows = texts.flows[edges]
        #: shape (labels, places, 2)
        halves = np.empty((len(edges), 1, 2))
        halves[:, 0, 0] = texts.widths[edges] / 2 + _PADDING
        halves[:, 0, 1] = HEIGHT / 2
        axis = None if spots is SIZE_SPOTS else 0 if direction == "TB" else 1
        self.centres = curves.places(edges, halves[:, 0, 0], axis, spots)
        #: shape (labels, places, 4)
        self.areas = np.concatenate([self.centres - halves, self.centres + halves], axis=2)
        #: which of its places each label may have at all, and which one it has; -1 for none
        self.allowed = np.ones(self.centres.shape[:2], np.bool_)
        if spots is SIZE_SPOTS:
            self.allowed[:, len(_NEAR) :] = curves.measure_runs(edges)[:, None] >= _LONG_PIECE
        self.chosen = np.full(len(edges), -1)
        self._cells: dict[tuple[int, int], list[list[float]]] = {}

    def list_centres(self) -> Floats:
        """Return the centre of each label, shape (labels, 2); NaN for one without a place."""
        centres: Floats = np.round(self.centres[np.arange(len(self.edges)), self.chosen], 2)
        centres[self.chosen < 0] = np.nan
        return centres

    def list_areas(self) -> Floats:
        """Return the areas of the labels that have a place, shape (labels, 4)."""
        placed = np.flatnonzero(self.chosen >= 0)
        areas: Floats = self.areas[placed, self.chosen[placed]]
        return areas

    def _list_obstacles(self, numbers: Integers) -> AreaIndex:
        """Return what is in the way of some labels: boxes, walls, the title, arrows and curves."""
        inside = self.inside
        axis = 1 if self.direction == "TB" else 0
        wanted = ProximityFilter(self.areas[numbers].reshape(-1, 4), axis)
        width, height = inside.width, inside.height
        walls = np.array(
            [
                (0.0, -_WALL, width, _WALL),
                (0.0, height - _WALL, width, height + _WALL),
                (-_WALL, 0.0, _WALL, height),
                (width - _WALL, 0.0, width + _WALL, height),
            ]
        )
        boxes = inside.boxes.copy()
        boxes[:, 2:] += boxes[:, :2]
        boxes[self.opened] += (-_WALL, -_WALL, _WALL, _WALL)
        arrows = self.curves.list_arrows()
        fixed = np.concatenate([inside.titles, walls, boxes, self.taken, arrows])
        fixed = fixed[wanted.near(fixed)]
        lines, owners = self.curves.areas(wanted)
        return AreaIndex(
            np.concatenate([fixed, lines]), np.concatenate([np.full(len(fixed), -1), owners])
        )

    def choose_alone(self, numbers: Integers) -> None:
        """Choose the first free place for labels that are in nobody's way."""
        if not len(numbers):
            return
        taken = self._list_obstacles(numbers)
        for place in range(len(self.spots)):
            blocked = taken.meets(self.areas[numbers, place], self.owners[numbers])
            blocked |= ~self.allowed[numbers, place]
            self.chosen[numbers[~blocked]] = place
            numbers = numbers[blocked]

    def choose_in_turn(self, numbers: Integers) -> None:
        """Choose the first free place for labels, one after the other; one for each flow.

        Where a flow has many edges most are done when the first has its label: few are looked
        at in the beginning, then more and more.
        """
        done: set[int] = set()
        most = _FEW
        while len(numbers):
            self._choose_some(numbers[:most], done)
            numbers = numbers[most:]
            if len(numbers):
                numbers = numbers[~np.isin(self.flows[numbers], list(done))]
            most *= 4

    def _choose_some(self, numbers: Integers, done: set[int]) -> None:
        areas = self.areas[numbers]
        cells = self._cells
        owners = np.repeat(self.owners[numbers], len(self.spots))
        taken = self._list_obstacles(numbers)
        blocked = taken.meets(areas.reshape(-1, 4), owners)
        is_free = ~blocked.reshape(-1, len(self.spots)) & self.allowed[numbers]
        for row in np.flatnonzero(is_free.any(axis=1)).tolist():
            flow = int(self.flows[numbers[row]])
            if flow in done:
                continue
            for place in np.flatnonzero(is_free[row]).tolist():
                area = areas[row, place].tolist()
                touched = _cells_of(area)
                if not any(_meet(area, other) for cell in touched for other in cells.get(cell, ())):
                    for cell in touched:
                        cells.setdefault(cell, []).append(area)
                    self.chosen[numbers[row]] = place
                    done.add(flow)
                    break


def _find_alone(areas: Floats, flows: Integers) -> Flags:
    """Return which labels nothing that is written can be in the way of, wherever it is."""
    _, which, counts = np.unique(flows, return_inverse=True, return_counts=True)
    alone: Flags = counts[which] == 1
    if not alone.any():
        return alone
    hulls = np.concatenate([areas[:, :, :2].min(axis=1), areas[:, :, 2:].max(axis=1)], axis=1)
    numbers = np.arange(len(areas))
    # around places far apart there would be too much that has nothing to do with them
    is_long = np.any(hulls[:, 2:] - hulls[:, :2] > _LONG, axis=1)
    everywhere = np.concatenate([hulls[~is_long], areas[is_long].reshape(-1, 4)])
    owners = np.concatenate([numbers[~is_long], np.repeat(numbers[is_long], areas.shape[1])])
    asked = alone[owners]
    met = AreaIndex(everywhere, owners).meets(everywhere[asked], owners[asked])
    alone[owners[asked][met]] = False
    return alone


def _cells_of(area: list[float]) -> list[tuple[int, int]]:
    left, top, right, bottom = (int(side // _CELL) for side in area)
    return [(x, y) for x in range(left, right + 1) for y in range(top, bottom + 1)]


def _meet(first: list[float], second: list[float]) -> bool:
    return (
        first[0] < second[2]
        and second[0] < first[2]
        and first[1] < second[3]
        and second[1] < first[3]
    )
