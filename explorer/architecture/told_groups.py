"""What a long sentence is made of: the groups of the picture in order, with what is in each."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import groupby

from netloupe.explorer.grouping import find_tree
from netloupe.explorer.grouping.group import Group
from netloupe.explorer.model import Model

from .outline import Outline
from .piece_runs import find_piece_runs
from .piece_words import count_pieces, join_with_and, name_piece, write_run
from .pieces import Piece

#: a group that holds more of all blocks is looked into
_MOST_IN_ONE = 0.8
_MOST_DEPTH = 12
#: of a group with more kinds of block it is not told what each is
_MOST_KINDS = 3


def write_groups(model: Model, outline: Outline, pieces: Sequence[Piece]) -> list[str]:
    """Return what the outermost groups hold, in order; alike ones that follow are told once.

    Nothing where there are no groups that say more than the blocks do.
    """
    rows = [[*row] for _, row in groupby(pieces, key=_Owners(model, outline, pieces).find)]
    if not 1 < len(rows) < len(pieces):
        return []
    clauses: list[str] = []
    for words, alike in groupby(_write_row(outline, row) for row in _join_equal(rows)):
        count = len([*alike])
        is_block = words.startswith(_BLOCK)
        if count == 1:
            clauses.append(words)
        elif is_block:
            clauses.append(f"{count:,} blocks{words.removeprefix(_BLOCK)}")
        else:
            clauses.append(f"{count:,} times {words}")
    return clauses


_BLOCK = "block"


def _join_equal(rows: Sequence[list[Piece]]) -> Iterator[list[Piece]]:
    """Yield rows, with those that follow one another and have one kind of block in one."""
    for token, row in groupby(rows, key=_tell_kind):
        if token is None:
            yield from row
        else:
            yield [piece for pieces in row for piece in pieces]


def _tell_kind(row: Sequence[Piece]) -> object:
    """Return the same for rows that have only one kind of block, and the same; else None."""
    kinds = {(piece.kind, piece.name, piece.uses) for piece in row}
    return kinds.pop() if len(kinds) == 1 else None


def _write_row(outline: Outline, row: Sequence[Piece]) -> str:
    """Return what a group holds: its one kind of block, or how many of each kind."""
    uses = {piece.uses for piece in row}
    words = _write_content(outline, row)
    if len(uses) == 1 and (times := uses.pop()) > 1:
        return f"{times:,} times with shared weights ({words})"
    return words


def _write_content(outline: Outline, row: Sequence[Piece]) -> str:
    if len({piece.fold for piece in row}) == 1 and row[0].fold[1] == 1:
        runs = find_piece_runs(outline, row)
        if len(runs) == 1:
            return write_run(outline, runs[0])
    counts: Counter[str] = Counter()
    for piece in row:
        counts[_name(outline, piece)] += piece.fold[1]
    if len(counts) == 1:
        return count_pieces(counts.total(), next(iter(counts)))
    most = counts.most_common(_MOST_KINDS)
    told = [count_pieces(number, noun) if number > 1 else noun for noun, number in most]
    others = counts.total() - sum(number for _, number in most)
    if others:
        told.append("others")
    return f"{_BLOCK} of {join_with_and(told)}"


def _name(outline: Outline, piece: Piece) -> str:
    """Return what a block is called beside many others: of convolutions the kernel is left out."""
    return "convolution" if piece.kind == "conv" else name_piece(outline, [piece])


class _Owners:
    """The outermost groups that tell blocks apart."""

    def __init__(self, model: Model, outline: Outline, pieces: Sequence[Piece]) -> None:
        self._nodes = outline.operations.nodes
        self._tree = find_tree(model, outline.graph)
        self._depth = 1
        for _ in range(_MOST_DEPTH):
            held = Counter(id(self.find(piece)) for piece in pieces)
            if max(held.values(), default=0) <= _MOST_IN_ONE * len(pieces):
                return
            self._depth += 1

    def find(self, piece: Piece) -> Group | Piece:
        """Return the group that a block is in; itself where it is in none."""
        ways = [self._list_groups(piece.parts[0].end), self._list_groups(piece.part.end)]
        if all(len(way) >= self._depth for way in ways):
            first, last = (way[self._depth - 1] for way in ways)
            if first is last:
                return first
        return piece

    def _list_groups(self, number: int) -> list[Group]:
        """Return the groups that an operation is in, the outermost first, without the root."""
        node = self._nodes[number]
        group = self._tree.group_of(node) if self._tree.position_of(node) >= 0 else None
        way: list[Group] = []
        while group is not None and group.parent is not None:
            way.append(group)
            group = group.parent
        return way[::-1]
