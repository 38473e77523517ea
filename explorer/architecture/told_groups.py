"""What blocks in order are said to be: along the groups of an author, alike ones together.

A run of alike blocks never goes over the border of a group: stages, encoders and heads are told one
by one. Where an author made no groups, runs are found by what the blocks are.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import NamedTuple

from netloupe.explorer.grouping import find_tree
from netloupe.explorer.grouping.group import Group
from netloupe.explorer.model import Model
from netloupe.explorer.notation import write_count, write_span

from .outline import Outline
from .piece_runs import PieceRun, find_piece_runs
from .piece_words import count_pieces, join_with_and, name_piece, write_plural, write_run
from .pieces import Piece

#: of a group with more kinds of block it is not told what each is
_MOST_KINDS = 3
#: deeper groups are not told one by one
MOST_DEPTH = 6
#: so many runs of one kind of block each are told, whatever groups they are in
_MOST_RUNS = 2

Row = list[Piece]


class _Content(NamedTuple):
    """How many blocks of each kind there are in groups that hold the same kinds."""

    counts: list[Counter[str]]

    def write(self) -> str:
        """Return ``2 blocks of 3 to 4 linear layers and MLP``."""
        names = [name for name, _ in self.counts[0].most_common()]
        told = []
        for name in names[:_MOST_KINDS]:
            numbers = {counts[name] for counts in self.counts}
            if len(numbers) > 1:
                told.append(f"{write_span([*numbers])} {write_plural(name)}")
            else:
                number = numbers.pop()
                told.append(count_pieces(number, name) if number > 1 else name)
        if len(names) > _MOST_KINDS:
            told.append("others")
        count = len(self.counts)
        if count == 1 and len(names) == 1:
            return told[0]
        return f"{write_count(count, 'block') if count > 1 else 'block'} of {join_with_and(told)}"


#: so many rows may be there in turn
_PERIODS = range(2, 5)

_Clause = str | _Content


class GroupTeller:
    """Tells blocks along the groups that an author made.

    Parameters
    ----------
    model
        The model.
    outline
        Of its graph, to which all blocks belong.
    """

    def __init__(self, model: Model, outline: Outline) -> None:
        self._outline = outline
        self._nodes = outline.operations.nodes
        self._tree = find_tree(model, outline.graph)
        self._ways: dict[Piece, list[Group]] = {}

    def tell(self, pieces: Sequence[Piece], deepest: int) -> list[str]:
        """Return what blocks are, in order, with groups inside of one another down to some level.

        Parameters
        ----------
        pieces
            Blocks in order, each for itself.
        deepest
            So many levels of groups are told one by one; of those below only what is in them.
        """
        return [*_write(self._tell([*pieces], 0, deepest))]

    def _tell(self, pieces: Row, level: int, deepest: int) -> list[_Clause]:
        level = self._skip_common(pieces, level)
        runs = find_piece_runs(self._outline, pieces)
        is_flat = all(len(self._find_way(piece)) <= level for piece in pieces)
        if is_flat or (len(runs) <= _MOST_RUNS and all(len(run.members[0]) == 1 for run in runs)):
            return [write_run(self._outline, run) for run in runs]
        clauses: list[_Clause] = []
        for stack, rows in self._list_stacks([*self._split(pieces, level)], level):
            if stack is not None:
                clauses.append(write_run(self._outline, stack))
                continue
            for alike in _join_alike(rows):
                clauses += self._tell_rows(alike, level, deepest)
        return clauses

    def _list_stacks(
        self, rows: Sequence[Row], level: int
    ) -> Iterator[tuple[PieceRun | None, list[Row]]]:
        """Yield rows, with those as a run that the picture draws as one stack though they differ.

        Others than the one that is shown lack something, as its first and last one may.
        """

        def find(row: Row) -> Group | None:
            way = self._find_way(row[0])
            parent = way[level].parent if len(way) > level else None
            return parent if parent is not None and parent.kind == "repeat" else None

        waiting: list[Row] = []
        for repeat, found in groupby(rows, key=find):
            inside = [*found]
            kinds = [_list_kinds(row) for row in inside]
            shown = kinds[min(repeat.exemplar, len(kinds) - 1)] if repeat is not None else []
            is_whole = repeat is not None and len(inside) == len(repeat.children)
            lacking = sum(own != shown for own in kinds)
            if not is_whole or not lacking or any(Counter(own) - Counter(shown) for own in kinds):
                waiting += inside
                continue
            yield None, waiting
            waiting = []
            members = [row for row, own in zip(inside, kinds, strict=True) if own == shown]
            yield PieceRun(members, others=lacking), []
        yield None, waiting

    def _tell_rows(self, rows: list[Row], level: int, deepest: int) -> list[_Clause]:
        """Return what rows are that hold the same kinds of block in order."""
        row = [piece for inner in rows for piece in inner]
        runs = find_piece_runs(self._outline, row)
        if len(runs) == 1:
            return [write_run(self._outline, runs[0])]
        if len(rows) > 1:
            return [write_run(self._outline, PieceRun(rows))]
        if level + 1 < deepest or not self._is_inside(row, level):
            return self._tell(row, level + 1, deepest)
        return [_Content([Counter(_name(self._outline, piece) for piece in row)])]

    def _is_inside(self, row: Row, level: int) -> bool:
        return all(len(self._find_way(piece)) > level for piece in row)

    def _skip_common(self, pieces: Row, level: int) -> int:
        """Return the first level at which blocks are not all in one group."""
        ways = [self._find_way(piece) for piece in pieces]
        while all(len(way) > level and way[level] is ways[0][level] for way in ways):
            level += 1
        return level

    def _split(self, pieces: Row, level: int) -> Iterator[Row]:
        """Yield blocks by the groups of a level that they are in; what is in none by itself."""

        def find(piece: Piece) -> Group | Piece:
            way = self._find_way(piece)
            return way[level] if len(way) > level else piece

        for _, row in groupby(pieces, key=find):
            yield [*row]

    def _find_way(self, piece: Piece) -> list[Group]:
        """Return the author's groups that a whole block is in, the outermost first."""
        way = self._ways.get(piece)
        if way is None:
            first, last = (self._list_groups(part.end) for part in (piece.parts[0], piece.part))
            both = zip(first, last, strict=False)
            way = self._ways[piece] = [one for one, other in both if one is other]
        return way

    def _list_groups(self, number: int) -> list[Group]:
        node = self._nodes[number]
        group = self._tree.group_of(node) if self._tree.position_of(node) >= 0 else None
        way: list[Group] = []
        while group is not None and group.parent is not None:
            if group.kind == "scope" or _holds_scopes(group):
                way.append(group)
            group = group.parent
        return way[::-1]


