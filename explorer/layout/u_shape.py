"""Which levels are a U: a way down to lower resolutions and up again, with skips between.

An encoder and a decoder whose skip connections pair boxes of equal resolution are drawn in all
papers as two arms with skips across (Ronneberger, Fischer and Brox 2015, figure 1). A level is
drawn so where its main stream loses resolution in two steps or more and gains it again, and where
what goes around the lowest place does so nested: what leaves first comes back last. Names and
operators are not asked.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import NamedTuple

from .level import Level, Wire

#: levels of more boxes are no figure's
MOST_BOXES = 150
#: so many rows must have a skip from arm to arm
_LEAST_ROWS = 2
#: so many boxes may stand on a skip, one behind the other
_MOST_ON_LANE = 3
#: so many other parts give values to the U or take some from it
_MOST_BESIDE = 8


class Lane(NamedTuple):
    """A skip connection: from a box of the way down to one of the way up.

    Parameters
    ----------
    source, target
        The boxes at its ends.
    boxes
        What stands on it, in the order of flow.
    wires
        Its wires, of which there is one more than boxes.
    """

    source: int
    target: int
    boxes: tuple[int, ...]
    wires: tuple[int, ...]


class UShape(NamedTuple):
    """How the boxes of a level make a U.

    Parameters
    ----------
    left, right
        The boxes of each row of the arms, from the highest resolution on, in the order of flow:
        downwards at the left, upwards at the right.
    head, tail
        Boxes of the main stream before the first row and behind it.
    bottom
        Boxes between the arms.
    stream
        The wires of the main stream in their order.
    lanes
        The skips.
    sides
        What goes from the way up, or from between the arms, to the boxes behind it, such as maps
        of each level that are put together in the end.
    giving, taking
        Other parts, connected boxes each, that only give values to the main stream, and that only
        take some from one box of it.
    """

    left: tuple[tuple[int, ...], ...]
    right: tuple[tuple[int, ...], ...]
    head: tuple[int, ...]
    tail: tuple[int, ...]
    bottom: tuple[int, ...]
    stream: tuple[int, ...]
    lanes: tuple[Lane, ...]
    sides: tuple[Lane, ...] = ()
    giving: tuple[tuple[int, ...], ...] = ()
    taking: tuple[tuple[int, ...], ...] = ()

    def is_in_row(self, wire: Wire) -> bool:
        """Return whether a wire joins two boxes of one row of an arm."""
        return any(wire.source in row and wire.target in row for row in (*self.left, *self.right))


def find_u(
    level: Level,
    chain: Sequence[int],
    resolutions: Sequence[int | None],
    stubs: Collection[int],
    sums: Collection[int] = (),
) -> UShape | None:
    """Return how a level is a U; None where it is none.

    Parameters
    ----------
    level
        The boxes and wires.
    chain
        The wires of its longest path in the order of flow.
    resolutions
        How many places the value of each wire has; None where that is not known.
    stubs
        The boxes that are stubs.
    sums
        Those that only add: what goes to one from where the resolution is lowest too is the
        residual connection of a block there, and no skip.
    """
    if level.direction != "TB" or not 5 <= len(level.children) <= MOST_BOXES:
        return None
    stream = find_picture_stream(level.wires, chain, resolutions)
    boxes = list_boxes(level.wires, stream)
    if len(boxes) < 4 or len(set(boxes)) < len(boxes):
        return None
    stubs = _list_beside_stream(level.wires, boxes, stubs)
    parts = _list_parts(level, boxes, stubs)
    found = _list_lanes(level, boxes, parts, stubs)
    if found is None:
        return None
    lanes, giving, taking = found
    arms = _Arms(level.wires, boxes, stream, resolutions)
    crossing = arms.take_crossing(lanes, sums)
    if crossing is None or any(_gains(lane, resolutions) for lane in crossing):
        return None
    if len(crossing) >= _LEAST_ROWS and len({lane.source for lane in crossing}) < _LEAST_ROWS:
        return None  # one box gives the maps of all levels
    shape = arms.make(crossing, find_ends(level.wires, boxes))
    if shape is None:
        return None
    around = [lane for lane in lanes if lane.boxes and lane not in crossing]
    later = {box for row in shape.right for box in row} | {*shape.bottom}
    if any(lane.source not in later or lane.target not in shape.tail for lane in around):
        return None
    return shape._replace(stream=tuple(stream), sides=tuple(around), giving=giving, taking=taking)


def find_ends(wires: Sequence[Wire], boxes: Sequence[int]) -> set[int]:
    """Return those of a stream's first and last box that are an input and an output."""
    is_input = all(wire.target != boxes[0] for wire in wires)
    is_output = all(wire.source != boxes[-1] for wire in wires)
    return {*boxes[:is_input], *boxes[len(boxes) - is_output :]}


