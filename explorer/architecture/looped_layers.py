"""Layers that stand side by side in each step of what is used several times."""

from __future__ import annotations

from collections.abc import Sequence

from .clause import Clause, join_uses
from .outline import Outline
from .piece_clauses import tell_pieces


def join_looped(outline: Outline, clauses: Sequence[Clause]) -> list[Clause]:
    """Return clauses with layers of one size together that take the same as often.

    So do the gates of several experts in each layer of R. Wang and others, DCN V2, 2021, equation
    5. They are told where the first of them is.
    """
    joined: list[Clause] = []
    for clause in clauses:
        key = _find_key(outline, clause)
        place = next(
            (at for at, one in enumerate(joined) if key and _find_key(outline, one) == key), -1
        )
        if place < 0:
            joined.append(clause)
            continue
        pieces = [*joined[place].scope, *clause.scope]
        joined[place] = join_uses([tell_pieces(outline, pieces)], clause.uses)
    return joined


def _find_key(outline: Outline, clause: Clause) -> object:
    """Return the same for layers of one size that take the same as often; None for all else."""
    if clause.uses < 2 or clause.name or any(piece.kind != "linear" for piece in clause.scope):
        return None
    keys = {
        (piece.uses, piece.part.in_features, piece.part.out_features, taken)
        for piece in clause.scope
        for taken in (frozenset(outline.operands(piece.part)),)
    }
    return keys.pop() if len(keys) == 1 else None
