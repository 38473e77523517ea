"""Where the boxes of a U stand: arms with rows at equal heights, the rest beside them.

Each row of the arms is further in than the one above, so that the stream runs straight from row
to row, and what goes across is a level line.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise

from .level import Level
from .placement import Curve, Places, Point
from .u_shape import UShape

#: how much further in a row is than the one above
_INDENT = 44.0
#: between rows, and between boxes of one row
ROW_GAP = 44.0
GAP = 24.0
_SIZE_GAP = 34.0
#: between skips, and between lines led around
LANE = 9.0
#: least length of a skip; between what stands on it; from the text above it to the boxes
_LEAST_SKIP = 110.0
_ON_LANE = 36.0
_TEXT_ENDS = 44.0
#: from an arm to what is beside it
BESIDE = 22.0
_STUB_GAP = 6.0


class UBoxes:
    """Finds the places of the boxes of one level.

    Parameters
    ----------
    level, shape
        What is placed, and how it is a U.
    beside
        The other parts by their boxes: where these are, and the wires inside with their curves.
    """

    def __init__(
        self,
        level: Level,
        shape: UShape,
        beside: Mapping[tuple[int, ...], tuple[Places, Sequence[int]]],
    ) -> None:
        self._level, self._shape, self._beside = level, shape, beside
        self._sizes = [(child.width, child.height) for child in level.children]
        #: left, top of each box
        self._at: dict[int, Point] = {}
        self._edges: dict[int, list[Point] | Curve] = {}
        on_left = [*shape.head, *(box for row in shape.left for box in row)]
        on_right = [*(box for row in shape.right for box in row), *shape.tail]
        self._side = {
            **dict.fromkeys(on_left, "left"),
            **dict.fromkeys(on_right, "right"),
            **dict.fromkeys(shape.bottom, "bottom"),
        }
        on_lanes = {box for lane in (*shape.lanes, *shape.sides) for box in lane.boxes}
        self._stubs: dict[int, list[int]] = {}
        for wire in level.wires:
            for stub, box in ((wire.source, wire.target), (wire.target, wire.source)):
                if stub >= 0 and stub not in self._side and box in self._side:
                    is_part = any(stub in part for part in beside)
                    if not is_part and stub not in on_lanes:
                        self._stubs.setdefault(box, []).append(stub)
        self._lines = {"left": 0, "right": 0}
        self._inputs: dict[int, Point] = {}
        self._outputs: dict[int, float] = {}

    def place_boxes(self) -> None:
        """Find where all boxes are."""
        self._place_arms()
        self._place_bottom()
        self._place_lane_boxes()
        self._place_stubs()
        self._place_sides()
        self._place_beside()

    def _is_open(self, box: int) -> bool:
        child = self._level.children[box]
        return bool(child.inputs or child.outputs)

    def _width(self, boxes: Iterable[int]) -> float:
        return max((self._sizes[box][0] for box in boxes), default=0.0)

    def _find_gap(self, one: int, other: int) -> float:
        """Return how far two boxes of the stream are from each other in one arm."""
        is_written = any(
            wire.text_width and {wire.source, wire.target} == {one, other}
            for wire in self._level.wires
        )
        return _SIZE_GAP if is_written else GAP

    def _height(self, boxes: Sequence[int]) -> float:
        gaps = sum(self._find_gap(one, other) for one, other in pairwise(boxes))
        return sum(self._sizes[box][1] for box in boxes) + gaps

    def _place_arms(self) -> None:
        shape = self._shape
        self._middle_left, self._middle_right = 0.0, self._measure_across()
        given = [self._beside[part][0] for part in shape.giving]
        above = max((places.height for places in given), default=0.0)
        if given:
            above += GAP + LANE * len(given)
        head = self._height(shape.head) + (_SIZE_GAP if shape.head else 0.0)
        tail = self._height(shape.tail) + (_SIZE_GAP if shape.tail else 0.0)
        top = max(head, tail, above) + self._measure_lines(shape.right[0])
        self._row_tops: list[float] = []
        self._row_ends: list[float] = []
        self._stack(shape.head, self._middle_left, top - _SIZE_GAP)
        self._stack(shape.tail[::-1], self._middle_right, top - _SIZE_GAP)
        for row, (left, right) in enumerate(zip(shape.left, shape.right, strict=True)):
            one, other = self._find_anchors(left, right)
            above = max(self._measure_to(left, one), self._measure_to(right[::-1], other))
            below = max(
                self._height(left) - self._measure_to(left, one),
                self._height(right) - self._measure_to(right[::-1], other),
            )
            for half in (self._measure_beside(left) / 2, self._measure_beside(right) / 2):
                above, below = max(above, half), max(below, half)
            height = above + below
            for boxes, anchor, middle in (
                (left, one, self._middle_left + _INDENT * row),
                (right[::-1], other, self._middle_right - _INDENT * row),
            ):
                end = top + above + self._height(boxes) - self._measure_to(boxes, anchor)
                self._stack(boxes, middle, end)
            self._row_tops.append(top)
            self._row_ends.append(top + height)
            top += height + ROW_GAP
            if row + 1 < len(shape.right):
                top += self._measure_lines(shape.right[row + 1])

    def _find_anchors(self, left: Sequence[int], right: Sequence[int]) -> tuple[int, int]:
        """Return the boxes of a row's arms that stand at one height; -1 where an arm has none."""
        for lane in reversed(self._shape.lanes):
            if lane.source in left and lane.target in right:
                return lane.source, lane.target
        if not self._shape.lanes and left and right:
            return left[0], right[-1]
        return (left[-1] if left else -1), (right[0] if right else -1)

    def _measure_to(self, boxes: Sequence[int], anchor: int) -> float:
        """Return how far the middle of a box is below the upper end of its stack."""
        if anchor < 0:
            return 0.0
        at = boxes.index(anchor)
        return self._height(boxes[: at + 1]) - self._sizes[anchor][1] / 2

    def _measure_lines(self, row: Sequence[int]) -> float:
        """Return the height that lines take which come to open boxes of a row from above."""
        lanes = [lane for lane in self._shape.lanes if lane.target in row]
        return LANE * sum(self._is_open(lane.target) for lane in lanes)

    def _measure_beside(self, row: Sequence[int]) -> float:
        """Return the height that stubs beside the boxes of a row take, or what they give to."""
        most = 0.0
        for box in row:
            stubs = self._stubs.get(box, ())
            most = max(most, sum(self._sizes[stub][1] + _STUB_GAP for stub in stubs))
            most = max(most, sum(p.height + GAP for p in self._list_taking(box)))
        return most

    def _list_taking(self, box: int) -> list[Places]:
        parts = [part for part in self._shape.taking if self._find_source(part) == box]
        return [self._beside[part][0] for part in parts]

    def _find_source(self, part: Sequence[int]) -> int:
        members = {*part}
        return next(
            wire.source
            for wire in self._level.wires
            if wire.target in members and wire.source in self._side
        )

    def _measure_across(self) -> float:
        """Return how far the middles of the first row are from each other."""
        shape = self._shape
        across = 0.0
        texts = {lane.source: 0.0 for lane in shape.lanes}
        on_lane: dict[int, float] = {}
        for lane in shape.lanes:
            text = max((self._level.wires[number].text_width for number in lane.wires), default=0)
            texts[lane.source] = max(texts[lane.source], text)
            widths = sum(self._sizes[box][0] + _ON_LANE for box in lane.boxes)
            on_lane[lane.source] = max(on_lane.get(lane.source, 0.0), widths)
        steps = LANE * len(shape.lanes)
        for row, (left, right) in enumerate(zip(shape.left, shape.right, strict=True)):
            room = _LEAST_SKIP
            for box in left:
                room = max(room, texts.get(box, 0) + _TEXT_ENDS, on_lane.get(box, 0) + _ON_LANE)
            widths = (self._width(left) + self._width(right)) / 2
            across = max(across, widths + room + steps + 2 * _INDENT * row)
        last = 2 * _INDENT * (len(shape.left) - 1)
        bottom = sum(self._sizes[box][0] + _ON_LANE for box in shape.bottom)
        across = max(across, last + bottom + _ON_LANE)
        given = sum(self._beside[part][0].width + GAP for part in shape.giving)
        ends = (self._width(shape.head) + self._width(shape.tail)) / 2
        return max(across, ends + given + 2 * BESIDE)

    def _stack(self, boxes: Sequence[int], middle: float, bottom: float) -> None:
        """Place boxes one above the other, the last one at the bottom."""
        below = -1
        for box in reversed(boxes):
            if below >= 0:
                bottom -= self._find_gap(box, below)
            width, height = self._sizes[box]
            self._at[box] = middle - width / 2, bottom - height
            bottom -= height
            below = box

    def _place_bottom(self) -> None:
        boxes = self._shape.bottom
        total = sum(self._sizes[box][0] for box in boxes) + _ON_LANE * (len(boxes) - 1)
        height = max((self._sizes[box][1] for box in boxes), default=0.0)
        x = (self._middle_left + self._middle_right - total) / 2
        top = self._row_ends[-1] + ROW_GAP / 2
        for box in boxes:
            width, own = self._sizes[box]
            self._at[box] = x, top + (height - own) / 2
            x += width + _ON_LANE
        self._bottom = top + height

    def _place_lane_boxes(self) -> None:
        for lane in self._shape.lanes:
            if not lane.boxes:
                continue
            left = self._at[lane.source][0] + self._sizes[lane.source][0]
            right = self._at[lane.target][0]
            total = sum(self._sizes[box][0] for box in lane.boxes)
            total += _ON_LANE * (len(lane.boxes) - 1)
            x = (left + right - total) / 2
            y = self._middle_of(lane.target)
            for box in lane.boxes:
                width, height = self._sizes[box]
                self._at[box] = x, y - height / 2
                x += width + _ON_LANE

    def _middle_of(self, box: int) -> float:
        return self._at[box][1] + self._sizes[box][1] / 2

    def _place_stubs(self) -> None:
        for box, stubs in self._stubs.items():
            x = self._at[box][0]
            if self._hangs_below(box):
                below = self._bottom + GAP
                for stub in stubs:
                    self._at[stub] = x, below
                    x += self._sizes[stub][0] + _STUB_GAP
                continue
            total = sum(self._sizes[stub][1] + _STUB_GAP for stub in stubs) - _STUB_GAP
            at = self._middle_of(box) - total / 2
            for stub in stubs:
                width, height = self._sizes[stub]
                is_left = self._side[box] != "right"
                left = x - BESIDE - width if is_left else x + self._sizes[box][0] + BESIDE
                self._at[stub] = left, at
                at += height + _STUB_GAP

    def _place_sides(self) -> None:
        """Place what goes to the boxes behind the arms: beside its box, or below those between."""
        below = self._bottom
        for box in (box for box in self._shape.bottom if self._hangs_below(box)):
            below = max([below, *(self._area(stub)[3] for stub in self._stubs.get(box, ()))])
        for lane in self._shape.sides:
            left, _, right, bottom = self._area(lane.source)
            height = max(self._sizes[box][1] for box in lane.boxes)
            if self._side[lane.source] == "bottom":
                below += GAP + height
                x, middle = (left + right) / 2 + BESIDE, below - height / 2
            else:
                stubs = [self._sizes[stub][0] for stub in self._stubs.get(lane.source, ())]
                x = right + max(stubs, default=0.0) + 2 * BESIDE
                middle = self._middle_of(lane.source)
                if self._is_open(lane.source):
                    middle = bottom
            for box in lane.boxes:
                self._at[box] = x, middle - self._sizes[box][1] / 2
                x += self._sizes[box][0] + BESIDE

    def _area(self, box: int) -> tuple[float, float, float, float]:
        (x, y), (width, height) = self._at[box], self._sizes[box]
        return x, y, x + width, y + height

    def _hangs_below(self, box: int) -> bool:
        """Return whether stubs stand below a box, and not at its side."""
        return self._side[box] == "bottom" and not self._is_open(box)

    def _place_beside(self) -> None:
        """Place the other parts: what gives between head and tail, what takes beside its box."""
        shape = self._shape
        widths = [self._beside[part][0].width for part in shape.giving]
        free = self._middle_right - self._middle_left - sum(widths)
        free += (self._width(shape.head) - self._width(shape.tail)) / 2
        x = self._middle_left + max(free / 2, self._width(shape.head) / 2 + BESIDE)
        for part, width in zip(shape.giving, widths, strict=True):
            self._put(part, x, 0.0)
            x += width + GAP
        taken: dict[int, float] = {}
        for part in shape.taking:
            box = self._find_source(part)
            places = self._beside[part][0]
            left, _ = self._at[box]
            right = left + self._sizes[box][0]
            if self._side[box] == "bottom":
                top = taken.setdefault(box, self._bottom + GAP)
                self._put(part, left, top)
            else:
                total = sum(each.height + GAP for each in self._list_taking(box)) - GAP
                top = taken.setdefault(box, self._middle_of(box) - total / 2)
                stubs = self._stubs.get(box, ())
                beside = max((self._sizes[stub][0] for stub in stubs), default=-BESIDE)
                away = beside + 2 * BESIDE
                is_left = self._side[box] == "left"
                self._put(part, left - away - places.width if is_left else right + away, top)
            taken[box] = top + places.height + GAP

    def _put(self, part: tuple[int, ...], left: float, top: float) -> None:
        places, wires = self._beside[part]
        for box, (x, y) in zip(part, places.boxes.tolist(), strict=True):
            width, height = self._sizes[box]
            self._at[box] = left + x - width / 2, top + y - height / 2
        for number, curve in zip(wires, places.edges.tuples(), strict=True):
            shift = (left, top)
            self._edges[number] = tuple(value + shift[n % 2] for n, value in enumerate(curve))
