"""A sentence for any graph, composed from its blocks in order; no family is needed for it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import groupby

from netloupe.explorer.model import Model
from netloupe.explorer.patterns import Detail

from .given import tell_given, tell_taken
from .ideas import add_ideas
from .layers import find_stacks
from .named_groups import find_named_groups
from .outline import Outline
from .piece_runs import MOST_PIECES, PieceRun, find_piece_runs
from .piece_words import count_pieces, join_with_and, name_piece, write_run
from .pieces import Piece, collapse_shared, list_pieces
from .sketch import BlockSketch, Sketch

#: more runs are not told one by one: blocks are counted by kind
_MOST_RUNS = 8
_CONVOLUTIONS = frozenset({"conv", "gated", "inverted", "residual", "separable"})
_LINEAR = frozenset({"embedding", "linear", "mlp", "positions", "reparametrised"})


def compose(model: Model, outline: Outline) -> Sketch | None:
    """Tell a graph by its blocks: repeated ones together, in the order of the file.

    Where they are too many to be told one by one, those of each kind are counted. None where there
    is no block at all.
    """
    outline.merge(find_named_groups(model, outline))
    add_ideas(outline)
    found = list_pieces(outline, find_stacks(outline))
    if not found or len(found) > MOST_PIECES:
        return None
    taken, begin = tell_taken(outline, found)
    given, end, head = tell_given(outline)
    told = [piece for piece in found if id(piece) not in begin]
    name = _name(told)
    if len(told) > 1 and told[-1].kind == "linear" and told[-1].part is head:
        told.pop()  # what it gives is told
    pieces = collapse_shared(outline, told)
    rows = [(uses, [*row]) for uses, row in groupby(pieces, key=lambda piece: piece.uses)]
    runs = [(uses, find_piece_runs(outline, row)) for uses, row in rows]
    clauses: list[str] = []
    if sum(len(row) for _, row in runs) <= _MOST_RUNS:
        for uses, row in runs:
            words = [write_run(outline, run) for run in row]
            if uses > 1:
                words = [f"{uses:,} times with shared weights ({join_with_and(words)})"]
            clauses += words
    else:
        clauses = _count(outline, pieces)
    facts: dict[str, Detail] = {**taken.facts, **given}
    blocks = tuple(_sketch(outline, run) for _, row in runs for run in row if run.count > 1)
    return Sketch("", name, (taken.text, *clauses, end), blocks, facts)


def _count(outline: Outline, pieces: Sequence[Piece]) -> list[str]:
    """Return how many blocks of each kind there are, the most first."""
    kinds: dict[tuple[str, str], list[Piece]] = {}
    for piece in pieces:
        kinds.setdefault((piece.kind, piece.name), []).extend([piece] * piece.uses)
    return [count_pieces(outline, alike) for alike in sorted(kinds.values(), key=len, reverse=True)]


def _sketch(outline: Outline, run: PieceRun) -> BlockSketch:
    names = list(dict.fromkeys(name_piece(outline, [piece]) for piece in run.members[0]))
    nodes = outline.nodes(part for piece in run.pieces for part in piece.parts)
    return BlockSketch(join_with_and(names), run.count, nodes)


def _name(pieces: Sequence[Piece]) -> str:
    """Return what a network is called by the kinds of its blocks."""
    kinds = Counter(piece.kind for piece in pieces)
    words = []
    if any(kinds[kind] for kind in _CONVOLUTIONS):
        words.append("convolutions")
    if kinds["unrolled"] or any(piece.part.has("recurrent") for piece in pieces):
        words.append("recurrent layers")
    if kinds["attention"] or kinds["transformer"]:
        words.append("attention")
    if kinds["fourier"]:
        words.append("Fourier transforms")
    if not words:
        return "Feed-forward network" if kinds.keys() <= _LINEAR else "Network"
    if words == ["convolutions"]:
        return "Convolutional network"
    if words == ["recurrent layers"]:
        return "Recurrent network"
    if words == ["attention"]:
        return "Transformer" if kinds["transformer"] else "Attention network"
    return f"Network of {join_with_and(words)}"
