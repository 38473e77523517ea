"""On which side of the main stream edges go around it.

The skip connections of a UNet are read as lanes at one side. Graphviz has them where they cross
least, which may be on both; drawn with its boxes told in the opposite order a level often has
all of them on one.
"""

from __future__ import annotations

from .level import Level
from .longest_path import find_longest_path
from .placement import Placement

#: fewer edges need no side of their own
LEAST_AROUND = 3
#: pieces of more boxes are drawn once
MOST_BOXES = 300
#: so much wider a picture may become
_MOST_WIDER = 1.15
#: so far aside an edge goes around something
_ASIDE = 10.0


def may_go_around(level: Level) -> bool:
    """Return whether so many edges may go around others that their side matters."""
    longest = find_longest_path(level)
    if len(level.children) > MOST_BOXES or len(longest) < LEAST_AROUND:
        return False
    return sum(_is_beside(level, number, longest) for number in range(len(level.wires))) >= (
        LEAST_AROUND
    )


def count_sides(level: Level, placement: Placement) -> tuple[int, int]:
    """Return how many edges go around others on either side of their ends."""
    longest = find_longest_path(level)
    across, along = (0, 1) if level.direction == "TB" else (1, 0)
    counts = [0, 0]
    for number, wire in enumerate(level.wires):
        curve = placement.edges[number]
        if not curve or not _is_beside(level, number, longest):
            continue
        ends = placement.boxes[wire.source], placement.boxes[wire.target]
        low, high = sorted(end[along] for end in ends)
        if not any(low < box[along] < high for box in placement.boxes):
            continue
        places = curve[across::2]
        aside = sum(places) / len(places) - (ends[0][across] + ends[1][across]) / 2
        if abs(aside) > _ASIDE:
            counts[aside > 0] += 1
    return counts[0], counts[1]


def is_more_one_sided(level: Level, placement: Placement, before: Placement) -> bool:
    """Return whether fewer edges go around on the wrong side than before."""
    is_down = level.direction == "TB"
    size, old = (each.width if is_down else each.height for each in (placement, before))
    return size <= old * _MOST_WIDER and min(count_sides(level, placement)) < min(
        count_sides(level, before)
    )


def _is_beside(level: Level, number: int, longest: frozenset[int] | set[int]) -> bool:
    wire = level.wires[number]
    return (
        wire.is_main
        and wire.values > 0
        and min(wire.source, wire.target) >= 0
        and (number not in longest and wire.source != wire.target)
    )