def find_picture_stream(
    wires: Sequence[Wire], chain: Sequence[int], resolutions: Sequence[int | None]
) -> list[int]:
    """Return the wires of the stream of pictures: the longest path from where it has places.

    What the longest path begins with may be another input's preparation, such as that of a time
    step: the stream comes from where the picture does.
    """
    begin = next((at for at, number in enumerate(chain) if resolutions[number]), len(chain))
    stream = list(chain[begin:])
    on_it = {wires[number].target for number in stream}
    entering: dict[int, list[int]] = {}
    for number, wire in enumerate(wires):
        if wire.is_main and resolutions[number]:
            entering.setdefault(wire.target, []).append(number)
    while stream and (first := wires[stream[0]].source) >= 0 and first not in on_it:
        on_it.add(first)
        before = entering.get(first, [])
        if not before:
            break
        stream.insert(0, max(before, key=lambda number: (resolutions[number] or 0, -number)))
    return stream


def list_boxes(wires: Sequence[Wire], stream: Sequence[int]) -> list[int]:
    """Return the boxes that a stream goes through, in the order of flow."""
    ends = [wires[number].source for number in stream[:1]]
    ends += [wires[number].target for number in stream]
    return [end for end in ends if end >= 0]


def _list_beside_stream(
    wires: Sequence[Wire], boxes: Collection[int], stubs: Collection[int]
) -> set[int]:
    """Return the stubs at boxes of the stream; any other is part of what it hangs on."""
    on_stream = {*boxes}
    found = {wire.source for wire in wires if wire.target in on_stream}
    found |= {wire.target for wire in wires if wire.source in on_stream}
    return found & {*stubs}


def _list_parts(level: Level, boxes: Collection[int], stubs: Collection[int]) -> list[list[int]]:
    """Return what hangs together besides the stream and the stubs."""
    apart = {*boxes, *stubs}
    around: dict[int, list[int]] = {
        child: [] for child in range(len(level.children)) if child not in apart
    }
    for wire in level.wires:
        if wire.source in around and wire.target in around:
            around[wire.source].append(wire.target)
            around[wire.target].append(wire.source)
    parts, seen = [], set[int]()
    for child in around:
        if child in seen:
            continue
        seen.add(child)
        part = [child]
        for member in part:  # grows
            for other in around[member]:
                if other not in seen:
                    seen.add(other)
                    part.append(other)
        parts.append(sorted(part))
    return parts


_Found = tuple[list[Lane], tuple[tuple[int, ...], ...], tuple[tuple[int, ...], ...]]


def _list_lanes(
    level: Level, boxes: Sequence[int], parts: list[list[int]], stubs: Collection[int]
) -> _Found | None:
    """Return what goes around on the stream, and the parts that give and take values.

    None where a part does anything else.
    """
    wires = level.wires
    on_stream = {*boxes}
    lanes = [
        Lane(wire.source, wire.target, (), (number,))
        for number, wire in enumerate(wires)
        if wire.source in on_stream and wire.target in on_stream
    ]
    part_of = {child: number for number, part in enumerate(parts) for child in part}
    gives: list[list[int]] = [[] for _ in parts]
    takes: list[list[int]] = [[] for _ in parts]
    for number, wire in enumerate(wires):
        if wire.source in part_of and wire.target in on_stream:
            gives[part_of[wire.source]].append(number)
        elif wire.target in part_of and wire.source in on_stream:
            takes[part_of[wire.target]].append(number)
        elif {wire.source, wire.target} & set(stubs) and {wire.source, wire.target} & set(part_of):
            return None
    giving, taking = [], []
    for part, given, taken in zip(parts, gives, takes, strict=True):
        if given and taken:
            lane = _make_lane(wires, part, given, taken)
            if lane is None:
                return None
            lanes.append(lane)
        elif taken:
            if len({wires[number].source for number in taken}) > 1:
                return None
            taking.append(tuple(part))
        else:
            giving.append(tuple(part))
    if len(giving) + len(taking) > _MOST_BESIDE:
        return None
    return lanes, tuple(giving), tuple(taking)


