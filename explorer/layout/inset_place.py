"""Where an inset stands beside the picture: so that both together fill a sheet.

An inset needs not stand beyond all of a picture, but only beyond what is at its own height: below
inputs that stand far out, or above a tail. Of the places beside its closed box the one is taken
with which the sheet can be drawn largest; where several are as good, the nearest at the right.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

from .scene import Flat, SceneBox

#: between the picture and an inset; the two lines need room to be seen as such
GAP = 64.0
#: width and height of what a picture is made to fill
_SHEET = (1100.0, 800.0)
#: a place that is not the nearest is taken where the sheet becomes so much smaller
_WORTH = 0.95
#: from a box to an inset above or below it
_APART = 14.0
#: half the height of a text beside an edge
_HALF_TEXT = 9.0
#: an edge is looked at in so many places between two bends
_SAMPLES = 6
#: below and above so many boxes an inset is tried
_MOST_TRIED = 48
#: of a line and what it must not touch
CLEAR = 4.0


class InsetRoom(NamedTuple):
    """What an inset takes, its frame and what is drawn around that.

    Parameters
    ----------
    width, height
        Of the frame.
    before, after
        What is drawn left of the frame, as the back edge of a loop, and right of it.
    above, below
        What streams and names take.
    """

    width: float
    height: float
    before: float
    after: float
    above: float
    below: float


class InsetPlace(NamedTuple):
    """A place for the frame of an inset.

    Parameters
    ----------
    side
        1 where it is right of its closed box, else -1.
    left, top
        Of the frame, in the picture as it is; both may be below zero.
    """

    side: int
    left: float
    top: float


def find_inset_place(
    flat: Flat,
    number: int,
    around: set[int],
    room: InsetRoom,
    size: tuple[float, float],
    taken: set[int],
    width_of: Callable[[str], float],
    *,
    margin: float,
    is_down: bool = True,
) -> InsetPlace | None:
    """Return the place for an inset; None where boxes stand at both sides of its closed box.

    Parameters
    ----------
    flat
        The picture, running downwards.
    number, around
        The closed box, and the frames that are around it.
    room
        What the inset takes.
    size
        Width and height of the picture.
    taken
        Sides where another inset stands.
    width_of
        Gives the width of a text beside an edge.
    margin
        What is free at the borders of the picture.
    is_down
        Whether it is drawn as it is here, and not turned.
    """
    box = flat.boxes[number]
    others = [b for place, b in enumerate(flat.boxes) if place != number and place not in around]
    free = [
        side
        for side in (1, -1)
        if side not in taken and not any(_is_beside(box, other, side) for other in others)
    ]
    if not free:
        return None
    sheet = _SHEET if is_down else _SHEET[::-1]
    borders = _Borders(flat, width_of)
    best: tuple[float, InsetPlace] | None = None
    for side in free:
        for top in _list_tops(box, others, room, side, size[1], margin):
            left = borders.find_left(box, room, top, side)
            place = InsetPlace(side, left, top)
            scale = _measure(place, room, size, margin, sheet)
            if best is None or scale < _WORTH * best[0]:
                best = scale, place
    assert best is not None  # noqa: S101 - there is a nearest place at each side
    return best[1]


def _measure(
    place: InsetPlace,
    room: InsetRoom,
    size: tuple[float, float],
    margin: float,
    sheet: tuple[float, float],
) -> float:
    """Return how much larger than a sheet a picture is with an inset at a place."""
    left = min(place.left - room.before - margin, 0.0)
    right = max(place.left + room.width + room.after + margin, size[0])
    top = min(place.top - room.above - margin, 0.0)
    bottom = max(place.top + room.height + room.below + margin, size[1])
    return max((right - left) / sheet[0], (bottom - top) / sheet[1])


def _list_tops(
    box: SceneBox, others: list[SceneBox], room: InsetRoom, side: int, height: float, margin: float
) -> Iterator[float]:
    """Yield heights for an inset: as near to its box as can be, then below and above others."""
    least, most = margin + room.above, height - margin - room.below - room.height
    middle = box.y + box.height / 2 - room.height / 2
    nearest = (least + most) / 2 if most < least else min(max(middle, least), most)
    yield nearest
    beyond = [
        other
        for other in others
        if (other.x + other.width > box.x + box.width if side > 0 else other.x < box.x)
    ]
    tops = {other.y + other.height + _APART + room.above for other in beyond}
    tops |= {other.y - _APART - room.below - room.height for other in beyond}
    tops.add(least)
    tried = sorted(tops, key=lambda top: (abs(top - nearest), top))[:_MOST_TRIED]
    # a frame that is all above or below its box would have lines that lead away from it
    yield from (top for top in tried if top <= box.y + box.height and top + room.height >= box.y)


class _Borders:
    """How far a picture reaches at each height."""

    def __init__(self, flat: Flat, width_of: Callable[[str], float]) -> None:
        self._boxes = [(b.x, b.x + b.width, b.y, b.y + b.height) for b in flat.boxes]
        self._points = [point for edge in flat.edges for point in _sample(edge.points)]
        for edge in flat.edges:
            if edge.label:
                half = width_of(edge.label) / 2
                x, y = edge.label_x, edge.label_y
                extent = (x - half, x + half, y - _HALF_TEXT, y + _HALF_TEXT)
                self._boxes.append(extent)

    def find_left(self, box: SceneBox, room: InsetRoom, top: float, side: int) -> float:
        """Return the left end of an inset that is beyond all at its height and its box's."""
        upper, lower = top - room.above, top + room.height + room.below
        low, high = min(upper, box.y) - CLEAR, max(lower, box.y + box.height) + CLEAR
        found = [ends[side > 0] for *ends, begin, end in self._boxes if begin < high and end > low]
        found += [x for x, y in self._points if upper <= y <= lower]
        if side > 0:
            return max(found) + GAP + room.before
        return min(found) - GAP - room.after - room.width


def _sample(points: tuple[float, ...]) -> Iterator[tuple[float, float]]:
    """Yield places on a curve."""
    for first in range(0, len(points) - 7, 6):
        (x0, y0), (x1, y1), (x2, y2), (x3, y3) = (
            points[first + 2 * n : first + 2 * n + 2] for n in range(4)
        )
        for step in range(_SAMPLES + 1):
            t = step / _SAMPLES
            a, b, c, d = (1 - t) ** 3, 3 * t * (1 - t) ** 2, 3 * t * t * (1 - t), t**3
            yield a * x0 + b * x1 + c * x2 + d * x3, a * y0 + b * y1 + c * y2 + d * y3


def _is_beside(box: SceneBox, other: SceneBox, side: int) -> bool:
    if other.y >= box.y + box.height + CLEAR or other.y + other.height <= box.y - CLEAR:
        return False
    if side > 0:
        return other.x + other.width > box.x + box.width
    return other.x < box.x
