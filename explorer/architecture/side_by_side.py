"""Equal branches of a network, told once: none of them takes what another one gives."""

from __future__ import annotations

from collections.abc import Sequence

from .clause import Clause

#: fewer are no row of branches
_LEAST = 3


def join_side_by_side(clauses: Sequence[Clause]) -> list[Clause]:
    """Return clauses with those of one text together that stand for branches side by side.

    ``4 branches of three 3×3 convolutions side by side``.
    """
    rows: dict[str, list[Clause]] = {}
    for clause in clauses:
        rows.setdefault(clause.write(), []).append(clause)
    joined: list[Clause] = []
    for clause in clauses:
        text = clause.write()
        row = rows[text]
        if len(row) < _LEAST or not _are_apart(row):
            joined.append(clause)
        elif clause is row[0]:
            scope = tuple(piece for one in row for piece in one.scope)
            told = f"{len(row):,} branches of {text} side by side"
            joined.append(Clause(told, scope, is_class=True))
    return joined


def _are_apart(row: Sequence[Clause]) -> bool:
    if not all(one.scope for one in row):
        return False
    ends = [one.scope[-1].part for one in row]
    return not any(
        piece.part.follows(end)
        for one in row
        for piece in one.scope
        for end in ends
        if end is not one.scope[-1].part
    )
