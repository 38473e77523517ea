"""A level as a U: where its boxes stand, and the ways of its edges.

At the right values flow upwards: edges leave boxes there at their upper side. Open groups, whose
ports are above and below, are reached around.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from .exact_placement import AROUND as _AROUND
from .exact_placement import finish_placement
from .level import Child, Wire
from .placement import Placement, Point
from .u_boxes import BESIDE, GAP, LANE, ROW_GAP, UBoxes
from .u_shape import Lane

#: ends of edges stay so far from the corners of boxes
_CORNER = 12.0
_SAME = 0.5


class UPlacer(UBoxes):
    """Finds the places of one level, and the ways of its edges; made as :class:`UBoxes`."""

    def place(self) -> Placement:
        """Return where everything is."""
        self.place_boxes()
        self._draw_stream()
        self._draw_lanes()
        self._draw_sides()
        self._draw_rest()
        return finish_placement(self._level, self._at, self._edges, self._inputs, self._outputs)

    def _port(self, box: int, port: int | None, *, is_input: bool) -> float:
        """Return where along its upper or lower side a box takes or gives a value."""
        child: Child = self._level.children[box]
        offsets = child.inputs if is_input else child.outputs
        offset = child.width / 2 if port is None else offsets[port]
        return self._at[box][0] + offset

    def _leave(self, wire: Wire) -> list[Point]:
        """Return how the stream leaves a box, up to where it is free to go on."""
        box = wire.source
        left, top, right, bottom = self._area(box)
        x = self._port(box, wire.source_port, is_input=False)
        side = self._side[box]
        if side == "left":
            return [(x, bottom)]
        if self._is_open(box):
            low = bottom + _AROUND
            if side == "bottom":
                return [(x, bottom), (x, low)]
            out = left - _AROUND
            return [(x, bottom), (x, low), (out, low), (out, top - _AROUND)]
        if side == "right":
            return [(x, top)]
        return [(right, (top + bottom) / 2)]

    def _enter(self, wire: Wire) -> list[Point]:
        """Return how the stream comes to a box, from where it is free before."""
        box = wire.target
        left, top, right, bottom = self._area(box)
        x = self._port(box, wire.target_port, is_input=True)
        side = self._side[box]
        if side == "left":
            return [(x, top)]
        if self._is_open(box):
            high = top - _AROUND
            if side == "bottom":
                return [(x, high), (x, top)]
            out = right + _AROUND
            return [(out, bottom + _AROUND), (out, high), (x, high), (x, top)]
        if side == "right":
            return [(x, bottom)]
        return [(left, (top + bottom) / 2)]

    def _draw_stream(self) -> None:
        wires = self._level.wires
        for number in self._shape.stream:
            wire = wires[number]
            if not wire.values:
                continue
            if wire.source < 0:
                enter = self._enter(wire)
                self._inputs[-1 - wire.source] = (enter[0][0], 0.0)
                self._edges[number] = [(enter[0][0], 0.0), *enter]
            elif wire.target < 0:
                self._lead_out(number, wire, "right")
            else:
                self._edges[number] = self._join(wire)

    def _join(self, wire: Wire) -> list[Point]:
        before, after = self._leave(wire), self._enter(wire)
        (x0, y0), (x1, y1) = before[-1], after[0]
        sides = self._side[wire.source], self._side[wire.target]
        if sides[0] == sides[1] != "bottom":
            is_plain = len(before) == len(after) == 1
            if is_plain and wire.source_port is None and wire.target_port is None:
                x = self._find_common(wire)
                if x is not None:
                    return [(x, y0), (x, y1)]
            if abs(x0 - x1) < _SAME:
                return [*before, *after]
            middle = (y0 + y1) / 2
            return [*before, (x0, middle), (x1, middle), *after]
        if sides == ("left", "right"):
            low = self._row_ends[-1] + ROW_GAP / 2
            return [*before, (x0, low), (x1, low), *after]
        if sides == ("left", "bottom"):
            return [*before, (x0, y1), *after]
        if sides == ("bottom", "right"):
            return [*before, (x1, y0), *after]
        if abs(y0 - y1) < _SAME:
            return [*before, *after]
        middle = (self._area(wire.source)[2] + self._area(wire.target)[0]) / 2
        return [*before, (middle, y0), (middle, y1), *after]

    def _find_common(self, wire: Wire) -> float | None:
        """Return where both boxes can be left and reached straight; None where nowhere."""
        one, other = self._area(wire.source), self._area(wire.target)
        low = max(one[0], other[0]) + _CORNER
        high = min(one[2], other[2]) - _CORNER
        middles = (one[0] + one[2]) / 2, (other[0] + other[2]) / 2
        if self._level.children[wire.source].is_round or self._level.children[wire.target].is_round:
            is_straight = abs(middles[0] - middles[1]) < _SAME
            return middles[0] if is_straight else None
        x = sum(middles) / 2
        return min(max(x, low), high) if low <= high else None

    def _draw_lanes(self) -> None:
        lanes = [lane for lane in self._shape.lanes if self._is_drawn(lane)]
        leaving: dict[int, list[Lane]] = {}
        entering: dict[int, list[Lane]] = {}
        for lane in lanes:
            leaving.setdefault(lane.source, []).append(lane)
            entering.setdefault(lane.target, []).append(lane)
        for row in leaving.values():  # what goes further up leaves further up
            row.sort(key=lambda lane: (self._at[lane.target][1], -self._find_end(lane)))
        for row in entering.values():
            row.sort(key=lambda lane: (self._at[lane.source][1], -self._find_end(lane)))
        for number, lane in enumerate(lanes):
            start = self._slot(lane.source, leaving[lane.source], lane)
            end = self._find_entry(lane, leaving, entering[lane.target])
            self._draw_lane(lane, start, end, number, entering[lane.target])

    def _find_end(self, lane: Lane) -> float:
        """Return where along the upper side of its target a skip ends, if that is open."""
        port = self._level.wires[lane.wires[-1]].target_port
        return self._port(lane.target, port, is_input=True)

    def _is_drawn(self, lane: Lane) -> bool:
        return all(self._level.wires[number].values for number in lane.wires)

    def _slot(self, box: int, lanes: Sequence[Lane], lane: Lane) -> float:
        _, top, _, bottom = self._area(box)
        step = min(LANE, (bottom - top) / (len(lanes) + 1))
        return (top + bottom) / 2 + (lanes.index(lane) - (len(lanes) - 1) / 2) * step

    def _find_entry(
        self, lane: Lane, leaving: Mapping[int, Sequence[Lane]], entering: Sequence[Lane]
    ) -> float:
        """Return at which height a skip comes to its target: straight, or beside what does."""
        _, top, _, bottom = self._area(lane.target)
        starts = [self._slot(each.source, leaving[each.source], each) for each in entering]
        level = [n for n, start in enumerate(starts) if top + 5 <= start <= bottom - 5]
        if not level:
            return self._slot(lane.target, entering, lane)
        at = entering.index(lane)
        nearest = min(level, key=lambda n: abs(n - at))
        wanted = starts[nearest] + LANE * (at - nearest)
        return min(max(wanted, top + 4), bottom - 4)

    def _draw_lane(
        self, lane: Lane, start: float, end: float, number: int, entering: Sequence[Lane]
    ) -> None:
        wires = [self._level.wires[each] for each in lane.wires]
        _, _, right, bottom = self._area(lane.source)
        begin: list[Point] = [(right, start)]
        if self._is_open(lane.source):
            x = self._port(lane.source, wires[0].source_port, is_input=False)
            start = bottom + _AROUND
            begin = [(x, bottom), (x, start)]
        left, upper, _, _ = self._area(lane.target)
        finish: list[Point] = [(left, end)]
        if self._is_open(lane.target):
            x = self._port(lane.target, wires[-1].target_port, is_input=True)
            end = upper - _AROUND - LANE * (len(entering) - 1 - entering.index(lane))
            finish = [(x, end), (x, upper)]
        if lane.boxes:
            self._draw_over_boxes(lane, begin, finish)
            return
        if abs(start - end) < _SAME:
            self._edges[lane.wires[0]] = [*begin, *finish]
            return
        x = self._find_way_up(lane.target, start, end) - _AROUND - LANE * (number % 4)
        self._edges[lane.wires[0]] = [*begin, (x, start), (x, end), *finish]

    def _find_way_up(self, box: int, start: float, end: float) -> float:
        """Return the left end of what a line passes that runs upright beside a box's arm."""
        low, high = sorted((start, end))
        areas = [self._area(other) for row in self._shape.right if box in row for other in row]
        areas = [area for area in areas if area[1] < high + _CORNER and low - _CORNER < area[3]]
        return min([self._area(box)[0], *(area[0] for area in areas)])

    def _draw_over_boxes(self, lane: Lane, begin: list[Point], finish: list[Point]) -> None:
        last = begin
        for number, box in zip(lane.wires, lane.boxes, strict=False):
            left, top, right, bottom = self._area(box)
            y = (top + bottom) / 2
            self._edges[number] = _connect(last, [(left, y)])
            last = [(right, y)]
        self._edges[lane.wires[-1]] = _connect(last, finish)

    def _draw_sides(self) -> None:
        """Draw what goes to the boxes behind the arms: up beside all, what begins last outside."""
        sides = sorted(self._shape.sides, key=lambda lane: -self._at[lane.boxes[0]][1])[::-1]
        sides = [lane for lane in sides if self._is_drawn(lane)]
        entering: dict[int, list[Lane]] = {}
        for lane in sides:
            entering.setdefault(lane.target, []).insert(0, lane)
        for lane in sides:
            first, *_, last = (self._level.wires[number] for number in lane.wires)
            left, top, _, bottom = self._area(lane.boxes[0])
            middle = (top + bottom) / 2
            if self._side[lane.source] == "bottom":
                x = self._port(lane.source, first.source_port, is_input=False)
                begin = [(x, self._area(lane.source)[3]), (x, middle)]
            else:
                begin = self._leave_aside(first, left - BESIDE / 2, "right")
            x = self._take_line("right")
            if self._is_open(lane.target):
                finish = self._enter_aside(last, x, "right")
            else:
                y = self._slot(lane.target, entering[lane.target], lane)
                finish = [(x, y), (self._area(lane.target)[2], y)]
            self._draw_over_boxes(lane, begin, [(x, middle), *finish])

    def _draw_rest(self) -> None:
        """Draw what is neither of the stream nor across: stubs, other parts, the border."""
        stubs = {stub: box for box, found in self._stubs.items() for stub in found}
        given = 0
        for number, wire in enumerate(self._level.wires):
            if number in self._edges or not wire.values:
                continue
            source, target = wire.source, wire.target
            if source in stubs or target in stubs:
                self._edges[number] = self._draw_stub(wire, stubs)
            elif self._side.get(source) == "bottom" == self._side.get(target):
                self._edges[number] = self._lead_below(wire)
            elif source in self._side and target in self._side:
                side = "right" if self._side[source] == "right" else "left"
                x = self._take_line(side)
                self._edges[number] = [
                    *self._leave_aside(wire, x, side),
                    *self._enter_aside(wire, x, side),
                ]
            elif source < 0 and target in self._at:
                self._lead_in(number, wire)
            elif target < 0 and source in self._at:
                side = "left" if self._side.get(source) == "left" else "right"
                self._lead_out(number, wire, side)
            elif source in self._side:
                self._edges[number] = self._draw_taking(wire)
            elif target in self._side:
                self._edges[number] = self._draw_giving(wire, given)
                given += 1

    def _lead_below(self, wire: Wire) -> list[Point]:
        """Draw what goes around boxes between the arms, below all that is there."""
        at = self._lines["below"] = self._lines.get("below", 0) + 1
        between = [child for child, side in self._side.items() if side == "bottom"]
        hanging = [stub for child in between for stub in self._stubs.get(child, ())]
        bottoms = [self._area(child)[3] for child in (*between, *hanging)]
        low = max(bottoms) + _AROUND + LANE * (at - 1)
        bottom, (first, _, last, end) = self._area(wire.source)[3], self._area(wire.target)
        x, y = self._port(wire.source, wire.source_port, is_input=False), (first + last) / 2
        return [(x, bottom), (x, low), (y, low), (y, end)]

    def _take_line(self, side: str) -> float:
        """Return where a line runs outside of everything; lines are numbered from inside."""
        at = self._lines[side] = self._lines[side] + 1
        lefts = [x for x, _ in self._at.values()]
        rights = [x + self._sizes[box][0] for box, (x, _) in self._at.items()]
        if side == "left":
            return min(lefts) - _AROUND - LANE * (at - 1)
        return max(rights) + _AROUND + LANE * (at - 1)

    def _leave_aside(self, wire: Wire, x: float, side: str) -> list[Point]:
        left, top, right, bottom = self._area(wire.source)
        if self._is_open(wire.source):
            at = self._port(wire.source, wire.source_port, is_input=False)
            return [(at, bottom), (at, bottom + _AROUND), (x, bottom + _AROUND)]
        y = (top + bottom) / 2
        return [(left if side == "left" else right, y), (x, y)]

    def _enter_aside(self, wire: Wire, x: float, side: str) -> list[Point]:
        left, top, right, bottom = self._area(wire.target)
        if self._is_open(wire.target):
            at = self._port(wire.target, wire.target_port, is_input=True)
            return [(x, top - _AROUND), (at, top - _AROUND), (at, top)]
        y = (top + bottom) / 2
        return [(x, y), (left if side == "left" else right, y)]

    def _lead_in(self, number: int, wire: Wire) -> None:
        """Draw what comes from the border: to the top straight, to arms along their outer side."""
        port = -1 - wire.source
        _, top, _, _ = self._area(wire.target)
        if wire.target not in self._side:
            x = self._port(wire.target, wire.target_port, is_input=True)
            self._inputs.setdefault(port, (x, 0.0))
            start = self._inputs[port][0]
            self._edges[number] = _connect_down((start, 0.0), (x, top))
            return
        side = "right" if self._side[wire.target] == "right" else "left"
        x = self._take_line(side)
        known = self._inputs.setdefault(port, (x, 0.0))[0]
        begin: list[Point] = [(known, 0.0)]
        if abs(known - x) > _SAME:
            begin += [(known, _AROUND), (x, _AROUND)]
        self._edges[number] = [*begin, *self._enter_aside(wire, x, side)]

    def _lead_out(self, number: int, wire: Wire, side: str) -> None:
        port = -1 - wire.target
        x = self._take_line(side)
        at = self._outputs.setdefault(port, x)
        way = self._leave_aside(wire, x, side)
        self._edges[number] = [*way, (x, -1.0), (at, -1.0)]  # the border's height comes last

    def _draw_stub(self, wire: Wire, stubs: Mapping[int, int]) -> list[Point]:
        stub = wire.source if wire.source in stubs else wire.target
        box = stubs[stub]
        area, other = self._area(stub), self._area(box)
        y = (area[1] + area[3]) / 2
        side = "right" if self._side[box] == "right" else "left"
        if self._hangs_below(box):
            x = min(max((area[0] + area[2]) / 2, other[0] + _CORNER), other[2] - _CORNER)
            middle = (area[0] + area[2]) / 2
            low = area[1] - _AROUND / 2
            way = [(middle, area[1]), (middle, low), (x, low), (x, other[3])]
        else:
            edge, near = (area[2], other[0]) if side == "left" else (area[0], other[2])
            between = (edge + near) / 2
            if wire.source == stub and self._is_open(box):
                x = self._port(box, wire.target_port, is_input=True)
                high = other[1] - 4.0 - LANE / 2 * self._stubs[box].index(stub)
                way = [(edge, y), (between, y), (between, high), (x, high), (x, other[1])]
            elif wire.source == box and self._is_open(box):
                x = self._port(box, wire.source_port, is_input=False)
                low = other[3] + _AROUND
                way = [(edge, y), (between, y), (between, low), (x, low), (x, other[3])]
            else:
                at = min(max(y, other[1] + 5), other[3] - 5)
                way = _connect([(edge, y)], [(near, at)])
        return way if wire.source == stub else way[::-1]

    def _draw_taking(self, wire: Wire) -> list[Point]:
        """Draw what goes from the stream to a part beside it."""
        left, top, right, bottom = self._area(wire.target)
        side = self._side[wire.source]
        area = self._area(wire.source)
        if side == "bottom" or self._is_open(wire.source):
            x = self._port(wire.source, wire.source_port, is_input=False)
            end = self._port(wire.target, wire.target_port, is_input=True)
            if side == "bottom":
                return _connect_down((x, area[3]), (end, top))
            low = area[3] + _AROUND
            out = area[0] - BESIDE / 2 if side == "left" else area[2] + BESIDE / 2
            begin = [(x, area[3]), (x, low), (out, low)]
        else:
            y = (area[1] + area[3]) / 2
            begin = [(area[0] if side == "left" else area[2], y)]
        if self._is_open(wire.target) or not self._is_alone(wire.target):
            x = self._port(wire.target, wire.target_port, is_input=True)
            out = right + BESIDE / 2 if side == "left" else left - BESIDE / 2
            return [
                *begin,
                *((out, begin[-1][1]), (out, top - _AROUND), (x, top - _AROUND), (x, top)),
            ]
        return _connect(begin, [(right if side == "left" else left, (top + bottom) / 2)])

    def _is_alone(self, box: int) -> bool:
        return any(part == (box,) for part in self._shape.taking)

    def _draw_giving(self, wire: Wire, number: int) -> list[Point]:
        """Draw what goes from a part above to the stream, from the inner side of the arms."""
        x = self._port(wire.source, wire.source_port, is_input=False)
        bottom = self._area(wire.source)[3]
        left, top, right, _ = self._area(wire.target)
        low = self._row_tops[0] - GAP + LANE * number / 2
        low = max(low, bottom + 6)
        side = self._side[wire.target]
        is_open = self._is_open(wire.target)
        rows = [*self._shape.left, *self._shape.right]
        arm = rows[: len(rows) // 2] if side == "left" else rows[len(rows) // 2 :]
        above = [self._area(box) for row in arm for box in row if self._at[box][1] < top - _SAME]
        if side == "left":
            out = max([right - _CORNER - 4, *(area[2] + _AROUND for area in above)])
            into = right - _CORNER - 4
        else:
            out = min([left + _CORNER + 4, *(area[0] - _AROUND for area in above)])
            into = left + _CORNER + 4
        if side == "bottom":
            out = into = (left + right) / 2
        if is_open:
            into = self._port(wire.target, wire.target_port, is_input=True)
        high = top - _AROUND
        way: list[Point] = [(x, bottom), (x, low), (out, low)]
        if abs(out - into) > _SAME:
            way += [(out, high), (into, high)]
        return [*way, (into, top)]


def _connect(begin: Sequence[Point], end: Sequence[Point]) -> list[Point]:
    """Return a way from left to right, or back, with a step in its middle where need be."""
    (x0, y0), (x1, y1) = begin[-1], end[0]
    if abs(y0 - y1) < _SAME:
        return [*begin, *end]
    middle = (x0 + x1) / 2
    return [*begin, (middle, y0), (middle, y1), *end]


def _connect_down(begin: Point, end: Point) -> list[Point]:
    if abs(begin[0] - end[0]) < _SAME:
        return [begin, end]
    middle = (begin[1] + end[1]) / 2
    return [begin, (begin[0], middle), (end[0], middle), end]
