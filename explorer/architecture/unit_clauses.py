"""What the blocks of a stack hold, part by part in order, whatever they are called."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from itertools import groupby
from typing import NamedTuple

from netloupe.explorer.patterns.convolution_details import ConvolutionDetails

from .clause import MINOR, Clause
from .counted_words import count_pieces, join_with_and, strip_brackets, write_plural
from .coverage import IDEAS
from .dilations import write_dilations
from .growth import gives_more, write_growth
from .layer_words import in_brackets
from .module_names import drop_common_start, tell_class
from .modules import Module
from .outline import Outline
from .piece_sizes import shorten_way, write_sizes_of
from .piece_words import add_sizes, name_piece, name_together
from .pieces import Piece
from .row_names import name_row
from .shared_layers import add_shared_layers
from .sizes import weigh_matrices
from .sketch import write_row
from .units import Unit, count_in_stages, find_units

#: of fewer blocks it is not told which hold what
_LEAST_BLOCKS = 4
#: of blocks of more kinds it is not told which hold what
_MOST_KINDS = 3
#: so many things are read of a block
_MOST_PARTS = 4
#: steps with a smaller share of the weights of blocks are not told
_LEAST_SHARE = 0.1
#: nor are blocks of which what all of them have is less
_LEAST_COMMON = 0.5
#: names of one layer are none of a block that holds several
_LAYERS = frozenset({"convolution", "linear"})
#: no exporter computes these beforehand
_NEVER_STORED = frozenset({"graph convolution"})
#: of these each block has another width where there are stages, or as many steps as tokens
_UNSIZED = frozenset({"group", "inverted", "recurrence", "residual", "separable", "transformer"})


class _Part(NamedTuple):
    """What is in blocks: its pieces in each of them, and what they are called."""

    key: str
    noun: str
    rows: list[list[Piece]]

    @property
    def pieces(self) -> list[Piece]:
        return [piece for row in self.rows for piece in row]


def tell_units(outline: Outline, row: Sequence[Module]) -> Clause | None:
    """Return how many blocks modules in a row hold, in which stages, and what is in each.

    ``stages of 2, 2, 6, 2 blocks (each 2 linear layers and 7×7 depthwise convolution), 32 → 64 →
    128 → 256 channels``; of blocks that differ ``8 blocks (6 of linear attention, 2 of
    self-attention, each with mixture of experts)``.

    Returns
    -------
    Clause or None
        None where they hold no blocks, or blocks that have little in common.
    """
    scope = tuple(piece for module in row for piece in module.pieces)
    if any(piece.fold[1] > 1 or piece.uses > 1 for piece in scope):
        return None
    units = find_units(outline, row)
    if len(units) < 2:
        return None
    counts = count_in_stages(units)
    held = _list_all_held(outline, units)
    if not counts and max(map(len, held)) == 1:
        return None  # they are told by their kinds
    text = _write_classes(units) or _write_held(outline, held)
    if not text:
        return None
    noun = _name_units(units)
    noun = "block" if noun in text else noun
    if counts and {*counts} == {counts[0]}:
        name = f"{len(counts):,} stages of {count_pieces(counts[0], noun)}{_write_way(units)}"
    elif counts:
        name = f"stages of {write_row(counts)} {write_plural(noun)}{_write_way(units)}"
    else:
        name = count_pieces(len(units), noun)
    members = tuple(tuple(unit.module.pieces) for unit in units)
    text = add_shared_layers(outline, members, text)
    return Clause("", scope, name, parts=(Clause("", scope, text),), members=members)


def _name_units(units: Sequence[Unit]) -> str:
    """Return what each of some blocks is called: by an author where that says something."""
    modules = [unit.module for unit in units]
    said = {tell_class(module.type_name) for module in modules}
    name = said.pop() if len(said) == 1 else ""
    name = name or name_row(modules)
    is_layer = name.split(" ")[0] in _LAYERS
    return name if " " in name and not is_layer else "block"


def _write_classes(units: Sequence[Unit]) -> str:
    """Return how many blocks there are of each of several classes; "" where one says nothing."""
    counts = Counter(unit.module.type_name for unit in units)
    names = [tell_class(name) for name in drop_common_start([*counts])]
    if not 1 < len(counts) <= _MOST_KINDS or not all(names) or len({*names}) < len(names):
        return ""
    told = [count_pieces(count, name) for count, name in zip(counts.values(), names, strict=True)]
    return join_with_and(told)


def _write_way(units: Sequence[Unit]) -> str:
    """Return from which width to which stages go; "" where that is not known of each block."""
    found = [[*stage] for _, stage in groupby(units, key=lambda unit: unit.stage)]
    blocks = [[unit.module.pieces for unit in stage] for stage in found]
    growth = write_growth(blocks)
    if growth or gives_more(blocks):
        return growth
    widths = []
    for stage in found:
        own = {unit.module.pieces[-1].part.out_features for unit in stage}
        widths.append(own.pop() if len(own) == 1 else 0)
    way = [width for width, _ in groupby(widths)]
    is_one_way = way in (sorted(way), sorted(way)[::-1])
    return f", {shorten_way(way)} channels" if all(way) and len(way) > 1 and is_one_way else ""


def _list_all_held(outline: Outline, units: Sequence[Unit]) -> list[dict[str, list[Piece]]]:
    """Return what blocks hold.

    Layers of transformers are told by what they are made of where others hold the same apart.
    """
    pieces = [piece for unit in units for piece in unit.module.pieces]
    apart = {piece.kind for piece in pieces}
    are_split = any(
        part.kind in apart
        for piece in pieces
        if piece.layer is not None
        for part in piece.layer.parts
    )
    return [_list_held(outline, unit.module.pieces, are_split=are_split) for unit in units]


def _list_held(
    outline: Outline, pieces: Sequence[Piece], *, are_split: bool
) -> dict[str, list[Piece]]:
    """Return the pieces of a block by what they are, in order."""
    held: dict[str, list[Piece]] = {}
    for piece in pieces:
        layer = piece.layer
        inner = [piece]
        if layer is not None and are_split:
            parts = sorted((*layer.attentions, *layer.feeding), key=lambda part: part.place)
            inner = [Piece(part.kind, part.name, [part]) for part in parts]
        for one in inner:
            held.setdefault(_find_key(outline, one), []).append(one)
    return held


def _find_key(outline: Outline, piece: Piece) -> str:
    """Return what tells parts of blocks apart; convolutions have no kernel here."""
    if piece.kind == "conv":
        way = "transposed " if piece.part.is_transposed else ""
        return f"{way}depthwise convolution" if piece.part.is_depthwise else f"{way}convolution"
    return name_piece(outline, [piece])


def _write_held(outline: Outline, held: Sequence[dict[str, list[Piece]]]) -> str:
    """Return what is in blocks: in each of them, and in some of them where they are of few kinds.

    "" where they have too little in common.
    """
    parts = _list_parts(outline, held)
    everywhere = [part for part in parts if all(part.key in one for one in held)]
    others = [part for part in parts if part not in everywhere]
    ideas = [part.key for part in others if part.pieces[0].kind in IDEAS]
    telling = [part for part in others if not _is_small(part) or _tells(part, held, ideas)]
    kinds = Counter(tuple(part.key for part in telling if part.key in one) for one in held)
    chosen = _choose(outline, everywhere, parts)
    # of small steps that each block has another number of it is not told that there are some
    counted = [part for part in chosen if _count_each(part) or not _is_small(part)]
    left, most = (sum(_weigh(outline, part.pieces) for part in some) for some in (counted, chosen))
    if left < _LEAST_COMMON * most:
        counted = chosen
    common = [_write_part(outline, part) for part in counted]
    if any(not _is_small(part) and len({*map(len, part.rows)}) > 1 for part in parts):
        return ""  # some of them may be stages that hold others
    if any(_is_union(keys, kinds) for keys in kinds):
        return ""  # neither of these
    if 1 < len(kinds) <= _MOST_KINDS and len(held) >= _LEAST_BLOCKS:
        return _write_kinds(outline, kinds, telling, held, common)
    whole = sum(_weigh(outline, part.pieces) for part in parts)
    own = sum(_weigh(outline, part.pieces) for part in everywhere)
    is_bare = all(_is_small(part) for part in everywhere) and not any(
        text[:1].isdigit() for text in common
    )
    if not common or is_bare or own < _LEAST_COMMON * whole:
        return ""
    return f"each {join_with_and(common)}{_write_last(chosen)}"


def _tells(part: _Part, held: Sequence[dict[str, list[Piece]]], ideas: Collection[str]) -> bool:
    """Return whether a small step tells blocks from others: it mixes places, and nothing else does.

    But not where all blocks that have it have an idea beside it.
    """
    return _mixes(part.pieces[0]) and not all(
        any(key in one for key in ideas) for one in held if part.key in one
    )


def _is_union(keys: tuple[str, ...], kinds: Collection[tuple[str, ...]]) -> bool:
    """Return whether blocks of a kind hold what those of several others hold, each its own."""
    parts = [{*other} for other in kinds if other and {*other} < {*keys}]
    return len(parts) > 1 and set().union(*parts) == {*keys} and not set.intersection(*parts)


def _write_kinds(
    outline: Outline,
    kinds: Counter[tuple[str, ...]],
    telling: Sequence[_Part],
    held: Sequence[dict[str, list[Piece]]],
    common: Sequence[str],
) -> str:
    """Return how many blocks hold what alone, and what each of them holds."""
    nouns = {part.key: part.noun for part in telling}
    told = []
    for keys, count in kinds.most_common():
        with_it = [one for one in held if all(key in one for key in keys)]
        texts = [
            _write_part(outline, part._replace(rows=[one[part.key] for one in with_it]))
            for part in telling
            if part.key in keys
        ]
        told.append((count, keys, join_with_and(texts[:_MOST_PARTS]) if texts else ""))
    if not all(keys for _, keys, _ in told):  # some hold no more than all do
        # what one block alone lacks an exporter may have computed beforehand
        some = [f"{count:,} with {text}" for count, _, text in told if text]
        is_whole = any(part.pieces[0].kind in _NEVER_STORED for part in telling)
        if not is_whole and max(count for count, _, _ in told) >= len(held) - 1:
            some = []
        return ", ".join((f"each {join_with_and(common)}", *some)) if common else ""
    each = f", each with {join_with_and(common)}" if common else ""
    single = {part.key for part in telling if {*map(len, part.rows)} == {1}}
    alone = [
        count_pieces(count, nouns[keys[0]])
        if not common and len(keys) == 1 and keys[0] in single
        else f"{count:,} of {text}"
        for count, keys, text in told
    ]
    return ", ".join(alone) + each


def _list_parts(outline: Outline, held: Sequence[dict[str, list[Piece]]]) -> list[_Part]:
    """Return what is in blocks in the order in which they hold it."""
    longest = max(held, key=len)
    keys = dict.fromkeys([*longest, *(key for one in held for key in one)])
    parts = []
    for key in keys:
        rows = [one[key] for one in held if key in one]
        pieces = [piece for row in rows for piece in row]
        noun = name_together(outline, pieces)
        parts.append(_Part(key, key if noun == "convolution" else noun, rows))
    return parts


def _choose(outline: Outline, parts: Sequence[_Part], every: Sequence[_Part]) -> list[_Part]:
    """Return the parts that tell what blocks are for, and of steps those with many weights."""
    whole = sum(_weigh(outline, part.pieces) for part in every)

    def share(part: _Part) -> float:
        return _weigh(outline, part.pieces) / whole if whole else 0.0

    attends = any(part.pieces[0].kind in IDEAS for part in every)
    kept = [
        part
        for part in parts
        if not _is_small(part)
        or share(part) >= _LEAST_SHARE
        or (not attends and _mixes(part.pieces[0]))
    ]
    ranked = sorted(kept, key=lambda part: (part.pieces[0].kind not in IDEAS, -share(part)))
    return [part for part in parts if part in ranked[:_MOST_PARTS]]


def _mixes(piece: Piece) -> bool:
    """Return whether a small step mixes places, as a depthwise convolution does."""
    return piece.kind == "conv" and not piece.part.is_pointwise


def _is_small(part: _Part) -> bool:
    return part.pieces[0].kind in MINOR


def _weigh(outline: Outline, pieces: Sequence[Piece]) -> int:
    return sum(weigh_matrices(outline, piece.parts) for piece in pieces)


def _write_part(outline: Outline, part: _Part) -> str:
    """Return what a part is: how many of it each block holds, with sizes that all have."""
    number = _count_each(part)
    noun = part.noun
    told = noun if number == 1 else count_pieces(number, noun) if number else write_plural(noun)
    kind = part.pieces[0].kind
    if number == 1 and not (_is_small(part) or kind in _UNSIZED):
        told = add_sizes(told, write_sizes_of(outline, part.pieces))
    if number == 1 and kind == "conv":
        dilations = [
            piece.part.details.read_as(ConvolutionDetails).dilation for piece in part.pieces
        ]
        told = add_sizes(told, in_brackets(write_dilations([one or 1 for one in dilations])))
    return strip_brackets(told)


def _count_each(part: _Part) -> int:
    """Return how many of a part each block holds, but for the last; 0 where they differ."""
    counts = [len(row) for row in part.rows]
    numbers = {*(counts[:-1] if _lacks_last(part) else counts)}
    return numbers.pop() if len(numbers) == 1 else 0


def _lacks_last(part: _Part) -> bool:
    """Return whether the last of several blocks lacks one of what it has: what nothing would take.

    So ends the mask of Y. Luo and N. Mesgarani, Conv-TasNet, 2019, figure 1c: of its last block
    only the skip is used.
    """
    counts = [len(row) for row in part.rows]
    return len(counts) >= _LEAST_BLOCKS and {*counts[:-1]} == {counts[-1] + 1}


def _write_last(parts: Sequence[_Part]) -> str:
    """Return what the last block holds fewer of, behind what each of them holds."""
    fewer = [count_pieces(len(part.rows[-1]), part.noun) for part in parts if _lacks_last(part)]
    return f"; {join_with_and(fewer)} in the last" if fewer else ""
