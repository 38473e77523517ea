"""Chains of blocks that stand side by side between a split and a join."""

from __future__ import annotations

from collections.abc import Sequence

from .clause import weigh_pieces
from .modules import Module
from .outline import Outline
from .pieces import Piece
from .reach import join_all

#: a branch of less is a step beside the others
_LEAST_OF_BRANCHES = 0.1


def list_branches(pieces: Sequence[Piece]) -> list[list[Piece]]:
    """Return chains that stand side by side and are most of some blocks; nothing for one chain.

    They are between two blocks that all others lead to or follow from.
    """
    ordered = sorted(pieces, key=lambda piece: piece.part.place)
    bits = [1 << piece.part.place for piece in ordered]
    told = sum({*bits})
    after = [told] * len(ordered)
    for at in range(len(ordered) - 2, -1, -1):
        after[at] = after[at + 1] & ordered[at + 1].part.before
    best: list[list[Piece]] = []
    most = weigh_pieces(ordered) / 2
    section: list[Piece] = []
    before = 0
    for at, piece in enumerate([*ordered, None]):
        if piece is not None and not (piece.part.before & told == before and after[at] & bits[at]):
            section.append(piece)
        else:
            branches = _list_apart(section)
            weight = weigh_pieces(section)
            is_once = all(piece.uses == 1 for piece in section)
            least = _LEAST_OF_BRANCHES * weight
            is_even = all(weigh_pieces(branch) > least for branch in branches)
            if len(branches) > 1 and weight > most and is_once and is_even:
                best, most = branches, weight
            section = []
        before |= bits[at] if piece is not None else 0
    return best


def holds_whole(root: Module, branch: Sequence[Piece]) -> bool:
    """Return whether a branch is no part of any author's module without the rest of both."""
    own = {id(piece) for piece in branch}
    pending = [root]
    while pending:
        module = pending.pop()
        held = {id(piece) for piece in module.pieces}
        if held.isdisjoint(own) or held <= own:
            continue
        if not own <= held:
            return False
        pending += module.inner
    return True


def _list_apart(pieces: Sequence[Piece]) -> list[list[Piece]]:
    """Return blocks with those together of which one leads to the other."""
    found: list[tuple[int, list[Piece]]] = []
    for piece in pieces:
        own = 1 << piece.part.place
        joined = [piece]
        rest = []
        for mask, held in found:
            if mask & piece.part.before:
                own |= mask
                joined = [*held, *joined]
            else:
                rest.append((mask, held))
        found = [*rest, (own, joined)]
    return [sorted(held, key=lambda piece: piece.part.place) for _, held in found]


def mark_branches(outline: Outline, branches: Sequence[Sequence[Piece]]) -> list[int]:
    """Return by operation which branches it follows from, or is in, as bits."""
    operations = outline.operations
    own = {
        number: 1 << place
        for place, branch in enumerate(branches)
        for piece in branch
        for part in piece.parts
        for number in part.numbers
    }
    taken: list[int] = []
    for number in range(len(operations)):
        givers = (taken[giver] for giver in operations.givers(number) if giver < number)
        taken.append(join_all(givers) | own.get(number, 0))
    return taken
