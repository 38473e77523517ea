"""Which way each edge of lanes takes: the gutters between columns and gaps between rows.

Edges leave boxes at the right and come in at the left, but along an arm, where they run straight
up or down, and where they turn into one.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from .exact_placement import AROUND
from .lane_boxes import ROW_GAP, LaneBoxes, Part
from .lane_shape import LaneShape
from .level import Level, Wire
from .placement import Places

#: between lines in a gutter or a gap
LANE = 9.0
_SAME = 0.5
#: boxes that take values of so many others take them at one place
_LEAST_SHARED = 3
#: a line that turns into an arm is at least so long behind its corner
_LEAST_TURN = 22.0
#: above and below a box that a level line passes
_CLEAR = 7.0

Net = tuple[str, int, int | None]


class Way(NamedTuple):
    """How a wire runs.

    Parameters
    ----------
    wire
        Its number.
    gutters
        The gutters that it runs in; none where it is a level line.
    gap
        The gap between rows that leads from one gutter to another; -1 for one gutter.
    leaves_left, enters_right
        Whether it leaves its source at the left, and comes to its target at the right.
    is_corner
        Whether it comes to the begin of an arm as if it went along it.
    """

    wire: int
    gutters: tuple[int, ...]
    gap: int
    leaves_left: bool = False
    enters_right: bool = False
    is_corner: bool = False


class LaneWays:
    """Finds the ways of the edges of one level.

    Parameters
    ----------
    level, shape, beside
        As for :class:`LaneBoxes`.
    boxes
        Where boxes stand; gaps between rows may be larger later.
    """

    def __init__(
        self,
        level: Level,
        shape: LaneShape,
        beside: Mapping[Part, tuple[Places, Sequence[int]]],
        boxes: LaneBoxes,
    ) -> None:
        self._level, self._shape, self._beside, self._boxes = level, shape, beside, boxes
        inside = {number for _, wires in beside.values() for number in wires}
        stubs = {stub for stub, _ in shape.stubs}
        drawn = [
            number
            for number, wire in enumerate(level.wires)
            if wire.values and number not in inside
        ]
        wires = level.wires
        #: the wires of stubs, those along arms, and all others outside of other parts
        self.at_stubs = [n for n in drawn if {*wires[n][:2]} & stubs]
        self.along = [n for n in drawn if boxes.follows(*wires[n][:2])]
        apart = {*self.at_stubs, *self.along}
        self._others = [n for n in drawn if n not in apart]
        self._entering: dict[int, int] = {}
        for number in self._others:
            target = wires[number].target
            self._entering[target] = self._entering.get(target, 0) + 1

    def plan(self) -> list[Way] | None:
        """Return the ways of all wires beside arms; None where one would run through a box."""
        ways = []
        for number in self._others:
            wire = self._level.wires[number]
            way = self._plan_border(number, wire)
            if way is None and min(wire.source, wire.target) >= 0:
                way = self._plan_one(number, wire)
            if way is None:
                return None
            ways.append(way)
        return ways if self._find_sides(ways) else None

    def _find_sides(self, ways: Sequence[Way]) -> bool:
        """Find the side of each box that is free for its stubs; return whether there is one."""
        lefts, rights = set[int](), set[int]()
        for way in ways:
            wire = self._level.wires[way.wire]
            (lefts if way.leaves_left else rights).add(wire.source)
            if not way.is_corner:
                (rights if way.enters_right else lefts).add(wire.target)
        boxes = self._boxes
        with_stubs = {*boxes.stubs}
        below = with_stubs & lefts & rights
        boxes.stubs_left = (with_stubs & rights) - below
        boxes.stubs_below = below
        left_below = {one if boxes.goes_up(one) is False else other for one, other in boxes.steps}
        return not any(
            box in left_below or len(boxes.stubs[box]) > 1 or boxes.is_open(box) for box in below
        )

    def _plan_border(self, number: int, wire: Wire) -> Way | None:
        """Return the way of a wire to or from the border: in an outer gutter if it can be."""
        last = self._boxes.column_count
        if wire.source < 0 <= wire.target:
            column = self._boxes.column[wire.target]
            is_level = self._is_free(range(column), self.enter_height(wire))
            return Way(number, (0 if is_level else column,), -1)
        if wire.target < 0 <= wire.source:
            column = self._boxes.column[wire.source] + 1
            is_level = self._is_free(range(column, last), self.leave_height(wire))
            return Way(number, (last if is_level else column,), -1)
        return None

    def _plan_one(self, number: int, wire: Wire) -> Way | None:
        boxes = self._boxes
        start, end = boxes.column[wire.source], boxes.column[wire.target]
        leave, enter = self.leave_height(wire), self.enter_height(wire)
        if not self._is_free_beside(wire.source, leave):
            return None
        if not self._is_free_beside(wire.target, enter):
            if not self._is_free_above(wire.target):
                return None
            boxes.from_above.add(wire.target)
            enter = self.enter_height(wire)
        if start == end:
            return Way(number, (start + 1,), -1, False, True)
        if start > end:
            between = range(end + 1, start)
            first, last = start, end + 1
        else:
            between = range(start + 1, end)
            first, last = start + 1, end
        is_back = start > end

        def make(*gutters: int, gap: int = -1) -> Way:
            return Way(number, gutters, gap, is_back, is_back)

        if self._is_corner(wire, between, leave):
            return make()._replace(is_corner=True)
        is_level = abs(leave - enter) < _SAME
        if self._is_free(between, leave):
            return make() if is_level else make(last)
        if self._is_free(between, enter):
            return make(first)
        gap = min(
            range(self._shape.row_count + 1),
            key=lambda each: (self._measure_detour(each, leave, enter), each),
        )
        return make(first, last, gap=gap)

    def _measure_detour(self, gap: int, leave: float, enter: float) -> float:
        y = self.find_gap_middle(gap)
        return abs(leave - y) + abs(enter - y)

    def find_gap_middle(self, gap: int) -> float:
        """Return the height in the middle of a gap: above a row, or below the last one."""
        tops, ends = self._boxes.row_tops, self._boxes.row_ends
        if gap == 0:
            return tops[0] - ROW_GAP / 2
        if gap == len(tops):
            return ends[-1] + ROW_GAP / 2
        return (ends[gap - 1] + tops[gap]) / 2

    def find_level(self, gap: int, place: int, counts: Mapping[int, int]) -> float:
        """Return the height of a line in a gap."""
        count = counts[gap]
        tops, ends = self._boxes.row_tops, self._boxes.row_ends
        if gap == 0:
            return tops[0] - AROUND - LANE * (count - 1 - place)
        if gap == len(tops):
            return ends[-1] + AROUND + LANE * place
        middle = (ends[gap - 1] + tops[gap]) / 2
        return middle + LANE * (place - (count - 1) / 2)

    def _is_free(self, columns: Iterable[int], y: float) -> bool:
        """Return whether no box of some columns is at a height."""
        boxes, wanted = self._boxes, {*columns}
        return not any(
            boxes.column[box] in wanted and top - _CLEAR < y < end + _CLEAR
            for box in boxes.column
            for top, end in (boxes.area(box), *map(boxes.area, boxes.stubs.get(box, ())))
        )

    def _is_free_beside(self, box: int, y: float) -> bool:
        """Return whether a box of another part can be reached at a height from outside."""
        part = self._boxes.part_of.get(box)
        if part is None:
            return True
        centres = self._beside[part][0].boxes
        own = part.index(box)
        is_giving = part in self._shape.giving
        for number, other in enumerate(part):
            top, end = self._boxes.area(other)
            is_aside = (centres[number][0] > centres[own][0]) == is_giving
            if other != box and top - _CLEAR < y < end + _CLEAR and is_aside:
                return False
        return True

    def _is_free_above(self, box: int) -> bool:
        """Return whether a box of another part can be reached from above it."""
        part = self._boxes.part_of.get(box)
        if part is None or part in self._shape.giving:
            return False
        y, own = self._boxes.area(box)[0] - AROUND, part.index(box)
        centres = self._beside[part][0].boxes
        half = self._level.children[box].width / 2
        for number, other in enumerate(part):
            top, end = self._boxes.area(other)
            is_aside = centres[number][0] < centres[own][0]
            reach = half + self._level.children[other].width / 2
            is_over = abs(centres[number][0] - centres[own][0]) < reach and end <= y + AROUND
            if other != box and (is_over or (is_aside and top - _CLEAR < y < end + _CLEAR)):
                return False
        return True

    def _is_corner(self, wire: Wire, between: Iterable[int], y: float) -> bool:
        """Return whether a wire can turn into an arm, and come to its begin along it."""
        boxes, target = self._boxes, wire.target
        if boxes.part_of.get(target) or boxes.is_open(target) or boxes.is_open(wire.source):
            return False
        column = boxes.column[target]
        if boxes.column[wire.source] >= column or any(end == target for _, end in boxes.steps):
            return False
        top, end = boxes.area(target)
        low, high = (end, y + _CLEAR) if y > end else (y - _CLEAR, top)
        if not (y > end + _LEAST_TURN and boxes.goes_up(target)) and not (
            y < top - _LEAST_TURN and not boxes.goes_up(target)
        ):
            return False
        others = (box for box in boxes.column if boxes.column[box] == column and box != target)
        if any(boxes.area(box)[0] < high and low < boxes.area(box)[1] for box in others):
            return False
        first = min(
            number
            for number, each in enumerate(self._level.wires)
            if each.target == target and each.source in boxes.column
        )
        return self._level.wires[first] is wire and self._is_free(between, y)

    def find_net(self, way: Way) -> Net:
        """Return what is equal for wires that run as one."""
        wire = self._level.wires[way.wire]
        if wire.target >= 0 and self.is_shared(wire.target):
            return "to", wire.target, wire.target_port
        return "from", wire.source, wire.source_port

    def is_shared(self, box: int) -> bool:
        """Return whether all edges come to a box at one place."""
        return self._entering.get(box, 0) >= _LEAST_SHARED

    def leave_height(self, wire: Wire) -> float:
        """Return at which height a wire leaves its source."""
        if self._boxes.is_open(wire.source):
            return self._boxes.area(wire.source)[1] + AROUND
        return self._boxes.middle(wire.source)

    def enter_height(self, wire: Wire) -> float:
        """Return at which height a wire comes to its target where it is alone."""
        if self._boxes.enters_above(wire.target):
            return self._boxes.area(wire.target)[0] - AROUND
        return self._boxes.middle(wire.target)
