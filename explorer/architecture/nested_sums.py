"""Residual blocks that are made of residual blocks: both are counted, the outer ones first.

X. Wang and others, ESRGAN, 2018, figure 4: a residual-in-residual dense block is a sum around
several residual dense blocks.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from .clause import Clause
from .counted_words import count_pieces, write_plural
from .outline import Outline
from .piece_words import name_piece, write_pieces
from .pieces import Piece

#: what a sum around others is called where these are called so
_RESIDUAL = "residual block"
_LEAST_INSIDE = 2
_NESTED = re.compile(rf"[\d,]+ {_RESIDUAL}s of [\d,]+ {_RESIDUAL}s(?![\w-])")


def is_of_nested_sums(text: str) -> bool:
    """Return whether a text counts residual blocks of residual blocks."""
    return _NESTED.match(text) is not None


def tell_nested_sums(outline: Outline, rows: Sequence[Sequence[Piece]]) -> Clause | None:
    """Return how many sums there are around as many blocks each; None where they are none.

    Parameters
    ----------
    outline
        Of the graph.
    rows
        The blocks of each module in a row.
    """
    pieces = [piece for row in rows for piece in row]
    each = len(rows[0])
    is_even = each >= _LEAST_INSIDE and all(len(row) == each for row in rows)
    nouns = {name_piece(outline, [piece]) for piece in pieces}
    if not is_even or nouns != {_RESIDUAL} or any(p.uses > 1 or p.fold[1] > 1 for p in pieces):
        return None
    sums = [_find_sum(outline, row) for row in rows]
    if None in sums or len({*sums}) < len(rows):
        return None
    told = write_pieces(outline, pieces)
    inner = told.replace(count_pieces(len(pieces), _RESIDUAL), count_pieces(each, _RESIDUAL), 1)
    if inner == told:  # told as stages
        inner = count_pieces(each, _RESIDUAL)
    members = tuple(map(tuple, rows))
    text = f"{len(rows):,} {write_plural(_RESIDUAL)} of {inner}"
    return Clause(text, tuple(pieces), members=members)


def _find_sum(outline: Outline, pieces: Sequence[Piece]) -> frozenset[int] | None:
    """Return the innermost opened sum around some blocks, which has no others in it."""
    own = frozenset().union(*(part.numbers for piece in pieces for part in piece.parts))
    around = min((one for one in outline.sums if own <= one), key=len, default=None)
    if around is None:
        return None
    others = {outline.owner(number).end for number in around - own if outline.owner(number).parts}
    return None if others else around
