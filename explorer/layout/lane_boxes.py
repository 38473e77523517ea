"""Where the boxes of lanes stand: each in its column, in the row of its resolution.

Boxes of one arm and one row stand above one another, and next to each other what an edge within
the row joins, so that it is a level line.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from .lane_shape import LaneShape
from .level import Level
from .placement import Places, Point

#: between boxes of one row, with and without a size beside the edge, and between rows
_GAP, _SIZE_GAP = 22.0, 34.0
#: where a line may run between them, with a size above it
_LINE_GAP = 44.0
ROW_GAP = 40.0
#: between a box and its stubs, and from stub to stub
_BESIDE, _STUB_GAP = 18.0, 6.0
_PART_GAP = 36.0
#: a part is moved so far where an edge to it is level then
_SNAP = 20.0

Part = tuple[int, ...]


class LaneBoxes:
    """Finds the columns and heights of the boxes of one level.

    Parameters
    ----------
    level, shape
        What is placed, and how it is lanes.
    beside
        The other parts by their boxes: where these are, and the wires inside.
    """

    def __init__(
        self,
        level: Level,
        shape: LaneShape,
        beside: Mapping[Part, tuple[Places, Sequence[int]]],
    ) -> None:
        self._level, self._shape, self._beside = level, shape, beside
        self._sizes = [(child.width, child.height) for child in level.children]
        first = 1 if shape.giving else 0
        #: how many columns there are, those of other parts among them
        self.column_count = first + len(shape.columns) + bool(shape.taking)
        self.column: dict[int, int] = {}
        self.row: dict[int, tuple[int, int]] = {}
        #: which box follows which along an arm
        self.steps: set[tuple[int, int]] = set()
        self._goes_up: dict[int, bool] = {}
        for number, arms in enumerate(shape.columns):
            for arm in arms:
                self.steps.update(zip(arm.boxes, arm.boxes[1:], strict=False))
                for box, row in zip(arm.boxes, arm.rows, strict=True):
                    self.column[box] = first + number
                    self.row[box] = (row, row) if len(arm.boxes) > 1 else arm.span
                    self._goes_up[box] = arm.goes_up
        for parts, number in ((shape.giving, 0), (shape.taking, self.column_count - 1)):
            for part in parts:
                self.column.update(dict.fromkeys(part, number))
        self.part_of = {box: part for part in (*shape.giving, *shape.taking) for box in part}
        self.stubs: dict[int, list[int]] = {}
        for stub, box in shape.stubs:
            self.stubs.setdefault(box, []).append(stub)
        #: the boxes whose stubs are at their left, and those whose stub is below
        self.stubs_left: set[int] = set()
        self.stubs_below: set[int] = set()
        #: the boxes of other parts that edges come to from above
        self.from_above: set[int] = set()
        #: the upper end of each box, with those of rows from 0 on
        self.top: dict[int, float] = {}
        self.row_tops: list[float] = []
        self.row_ends: list[float] = []
        self.part_tops: dict[Part, float] = {}

    def area(self, box: int) -> tuple[float, float]:
        """Return the upper and the lower end of a box."""
        return self.top[box], self.top[box] + self._sizes[box][1]

    def middle(self, box: int) -> float:
        """Return the height of the middle of a box."""
        return self.top[box] + self._sizes[box][1] / 2

    def is_open(self, box: int) -> bool:
        """Return whether edges reach a box at its ports only."""
        child = self._level.children[box]
        return bool(child.inputs or child.outputs)

    def enters_above(self, box: int) -> bool:
        """Return whether edges come to a box at its upper side: at ports, or between others."""
        return box in self.from_above or self.is_open(box)

    def follows(self, source: int, target: int) -> bool:
        """Return whether a box stands right behind another one in an arm."""
        return (source, target) in self.steps

    def goes_up(self, box: int) -> bool:
        """Return whether values flow upwards in the arm of a box."""
        return self._goes_up.get(box, False)

    def _measure_side(self, box: int) -> float:
        """Return the width that the stubs of a box take at its side."""
        widths = [self._sizes[stub][0] for stub in self.stubs.get(box, ())]
        return max(widths) + _BESIDE if widths else 0.0

    def stack(self, channels: Mapping[int, int], lane: float) -> None:
        """Find the heights of all boxes.

        Parameters
        ----------
        channels
            How many lines run level in the gap above each row; below the last one for the number
            of rows.
        lane
            The room for one.
        """
        self.top.clear()
        self.row_tops, self.row_ends = [], []
        at = 0.0
        for row in range(self._shape.row_count):
            places = self._stack_row(row)
            low = min(places.values(), default=0.0)
            at += (ROW_GAP if row else 0.0) + lane * channels.get(row, 0)
            self.row_tops.append(at)
            for box, top in places.items():
                self.top[box] = at + top - low
            at = max((self._find_foot(box) for box in places), default=at)
            self.row_ends.append(at)
        for box, (low_row, high_row) in self.row.items():
            if low_row < high_row:
                middle = (self.row_tops[low_row] + self.row_ends[high_row]) / 2
                self.top[box] = middle - self._sizes[box][1] / 2
        self._stack_parts()
        for box, stubs in self.stubs.items():
            total = sum(self._sizes[stub][1] + _STUB_GAP for stub in stubs) - _STUB_GAP
            top = self.middle(box) - total / 2
            if box in self.stubs_below:
                top = self.area(box)[1] + _BESIDE
            for stub in stubs:
                self.top[stub] = top
                top += self._sizes[stub][1] + _STUB_GAP

    def _find_foot(self, box: int) -> float:
        foot = self.area(box)[1]
        if box in self.stubs_below:
            foot += _BESIDE + sum(self._sizes[stub][1] for stub in self.stubs[box])
        return foot

    def _stack_row(self, row: int) -> dict[int, float]:
        """Return the upper ends of the boxes of a row, from anywhere."""
        places: dict[int, float] = {}
        for arms in self._shape.columns:
            cell = [
                box
                for arm in arms
                for box in arm.list_row(row)
                if len(arm.boxes) > 1 or arm.span == (row, row)
            ]
            if not cell:
                continue
            offsets: dict[int, float] = {}
            end = 0.0
            for above, box in zip((-1, *cell), cell, strict=False):
                if above >= 0:
                    end += self._find_gap(above, box)
                room = self._measure_height(box)
                is_above = box in self.stubs_below
                offsets[box] = end + (0.0 if is_above else (room - self._sizes[box][1]) / 2)
                end += room
            shift = self._find_shift(offsets, places)
            places.update({box: top + shift for box, top in offsets.items()})
        return places

    def _measure_height(self, box: int) -> float:
        height = self._sizes[box][1]
        stubs = self.stubs.get(box, ())
        total = sum(self._sizes[stub][1] + _STUB_GAP for stub in stubs) - _STUB_GAP
        return height + _BESIDE + total if box in self.stubs_below else max(height, total)

    def _find_gap(self, one: int, other: int) -> float:
        is_written = any(
            wire.text_width and {wire.source, wire.target} == {one, other}
            for wire in self._level.wires
        )
        if self._shape.is_exchange:
            return _LINE_GAP
        return _SIZE_GAP if is_written else _GAP

    def _find_shift(self, offsets: Mapping[int, float], places: Mapping[int, float]) -> float:
        """Return by how much boxes of an arm are moved, so that an edge within the row is level."""
        joined = [
            (self.column[wire.source], -number)
            for number, wire in enumerate(self._level.wires)
            if wire.source in places and wire.target in offsets
        ]
        joined += [
            (self.column[wire.target], -number)
            for number, wire in enumerate(self._level.wires)
            if wire.target in places and wire.source in offsets
        ]
        if joined:
            wire = self._level.wires[-max(joined)[1]]
            near, own = wire.source, wire.target
            if near in offsets:
                near, own = own, near
            middle = places[near] + self._sizes[near][1] / 2
            return middle - offsets[own] - self._sizes[own][1] / 2
        if not places:
            return 0.0
        if self._shape.is_exchange:  # around the line of the lane
            low, high = min(offsets.values()), max(map(self._find_end, offsets, offsets.values()))
            near_ends = [self._find_end(box, top) for box, top in places.items()]
            return (min(places.values()) + max(near_ends) - low - high) / 2
        near = max(places, key=lambda box: (self.column[box], -places[box]))
        own = min(offsets, key=offsets.__getitem__)
        middle = places[near] + self._sizes[near][1] / 2
        return middle - offsets[own] - self._sizes[own][1] / 2

    def _find_end(self, box: int, top: float) -> float:
        return top + self._sizes[box][1]

    def _stack_parts(self) -> None:
        """Place the other parts one below another, each near what it is joined with."""
        for parts in (self._shape.giving, self._shape.taking):
            wanted = {part: self._find_wanted(part) for part in parts}
            heights = {part: self._beside[part][0].height for part in parts}
            ordered = sorted(parts, key=lambda part: (wanted[part], part))
            tops: list[float] = []
            end = float("-inf")
            for part in ordered:
                tops.append(max(wanted[part] - heights[part] / 2, end))
                end = tops[-1] + heights[part] + _PART_GAP
            if not ordered:
                continue
            # all together around where they want to be
            drift = sum(
                top + heights[part] / 2 - wanted[part]
                for part, top in zip(ordered, tops, strict=True)
            ) / len(ordered)
            for part, top in zip(ordered, tops, strict=True):
                self._put_part(part, top - drift)
            if len(ordered) == 1:
                self._put_part(ordered[0], self.part_tops[ordered[0]] + self._find_step(ordered[0]))

    def _put_part(self, part: Part, top: float) -> None:
        self.part_tops[part] = top
        boxes = self._beside[part][0].boxes.tolist()
        for box, (_, y) in zip(part, boxes, strict=True):
            self.top[box] = top + y - self._sizes[box][1] / 2

    def _find_step(self, part: Part) -> float:
        """Return by how much a part is moved so that an edge to it, or from it, is level."""
        members = {*part}
        steps = [
            self.middle(end) - self.middle(own)
            for wire in self._level.wires
            for end, own in ((wire.source, wire.target), (wire.target, wire.source))
            if own in members and end in self.row
        ]
        least = min(steps, key=abs, default=0.0)
        return least if abs(least) <= _SNAP else 0.0

    def _find_wanted(self, part: Part) -> float:
        """Return the height around which a part should be."""
        members = {*part}
        ends = [
            end
            for wire in self._level.wires
            for end, other in ((wire.source, wire.target), (wire.target, wire.source))
            if other in members and end in self.row
        ]
        places = [self.middle(end) for end in ends]
        return (min(places) + max(places)) / 2 if places else 0.0

    def place_columns(self, gutters: Sequence[float]) -> tuple[dict[int, Point], list[float]]:
        """Return the left and upper end of each box, and where each gutter begins.

        Parameters
        ----------
        gutters
            The width of each gutter: left of each column, and right of the last.
        """
        at: dict[int, Point] = {}
        starts: list[float] = []
        x = 0.0
        for column in range(self.column_count):
            starts.append(x)
            x += gutters[column]
            boxes = [box for box, number in self.column.items() if number == column]
            parts = [*dict.fromkeys(self.part_of[box] for box in boxes if box in self.part_of)]
            if parts:
                for part in parts:
                    centres = self._beside[part][0].boxes.tolist()
                    for box, (middle, _) in zip(part, centres, strict=True):
                        at[box] = x + middle - self._sizes[box][0] / 2, self.top[box]
                x += max(self._beside[part][0].width for part in parts)
                continue
            halves = {box: self._sizes[box][0] / 2 for box in boxes}
            lefts, rights = halves.copy(), halves.copy()
            for box in boxes:
                if box in self.stubs_below:
                    wide = [halves[box], *(self._sizes[stub][0] / 2 for stub in self.stubs[box])]
                    lefts[box] = rights[box] = max(wide)
                else:
                    (lefts if box in self.stubs_left else rights)[box] += self._measure_side(box)
            x += max(lefts.values())
            for box, half in halves.items():
                at[box] = x - half, self.top[box]
                for stub in self.stubs.get(box, ()):
                    left = x + half + _BESIDE
                    if box in self.stubs_below:
                        left = x - self._sizes[stub][0] / 2
                    elif box in self.stubs_left:
                        left = x - half - _BESIDE - self._sizes[stub][0]
                    at[stub] = left, self.top[stub]
            x += max(rights.values())
        starts.append(x)
        return at, starts
