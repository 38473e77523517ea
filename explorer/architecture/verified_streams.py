"""Whether blocks of streams lead to where these meet, and in which ways they meet.

Walked on operations and their operands: a stream is what goes into a join, and what only leads to
an output of its own stands beside it, as a prior does that is no more than compared (D. Hafner and
others, Mastering Diverse Domains through World Models, 2023, figure 3).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from .outline import Outline, OutlinePart
from .pieces import CROSS_ATTENTION, Piece

_ATTENDING = frozenset({"attention", "transformer"})


class Ways:
    """Of which ways the operations of a graph are.

    Parameters
    ----------
    outline
        Of the graph.
    taken
        By operation, what it follows from, as bits.
    ways
        Which of these bits are of each way.
    """

    def __init__(self, outline: Outline, taken: Sequence[int], ways: Sequence[int]) -> None:
        self._operations = outline.operations
        found = {
            bits: sum(1 << place for place, way in enumerate(ways) if way & bits)
            for bits in {*taken}
        }
        self._of = [found[bits] for bits in taken]

    def list_meetings(self) -> Iterator[int]:
        """Yield the operations where what is of less ways than others meets these."""
        for number, own in enumerate(self._of):
            givers = self._operations.givers(number)
            if own.bit_count() > 1 and any(0 != self._of[giver] != own for giver in givers):
                yield number

    def list_joins(self) -> Iterator[int]:
        """Yield the operations that follow from more ways than each of their operands."""
        for number, own in enumerate(self._of):
            givers = self._operations.givers(number)
            if own.bit_count() > 1 and all(self._of[giver] != own for giver in givers):
                yield number


def find_sides(
    outline: Outline, taken: Sequence[int], ways: Sequence[int], pieces: Sequence[Piece]
) -> list[Piece]:
    """Return those blocks that lead to no place where ways meet.

    Of blocks that share weights all calls are elsewhere than the one that is kept: they are none.
    """
    operations = outline.operations
    leads = [False] * len(operations)
    for number in Ways(outline, taken, ways).list_meetings():
        leads[number] = True
    if True not in leads:
        return []
    for number in range(len(operations) - 1, -1, -1):
        for giver in operations.givers(number) if leads[number] else ():
            leads[giver] = True
    return [
        piece
        for piece in pieces
        if piece.uses == 1
        and not any(leads[number] for part in piece.parts for number in part.numbers)
    ]


def find_joint(outline: Outline, taken: Sequence[int], ways: Sequence[int]) -> str:
    """Return how ways meet, in a word; "" where they do in several, or some of them do not."""
    words = set()
    met = 0
    for number in Ways(outline, taken, ways).list_joins():
        words.add(_name_joint(outline, number))
        met |= taken[number]
    is_each = all(way & met for way in ways)
    return words.pop() if len(words) == 1 and is_each else ""


def _name_joint(outline: Outline, number: int) -> str:
    part: OutlinePart = outline.owner(number)
    operator = outline.operations.nodes[number].operator
    if part.kind in _ATTENDING:
        return "in cross-attention" if part.name == CROSS_ATTENTION else ""
    if operator.has("adds"):
        return "added"
    if operator.has("joins"):
        return "concatenated"
    return "multiplied" if operator.has("multiplies_elements") else ""
