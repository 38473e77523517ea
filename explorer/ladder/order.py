"""On which line each rung stands: paired ones on one, unless their order differs."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping, Sequence

from .rungs import Rung

Line = tuple[Rung | None, Rung | None]

#: a pair that is not on one line costs so much of a line
_COST_OF_SLANT = 0.5


def order_lines(
    lefts: Sequence[Rung], rights: Sequence[Rung], pairs: Mapping[Rung, Rung]
) -> list[Line]:
    """Return the lines of two columns, each with what stands at the left and at the right.

    Both columns keep their order. As many pairs as possible share a line; but where two blocks
    that stand together are exchanged, both stay where they are and the links cross. Rungs of one
    line that are no pair have their partners on other lines; where one side is None the other has
    no partner there.
    """
    places = {rung: place for place, rung in enumerate(rights)}
    known = [(place, places[pairs[one]]) for place, one in enumerate(lefts) if one in pairs]
    tries = (_find_longest(known), _find_uncrossed(known))
    found = [_merge(lefts, rights, pairs, anchors) for anchors in tries]
    return min(found, key=lambda lines: _measure(lines, pairs))


def _find_longest(known: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return the longest subsequence whose right places increase (patience sorting)."""
    ends: list[int] = []
    tops: list[int] = []
    before: list[int] = []
    for number, (_, place) in enumerate(known):
        pile = bisect_left(ends, place)
        before.append(tops[pile - 1] if pile else -1)
        if pile == len(ends):
            ends.append(place)
            tops.append(number)
        else:
            ends[pile], tops[pile] = place, number
    found: list[tuple[int, int]] = []
    number = tops[-1] if tops else -1
    while number >= 0:
        found.append(known[number])
        number = before[number]
    return found[::-1]


def _find_uncrossed(known: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return the pairs that no other pair crosses."""
    least = [0] * len(known)
    lowest = float("inf")
    for number in range(len(known) - 1, -1, -1):
        least[number] = int(min(lowest, known[number][1]))
        lowest = least[number]
    highest = -1
    found: list[tuple[int, int]] = []
    for number, pair in enumerate(known):
        if highest < pair[1] <= least[number]:
            found.append(pair)
        highest = max(highest, pair[1])
    return found


def _merge(
    lefts: Sequence[Rung],
    rights: Sequence[Rung],
    pairs: Mapping[Rung, Rung],
    anchors: Sequence[tuple[int, int]],
) -> list[Line]:
    taken = {*pairs.values()}
    lines: list[Line] = []
    begin = (0, 0)
    for anchor in (*anchors, (len(lefts), len(rights))):
        gap = [*lefts[begin[0] : anchor[0]]], [*rights[begin[1] : anchor[1]]]
        lines += _fill_gap(*gap, pairs, taken)
        if anchor[0] < len(lefts):
            lines.append((lefts[anchor[0]], rights[anchor[1]]))
        begin = anchor[0] + 1, anchor[1] + 1
    return lines


def _fill_gap(
    lefts: Sequence[Rung], rights: Sequence[Rung], pairs: Mapping[Rung, Rung], taken: set[Rung]
) -> list[Line]:
    """Return the lines between two anchors: what has no partner alone, the others side by side."""
    lines: list[Line] = []
    left, right = 0, 0
    while left < len(lefts) or right < len(rights):
        one = lefts[left] if left < len(lefts) else None
        other = rights[right] if right < len(rights) else None
        if one is not None and one not in pairs:
            other = None
        elif other is not None and other not in taken:
            one = None
        lines.append((one, other))
        left += one is not None
        right += other is not None
    return lines


def _measure(lines: Sequence[Line], pairs: Mapping[Rung, Rung]) -> float:
    level = sum(one is not None and one in pairs and pairs[one] is other for one, other in lines)
    return len(lines) + _COST_OF_SLANT * (len(pairs) - level)
