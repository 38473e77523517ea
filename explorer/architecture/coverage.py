"""How much of what clauses stand for they speak of: the kinds of block that their words name."""

from __future__ import annotations

import re
from collections.abc import Sequence

from .clause import Clause
from .counted_words import write_plural
from .outline import Outline
from .piece_words import name_kind, name_piece
from .pieces import Piece
from .sizes import weigh_matrices

#: other words for a kind
_ALSO = {
    "transformer block": ("attention with MLP", "attentions with MLP"),
    "convolution": ("convolutional MLP",),
}
#: kinds that tell what a block is for, however few weights they have themselves
IDEAS = frozenset(
    {"attention", "experts", "mixer", "recurrent", "transform", "transformer", "unrolled"}
    | {
        "coordinates",
        "decomposition",
        "gated network",
        "graph convolution",
        "graph network",
        "message passing",
    }
    | {"recurrence", "sparsemax", "variable selection"}
)
#: words are enough that speak of so much
_LEAST_SHARE = 0.6


def list_told_pieces(outline: Outline, clause: Clause) -> list[Piece]:
    """Return the blocks of a clause of whose kind its words speak.

    An author's class stands for all that is in it.
    """
    if clause.is_class:
        return [*clause.scope]
    text = clause.write()
    seen: dict[tuple[str, str], bool] = {}
    told = []
    for piece in clause.scope:
        kinds = name_kind(outline, [piece]), name_piece(outline, [piece])
        if kinds not in seen:
            seen[kinds] = any(_names(text, kind) for kind in kinds)
        if seen[kinds]:
            told.append(piece)
    return told


def _names(text: str, kind: str) -> bool:
    names = (kind, write_plural(kind), *_ALSO.get(kind, ()))
    return any(re.search(rf"(?<![\w-]){re.escape(name)}(?![\w-])", text) for name in names)


def says_enough(outline: Outline, clauses: Sequence[Clause]) -> bool:
    """Return whether clauses speak of most of the weights they stand for, and of each idea."""
    told = {id(piece) for clause in clauses for piece in list_told_pieces(outline, clause)}
    every = [piece for clause in clauses for piece in clause.scope]
    named = {piece.kind for piece in every if id(piece) in told}
    if any(piece.kind in IDEAS and piece.kind not in named for piece in every):
        return False
    weights = {id(piece): weigh_matrices(outline, piece.parts) for piece in every}
    total = sum(weights.values())
    return sum(weights[key] for key in told) >= _LEAST_SHARE * total
