"""What modules in a row are together: those whose names differ in a number only."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

from netloupe.explorer.notation import write_count

from .beside_rows import tell_branches
from .clause import MINOR, Clause, make_named
from .common_clauses import keep_common, tell_blocks, tell_kinds, tell_named_row
from .counted_words import count_pieces, join_with_and, write_plural
from .coverage import says_enough
from .modules import Module, open_lists
from .named_blocks import tell_named_blocks
from .nested_sums import tell_nested_sums
from .outline import Outline
from .piece_clauses import count_uses, tell_named_pieces, tell_pieces
from .piece_words import name_piece, write_in_blocks, write_pieces, write_shortly
from .pieces import Piece
from .row_names import WHOLES, count_name, name_loop, name_module, name_row, says_no_more
from .stage_clauses import (
    IN_STAGES,
    tell_classes,
    tell_mixed_stages,
    tell_stages,
    write_staged,
)
from .unit_clauses import tell_units
from .units import are_of_one_list, count_in_stages, find_units

#: how stages are told
_STAGES = "stages of "
#: blocks hold so many of a kind that these are no blocks
_LEAST_IN_EACH = 1.5
#: of fewer modules in a row each is told
_LEAST_OF_MANY = 4
#: of modules in a row that differ so many kinds of block are counted
_MOST_KINDS = 3


def tell_row(outline: Outline, row: Sequence[Module], layer_count: int) -> list[Clause]:
    """Return what modules are whose names differ in a number.

    Parameters
    ----------
    outline
        Of the graph.
    row
        The modules, in order.
    layer_count
        How many layers all of the graph has.

    Returns
    -------
    list of Clause
        Nothing where they are nothing together: each is then told by itself.
    """
    told = _tell_together(outline, row, layer_count)
    is_whole = told and not _counts_parts(outline, row, told)
    if is_whole and says_enough(outline, told) and not _counts_layers(outline, row, told):
        return told
    units = tell_units(outline, row)
    return [units] if units is not None else told


def _counts_parts(outline: Outline, row: Sequence[Module], told: Sequence[Clause]) -> bool:
    """Return whether stages are told to have far more blocks than they have of an author's.

    A block may be two of a kind, a mixer of tokens and one of channels.
    """
    staged = [clause for clause in told if clause.text.startswith(_STAGES)]
    if len(staged) != 1:
        return False
    found = find_units(outline, row)
    kinds = Counter(piece.token for piece in staged[0].scope)
    most = max(kinds.values())
    return bool(count_in_stages(found)) and most >= _LEAST_IN_EACH * len(found)


def _counts_layers(outline: Outline, row: Sequence[Module], told: Sequence[Clause]) -> bool:
    """Return whether of many blocks it is only told how many small layers all of them have.

    What one of them is made of says more.
    """
    if len(told) > 1 or not told[0].is_minor or told[0].is_named:
        return False
    if told[0].text.startswith(_STAGES):
        return bool(count_in_stages(find_units(outline, row)))
    is_row = len(row) >= _LEAST_OF_MANY and min(len(one.pieces) for one in row) > 1
    return is_row and told[0].is_plain


def _tell_together(outline: Outline, row: Sequence[Module], layer_count: int) -> list[Clause]:
    """Return what modules are by the kinds of block that they have in common."""
    pieces = [piece for module in row for piece in module.pieces]
    uses = {piece.uses for piece in pieces}
    if count_uses(pieces) > 1 and not _are_layers(row):
        return _tell_unequal_loop(outline, row) or [_tell_loop(outline, row, pieces)]
    if len({piece.token for piece in pieces}) == 1:
        return [_tell_alike(outline, row, pieces, layer_count)]
    branches = [] if name_row(row) else tell_branches(outline, row)
    if branches:
        return branches
    blocks = keep_common(row) if len(uses) == 1 else []
    if blocks:
        return [tell_blocks(outline, row, blocks)]
    named = tell_named_blocks(row)
    if named:
        own = {id(piece) for clause in named for piece in clause.scope}
        rest = [module for module in row if id(module.pieces[0]) not in own]
        others = tell_row(outline, rest, layer_count) if rest else []
        if others or not rest:
            return sorted([*named, *others], key=lambda one: one.scope[0].part.place)
    classes = tell_classes(outline, row)
    if classes:
        return classes
    staged = tell_stages(outline, row)
    if staged:
        return _put_first([staged, *_tell_rest(outline, pieces, staged)])
    name = name_row(row)
    if name:
        return [tell_named_row(outline, row, name)]
    staged_kinds = tell_mixed_stages(outline, row)
    mixed = None if staged_kinds else tell_units(outline, row)
    return staged_kinds or ([mixed] if mixed else _tell_many(outline, row))


def _tell_rest(outline: Outline, pieces: Sequence[Piece], told: Clause) -> list[Clause]:
    """Return what blocks are that a clause does not stand for, by their kinds."""
    own = {id(piece) for piece in told.scope}
    kinds: dict[object, list[Piece]] = {}
    for piece in pieces:
        if id(piece) not in own:
            kinds.setdefault(piece.token, []).append(piece)
    return [tell_pieces(outline, found) for found in kinds.values()]


def _put_first(clauses: Sequence[Clause]) -> list[Clause]:
    """Return clauses with those at the front that stand before all of the first one."""
    start = min(piece.parts[0].place for piece in clauses[0].scope)
    is_late = [any(piece.part.place >= start for piece in one.scope) for one in clauses]
    return [one for _, one in sorted(zip(is_late, clauses, strict=True), key=lambda pair: pair[0])]


def _tell_unequal_loop(outline: Outline, row: Sequence[Module]) -> list[Clause]:
    """Return each module of a loop's steps by itself, where some go round less often than others.

    Nothing where all do, or where blocks of a step are in no module.
    """
    parts = [part for step in row for part in step.inner]
    often = [count_uses(part.pieces) for part in parts]
    if len({*often}) < 2 or any(not name_module(part) for part in parts) or 1 in often:
        return []
    return [
        _tell_loop(outline, [part], part.pieces, is_loop=all(map(_is_loop, row))) for part in parts
    ]


def _are_layers(row: Sequence[Module]) -> bool:
    """Return whether several modules are a recurrent layer each, of which the steps are inside."""
    return len(row) > 1 and all(
        len(module.pieces) == 1
        and module.pieces[0].kind == "unrolled"
        and module.pieces[0].uses == 1
        and not _is_loop(module)
        for module in row
    )


def _is_loop(module: Module) -> bool:
    group = module.group.parent if module.group is not None else None
    return group is not None and group.is_loop


def _tell_loop(
    outline: Outline, row: Sequence[Module], pieces: Sequence[Piece], *, is_loop: bool = False
) -> Clause:
    """Return what is used again and again, of which each block is there once."""
    name = name_loop(row[0])
    uses = count_uses(pieces)
    alike = {tuple(piece.token for piece in module.pieces) for module in row}
    is_each = bool(name) and len(row) > 1 == len(alike)
    told = row[0].pieces if is_each else pieces
    inside = [replace(one, uses=1) for one in tell_kinds(outline, [told])]
    if is_each:
        named = make_named(count_name(row, name), inside, pieces, uses)
        members = tuple(tuple(module.pieces) for module in row)
        return replace(named, members=members, each_of=len(row))
    if len(inside) == 1 and not name:
        return replace(tell_pieces(outline, pieces), is_plain=False)
    return replace(make_named(name, inside, pieces, uses), is_loop=is_loop or _is_loop(row[0]))


def _tell_alike(
    outline: Outline, row: Sequence[Module], pieces: Sequence[Piece], layer_count: int
) -> Clause:
    """Return what modules in a row are of one kind of block."""
    clause = tell_pieces(outline, pieces)
    name = name_module(row[0])
    each = len(row[0].pieces)
    is_even = each > 1 and all(len(module.pieces) == each for module in row)
    if is_even and pieces[0].layer is None:
        name = name_row(row) or name
    is_each = len(pieces) == len(row) and pieces[0].kind not in MINOR
    nested = None if name else tell_nested_sums(outline, [module.pieces for module in row])
    if nested is not None:
        return nested
    own = name_row(row) if is_each else ""
    if (
        own
        and pieces[0].name not in own
        and not says_no_more(clause.text, own)
        and _are_beside(row)
    ):
        inside = write_shortly(outline, pieces, 1)
        members = tuple(tuple(module.pieces) for module in row)
        named = count_name(row, own)
        return replace(
            clause, name=named, text=inside, members=members, each_of=len(row), is_plain=False
        )
    beside = _tell_beside(outline, row) if is_even and not name else None
    if beside is not None:
        return beside
    if not name or says_no_more(clause.text, name) or len(pieces) == len(row):
        is_whole = name.split(" ")[-1] in WHOLES and name not in clause.text
        return tell_named_pieces(outline, pieces, name, layer_count) if is_whole else clause
    if is_even:
        text = write_in_blocks(outline, [one.pieces for one in row], each)
        named = count_name(row, name)
        members = tuple(tuple(module.pieces) for module in row)
        return replace(
            clause, name=named, text=text, members=members, each_of=len(row), is_plain=False
        )
    if pieces[0].kind in IN_STAGES:
        clause = write_staged(outline, [module.pieces for module in row], pieces)
    if name in WHOLES:
        return replace(clause, name=name, is_plain=False)
    members = tuple(tuple(module.pieces) for module in row)
    text = f"{clause.text} in all" if clause.text[:1].isdigit() else clause.text
    return replace(clause, name=count_name(row, name), text=text, members=members, is_plain=False)


def _tell_beside(outline: Outline, row: Sequence[Module]) -> Clause | None:
    """Return how many equal rows of layers stand side by side, as in an ensemble; None for others.

    ``5 blocks of 3 linear layers 70 → 128 → 41 side by side``.
    """
    texts = {write_pieces(outline, module.pieces) for module in row}
    if len(texts) > 1 or not _are_beside(row) or any(p.fold[1] > 1 for p in row[0].pieces):
        return None
    members = tuple(tuple(module.pieces) for module in row)
    scope = tuple(piece for member in members for piece in member)
    text = f"{len(row):,} blocks of {texts.pop()} side by side"
    return Clause(text, scope, uses=scope[0].uses, members=members)


def _are_beside(row: Sequence[Module]) -> bool:
    """Return whether no module of a row takes what another one gives."""
    return len(row) > 1 and not any(
        piece.part.follows(one.pieces[-1].part)
        for one, two in pairwise(row)
        for piece in two.pieces
    )


def _tell_many(outline: Outline, row: Sequence[Module]) -> list[Clause]:
    """Return how many modules there are in a row that differ, and of what kinds most are.

    Of blocks of one list and lists beside them it is only counted what is in them.
    """
    blocks = [one for one in open_lists(row) if not all(p.kind in MINOR for p in one.pieces)]
    if len(blocks) < _LEAST_OF_MANY:
        return []
    pieces = [piece for module in row for piece in module.pieces]
    kinds: Counter[str] = Counter()
    for piece in pieces:
        if piece.kind not in MINOR:
            kinds[name_piece(outline, [piece])] += piece.uses * piece.fold[1]
    found = kinds.most_common(_MOST_KINDS)
    held_by = [{name_piece(outline, [piece]) for piece in module.pieces} for module in row]
    if (
        all(name in held for name, _ in found for held in held_by)
        and len(blocks) == len(row)
        and are_of_one_list(row)
        and not any(count % len(row) == 0 for _, count in found)
    ):
        held = join_with_and([write_plural(name) for name, _ in found])
        return [Clause(f"{write_count(len(row), 'block')} of {held}", tuple(pieces))]
    told = [count_pieces(count, name) for name, count in found]
    return [Clause(join_with_and(told), tuple(pieces))]
