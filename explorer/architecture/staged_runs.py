"""Blocks of several layers that repeat over stages: one kind, and how many of them each stage has.

Between stages a layer changes the size or the width; the blocks are the same before and behind it
(S. Zamir and others, Restormer, 2022, figure 2).
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby

from .clause import MINOR, Clause, weigh_pieces
from .counted_words import count_pieces, join_with_and, strip_brackets
from .outline import Outline
from .piece_runs import PieceRun, find_token
from .piece_sizes import shorten_way
from .piece_words import write_members
from .pieces import Piece
from .sketch import write_row

#: what is between stages has so small a share of them
_MOST_STEPS = 0.25
#: of blocks of more different things it is not told what each holds
_MOST_INSIDE = 4


def join_staged(outline: Outline, runs: Sequence[PieceRun]) -> list[PieceRun | Clause]:
    """Return runs with those of one kind of block in several stages as one clause.

    Of what is between the first and the last of them nothing may be of a kind that the blocks are
    told by, so that none of them is left out; a stage may have one block. All else there are small
    steps.
    """
    told = [run for run in runs if len(run.members[0]) > 1 and run.times == 1]
    pieces = [piece for run in runs for piece in run.pieces]
    for run in sorted(told, key=lambda run: len(run.members[0])):
        tokens = [find_token(piece) for piece in run.members[0]]
        for turn in range(len(tokens)):
            own = tokens[turn:] + tokens[:turn]
            places = _find_places(pieces, own)
            if _are_all(pieces, places, own):
                return _join(outline, runs, pieces, places, len(own)) or [*runs]
    return [*runs]


def _find_places(pieces: Sequence[Piece], template: Sequence[object]) -> list[int]:
    """Return where blocks begin, from the first on; none is part of two."""
    tokens = [find_token(piece) for piece in pieces]
    size = len(template)
    places: list[int] = []
    at = 0
    while at + size <= len(tokens):
        if tokens[at : at + size] == template:
            places.append(at)
            at += size
        else:
            at += 1
    return places


def _are_all(pieces: Sequence[Piece], places: Sequence[int], template: Sequence[object]) -> bool:
    """Return whether blocks are all that there is of what tells them, with small steps between."""
    if len(places) < 2:
        return False
    size = len(template)
    inside = {at for place in places for at in range(place, place + size)}
    telling = {
        find_token(pieces[places[0] + at])
        for at in range(size)
        if pieces[places[0] + at].kind not in MINOR
    }
    rest = [piece for at, piece in enumerate(pieces) if at not in inside]
    between = [
        piece for at, piece in enumerate(pieces) if places[0] < at < places[-1] and at not in inside
    ]
    is_small = weigh_pieces(between) <= _MOST_STEPS * weigh_pieces([pieces[at] for at in inside])
    return (
        bool(telling)
        and bool(between)
        and is_small
        and all(piece.kind in MINOR for piece in between)
        and not any(find_token(piece) in telling for piece in rest)
    )


def _join(
    outline: Outline,
    runs: Sequence[PieceRun],
    pieces: Sequence[Piece],
    places: Sequence[int],
    size: int,
) -> list[PieceRun | Clause]:
    """Return what is before the stages, the stages as one clause, and what is behind them.

    Nothing where there is one stage, or what blocks hold is long.
    """
    blocks = [[*pieces[place : place + size]] for place in places]
    stages = _cut(places, blocks, size)
    inside = write_members(outline, blocks, is_sized=False)
    counts = [len(stage) for stage in stages]
    if len(counts) < 2 or len(inside) > _MOST_INSIDE:
        return []
    name = count_pieces(len(blocks), "block")
    if {*counts} != {1}:
        name = f"stages of {write_row(counts)} blocks"
    widths = [stage[-1][-1].part.out_features for stage in stages]
    way = [width for width, _ in groupby(widths)]
    if all(way) and len(way) > 1:
        name += f", {shorten_way(way)} channels"
    first, last = places[0], places[-1] + size
    scope = tuple(pieces[first:last])
    text = f"each {strip_brackets(join_with_and(inside))}"
    clause = Clause(
        "", scope, name, parts=(Clause("", scope, text),), members=tuple(map(tuple, blocks))
    )
    return [*_keep(runs, pieces[:first]), clause, *_keep(runs, pieces[last:])]


def _cut(
    places: Sequence[int], blocks: Sequence[list[Piece]], size: int
) -> list[list[list[Piece]]]:
    """Return blocks by stages: of one width, and with nothing between them."""
    stages = [[blocks[0]]]
    for at in range(1, len(blocks)):
        before, block = blocks[at - 1], blocks[at]
        is_next = places[at] == places[at - 1] + size
        is_wide = block[-1].part.out_features == before[-1].part.out_features
        if is_next and is_wide:
            stages[-1].append(block)
        else:
            stages.append([block])
    return stages


def _keep(runs: Sequence[PieceRun], pieces: Sequence[Piece]) -> list[PieceRun]:
    """Return the runs of some pieces; of a run that is cut each piece is one."""
    known = {id(piece) for piece in pieces}
    kept: list[PieceRun] = []
    for run in runs:
        own = [piece for piece in run.pieces if id(piece) in known]
        if len(own) == len(run.pieces):
            kept.append(run)
        else:
            kept += [PieceRun([[piece]]) for piece in own]
    return kept
