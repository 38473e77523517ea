"""Runs of alike blocks in a row: where they begin, and how often they are said."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate, groupby

import numpy as np

from .outline import Outline
from .pieces import Piece, find_distances

#: longer rows of pieces are counted, and not taken apart
MOST_PIECES = 3_000
#: a block of more pieces is none that one reads
_MOST_PERIOD = 24
#: nor is one of more different things in a row
_MOST_ENTRIES = 6
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
    """

    members: list[list[Piece]]
    times: int = 1

    @property
    def pieces(self) -> list[Piece]:
        """All of them in order."""
        return [piece for member in self.members for piece in member]

    @property
    def count(self) -> int:
        """How many blocks there are."""
        return len(self.members) * self.times


def find_piece_runs(outline: Outline, pieces: Sequence[Piece]) -> list[PieceRun]:
    """Return a row of pieces as runs, the longest repetitions first taken out.

    Of repetitions that hold as many pieces the one with the shortest period counts. It begins where
    the fewest values lead from one block to the next. Work is linear in the pieces: only so many
    periods are tried, and so many cuts are made.
    """
    numbers: dict[object, int] = {}
    tokens = np.array([numbers.setdefault(piece.token, len(numbers)) for piece in pieces])
    distances = find_distances(outline, pieces)
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
        begin, end, period = best
        begin, end = _align(crossing, low + begin, low + end, period)
        end = _trim(distances, begin, end, period)
        done.append((begin, end, period))
        pending += [(low, begin), (end, high)]
    return [*_make_runs(pieces, sorted(done))]


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


def _find_longest(tokens: Tokens) -> tuple[int, int, int] | None:
    """Return where the longest repetition begins and ends, and its period."""
    best: tuple[int, int, int] | None = None
    most = 0
    for period in range(1, min(len(tokens) // 2, _MOST_PERIOD) + 1):
        equal = (tokens[:-period] == tokens[period:]).astype(np.int8)
        edges = np.flatnonzero(np.diff(np.concatenate(([0], equal, [0]))))
        for begin, end in edges.reshape(-1, 2).tolist():
            count = (end - begin) // period + 1
            if count < 2 or count * period <= most:
                continue
            changes = np.count_nonzero(np.diff(tokens[begin : begin + period]))
            if changes < _MOST_ENTRIES:
                most = count * period
                best = (begin, end + period, period)
    return best


def _align(crossing: Sequence[int], low: int, high: int, period: int) -> tuple[int, int]:
    """Return where blocks begin, and where the last one ends; it may lack its end.

    Of the ways to cut a repetition the one with the fewest values from block to block counts, then
    the one with the most blocks, then the first.
    """
    best: tuple[float, int, int] | None = None
    for shift in range(period):
        count = (high - low - shift) // period
        if count < 2:
            continue
        borders = range(low + shift + period, low + shift + count * period, period)
        cost = sum(crossing[at] for at in borders) / len(borders)
        if best is None or (cost, -count) < best[:2]:
            best = (cost, -count, low + shift)
    if best is None:
        return low, high
    begin = best[2]
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
