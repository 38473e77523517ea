"""What modules in a row have in common: the blocks that are in each of them."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from netloupe.explorer.notation import write_count

from .clause import MINOR, Clause, choose_telling, make_named
from .convolution_words import write_in_each
from .counted_words import join_with_and, write_plural
from .modules import Module
from .nested_sums import tell_nested_sums
from .outline import Outline
from .piece_clauses import tell_pieces
from .piece_words import name_alike, name_piece, write_in_blocks, write_pieces
from .pieces import Piece
from .row_names import count_name, name_row
from .sliced_weights import are_slices

#: so much of a row is of blocks that are told
LEAST_OF_ROW = 0.6
#: of convolutions nothing but how many, and how wide all of them are
_BARE = re.compile(r"[\d,]+ convolutions(?: of ([\d,]+ channels?))?")
#: kinds of piece that are a block themselves
_WHOLE = frozenset({"group", "inverted", "residual", "transformer"})


def keep_common(row: Sequence[Module], *, is_forced: bool = False) -> list[list[Piece]]:
    """Return for each module the pieces of kinds that all of them have as many of.

    Nothing where most of them are not alike, or have nothing in common that tells.
    """
    counts = [Counter(map(_find_kind, module.pieces)) for module in row]
    common = {
        kind for kind, count in counts[0].items() if all(one[kind] == count for one in counts)
    }
    alike = max(Counter(frozenset(one.items()) for one in counts).values())
    is_told = any(kind not in MINOR for kind, _ in common)
    is_whole = alike == len(row)
    if all(len(module.pieces) == 1 for module in row):
        return []  # these are a chain
    if not is_forced and not is_whole and (alike < LEAST_OF_ROW * len(row) or not is_told):
        return []
    return [[piece for piece in one.pieces if _find_kind(piece) in common] for one in row]


def tell_blocks(outline: Outline, row: Sequence[Module], rows: Sequence[Sequence[Piece]]) -> Clause:
    """Return what several blocks are, by the pieces that all of them have.

    One repetition may stand for all.
    """
    pieces = [piece for one in rows for piece in one]
    scope = tuple(piece for module in row for piece in module.pieces)
    uses = min(piece.uses for piece in pieces)
    times = sum(module.times for module in row)
    if len({piece.token for piece in pieces}) == 1 and row[0].times > 1:
        text = write_pieces(outline, pieces, pieces[0].fold[1])
        return Clause(text, scope, uses=uses)
    name = name_row(row)
    nested = None if name else tell_nested_sums(outline, rows)
    if nested is not None:
        return replace(nested, scope=scope, members=_list_members(row))
    inside = tell_kinds(outline, rows, times if row[0].times > 1 else 1)
    main = [piece for piece in pieces if name == name_piece(outline, [piece])]
    if main:
        return replace(tell_pieces(outline, main), scope=scope, is_plain=False)
    if name:
        named = make_named(count_name(row, name), choose_telling(inside, 2), scope, uses)
        return replace(named, each_of=times, members=_list_members(row))
    telling = choose_telling(inside, 2)
    only = telling[0].scope if len(telling) == 1 and len(telling[0].scope) == len(row) else ()
    if only and only[0].kind in _WHOLE:
        return replace(tell_pieces(outline, only), scope=scope, uses=uses, is_plain=False)
    unit = join_with_and([one.write_inside() for one in telling])
    word = "of" if len(inside) <= 2 else "with"
    return Clause(
        f"{write_count(times, 'block')} {word} {unit}",
        scope,
        uses=uses,
        members=_list_members(row),
        unit=(times, unit),
    )


def tell_named_row(outline: Outline, row: Sequence[Module], name: str) -> Clause:
    """Return what modules are of one name that differ: what all of them have."""
    kept = keep_common(row, is_forced=True)
    pieces = [piece for module in row for piece in module.pieces]
    inside = tell_kinds(outline, kept) if kept and all(kept) else []
    named = make_named(count_name(row, name), choose_telling(inside, 2), pieces, 1)
    return replace(named, each_of=sum(module.times for module in row), members=_list_members(row))


def _list_members(row: Sequence[Module]) -> tuple[tuple[Piece, ...], ...]:
    return tuple(tuple(module.pieces) for module in row)


def tell_kinds(outline: Outline, rows: Sequence[Sequence[Piece]], times: int = 1) -> list[Clause]:
    """Return for each kind of piece what of it is in each of some blocks.

    Parameters
    ----------
    rows
        The pieces of each block.
    times
        So many blocks one stands for.
    """
    kinds = dict.fromkeys(_find_kind(piece) for piece in rows[0])
    told = []
    for kind in kinds:
        held = [[piece for piece in row if _find_kind(piece) == kind] for row in rows]
        alike = [piece for row in held for piece in row]
        each = max(sum(piece.fold[1] for piece in held[0]) // times, 1)
        if kind[0] == "linear" and are_slices(outline, held[0]):
            text = write_plural(name_alike(outline, alike))
        else:
            text = write_in_blocks(outline, held, each)
            bare = _BARE.fullmatch(text) if len(held) > 1 else None
            each_of = write_in_each(outline, held) if bare is not None else ""
            if bare is not None and each_of:
                text = f"{each_of}, {bare[1]}" if bare[1] else each_of
        told.append(Clause(text, tuple(alike), uses=alike[0].uses))
    return told


def _find_kind(piece: Piece) -> tuple[str, str]:
    """Return the kind of a piece; of convolutions the kernel is left out."""
    if piece.kind == "conv":
        return piece.kind, "transposed" if piece.part.is_transposed else ""
    return piece.kind, piece.name
