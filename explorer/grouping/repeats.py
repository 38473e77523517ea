"""Repeated blocks found by structure alone, with every name left aside.

The nodes stand in a row (`signatures.NodeTable`); the search in a stretch of it goes so:

1. Candidates are the periodic runs of the nodes' kinds (`runs.find_runs`: maximal repetitions
   of a word, Kolpakov and Kucherov 1999, from the distances between equal 4-grams).
2. A run can be cut into blocks at as many places as its period is long. Tried are the places
   where the fewest tensors cross: in a network with residuals those where only the stream
   does. Each gives a word, and all the places where that word stands are looked at together:
   fires with pools between them are fires, not pairs of fires.
3. The wiring must agree: a block must hang together; in each block operands must come from the
   same places of it as in most others; and either each block takes from the one before, or
   none takes from another.
4. A block next to these that differs a little (the first layer makes the mask, the first block
   of a stage has a projection) joins where enough of its nodes are found in the same order
   (`joining`). What stands between these nodes joins too if nothing else uses it.
5. Where no run is long enough, what is said twice for a part of its period is taken as one
   block, and its neighbours join it by rule 4: blocks that all differ a little.
6. What is left before, between and behind is searched in the same way; so is the inside of a
   block, once for all blocks that are alike.

Each step is O(n log n) in the nodes of its stretch, and stretches of one level are disjoint.
Where the order of the file finds little, the order of a depth-first walk from the outputs is
tried, in which the nodes of a block are together however an exporter mixed them.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from netloupe.explorer.progress import step

from .cutting import Family, count_leaving, find_cuts, find_family
from .found_repeat import LEAST_NODES, LEAST_OF_TWO, FoundRepeat, weigh
from .gaps import close_gaps
from .joining import join_neighbours
from .runs import Run, find_begun_runs, find_runs, most_between
from .search_budget import SearchBudget
from .signatures import Integers, NodeTable, Stretch
from .words import WordFinder

#: a repeat of so much of a range needs no rival; of several that say nearly as much as the
#: one that says most, the first is taken
_ALL = 0.9
#: so much of a block at the end of a run belongs to it
_NEARLY_WHOLE = 0.95
_NEARLY = 0.8
#: share of nodes that must take from others of their block where it is not known to repeat
_WIRED = 0.5
#: a repeat is in the stream itself where hardly more tensors cross its borders than anywhere
_NARROW = 0.5
#: in how many rows of one word ways to cut are compared
_MOST_COMPARED = 8
#: steps that looking for runs takes, beside those for the nodes of a range
_STEPS_A_RANGE = 500
#: blocks of so few nodes are joined by their neighbours before they are weighed
_MOST_TRIED = 64


def find_repeats(table: NodeTable, rows: Integers, budget: SearchBudget) -> list[FoundRepeat]:
    """Return the repeats among some rows of a table, not those inside their blocks.

    They are disjoint and in order; their places count in ``rows``. Where the budget is spent,
    what was found so far is all.
    """
    if budget.is_spent:
        return []
    stretch = Stretch(table, rows, budget)
    words = WordFinder(stretch.kinds)
    found: list[list[Family]] = []
    is_taken = np.zeros(len(rows), np.bool_)
    pending = [(0, len(rows))]
    while pending and not budget.is_spent:
        step()
        low, high = pending.pop()
        if is_taken[low:high].any():  # by what was found elsewhere, and stands here too
            pending += _list_ranges(~is_taken[low:high], low)
            continue
        if stretch.count_bulk(low, high) < LEAST_NODES:
            continue
        budget.spend(_STEPS_A_RANGE + high - low)
        cuts = _find_largest(stretch, words, low, high, is_taken)
        if cuts:
            found.append(cuts)
            for repeat in _add_first_blocks(stretch, cuts[0]):
                if len(repeat.blocks) > 1:
                    is_taken[repeat.low : repeat.high] = True
            pending += _list_ranges(~is_taken[low:high], low)
    # neighbours join the largest repeats first, and never one that has repeats of its own;
    # all first blocks join before any last one, for a stage begins with the block that differs
    found.sort(key=lambda cuts: -_count_nodes(cuts[0]))
    families = [cuts[0] for cuts in found]
    for number, cuts in enumerate(found):
        step()
        families[number] = _choose_cut(stretch, cuts, families)
    repeats = _leave_out_covered([repeat for family in families for repeat in family])
    for forwards in (False, True):
        rooms = _Rooms(len(rows), repeats)
        for repeat in list(repeats):
            step()
            budget.spend(len(repeats))
            if budget.is_spent:
                break
            if repeat in repeats:
                before = len(repeat.blocks)
                join_neighbours(stretch, repeat, *rooms.of(repeat), forwards=forwards)
                if len(repeat.blocks) > before:
                    rest = [
                        other if other is repeat else other.without(repeat.low, repeat.high)
                        for other in repeats
                    ]
                    repeats = [other for other in rest if other is not None]
                    rooms = _Rooms(len(rows), repeats)
    whole = [repeat for repeat in repeats if len(repeat.blocks) > 1]
    for repeat in whole:
        close_gaps(stretch, repeat)
    return sorted(whole, key=lambda repeat: repeat.low)


def _list_ranges(flags: npt.NDArray[np.bool_], offset: int) -> list[tuple[int, int]]:
    """Return where each row of true flags begins and ends."""
    edges = np.diff(np.concatenate(([0], flags.astype(np.int8), [0])))
    lows, highs = np.flatnonzero(edges == 1) + offset, np.flatnonzero(edges == -1) + offset
    return [*zip(lows.tolist(), highs.tolist(), strict=True)]


def _leave_out_covered(repeats: list[FoundRepeat]) -> list[FoundRepeat]:
    """Return repeats without the single blocks that are in larger blocks of others."""
    taken = sorted((one.low, one.high, one.size) for one in repeats if len(one.blocks) > 1)
    kept: list[FoundRepeat] = []
    for repeat in repeats:
        place = bisect_left(taken, (repeat.high, 0, 0)) if len(repeat.blocks) == 1 else 0
        _, high, size = taken[place - 1] if place else (0, 0, 0)
        if high <= repeat.low or size < repeat.size:
            kept.append(repeat)
    return kept


def _count_nodes(family: Family) -> int:
    return sum(repeat.node_count for repeat in family)


def _add_first_blocks(stretch: Stretch, family: Family) -> Family:
    """Return the repeats of a family with the blocks that begin stages.

    They are looked for where repeats are few and their blocks small.
    """
    if len(family) < 2 or len(family) > _MOST_COMPARED or family[0].size > _MOST_TRIED:
        return family
    rooms = _Rooms(len(stretch.rows), family)
    whole: Family = []
    for repeat in family:
        joined = repeat.copy()
        begins_stage = join_neighbours(stretch, joined, *rooms.of(repeat), forwards=False)
        whole.append(joined if begins_stage else repeat)
    return whole


def _weigh(stretch: Stretch, family: Family) -> float:
    """Return how much those repeats of a family say that have hardly anything between them."""
    best, end, nodes, blocks = 0.0, 0, 0, 0
    for repeat in _add_first_blocks(stretch, family):
        if len(repeat.blocks) > 1:
            if repeat.low - end > most_between(repeat.size):
                nodes = blocks = 0
            nodes += repeat.node_count
            blocks += len(repeat.blocks)
            end = repeat.high
            best = max(best, weigh(nodes, blocks))
    return best


def _count_crossing(stretch: Stretch, family: Family) -> float:
    """Return how many tensors cross the begin of a block, on average."""
    begins = np.concatenate([repeat.begins for repeat in family])
    return float(stretch.crossing[begins].mean())


def _find_largest(
    stretch: Stretch, words: WordFinder, low: int, high: int, is_taken: npt.NDArray[np.bool_]
) -> list[Family]:
    """Return the repeats of the word that says most of a range, in all ways to cut it.

    Repeats in the stream say more than those in branches, whose borders more tensors cross.
    """
    tried: list[list[Family]] = []
    weights: list[float] = []
    shorter: list[Run] = []
    for run in find_runs(stretch.kinds[low:high]):
        moved = Run(run.period, run.low + low, run.high + low)
        if any(_says_again(moved, known) for known in shorter):
            continue
        cuts = [
            find_family(stretch, words, moved, first, is_taken)
            for first in find_cuts(stretch, moved)
        ]
        found = sorted(filter(None, cuts), key=lambda family: -_count_nodes(family))
        if found:
            covered = [repeat for repeat in found[0] if moved.low <= repeat.low < moved.high]
            if _count_nodes(covered) >= _NEARLY * moved.length:
                shorter.append(moved)
            crossing = _count_crossing(stretch, found[0])
            tried.append(found)
            weights.append(_weigh(stretch, found[0]) / max(crossing, 1))
            middle = (moved.low + moved.high) // 2
            least = stretch.crossing[middle : middle + moved.period].min()
            if _count_nodes(found[0]) > _ALL * (high - low) and crossing <= least + _NARROW:
                break
    if tried:
        return next(
            cuts
            for cuts, weight in zip(tried, weights, strict=True)
            if weight >= _NEARLY * max(weights)
        )
    for begun in find_begun_runs(stretch.kinds[low:high], LEAST_OF_TWO * 3):
        block = _cut_begun(stretch, begun, low)
        producers = stretch.producers[block]
        if ((producers >= block[0]) & (producers <= block[-1])).any(axis=1).mean() < _WIRED:
            continue
        repeat = FoundRepeat([block], 0, int(block[0]), int(block[-1]) + 1)
        for forwards in (False, True):
            join_neighbours(stretch, repeat, low, high, forwards=forwards)
        if len(repeat.blocks) > 1:
            return [[repeat]]
    return []


def _says_again(run: Run, shorter: Run) -> bool:
    """Return whether a run says twice or more often in each period what a shorter one says once."""
    return not run.period % shorter.period and shorter.low <= run.low < run.high <= shorter.high


def _cut_begun(stretch: Stretch, run: Run, offset: int) -> Integers:
    """Return a block of a run that breaks off, cut where the fewest tensors cross."""
    low = run.low + offset
    firsts = np.arange(low, run.high + offset - run.period + 1)
    crossing = stretch.crossing[firsts] + stretch.crossing[firsts + run.period]
    first = int(firsts[np.argmin(crossing)])
    block: Integers = np.arange(first, first + run.period)
    return block


def _choose_cut(stretch: Stretch, cuts: list[Family], families: list[Family]) -> Family:
    """Return the way of cutting repeats that suits best once their neighbours have joined.

    That is the one of most blocks; then the one of most nodes; then whose first block gives nothing
    from within that others do not; then where the last node of a block is used most, as the stream
    of residuals is; then the earliest.
    """
    if len(cuts) == 1 or stretch.budget.is_spent:
        return cuts[0]
    stretch.budget.spend(_STEPS_A_RANGE + sum(map(len, families)))
    others = [repeat for family in families if family not in cuts for repeat in family]

    def score(family: Family) -> tuple[int, int, int, int, int]:
        rooms = _Rooms(len(stretch.rows), _leave_out_covered([*others, *family]))
        compared = sorted(family, key=lambda repeat: -repeat.node_count)[:_MOST_COMPARED]
        blocks = nodes = 0
        for repeat in compared:
            joined = repeat.copy()
            for forwards in (False, True):
                join_neighbours(stretch, joined, *rooms.of(repeat), forwards=forwards)
            if len(joined.blocks) > 1:
                blocks += len(joined.blocks)
                nodes += joined.node_count
        users = int(stretch.users[compared[0].blocks[compared[0].exemplar][-1]])
        leaving = count_leaving(stretch, compared[0].low, compared[0].size)
        return blocks, nodes, -leaving, users, -compared[0].low

    return max(cuts, key=score)


class _Rooms:
    """Tells in which range blocks may join a repeat: up to others that are larger than a block.

    Repeats of the same block keep apart whatever their size.
    """

    def __init__(self, count: int, repeats: Sequence[FoundRepeat]) -> None:
        self._count = count
        self._repeats = sorted(repeats, key=lambda repeat: repeat.low)
        self._lows = [repeat.low for repeat in self._repeats]

    def of(self, repeat: FoundRepeat) -> tuple[int, int]:
        low, high = 0, self._count
        place = bisect_left(self._lows, repeat.low)
        for other in reversed(self._repeats[:place]):
            if _is_in_the_way(other, repeat):
                low = other.high + _stand_out(other.high_of_run - other.high, other.size)
                break
        for other in self._repeats[place:]:
            if other.low > repeat.low and _is_in_the_way(other, repeat):
                high = other.low - _stand_out(other.low - other.low_of_run, other.size)
                break
        return min(low, repeat.low), max(high, repeat.high)


def _is_in_the_way(other: FoundRepeat, repeat: FoundRepeat) -> bool:
    return other.node_count > repeat.size or (
        other.size == repeat.size and other.blocks_like_it == repeat.blocks_like_it
    )


def _stand_out(length: int, period: int) -> int:
    """Return how far a run stands out from its blocks, where that is nearly one block more."""
    return length if length >= _NEARLY_WHOLE * period else 0
