"""Blocks that only tell places: numbers by which others pick, and samples of a stored grid."""

from __future__ import annotations

from collections.abc import Sequence

from .outline import Outline, OutlinePart
from .pieces import Piece

#: so many operations are between a number and what picks by it
_MOST_STEPS = 8
#: what a number may go through before something picks by it
_PASSING = ("adds", "casts", "clips", "multiplies_elements", "rounds")


def leave_out_places(outline: Outline, pieces: Sequence[Piece]) -> list[Piece]:
    """Return blocks without those that only tell where others look.

    An expected place by which probabilities are picked is no output of a network (Y. Yao and
    others, MVSNet, 2018, section 3.3: the confidence is that of the four nearest); and what is
    sampled of a stored grid of places are places (Y. Chen and others, LIIF, 2021, equation 4).
    """
    return [
        piece
        for piece in pieces
        if not (piece.kind == "expectation" and _picks_only(outline, piece.part))
        and not (piece.part.has("samples") and _is_of_stored(outline, piece.part))
    ] or [*pieces]


def _is_of_stored(outline: Outline, part: OutlinePart) -> bool:
    """Return whether what is sampled is stored in the file, or counted."""
    node = outline.operations.nodes[part.end]
    value = node.input(0)
    return value is not None and outline.operations.is_fixed(value)


def _picks_only(outline: Outline, part: OutlinePart) -> bool:
    """Return whether others take a result as numbers of what they pick alone."""
    operations = outline.operations
    pending, seen = [part.end], {part.end}
    picks = False
    while pending and len(seen) <= _MOST_STEPS:
        number = pending.pop()
        for user in operations.users[number]:
            if user < 0:
                return False
            operator = operations.nodes[user].operator
            if operator.has("gathers") and user not in seen:
                data = operations.giver(operations.source(operations.operands[user][0]))
                if data == number:
                    return False
                picks = True
            elif operator.has(*_PASSING) and user not in seen:
                pending.append(user)
            elif user not in seen:
                return False
            seen.add(user)
    return picks and not pending
