"""Clauses of blocks that follow one another, or stand side by side: what is neither is cut."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from .clause import Clause
from .outline import Outline
from .piece_clauses import tell_pieces
from .pieces import Piece

#: what is made of more blocks is made of what leads to all of these
_MOST_GIVERS = 16
#: what is cut in more parts is densely connected, and no few chains
_MOST_CHAINS = 6
#: of which each has an input, or a column of one, of its own
_LOOKING_UP = "embedding"


def split_apart(outline: Outline, clauses: Sequence[Clause]) -> list[Clause]:
    """Return clauses, with blocks of one kind apart that do not follow one another.

    A chain is cut behind a block from which another clause takes, too.
    """
    givers = find_direct_givers(outline, [piece for one in clauses for piece in one.scope])
    takers = Counter(giver for taken in givers.values() for giver in taken)
    kept: list[Clause] = []
    for clause in clauses:
        chains: list[list[Piece]] = []
        for piece in clause.scope if _may_split(clause) else ():
            for chain in chains:
                last = id(chain[-1])
                if last in givers[id(piece)] and takers[last] == 1:
                    chain.append(piece)
                    break
            else:
                chains.append([piece])
        is_split = 1 < len(chains) <= _MOST_CHAINS
        kept += [tell_pieces(outline, one) for one in chains] if is_split else [clause]
    return sorted(kept, key=lambda one: min(piece.parts[0].place for piece in one.scope))


def find_direct_givers(outline: Outline, pieces: Sequence[Piece]) -> dict[int, frozenset[int]]:
    """Return for each block, by its identity, those that it takes from without others between."""
    owners = {id(part): piece for piece in pieces for part in piece.parts}
    nearest: dict[int, frozenset[int]] = {}
    found: dict[int, frozenset[int]] = {id(piece): frozenset() for piece in pieces}
    for part in outline.parts:
        taken = [nearest.get(id(giver), frozenset()) for giver in outline.givers(part)]
        whole = frozenset[int]().union(*taken)
        if part.has("adds"):  # what a block is added to went into it
            whole = frozenset(one for one in whole if not any(one in found[o] for o in whole))
        owner = owners.get(id(part))
        if owner is not None:
            found[id(owner)] |= whole - {id(owner)}
            whole = frozenset({id(owner)})
        nearest[id(part)] = whole if len(whole) <= _MOST_GIVERS else frozenset()
    return found


def _may_split(clause: Clause) -> bool:
    is_plain = clause.is_plain and not clause.name and len(clause.scope) > 1
    return is_plain and all(
        piece.fold[1] == 1 and piece.uses == 1 and piece.kind != _LOOKING_UP
        for piece in clause.scope
    )
