"""Layers that are left beside blocks which hold such layers, too, are told to be others.

One would read ``33 linear layers`` as all that a network has.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from netloupe.explorer.roles import find_weight

from .clause import Clause
from .outline import Outline
from .pieces import Piece

#: counts of layers with nothing else, and of which kind their weights are
_BARE = re.compile(r"[\w,]+ (convolutions|linear layers)")
_ATTENTIONS = re.compile(r"([\d,]+|two|three) (attentions.*)")
_KINDS = {"convolutions": "convolution", "linear layers": "linear"}
#: kinds of block of which one knows what layers they have, or that are layers
_PLAIN = frozenset({"attention", "conv", "embedding", "experts", "linear", "mlp", "transformer"})
#: fewer are the few before and behind blocks
_LEAST = 4


def tell_others(outline: Outline, clauses: Sequence[Clause]) -> list[Clause]:
    """Return clauses with layers that are left as others, behind the blocks that hold more."""
    kept = [*clauses]
    for clause in clauses:
        rest = [one for one in kept if one is not clause]
        if not is_rest(outline, clause, rest):
            continue
        number, noun = clause.text.split(" ", 1)
        held = [_count_held(outline, one, _KINDS[noun]) for one in rest]
        last = max(place for place, count in enumerate(held) if count)
        told = replace(clause, text=f"{number} other {noun}", is_plain=False)
        kept = [*rest[: last + 1], told, *rest[last + 1 :]]
    return kept


def tell_other_attentions(clauses: Sequence[Clause]) -> list[Clause]:
    """Return clauses with attentions between layers of transformers as others than those in them.

    In the order of a sentence they would all stand behind the layers, and be all that there are (A.
    Kirillov and others, Segment Anything, 2023, appendix A: from the image to tokens in each).
    """
    layers = [piece for one in clauses for piece in one.scope if piece.layer is not None]
    last = max((piece.parts[0].place for piece in layers), default=-1)
    kept = []
    for clause in clauses:
        counted = _ATTENTIONS.fullmatch(clause.text)
        is_bare = counted is not None and not (clause.name or clause.parts)
        if counted and is_bare and any(piece.parts[0].place < last for piece in clause.scope):
            text = f"{counted[1]} other {counted[2]}"
            clause = replace(clause, text=text, is_plain=False)
        kept.append(clause)
    return kept


def is_rest(outline: Outline, clause: Clause, others: Sequence[Clause]) -> bool:
    """Return whether a clause counts layers of which the blocks of other clauses hold more."""
    bare = _BARE.fullmatch(clause.text)
    if bare is None or clause.name or clause.parts or len(clause.scope) < _LEAST:
        return False
    held = sum(_count_held(outline, one, _KINDS[bare[1]]) for one in others)
    return held > len(clause.scope)


def _count_held(outline: Outline, clause: Clause, kind: str) -> int:
    return sum(_count_layers(outline, piece, kind) for piece in clause.scope)


def _count_layers(outline: Outline, piece: Piece, kind: str) -> int:
    """Return how many layers of a kind a block holds."""
    if piece.kind in _PLAIN or piece.layer is not None:
        return 0
    weights = [find_weight(node) for node in outline.nodes(piece.parts)]
    return sum(weight is not None and weight.kind == kind for weight in weights)
