"""What blocks are without a look at modules: those of one kind, and runs of alike ones."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import groupby

from .cells import UnrolledDetails
from .clause import MINOR, Clause, join_uses
from .outline import Outline
from .piece_runs import PieceRun, find_piece_runs
from .piece_words import write_pieces, write_run, write_shortly
from .pieces import Piece, are_called_in_turn
from .row_names import says_no_more
from .staged_runs import join_staged

#: names that say no more of one layer than that it is one
_STEPS = frozenset({"action", "embedder", "embedding", "prediction", "projection"})
#: what a module is called that holds layers of transformers
_OF_LAYERS = "transformer"


def tell_pieces(outline: Outline, pieces: Sequence[Piece]) -> Clause:
    """Return what blocks of one kind are."""
    one = pieces[0]
    runs = find_piece_runs(outline, pieces) if len(pieces) > 1 else []
    if len(runs) == 1 and one.fold[1] == 1:
        text = write_run(outline, runs[0])
    else:
        text = write_pieces(outline, pieces, one.fold[1])
    return Clause(text, tuple(pieces), uses=one.uses, is_plain=one.fold[1] == 1)


def tell_named_pieces(
    outline: Outline, pieces: Sequence[Piece], name: str, layer_count: int
) -> Clause:
    """Return what blocks of one kind are that have a name together.

    Parameters
    ----------
    outline
        Of the graph.
    pieces
        The blocks.
    name
        What an author calls them; "" where that says nothing.
    layer_count
        How many layers all of the graph has: of one part among others less is told.
    """
    clause = tell_pieces(outline, pieces)
    is_step = len(pieces) == 1 and pieces[0].kind in MINOR
    if not name or says_no_more(clause.text, name) or (is_step and name.split(" ")[-1] in _STEPS):
        return clause
    if pieces[0].layer is not None and name == _OF_LAYERS:  # whatever each of them is called
        return clause
    is_only = layer_count == len(pieces)
    is_short = (pieces[0].layer is not None and not is_only) or _has_poor_stages(clause.text)
    text = clause.text
    if is_short:
        text = write_shortly(outline, pieces, sum(piece.fold[1] for piece in pieces))
    return replace(clause, name=name, text=text)


def tell_leaves(outline: Outline, pieces: Sequence[Piece]) -> Iterator[Clause]:
    """Yield what blocks are that are in no group of their own: runs of alike ones."""
    for alike in _list_loops(pieces):
        uses, fold = alike[0].uses, alike[0].fold
        is_fold = fold[1] > 1
        runs = [PieceRun([alike], fold[1])] if is_fold else find_piece_runs(outline, alike)
        found = [*runs] if is_fold else join_staged(outline, runs)
        told = [one if isinstance(one, Clause) else _tell_run(outline, one) for one in found]
        yield from [join_uses(told, uses)] if uses > 1 else told


def _list_loops(pieces: Sequence[Piece]) -> Iterator[list[Piece]]:
    """Yield the blocks in a row that are used as often: in turn where that is several times."""
    for _, row in groupby(pieces, key=lambda piece: (piece.uses, piece.fold)):
        alike: list[Piece] = []
        for piece in row:
            if alike and not are_called_in_turn(alike, [piece]):
                yield alike
                alike = []
            alike.append(piece)
        yield alike


def _tell_run(outline: Outline, run: PieceRun) -> Clause:
    pieces = run.pieces
    text = write_run(outline, run)
    is_one = len(run.members[0]) == 1 and pieces[0].uses == 1 and run.times == 1
    return Clause(text, tuple(pieces), is_plain=is_one)


def count_uses(pieces: Sequence[Piece]) -> int:
    """Return how often all of some blocks are used; the steps of a layer that is written out."""
    steps = [piece.part.details.read_as(UnrolledDetails).steps or piece.uses for piece in pieces]
    uses = [piece.uses for piece in pieces if piece.uses > 1]
    return min(uses) if uses and min(steps) > 1 else min(steps)


def _has_poor_stages(text: str) -> bool:
    """Return whether what is told begins with two stages, of which one may be a head."""
    return text.startswith("stages of ") and text.split(" ", 4)[3].isdigit()
