"""Pills: what a paint says of a box, on the box's border where no arrow ends.

The canvas places them alike, in ``widgets/frontend/src/paint/pills.ts``.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from netloupe.explorer.layout import Scene

from .sizes import ARROW_HALF_WIDTH, LABEL_PADDING, PAINT_INSET, TEXT_STYLES
from .text import measure_text, shorten_text

#: between an arrow and a pill
_GAP = 2.0
#: an arrow that ends so near to a box's upper border ends there
_NEAR = 1.5
#: what a text is made of, the most important first
_BETWEEN_PARTS = re.compile(r" · |; ")

#: by the upper left corner of each box where along its upper border arrows end
Arrows = dict[tuple[float, float], list[float]]


class Pill(NamedTuple):
    """Where a pill is, from the left of its box: its right end, its text, and on which border."""

    right: float
    width: float
    text: str
    is_below: bool = False


def find_arrows(scene: Scene) -> Arrows:
    """Return where arrows end at the upper borders of boxes, in pixels from their left."""
    found: Arrows = {}
    for edge in scene.edges:
        if not edge.arrow or edge.target < 0 or len(edge.points) < 8:
            continue
        box = scene.boxes[edge.target]
        x, y = edge.points[-2:]
        if abs(y - box.y) < _NEAR:
            found.setdefault((box.x, box.y), []).append(x - box.x)
    return found


def place_pill(text: str, right: float, arrows: Sequence[float]) -> Pill | None:
    """Return where the pill of a box goes; None where it has no room for words.

    Parameters
    ----------
    text
        What it says: parts, of which the last ones are left out where there is no room for them.
    right
        Where it ends at the latest.
    arrows
        Where arrows end at the upper border: none of them is covered. Where all room between
        them is too narrow the pill is on the lower border, at which edges only begin.
    """
    versions = _list_versions(text)
    room = right - PAINT_INSET
    gaps = _list_gaps(PAINT_INSET, right, arrows)
    for version in versions:
        width = _measure(version)
        for start, end in gaps:
            if width <= end - start + 0.5:
                return Pill(end, width, version)
    is_below = bool(arrows)
    for version in versions if is_below else ():
        if (width := _measure(version)) <= room + 0.5:
            return Pill(right, width, version, is_below)
    most = max(room, 0.0) - 2 * LABEL_PADDING + 0.5
    shortened = shorten_text(text, most, *TEXT_STYLES["badge"], "start")
    if shortened in ("", "…"):  # a box as small as a junction has no room
        return None
    return Pill(right, _measure(shortened), shortened, is_below)


def _list_versions(text: str) -> list[str]:
    ends = [match.start() for match in _BETWEEN_PARTS.finditer(text)]
    return [text, *(text[:end] for end in reversed(ends))]


def _list_gaps(left: float, right: float, arrows: Sequence[float]) -> list[tuple[float, float]]:
    """Return from where to where no arrow ends, the one at the right first."""
    clear = ARROW_HALF_WIDTH + _GAP
    gaps, end = [], right
    for arrow in sorted(arrows, reverse=True):
        gaps.append((max(left, arrow + clear), end))
        end = min(end, arrow - clear)
    return [*gaps, (left, end)]


def _measure(text: str) -> float:
    return measure_text(text, *TEXT_STYLES["badge"]) + 2 * LABEL_PADDING