def _make_lane(
    wires: Sequence[Wire], part: Sequence[int], given: list[int], taken: list[int]
) -> Lane | None:
    """Return the lane that a part is on: a chain from one box of the stream to another."""
    if len(given) > 1 or len(taken) > 1 or len(part) > _MOST_ON_LANE:
        return None
    inner = {
        wire.source: number
        for number, wire in enumerate(wires)
        if wire.source in part and wire.target in part
    }
    chain, numbers = [wires[taken[0]].target], [taken[0]]
    while (number := inner.get(chain[-1], -1)) >= 0 and len(chain) < len(part):
        chain.append(wires[number].target)
        numbers.append(number)
    if len(chain) < len(part) or len(inner) != len(part) - 1 or wires[given[0]].source != chain[-1]:
        return None
    return Lane(wires[taken[0]].source, wires[given[0]].target, tuple(chain), (*numbers, given[0]))


def _gains(lane: Lane, resolutions: Sequence[int | None]) -> bool:
    """Return whether what stands on a lane raises the resolution: then it is a way up, no skip."""
    sizes = [resolutions[number] or 0 for number in lane.wires]
    return 0 < sizes[0] < sizes[-1]


class _Arms:
    """The boxes of a stream while they are given their rows.

    Places on the stream number its boxes from 0.
    """

    def __init__(
        self,
        wires: Sequence[Wire],
        boxes: Sequence[int],
        stream: Sequence[int],
        resolutions: Sequence[int | None],
    ) -> None:
        self._boxes = boxes
        self._stream = {*stream}
        self._resolutions = resolutions
        self._places = {box: place for place, box in enumerate(boxes)}
        leaving = {wires[number].source: resolutions[number] or 0 for number in stream}
        #: the resolution behind each box; 0 where it is not known
        self._given = [leaving.get(box, 0) for box in boxes]
        if boxes and boxes[-1] not in leaving and len(boxes) > 1:
            self._given[-1] = self._given[-2]
        known = [given for given in self._given if given]
        self._least = min(known, default=0)

    def take_crossing(self, lanes: Sequence[Lane], sums: Collection[int]) -> list[Lane] | None:
        """Return the lanes that go from the way down to the way up; None where they cross.

        The ways meet at the place of the lowest resolution around which most lanes go, the last one
        of these.
        """
        around = [
            (source, target, lane)
            for lane in lanes
            for source, target in [(self._places[lane.source], self._places[lane.target])]
            if lane.wires[0] not in self._stream and source + 1 < target
            if lane.target not in sums or not self._is_lowest(source, target)
        ]
        found: list[Lane] = []
        for place, given in enumerate(self._given):
            if given == self._least and given:
                here = [lane for source, target, lane in around if source <= place < target]
                if len(here) >= len(found) and self._are_nested(here):
                    found = here
        found.sort(key=lambda lane: (self._places[lane.source], -self._places[lane.target]))
        return found if len(found) > 1 else None

    def _is_lowest(self, source: int, target: int) -> bool:
        return all(given == self._least for given in self._given[source : target + 1])

    def _are_nested(self, lanes: Sequence[Lane]) -> bool:
        """Return whether of lanes that which begins first ends last."""
        ends = sorted((self._places[lane.source], -self._places[lane.target]) for lane in lanes)
        targets = [target for _, target in ends]
        return targets == sorted(targets)

    def _find_resolution(self, lane: Lane) -> int:
        return self._resolutions[lane.wires[0]] or 0

    def make(self, lanes: Sequence[Lane], ends: Collection[int]) -> UShape | None:
        """Return the U that the boxes make with these lanes; None where they make none.

        Rows above the lanes are added where both ways have boxes of a higher resolution, but for
        the ends of the stream.
        """
        first = min(self._places[lane.source] for lane in lanes)
        last = max(self._places[lane.source] for lane in lanes)
        begin = min(self._places[lane.target] for lane in lanes)
        end = max(self._places[lane.target] for lane in lanes)
        if last >= begin:
            return None
        left, keys = self._make_left(lanes, first, last)
        if keys[0] <= self._least or self._given[end] <= self._least:
            return None
        lowest = [place for place in range(last + 1, begin) if self._given[place] == self._least]
        after = lowest[-1] + 1 if lowest else last + 1
        rows = self._make_right(lanes, left, keys, after, end)
        if rows is None:
            return None
        row_of = {place: row for row, places in enumerate(left) for place in places}
        pairs = {}
        for lane in lanes:
            source, target = self._places[lane.source], self._places[lane.target]
            if rows[target] - row_of[source] not in (0, 1):
                return None
            if rows[target] == row_of[source]:
                pairs[rows[target]] = True
        if len(pairs) < _LEAST_ROWS:
            return None
        right: list[list[int]] = [[] for _ in left]
        for place, row in rows.items():
            right[row].append(place)
        for begin, down, up, stop in self._list_above(first, end, keys[0], ends):
            left[0][:0] = range(down, first)
            right[0] += range(end + 1, up)
            left.insert(0, [*range(begin, down)])
            right.insert(0, [*range(up, stop)])
            first, end = begin, stop - 1

        def take(places: Sequence[int]) -> tuple[int, ...]:
            return tuple(self._boxes[place] for place in places)

        return UShape(
            tuple(map(take, left)),
            tuple(map(take, right)),
            take(range(first)),
            take(range(end + 1, len(self._boxes))),
            take(range(last + 1, after)),
            (),
            tuple(lanes),
        )

    def _list_above(
        self, first: int, end: int, key: int, ends: Collection[int]
    ) -> Iterator[tuple[int, int, int, int]]:
        """Yield where both ways have a row of the next higher resolution, which has no lane.

        That is where it begins on the way down, and ends there; and where it begins on the way up,
        and ends. What stands between it and the row before is of that row.
        """
        given, last = self._given, len(self._boxes)
        last -= self._boxes[-1] in ends
        start = int(self._boxes[0] in ends)
        while True:
            down = first
            while down > start and given[down - 1] == key:
                down -= 1
            up = next((place for place in range(end + 1, last) if given[place] > key), last)
            if down == start or up == last or given[down - 1] != given[up]:
                return
            first, key = down - 1, given[up]
            while first > start and given[first - 1] == key:
                first -= 1
            yield first, down, up, up + 1
            end = up

    def _make_left(
        self, lanes: Sequence[Lane], first: int, last: int
    ) -> tuple[list[list[int]], list[int]]:
        """Return the places of each row of the way down, and its resolution."""
        most: dict[int, int] = {}
        for lane in lanes:
            source = self._places[lane.source]
            most[source] = max(most.get(source, 0), self._find_resolution(lane))
        rows: list[list[int]] = []
        keys: list[int] = []
        for place in range(first, last + 1):
            key = most.get(place) or self._given[place]
            if not rows or 0 < key < keys[-1]:
                rows.append([])
                keys.append(key)
            rows[-1].append(place)
        return rows, keys

    def _make_right(
        self,
        lanes: Sequence[Lane],
        left: list[list[int]],
        keys: list[int],
        begin: int,
        end: int,
    ) -> dict[int, int] | None:
        """Return the row of each place on the way up; None where it goes down again."""
        row_of = {place: row for row, places in enumerate(left) for place in places}
        partners: dict[int, list[tuple[bool, int]]] = {}
        for lane in lanes:
            row = row_of[self._places[lane.source]]
            is_level = keys[row] == self._find_resolution(lane)
            partners.setdefault(self._places[lane.target], []).append((is_level, row))
        rows: dict[int, int] = {}
        for place in range(begin, end + 1):
            if place in partners:
                rows[place] = max(partners[place])[1]
        for place in range(begin, end + 1):
            if place not in rows:
                behind = next(rows[later] for later in range(place, end + 1) if later in rows)
                before = rows.get(place - 1, behind)
                rises = self._given[place] > self._given[place - 1]
                rows[place] = behind if rises else before
        order = [rows[place] for place in range(begin, end + 1)]
        if order != sorted(order, reverse=True):
            return None
        return {place: rows[place] for place in range(begin, end + 1)}
