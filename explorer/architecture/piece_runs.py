"""Runs of alike blocks in a row: where they begin, and how often they are said."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate, groupby

import numpy as np

from .outline import Outline
from .pieces import Piece, find_piece_distances

#: longer rows of pieces are counted, and not taken apart
MOST_PIECES = 3_000
#: a block of more pieces is none that one reads
_MOST_PERIOD = 24
#: nor is one of more different things in a row
_MOST_ENTRIES = 6
#: a row of so many alike pieces may be of blocks that hold several of them, if most of it is
_LEAST_TO_REFINE = 6
_LEAST_SHARE = 0.8
#: kinds of piece that a block begins with rather than it ends
_STARTING = frozenset({"attention", "transform", "transformer"})
_INVERTED = "Inverted residual"
#: a row is cut into so many pieces at most
_MOST_CUTS = 24

Tokens = np.ndarray[tuple[int], np.dtype[np.int64]]


@dataclass(eq=False)
class PieceRun:
    """Blocks that follow one another.

    Parameters
    ----------
    members
        The pieces of each; the last may lack some at its end.
    times
        How many blocks each of them stands for.
    others
        How many more blocks there are that differ a little.
    """

    members: list[list[Piece]]
    times: int = 1
    others: int = 0

    @property
    def pieces(self) -> list[Piece]:
        """All of them in order."""
        return [piece for member in self.members for piece in member]

    @property
    def count(self) -> int:
        """How many blocks there are."""
        return len(self.members) * self.times + self.others


def find_piece_runs(outline: Outline, pieces: Sequence[Piece]) -> list[PieceRun]:
    """Return a row of pieces as runs, the longest repetitions first taken out.

    Of repetitions that hold as many pieces the one with the shortest period counts. It begins where
    the fewest values lead from one block to the next. Work is linear in the pieces: only so many
    periods are tried, and so many cuts are made.
    """
    numbers: dict[object, int] = {}
    tokens = np.array([numbers.setdefault(find_token(piece), len(numbers)) for piece in pieces])
    distances = find_piece_distances(outline, pieces)
    sizes = [(piece.parts[0].in_features, piece.part.out_features) for piece in pieces]
    finer = np.array([numbers.setdefault(one, len(numbers)) for one in sizes])
    crossing = _count_crossing(outline, pieces)
    cuts = _MOST_CUTS
    done: list[tuple[int, int, int]] = []
    pending = [(0, len(pieces))]
    while pending:
        low, high = pending.pop()
        best = _find_longest(tokens[low:high]) if cuts else None
        if best is None:
            if low < high:
                done.append((low, high, 0))
            continue
        cuts -= 1
        begin, end, period = _refine(finer[low:high], *best)
        starts = [piece.kind in _STARTING for piece in pieces[low + begin : low + begin + period]]
        begin, end = _align(crossing, low + begin, low + end, starts)
        end = _trim(distances, begin, end, period)
        done.append((begin, end, period))
        pending += [(low, begin), (end, high)]
    return [*_make_runs(pieces, sorted(done))]


def find_token(piece: Piece) -> object:
    """Return what alike pieces of a row have: an inverted residual may lack its shortcut.

    So where it changes the size or the width (M. Sandler and others, MobileNetV2, 2018, table 2).
    """
    _, name, uses, fold = piece.token
    return (_INVERTED, uses, fold) if name == _INVERTED else piece.token


def join_alike(pieces: Sequence[Piece]) -> list[list[Piece]]:
    """Return pieces with alike ones that follow one another together."""
    return [[*alike] for _, alike in groupby(pieces, key=lambda piece: piece.token)]


def _make_runs(
    pieces: Sequence[Piece], spans: Sequence[tuple[int, int, int]]
) -> Iterator[PieceRun]:
    for low, high, period in spans:
        if period:
            starts = range(low, high, period)
            yield PieceRun([[*pieces[at : min(at + period, high)]] for at in starts])
        else:
            for piece in pieces[low:high]:
                yield PieceRun([[piece]])


def _find_longest(tokens: Tokens, least: int = 1) -> tuple[int, int, int] | None:
    """Return where the longest repetition begins and ends, and its period of so much at least."""
    best: tuple[int, int, int] | None = None
    most = 0
    for period in range(least, min(len(tokens) // 2, _MOST_PERIOD) + 1):
        equal = (tokens[:-period] == tokens[period:]).astype(np.int8)
        edges = np.flatnonzero(np.diff(np.concatenate(([0], equal, [0]))))
        for begin, end in edges.reshape(-1, 2).tolist():
            count = (end - begin) // period + 1
            if count < 2 or count * period <= most:
                continue
            changes = np.count_nonzero(np.diff(tokens[begin : begin + period]))
            if changes < _MOST_ENTRIES or least > 1:
                most = count * period
                best = (begin, end + period, period)
    return best


def _refine(sizes: Tokens, begin: int, end: int, period: int) -> tuple[int, int, int]:
    """Return what is repeated in a long row of alike pieces, where their sizes tell that.

    So are the linear layers of one block, of several widths.
    """
    row = sizes[begin:end]
    if period > 1 or len(row) < _LEAST_TO_REFINE or len({*row.tolist()}) == 1:
        return begin, end, period
    found = _find_longest(row, least=2)
    if found is None or found[1] - found[0] < _LEAST_SHARE * len(row):
        return begin, end, period
    if len({*row[found[0] : found[0] + found[2]].tolist()}) == 1:  # a plain chain, no blocks
        return begin, end, period
    return begin + found[0], begin + found[1], found[2]


def _align(crossing: Sequence[int], low: int, high: int, starts: Sequence[bool]) -> tuple[int, int]:
    """Return where blocks begin, and where the last one ends; it may lack its end.

    Of the ways to cut a repetition the one with the fewest values from block to block counts, then
    the one with the most blocks, then one that begins with attention, then the first. ``starts``
    says for each piece of a block whether it is such a begin.
    """
    period = len(starts)
    best: tuple[float, int, bool, int] | None = None
    for shift in range(period):
        count = (high - low - shift) // period
        if count < 2:
            continue
        borders = range(low + shift + period, low + shift + count * period, period)
        cost = sum(crossing[at] for at in borders) / len(borders)
        found = (cost, -count, not starts[shift], low + shift)
        best = min(best, found) if best else found
    if best is None:
        return low, high
    begin = best[3]
    count = -best[1]
    rest = (high - begin) % period
    # a last block may lack what nothing takes any more
    return begin, begin + count * period + (rest if 2 * rest > period else 0)


def _trim(distances: Sequence[int], begin: int, end: int, period: int) -> int:
    """Return where the last block ends: what takes other things than in the one before is none."""
    if period == 1:
        return end
    start = end - ((end - begin) % period or period)
    while end > start and distances[end - 1] != distances[end - 1 - period]:
        end -= 1
    return end if 2 * (end - start) > period else start


def _count_crossing(outline: Outline, pieces: Sequence[Piece]) -> list[int]:
    """Return for each piece how many values lead from before it to behind, where fewest do."""
    edges = [0] * (len(outline.parts) + 1)
    for part in outline.parts:
        users = outline.users(part)
        if users:
            last = max(user.place for user in users)
            if last > part.place:
                edges[part.place + 1] += 1
                edges[last + 1] -= 1
    across = [*accumulate(edges)]
    found = []
    before = 0
    for piece in pieces:
        place = piece.parts[0].place
        found.append(min(across[min(before, place) : place + 1], default=0))
        before = piece.part.place + 1
    return found
