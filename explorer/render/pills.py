"""Pills: what a paint says of a box, on the box's border where no arrow ends and no label is.

The canvas places them alike, in ``widgets/frontend/src/paint/pills.ts``.
"""

from __future__ import annotations

import re
from bisect import bisect
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from netloupe.explorer.layout import Scene, SceneBox

from .marks import arrow_of_edge, find_arrow_head
from .sizes import (
    LABEL_HEIGHT,
    LABEL_PADDING,
    PAINT_DIP,
    PAINT_INSET,
    PILL_HEIGHT,
    PILL_PADDING,
    TEXT_STYLES,
)
from .text import clean_label, measure_text, shorten_text

#: between an arrow or a label and a pill
_GAP = 2.0
#: what a text is made of, the most important first
_BETWEEN_PARTS = re.compile(r" · |; ")

#: from where to where a border is taken, in pixels from the left of its box
Interval = tuple[float, float]


class Taken(NamedTuple):
    """Where the borders of a box are taken by ends of arrows and by labels of edges."""

    upper: list[Interval]
    lower: list[Interval]


class _Spot(NamedTuple):
    """What a pill must not cover."""

    top: float
    bottom: float
    left: float
    right: float


class Pill(NamedTuple):
    """Where a pill is, from the left of its box: its right end, its text, and on which border."""

    right: float
    width: float
    text: str
    is_below: bool = False


def find_taken(scene: Scene) -> dict[tuple[float, float], Taken]:
    """Return by the upper left corner of each box where its borders are taken.

    What is where a pill would be takes the border, whichever box it belongs to.
    """
    found = {(box.x, box.y): Taken([], []) for box in scene.boxes}
    spots = sorted(_list_spots(scene))
    highest = max((spot.bottom - spot.top for spot in spots), default=0.0)
    for box in scene.boxes if spots else ():
        for (low, high), taken in zip(_list_bands(box), found[box.x, box.y], strict=True):
            for spot in spots[bisect(spots, (low - highest,)) : bisect(spots, (high,))]:
                start, stop = spot.left - _GAP - box.x, spot.right + _GAP - box.x
                if spot.bottom > low and stop > 0 and start < box.width:
                    taken.append((start, stop))
    return found


def _list_bands(box: SceneBox) -> tuple[Interval, Interval]:
    """Return from which to which height pills at the upper and at the lower border may be."""
    end = box.y + box.height - PAINT_DIP
    # at the upper border they are higher where a box is open, and lower in a stack
    return (box.y - PILL_HEIGHT, box.y + PILL_HEIGHT), (end, end + PILL_HEIGHT)


def _list_spots(scene: Scene) -> Iterator[_Spot]:
    """Yield where heads of arrows and labels of edges are."""
    for edge in scene.edges:
        head = find_arrow_head(edge.points, arrow_of_edge(edge)) if edge.arrow else None
        if head is not None:
            xs, ys = head[0][::2], head[0][1::2]
            yield _Spot(min(ys), max(ys), min(xs), max(xs))
        if edge.label:
            x, y = edge.label_x, edge.label_y
            text = clean_label(edge.label, 120)
            across = measure_text(text, *TEXT_STYLES["label"]) / 2 + LABEL_PADDING
            half = LABEL_HEIGHT / 2
            yield _Spot(y - half, y + half, x - across, x + across)


def place_pill(text: str, right: float, taken: Taken) -> Pill | None:
    """Return where the pill of a box goes; None where it has no room for words.

    Parameters
    ----------
    text
        What it says: parts, of which the last ones are left out where there is no room for them.
    right
        Where it ends at the latest.
    taken
        Where arrows end and labels are, which are not covered. Where all room between them is too
        narrow at the upper border the pill is on the lower one, at which edges only begin.
    """
    versions = _list_versions(text)
    borders = [(False, taken.upper), (True, taken.lower)][: 2 if taken.upper else 1]
    widest: tuple[float, Interval, bool] = (0.0, (0.0, 0.0), False)
    for is_below, intervals in borders:
        gaps = _list_gaps(PAINT_INSET, right, intervals)
        for version in versions:
            width = _measure(version)
            for start, end in gaps:
                if width <= end - start + 0.5:
                    return Pill(end, width, version, is_below)
        for gap in gaps:
            widest = max(widest, (gap[1] - gap[0], gap, is_below), key=lambda each: each[0])
    room, (_, end), is_below = widest
    shortened = shorten_text(
        text, max(room - 2 * PILL_PADDING + 0.5, 0.0), *TEXT_STYLES["badge"], "start"
    )
    if shortened in ("", "…"):  # a box as small as a junction has no room
        return None
    return Pill(end, _measure(shortened), shortened, is_below)


def _list_versions(text: str) -> list[str]:
    ends = [match.start() for match in _BETWEEN_PARTS.finditer(text)]
    return [text, *(text[:end] for end in reversed(ends))]


def _list_gaps(left: float, right: float, taken: Sequence[Interval]) -> list[Interval]:
    """Return from where to where nothing is, the one at the right first."""
    gaps, end = [], right
    for start, stop in sorted(taken, key=lambda each: each[1], reverse=True):
        gaps.append((max(left, stop), end))
        end = min(end, start)
    return [*gaps, (left, end)]


def _measure(text: str) -> float:
    return measure_text(text, *TEXT_STYLES["badge"]) + 2 * PILL_PADDING
