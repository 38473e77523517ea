"""The order of lines in a gutter: so that few of them cross."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

#: the order is improved so often, and not of more lines
_MOST_ROUNDS = 8
_MOST_LINES = 40


class Line(NamedTuple):
    """What runs up or down in a gutter: the heights where it is joined to the left and right."""

    lefts: list[float]
    rights: list[float]

    @property
    def span(self) -> tuple[float, float]:
        """Its upper and its lower end."""
        heights = [*self.lefts, *self.rights]
        return min(heights), max(heights)


def order_tracks(lines: Sequence[Line]) -> list[int]:
    """Return the numbers of lines from left to right: neighbours are exchanged while it helps."""
    order = sorted(range(len(lines)), key=lambda number: (lines[number].span, number))
    if len(order) > _MOST_LINES:
        return order
    for _ in range(_MOST_ROUNDS):
        is_better = False
        for place in range(len(order) - 1):
            one, other = order[place : place + 2]
            if _count(lines[other], lines[one]) < _count(lines[one], lines[other]):
                order[place : place + 2] = other, one
                is_better = True
        if not is_better:
            break
    return order


def _count(left: Line, right: Line) -> int:
    """Return how often two lines cross, of which one is further left."""
    (high, low), (top, end) = left.span, right.span
    found = sum(high < y < low for y in right.lefts)
    return found + sum(top < y < end for y in left.rights)
