"""What modules in a row are as stages: how many blocks of one kind each has, and how wide."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import groupby, pairwise

from netloupe.explorer.patterns.transformer_details import AttentionDetails

from .clause import MINOR, Clause, weigh_pieces
from .common_clauses import LEAST_OF_ROW, tell_named_row
from .counted_words import count_pieces, join_with_and, write_plural
from .growth import gives_more, write_growth
from .joined_blocks import is_joined, tell_joined
from .modules import Module, walk_modules
from .outline import Outline
from .piece_clauses import tell_pieces
from .piece_sizes import follows_on, shorten_way, write_sizes_of
from .piece_words import name_alike
from .pieces import Piece
from .row_names import name_row, say_class
from .sketch import write_row
from .units import count_in_stages, find_own_stage, find_units

_GATED = "Gated unit"
#: kinds of block that stages are counted in, the most telling first
_STAGED = (
    *("transformer", "attention", "group", "mixer", "residual", "inverted", "separable"),
    *("mlp", "conv"),
)
#: of these a stage has so many that they are told together only where nothing else is there
_PLAIN = frozenset({"conv", "mlp"})
#: kinds of block that go through stages
IN_STAGES = frozenset({"group", "inverted", "residual", "separable"})
#: how lanes are told that stand side by side in stages
LANES = re.compile(r" in \d+(?: to \d+)? lanes of ")
#: of which each stage has one, in turns
_TWO_KINDS = 2
#: chains that stand side by side in a stage
_LEAST_LANES = 2
#: networks in stages have so many at most
_MOST_STAGES = 9


def tell_classes(outline: Outline, row: Sequence[Module]) -> list[Clause]:
    """Return stages of blocks that a class names, where that is most of a row; else nothing."""
    units = [_list_units(module) for module in row]
    stages = [
        (name, sum(count for _, count in found), [one for one, _ in found])
        for unit in _join_in_stages(row, units)
        for name, found in _group_by_name(unit)
    ]
    told = [piece for _, _, found in stages for one in found for piece in one.pieces]
    whole = weigh_pieces([piece for module in row for piece in module.pieces])
    is_itself = all(unit and unit[0][1] is one for unit, one in zip(units, row, strict=True))
    if len(stages) < 2 or is_itself or weigh_pieces(told) < LEAST_OF_ROW * whole:
        return []
    clauses = []
    for name in dict.fromkeys(name for name, _, _ in stages):
        of_name = [stage for stage in stages if stage[0] == name]
        counts = [count for _, count, _ in of_name]
        widths = [found[-1].pieces[-1].part.out_features for _, _, found in of_name]
        way = [width for width, _ in groupby(widths)]
        plural = write_plural(name)
        text = count_pieces(sum(counts), name) if {*counts} == {1} or len(counts) == 1 else ""
        text = name if sum(counts) == 1 else text
        text = text or f"stages of {write_row(counts)} {plural}"
        blocks = [[one.pieces for one in found] for _, _, found in of_name]
        growth = write_growth(blocks)
        if growth:
            text += growth
        elif all(way) and not gives_more(blocks):
            way_text = shorten_way(way) if len(way) > 1 else f"{way[0]:,}"
            text += (
                f"{', ' if len(way) > 1 else ' of '}{way_text} channel{'s' if way[-1] > 1 else ''}"
            )
        pieces = [piece for _, _, found in of_name for one in found for piece in one.pieces]
        clauses.append(Clause(text, tuple(pieces), is_class=True))
    return clauses


def _join_in_stages(
    row: Sequence[Module], units: Sequence[list[tuple[str, Module, int]]]
) -> Iterator[list[tuple[str, Module, int]]]:
    """Yield the units of each stage; modules that are units share the one that they are in."""

    def find(pair: tuple[Module, list[tuple[str, Module, int]]]) -> object:
        module, found = pair
        is_itself = len(found) == 1 and found[0][1] is module
        return (find_own_stage(module) if is_itself else None) or module

    for _, alike in groupby(zip(row, units, strict=True), key=find):
        yield [unit for _, found in alike for unit in found]


def tell_stages(outline: Outline, row: Sequence[Module]) -> Clause | None:
    """Return stages, where most of some modules are of blocks of one kind; None for others.

    What stands before and between the blocks, as what makes maps smaller, is not told.
    """
    rows = [module.pieces for module in row]
    for kind in _STAGED:
        held = [found for one in rows if (found := [p for p in one if p.kind == kind])]
        pieces = [piece for found in held for piece in found]
        is_most = 2 * len(held) > len(rows) and len(held) > 1
        is_one = len({piece.name for piece in pieces}) == 1 or kind in _PLAIN
        is_alone = kind not in _PLAIN or all(p.kind == kind for one in rows for p in one)
        others = [one for one in rows if not any(p.kind == kind for p in one)]
        is_alone &= all(p.kind in MINOR for one in others for p in one) or _are_steps(rows, kind)
        whole = weigh_pieces([piece for one in rows for piece in one])
        is_alone &= weigh_pieces(pieces) >= LEAST_OF_ROW * whole
        if is_most and is_one and is_alone and not _lead_on(held):
            return tell_pieces(outline, pieces)
        if is_most and is_one and is_alone:
            are_blocks = not count_in_stages(find_units(outline, row))
            if kind == "conv" and are_blocks and is_joined(outline, held):
                return tell_joined(outline, held)
            return _write_stages(outline, row, held)
    return None


def _lead_on(held: Sequence[Sequence[Piece]]) -> bool:
    """Return whether each stage leads to the next one; of branches side by side none does."""
    return all(two[-1].part.follows(one[-1].part) for one, two in pairwise(held))


def _are_steps(rows: Sequence[Sequence[Piece]], kind: str) -> bool:
    """Return whether modules without a kind of block stand one by one between those that have it.

    All are alike, as what merges patches between stages.
    """
    holds = [any(piece.kind == kind for piece in one) for one in rows]
    others = [one for one, is_held in zip(rows, holds, strict=True) if not is_held]
    is_between = all(before or after for before, after in pairwise(holds)) and holds[0]
    tokens = {piece.token for one in others for piece in one}
    return is_between and len(tokens) == 1 and all(len(one) == 1 for one in others)


def _write_stages(
    outline: Outline, row: Sequence[Module], held: Sequence[Sequence[Piece]]
) -> Clause:
    pieces = [piece for found in held for piece in found]
    kind = pieces[0].kind
    found_in = {id(piece) for piece in pieces}
    scope = [
        piece
        for module in row
        if any(id(one) in found_in for one in module.pieces)
        for piece in module.pieces
    ]
    counts = [sum(piece.fold[1] for piece in found) for found in held]
    if {*counts} == {1}:
        name = name_row([one for one in row if any(p in pieces for p in one.pieces)])
        told = tell_pieces(outline, pieces)
        if name and len(held) == len(row):
            return tell_named_row(outline, row, name)
        return replace(told, scope=tuple(scope), is_plain=False)
    own = _count_by_class(row, held) if kind in IN_STAGES else counts
    is_whole = own != counts or not any(_holds_others(module, kind) for module in row)
    holding = [one for one in row if any(id(piece) in found_in for piece in one.pieces)]
    is_apart = all(len(one.pieces) > len(found) for one, found in zip(holding, held, strict=True))
    return write_staged(
        outline, held, scope, own, is_numbered=True, is_whole=is_whole, is_apart=is_apart
    )


def _holds_others(module: Module, kind: str) -> bool:
    """Return whether a stage has numbered modules of convolutions beside blocks of a kind.

    So is the first block of a stage, which has no shortcut where it changes the size: how many
    blocks a stage has is not told by those of the kind.
    """
    return kind in IN_STAGES and any(
        one.label[-1:].isdigit()
        and not one.is_repeat
        and not any(piece.kind == kind for piece in one.pieces)
        and sum(piece.kind in _STAGED for piece in one.pieces) > 1
        for one in walk_modules(module)
        if one is not module
    )


def write_staged(
    outline: Outline,
    held: Sequence[Sequence[Piece]],
    scope: Sequence[Piece],
    counts: Sequence[int] = (),
    *,
    is_numbered: bool = False,
    is_whole: bool = True,
    is_apart: bool = False,
) -> Clause:
    """Return stages of blocks of one kind, or a row of them where each stage is one block.

    Only how many there are in all where they are not ``is_whole``, with others beside them. Stages
    of one width are told where they are ``is_apart``: other layers stand between them.
    """
    pieces = [piece for found in held for piece in found]
    kind = pieces[0].kind
    counts = counts or [sum(piece.fold[1] for piece in found) for found in held]
    noun = name_alike(outline, pieces)
    # layers side by side are branches of blocks that nothing is known of
    lanes = _write_lanes(held) if is_numbered and kind != "conv" else ""
    if lanes:
        return Clause(f"{count_pieces(sum(counts), noun)} {lanes}", tuple(scope), is_plain=False)
    widths = [found[-1].part.out_features for found in held]
    way = [width for width, _ in groupby(widths)]
    is_trusted = is_numbered and kind != "conv"
    is_known = all(way) and (is_trusted or all(follows_on(outline, found) for found in held))
    # of layers whose width nobody knows there may be lists, of flows for instance, and no stages
    is_unsure = pieces[0].name == _GATED and not all(way)
    # single layers between others are no stages, nor are so many short rows
    is_unsure = is_unsure or kind == "attention" or len(counts) > _MOST_STAGES
    is_unsure = is_unsure or (kind in _PLAIN and 2 * counts.count(1) >= len(counts))
    # nothing but a number tells some of them from the next ones
    is_split = is_known and len(way) < len(widths) and not (is_apart and len({*counts}) > 1)
    if is_split or {*counts} == {1} or not is_whole or is_unsure:
        text = count_pieces(sum(counts), noun) if sum(counts) > 1 else noun
    else:
        text = f"stages of {write_row(counts)} {write_plural(noun)}"
    if is_known and kind not in ("attention", "transformer"):
        unit = f" channel{'s' if way[-1] > 1 else ''}" if kind != "mlp" else ""
        if kind == "conv" and len(way) == 1 and pieces[0].parts[0].in_features > way[0]:
            way = [pieces[0].parts[0].in_features, *way]
        joint = " " if not text.startswith("stages") or kind == "conv" else ", "
        text += f"{joint}{shorten_way(way)}{unit}" if len(way) > 1 else f" of {way[0]:,}{unit}"
    if text.startswith("stages") and kind == "transformer":
        text += write_sizes_of(outline, pieces) + _write_widths(held)
    is_plain = not text.startswith("stages") and {*map(id, scope)} == {*map(id, pieces)}
    return Clause(text, tuple(scope), is_plain=is_plain)


def _write_lanes(held: Sequence[Sequence[Piece]]) -> str:
    """Return in how many lanes blocks of a stage stand; "" where they follow one another.

    As parallel resolutions do (J. Wang and others, Deep High-Resolution Representation Learning
    for Visual Recognition, 2020, figure 2).
    """
    counts = [len(_list_lanes(found)) for found in held]
    widths = {piece.part.out_features for found in held for piece in found}
    if min(counts) < _LEAST_LANES or not all(widths):
        return ""
    least, most = min(counts), max(counts)
    some = f"{least} to {most}" if least < most else f"{most}"
    return (
        f"in {some} lanes of {join_with_and([f'{width:,}' for width in sorted(widths)])} channels"
    )


def _list_lanes(pieces: Sequence[Piece]) -> list[list[Piece]]:
    lanes: list[list[Piece]] = []
    for piece in pieces:
        lane = next((one for one in lanes if piece.part.follows(one[-1].part)), None)
        if lane is None:
            lanes.append([piece])
        else:
            lane.append(piece)
    return lanes


def _write_widths(held: Sequence[Sequence[Piece]]) -> str:
    """Return from which width and heads to which stages of transformer blocks go, where known."""
    way = [(*found[-1].part.widths, 0)[-2] if found[-1].part.widths else 0 for found in held]
    is_wider = all(way) and len({*way}) > 1 and way == sorted(way)
    told = f", width {shorten_way([width for width, _ in groupby(way)])}" if is_wider else ""
    heads = [_count_heads(found) for found in held]
    is_more = all(heads) and len({*heads}) > 1 and heads == sorted(heads)
    return told + (f", heads {shorten_way([n for n, _ in groupby(heads)])}" if is_more else "")


def _count_heads(pieces: Sequence[Piece]) -> int:
    """Return how many heads the attentions of some layers have; 0 where they differ."""
    parts = [part for piece in pieces if piece.layer for part in piece.layer.attentions]
    counts = {part.details.read_as(AttentionDetails).heads or 0 for part in parts}
    return counts.pop() if len(counts) == 1 else 0


def tell_mixed_stages(outline: Outline, row: Sequence[Module]) -> list[Clause]:
    """Return stages of which each is of one kind of block, if not all of the same.

    Of two kinds that take turns each is told once: ``3 inverted residuals, stages of 2, 4, 3
    transformer blocks`` (S. Mehta and M. Rastegari, MobileViT, 2022, figure 1b).
    """
    rows = [[piece for piece in one.pieces if piece.kind not in MINOR] for one in row]
    held = [found for found in rows if found]
    if any(found[0].kind not in _STAGED for found in held):
        return []
    if len(held) < 2 or any(len({piece.token for piece in found}) > 1 for found in held):
        return []
    clauses = []
    runs = [[*alike] for _, alike in groupby(held, key=lambda found: found[0].token)]
    if len(runs) > _TWO_KINDS == len({run[0][0].token for run in runs}):  # they take turns
        runs = [
            [stage for run in runs for stage in run if stage[0].token == token]
            for token in dict.fromkeys(run[0][0].token for run in runs)
        ]
    for stages in runs:
        scope = [piece for stage in stages for piece in stage]
        whole = tell_pieces(outline, scope)
        if len(stages) == len(scope) and whole.text.startswith("stages"):
            clauses.append(whole)  # of single blocks width and size tell them
        elif len(stages) > 1:
            clauses.append(write_staged(outline, stages, scope, is_numbered=True))
        else:
            clauses.append(whole)
    return clauses


def _list_units(module: Module) -> list[tuple[str, Module, int]]:
    """Return blocks in a module, or itself, that their class names, and what each stands for."""
    said = _say_class(module)
    if said and not module.is_repeat:
        return [(said, module, 1)]
    found = []
    for one in module.inner:
        for inner in one.inner if one.is_repeat else (one,):
            said = _say_class(inner)
            if said:
                found.append((said, inner, one.times))
    return found


def _say_class(module: Module) -> str:
    """Return what a class is called; of transformer blocks that is what they are."""
    said = say_class(module)
    if len(module.pieces) == 1 and module.pieces[0].kind in MINOR:
        return ""
    return "transformer block" if said and module.pieces[0].layer is not None else said


def _group_by_name(
    units: Sequence[tuple[str, Module, int]],
) -> Iterator[tuple[str, list[tuple[Module, int]]]]:
    for name, alike in groupby(units, key=lambda unit: unit[0]):
        yield name, [(module, count) for _, module, count in alike]


def _count_by_class(row: Sequence[Module], held: Sequence[Sequence[Piece]]) -> list[int]:
    """Return how many blocks stages have, those counted of which an equal one has another form.

    So is a block without its projection, which an author put elsewhere.
    """
    pieces = {id(piece) for found in held for piece in found}
    inner = [[*walk_modules(module)] for module in row]
    classes = {
        one.type_name
        for modules in inner
        for one in modules
        if len(one.pieces) == 1 and id(one.pieces[0]) in pieces and not one.is_repeat
    } - {""}
    counts = []
    for module, modules in zip(row, inner, strict=True):
        own = [piece for piece in module.pieces if id(piece) in pieces]
        if own:
            number = sum(piece.fold[1] for piece in own)
            is_whole = all(piece.fold[1] == 1 for piece in own)
            alike = [
                one
                for one in modules
                if one.type_name in classes
                and not one.is_repeat
                and not any(
                    other.type_name == one.type_name
                    for other in walk_modules(one)
                    if other is not one
                )
            ]
            counts.append(max(number, len(alike)) if is_whole else number)
    return counts