def _holds_scopes(group: Group) -> bool:
    """Return whether a group is one repetition of what an author made several groups of."""
    is_repetition = group.parent is not None and group.parent.kind == "repeat"
    return is_repetition and any(inner.kind == "scope" for inner in group.inner_groups())


def _join_alike(rows: Sequence[Row]) -> Iterator[list[Row]]:
    """Yield rows that follow one another and hold the same kinds of block in order together.

    So do rows of one kind of block each, however many they hold; and a last one may lack its end.
    """
    joined: list[list[Row]] = []
    for row in rows:
        kinds = _list_kinds(row)
        before = joined[-1] if joined else []
        if before and _goes_on(before, kinds):
            before.append(row)
        elif len(before) == 1 and _is_first_of_stage(before[0], kinds):
            before[0] = [*before[0], *row]  # it begins with more
        else:
            joined.append([row])
    yield from _join_in_turn([_flatten(rows) for rows in joined])


def _flatten(rows: list[Row]) -> list[Row]:
    """Return rows of one kind of block as one row."""
    is_one = len({*_list_kinds(rows[0])}) == 1
    return [[piece for row in rows for piece in row]] if is_one else rows


def _is_first_of_stage(row: Row, kinds: list[tuple[str, str]]) -> bool:
    """Return whether a row is of another layer and a block, and kinds are those of such blocks."""
    first = _list_kinds(row)
    return len(kinds) == 1 and first[0] != first[-1] and {*first[1:]} == {*kinds}


def _join_in_turn(joined: Sequence[list[Row]]) -> Iterator[list[Row]]:
    """Yield rows, with those that are there in turn as rows of all of them."""
    tokens = [tuple(map(tuple, map(_list_kinds, rows))) for rows in joined]
    place = 0
    while place < len(joined):
        period, count = max(
            ((period, _count_turns(tokens, place, period)) for period in _PERIODS),
            key=lambda turns: (turns[1] > 1, turns[0] * turns[1], -turns[0]),
        )
        turn = joined[place : place + period]
        if count < 2 or sum(len({*_list_kinds(rows[0])}) > 1 for rows in turn) > 1:
            yield joined[place]
            place += 1
            continue
        starts = range(place, place + count * period, period)
        yield [
            [piece for rows in joined[at : at + period] for row in rows for piece in row]
            for at in starts
        ]
        place += count * period


def _count_turns(tokens: Sequence[object], start: int, period: int) -> int:
    """Return how often so many things are there in turn."""
    count = 1
    block = tokens[start : start + period]
    while tokens[start + count * period : start + (count + 1) * period] == block:
        count += 1
    return count


def _goes_on(rows: Sequence[Row], kinds: list[tuple[str, str]]) -> bool:
    """Return whether a row of such kinds of block belongs to those before it."""
    first = _list_kinds(rows[0])
    if kinds == first or (len({*first}) == 1 and {*kinds} == {*first}):
        return True
    count = len(kinds)
    if len(rows[-1]) < len(first) or kinds != first[:count] or 2 * count <= len(first):
        return False
    # a stage of fewer blocks lacks none
    return count + 1 == len(first) or kinds[-1] != first[count]


def _list_kinds(row: Row) -> list[tuple[str, str]]:
    return [(piece.kind, piece.name) for piece in row]


def _write(clauses: Sequence[_Clause]) -> Iterator[str]:
    """Yield clauses in words; groups that follow one another and hold the same kinds as one."""
    for _, alike in groupby(clauses, key=_tell_content):
        found = [*alike]
        contents = [counts for one in found if isinstance(one, _Content) for counts in one.counts]
        if contents:
            yield _Content(contents).write()
        else:
            yield from (one for one in found if isinstance(one, str))


def _tell_content(clause: _Clause) -> object:
    return clause if isinstance(clause, str) else frozenset(clause.counts[0])


def _name(outline: Outline, piece: Piece) -> str:
    """Return what a block is called beside many others: of convolutions the kernel is left out."""
    return "convolution" if piece.kind == "conv" else name_piece(outline, [piece])
