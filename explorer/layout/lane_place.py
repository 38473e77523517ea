"""A level as lanes: the ways of its edges between columns and rows.

Edges leave boxes at the right and come in at the left, but along an arm, where they run straight
up or down. In the gutters between columns, and in the gaps between rows, each line has a place of
its own; those that come from one box, or to one that takes many, run as one.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from .exact_placement import AROUND, finish_placement
from .lane_boxes import LaneBoxes, Part
from .lane_shape import LaneShape
from .lane_tracks import Line, order_tracks
from .lane_ways import LANE, LaneWays, Net, Way
from .level import Level, Wire
from .placement import Curve, Placement, Places, Point

#: from lines in a gutter to boxes
_MARGIN = 20.0
_LEAST_GUTTER = 46.0
_SAME = 0.5
#: ends of edges at one side of a box are so far apart at most
_SLOT = 9.0


class LanePlacer:
    """Places one level.

    Parameters
    ----------
    level, shape, beside
        As for :class:`LaneBoxes`.
    """

    def __init__(
        self,
        level: Level,
        shape: LaneShape,
        beside: Mapping[Part, tuple[Places, Sequence[int]]],
    ) -> None:
        self._level, self._shape, self._beside = level, shape, beside
        self._boxes = LaneBoxes(level, shape, beside)
        self._entries: dict[int, float] = {}
        self._inputs: dict[int, Point] = {}
        self._outputs: dict[int, float] = {}

    def place(self) -> Placement | None:
        """Return where everything is; None where a line would run through a box."""
        boxes = self._boxes
        boxes.stack({}, 0.0)
        self._ways = LaneWays(self._level, self._shape, self._beside, boxes)
        ways = self._ways.plan()
        if boxes.stubs_below:  # which need room in their rows
            boxes.stack({}, 0.0)
            ways = self._ways.plan()
        if ways is None:
            return None
        gaps, places = self._share_gaps(ways)
        boxes.stack(gaps, LANE)
        self._find_entries(ways)
        levels = {number: self._ways.find_level(*place, gaps) for number, place in places.items()}
        tracks, widths = self._lay_gutters(ways, levels)
        at, starts = boxes.place_columns(widths)
        edges: dict[int, list[Point] | Curve] = {}
        for way in ways:
            net = self._ways.find_net(way)
            xs = [starts[gutter] + tracks[gutter, net] for gutter in way.gutters]
            edges[way.wire] = self._draw(way, xs, levels.get(way.wire), at)
        for number in self._ways.along:
            edges[number] = self._draw_along(self._level.wires[number], at)
        for number in self._ways.at_stubs:
            edges[number] = self._draw_stub(self._level.wires[number], at)
        for part, (placed, wires) in self._beside.items():
            left = at[part[0]][0] - placed.boxes[0][0] + self._level.children[part[0]].width / 2
            shift = float(left), boxes.part_tops[part]
            for number, curve in zip(wires, placed.edges.tuples(), strict=True):
                edges[number] = tuple(value + shift[n % 2] for n, value in enumerate(curve))
        return finish_placement(self._level, at, edges, self._inputs, self._outputs)

    def _share_gaps(self, ways: Sequence[Way]) -> tuple[dict[int, int], dict[int, tuple[int, int]]]:
        """Return how many lines run in each gap, and which gap and line the wires there have."""
        lines: dict[tuple[int, Net], int] = {}
        counts: dict[int, int] = {}
        places: dict[int, tuple[int, int]] = {}
        for way in ways:
            if way.gap >= 0:
                key = way.gap, self._ways.find_net(way)
                if key not in lines:
                    lines[key] = counts.get(way.gap, 0)
                    counts[way.gap] = lines[key] + 1
                places[way.wire] = way.gap, lines[key]
        return counts, places

    def _find_entries(self, ways: Sequence[Way]) -> None:
        """Find at which height each wire comes to its target: one straight, others beside it."""
        sides: dict[tuple[int, bool], list[Way]] = {}
        for way in ways:
            target = self._level.wires[way.wire].target
            if target >= 0 and not way.is_corner:
                sides.setdefault((target, way.enters_right), []).append(way)
        for (target, _), entering in sides.items():
            wires = {way.wire: self._level.wires[way.wire] for way in entering}
            heights = {number: self._ways.enter_height(wire) for number, wire in wires.items()}
            is_shared = self._ways.is_shared(target)
            if len(entering) == 1 or is_shared or self._boxes.enters_above(target):
                self._entries.update(heights)
                continue
            order = sorted(entering, key=lambda way: (self._find_source_height(way), way.wire))
            level = [n for n, way in enumerate(order) if not way.gutters]
            anchor = level[0] if level else (len(order) - 1) / 2
            top, end = self._boxes.area(target)
            room = (end - top) / 2 - 4
            reach = max(anchor, len(order) - 1 - anchor)
            step = min(_SLOT, room / reach)
            for n, way in enumerate(order):
                self._entries[way.wire] = heights[way.wire] + (n - anchor) * step

    def _find_source_height(self, way: Way) -> float:
        wire = self._level.wires[way.wire]
        if way.gap >= 0:
            return self._ways.find_gap_middle(way.gap)
        return self._ways.leave_height(wire) if wire.source >= 0 else float("-inf")

    # the gutters

    def _lay_gutters(
        self, ways: Sequence[Way], levels: Mapping[int, float]
    ) -> tuple[dict[tuple[int, Net], float], list[float]]:
        """Return how far from its begin each line of a gutter is, and how wide gutters are."""
        lines: dict[int, dict[Net, Line]] = {}
        for way in (way for way in ways if way.gutters):
            wire = self._level.wires[way.wire]
            leave = self._ways.leave_height(wire) if wire.source >= 0 else -1e6
            enter = self._entries[way.wire] if wire.target >= 0 else 1e6
            heights = [leave, *([levels[way.wire]] if way.gap >= 0 else []), enter]
            for number, gutter in enumerate(way.gutters):
                net = self._ways.find_net(way)
                line = lines.setdefault(gutter, {}).setdefault(net, Line([], []))
                first, last = heights[number], heights[number + 1]
                is_last = number == len(way.gutters) - 1
                comes_right = way.leaves_left
                goes_left = way.enters_right if is_last else way.leaves_left
                (line.rights if comes_right else line.lefts).append(first)
                (line.lefts if goes_left else line.rights).append(last)
        places: dict[tuple[int, Net], float] = {}
        widths = []
        count = self._boxes.column_count
        for gutter in range(count + 1):
            nets = lines.get(gutter, {})
            order = order_tracks(list(nets.values()))
            room = (len(order) - 1) * LANE
            is_outer = gutter in (0, count)
            width = 0.0 if is_outer and not order else max(room + 2 * _MARGIN, _LEAST_GUTTER)
            keys = list(nets)
            for place, number in enumerate(order):
                places[gutter, keys[number]] = (width - room) / 2 + place * LANE
            widths.append(width)
        return places, widths

    # drawing

    def _port(
        self, box: int, port: int | None, at: Mapping[int, Point], *, is_input: bool
    ) -> float:
        child = self._level.children[box]
        offsets = child.inputs if is_input else child.outputs
        return at[box][0] + (child.width / 2 if port is None else offsets[port])

    def _draw(
        self, way: Way, xs: Sequence[float], level: float | None, at: Mapping[int, Point]
    ) -> list[Point]:
        wire = self._level.wires[way.wire]
        begin = self._begin(way, wire, xs, at)
        if way.is_corner:
            x = self._port(wire.target, None, at, is_input=True)
            y, (top, low) = begin[-1][1], self._boxes.area(wire.target)
            return [*begin, (x, y), (x, low if y > low else top)]
        end = self._end(way, wire, xs, at)
        leave, enter = begin[-1][1], end[0][1]
        if wire.target < 0:
            port = -1 - wire.target
            x = self._outputs.setdefault(port, xs[0])
            return [*begin, (xs[0], leave), (xs[0], -1.0), (x, -1.0)]
        if not xs:
            return [*begin, *end]
        if len(xs) == 1 or level is None:
            return [*begin, (xs[0], leave), (xs[0], enter), *end]
        return [*begin, (xs[0], leave), (xs[0], level), (xs[1], level), (xs[1], enter), *end]

    def _begin(
        self, way: Way, wire: Wire, xs: Sequence[float], at: Mapping[int, Point]
    ) -> list[Point]:
        if wire.source < 0:
            x, _ = self._inputs.setdefault(-1 - wire.source, (xs[0], 0.0))
            top = self._boxes.row_tops[0] - AROUND
            return [(x, 0.0), (x, top)]
        box = wire.source
        child = self._level.children[box]
        top, end = self._boxes.area(box)
        if self._boxes.is_open(box):
            x = self._port(box, wire.source_port, at, is_input=False)
            return [(x, end), (x, end + AROUND)]
        x = at[box][0] + (0.0 if way.leaves_left else child.width)
        return [(x, (top + end) / 2)]

    def _end(
        self, way: Way, wire: Wire, xs: Sequence[float], at: Mapping[int, Point]
    ) -> list[Point]:
        if wire.target < 0:
            return [(0.0, 0.0)]
        box = wire.target
        child = self._level.children[box]
        y = self._entries[way.wire]
        if self._boxes.enters_above(box):
            x = self._port(box, wire.target_port, at, is_input=True)
            return [(x, y), (x, self._boxes.area(box)[0])]
        x = at[box][0] + (child.width if way.enters_right else 0.0)
        if child.is_round:
            radius, off = child.height / 2, y - self._boxes.middle(box)
            inset = radius - math.sqrt(max(radius**2 - off**2, 0.0))
            x += -inset if way.enters_right else inset
        return [(x, y)]

    def _draw_along(self, wire: Wire, at: Mapping[int, Point]) -> list[Point]:
        """Draw what runs straight along an arm; open boxes are reached around at the right."""
        boxes = self._boxes
        start = self._port(wire.source, wire.source_port, at, is_input=False)
        end = self._port(wire.target, wire.target_port, at, is_input=True)
        source, target = boxes.area(wire.source), boxes.area(wire.target)
        if not boxes.goes_up(wire.target):
            middle = (source[1] + target[0]) / 2
            way = [(start, source[1]), (start, middle), (end, middle), (end, target[0])]
            return way if abs(start - end) >= _SAME else [way[0], way[-1]]
        begin: list[Point] = [(start, source[0])]
        finish: list[Point] = [(end, target[1])]
        rights = [
            at[box][0] + self._level.children[box].width
            for box in (wire.source, wire.target)
            if boxes.is_open(box)
        ]
        around = max(rights, default=0.0) + AROUND / 2
        if boxes.is_open(wire.source):
            low, high = source[1] + AROUND / 2, source[0] - AROUND / 2
            begin = [(start, source[1]), (start, low), (around, low), (around, high)]
        if boxes.is_open(wire.target):
            low, high = target[1] + AROUND / 2, target[0] - AROUND / 2
            finish = [(around, low), (around, high), (end, high), (end, target[0])]
        (x0, y0), (x1, y1) = begin[-1], finish[0]
        if abs(x0 - x1) < _SAME:
            return [*begin, *finish]
        middle = (y0 + y1) / 2
        return [*begin, (x0, middle), (x1, middle), *finish]

    def _draw_stub(self, wire: Wire, at: Mapping[int, Point]) -> list[Point]:
        """Draw the edge between a box and a stub at its side."""
        stubs = {stub for stub, _ in self._shape.stubs}
        is_given = wire.source in stubs
        stub, box = (wire.source, wire.target) if is_given else (wire.target, wire.source)
        y = self._boxes.middle(stub)
        if box in self._boxes.stubs_below:
            x = at[stub][0] + self._level.children[stub].width / 2
            upright: list[Point] = [(x, self._boxes.area(stub)[0]), (x, self._boxes.area(box)[1])]
            return upright if is_given else upright[::-1]
        is_left = box in self._boxes.stubs_left
        near = at[stub][0] + (self._level.children[stub].width if is_left else 0.0)
        edge = at[box][0] + (0.0 if is_left else self._level.children[box].width)
        top, end = self._boxes.area(box)
        height = min(max(y, top + 5), end - 5)
        middle = (edge + near) / 2
        way: list[Point] = [(near, y), (middle, y), (middle, height), (edge, height)]
        if self._boxes.is_open(box):
            port = wire.target_port if is_given else wire.source_port
            x = self._port(box, port, at, is_input=is_given)
            rim, outer = (top, top - AROUND / 2) if is_given else (end, end + AROUND / 2)
            way = [(near, y), (middle, y), (middle, outer), (x, outer), (x, rim)]
        return way if is_given else way[::-1]
