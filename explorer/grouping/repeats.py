"""Repeated blocks found by structure alone, with every name left aside.

The nodes stand in a row (`signatures.NodeTable`); the search in a stretch of it goes so:

1. Candidates are the periodic runs of the nodes' kinds (`runs.find_runs`: maximal repetitions
   of a word, Kolpakov and Kucherov 1999, from the distances between equal 4-grams).
2. A run can be cut into blocks at as many places as its period is long. Tried are the places
   where the fewest tensors cross: in a network with residuals those where only the stream
   does.
3. The wiring must agree: in each block operands must come from the same places of it as in
   most others, and what comes from outside must come from the block before, or from where
   the block before has it from.
4. Blocks next to the run that differ a little (the first layer makes the mask, the last one
   lacks its output) join where enough of their nodes are found in the same order. What stands
   between these nodes joins too if nothing else uses it.
5. Where no run is long enough, what is said twice for a part of its period is taken as one
   block, and its neighbours join it by rule 4: blocks that all differ a little.
6. What is left before and behind is searched in the same way; so is the inside of a block,
   once for all blocks that are alike.

Each step is O(n log n) in the nodes of its stretch, and stretches of one level are disjoint.
Where the order of the file finds little, the order of a depth-first walk from the outputs is
tried, in which the nodes of a block are together however an exporter mixed them.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from netloupe.explorer.progress import step

from .runs import Run, find_begun_runs, find_runs
from .signatures import Integers, NodeTable, Stretch

#: a repeat has at least so many nodes
LEAST_NODES = 12
#: two blocks are a repeat if they have so many nodes; with fewer, three blocks are needed
LEAST_OF_TWO = 8
#: blocks of one node are a repeat in so large a number
LEAST_OF_ONE = 8
_SAME_WIRING = 0.8
_SAME_SOURCES = 0.6
_MOST_CUTS = 6
#: a repeat of so much of a range needs no rival; of several that say nearly as much as the
#: one that says most, the first is taken
_ALL = 0.9
#: so much of a block at the end of a run belongs to it
_NEARLY_WHOLE = 0.95
_NEARLY = 0.8
#: share of nodes that must take from others of their block where it is not known to repeat
_WIRED = 0.5
#: share of a block's nodes that must be found again in a neighbour that differs
_ALIKE = 0.72
#: how many nodes of a neighbour may not be those of a block, for each of a block's nodes
_MOST_BETWEEN = 0.6
#: how many nodes that are not in a block may stand together in a neighbour
_MOST_SKIPPED = 80


@dataclass(eq=False, slots=True)
class FoundRepeat:
    """A found repeat: the places of the nodes of each block in its stretch.

    Parameters
    ----------
    blocks
        shape (nodes,) each, ascending; one for each repetition, in order.
    exemplar
        Which of them stands for all: the first of the most common wiring.
    """

    blocks: list[Integers]
    exemplar: int
    #: the run that the blocks were cut from; its ends may stand out
    run: Run

    @property
    def weight(self) -> float:
        """How much it says: its nodes, less where there are few blocks."""
        return self.node_count * (1 - 1 / len(self.blocks)) ** 3

    @property
    def node_count(self) -> int:
        """The number of nodes in all blocks."""
        return sum(map(len, self.blocks))

    def without(self, low: int, high: int) -> FoundRepeat | None:
        """Return what is left without the blocks in a range; None where that is no repeat."""
        if high <= self.low or self.high <= low:
            return self
        kept = [block for block in self.blocks if block[-1] < low or block[0] >= high]
        if not kept or not _is_enough(len(kept), min(map(len, kept))):
            return None
        first = next(number for number, block in enumerate(self.blocks) if block is kept[0])
        exemplar = min(max(self.exemplar - first, 0), len(kept) - 1)
        return FoundRepeat(kept, exemplar, self.run)

    @property
    def low(self) -> int:
        """The first place."""
        return int(self.blocks[0][0])

    @property
    def high(self) -> int:
        """The place behind the last."""
        return int(self.blocks[-1][-1]) + 1


def find_repeats(table: NodeTable, rows: Integers) -> list[FoundRepeat]:
    """Return the repeats among some rows of a table, not those inside their blocks.

    They are disjoint and in order; their places count in ``rows``.
    """
    stretch = Stretch(table, rows)
    found: list[list[FoundRepeat]] = []
    pending = [(0, len(rows))]
    while pending:
        step()
        low, high = pending.pop()
        cuts = _find_largest(stretch, low, high) if high - low >= LEAST_NODES else []
        if cuts:
            found.append(cuts)
            pending.append((low, cuts[0].low))
            pending.append((cuts[0].high, high))
    # neighbours join the largest repeats first, and never one that has repeats of its own;
    # all first blocks join before any last one, for a stage begins with the block that differs
    found.sort(key=lambda cuts: -cuts[0].node_count)
    repeats = [cuts[0] for cuts in found]
    for number, cuts in enumerate(found):
        step()
        repeats[number] = _choose_cut(stretch, cuts, repeats)
    for forwards in (False, True):
        for repeat in list(repeats):
            step()
            if repeat in repeats:
                low, high = _room(stretch, repeat, repeats)
                _join_neighbours(stretch, repeat, low, high, forwards=forwards)
                rest = [
                    other if other is repeat else other.without(repeat.low, repeat.high)
                    for other in repeats
                ]
                repeats = [other for other in rest if other is not None]
    return sorted(repeats, key=lambda repeat: repeat.low)


def _find_largest(stretch: Stretch, low: int, high: int) -> list[FoundRepeat]:
    """Return the repeat that says most of a range, in all ways in which it may be cut."""
    tried: list[list[FoundRepeat]] = []
    for run in find_runs(stretch.kinds[low:high]):
        moved = Run(run.period, run.low + low, run.high + low)
        cuts = [_cut(stretch, moved, first) for first in _find_cuts(stretch, moved)]
        found = [repeat for repeat in cuts if repeat is not None]
        if found:
            tried.append(sorted(found, key=lambda repeat: -repeat.node_count))
            if found[0].node_count > _ALL * (high - low):
                break
    if tried:
        most = max(cuts[0].weight for cuts in tried)
        return next(cuts for cuts in tried if cuts[0].weight >= _NEARLY * most)
    for begun in find_begun_runs(stretch.kinds[low:high], LEAST_OF_TWO * 3):
        block = _cut_begun(stretch, begun, low)
        producers = stretch.producers[block]
        if ((producers >= block[0]) & (producers <= block[-1])).any(axis=1).mean() < _WIRED:
            continue
        repeat = FoundRepeat([block], 0, Run(len(block), int(block[0]), int(block[-1]) + 1))
        for forwards in (False, True):
            _join_neighbours(stretch, repeat, low, high, forwards=forwards)
        if len(repeat.blocks) > 1:
            return [repeat]
    return []


def _cut_begun(stretch: Stretch, run: Run, offset: int) -> Integers:
    """Return a block of a run that breaks off, cut where the fewest tensors cross."""
    low = run.low + offset
    firsts = np.arange(low, run.high + offset - run.period + 1)
    crossing = stretch.crossing[firsts] + stretch.crossing[firsts + run.period]
    first = int(firsts[np.argmin(crossing)])
    block: Integers = np.arange(first, first + run.period)
    return block


def _choose_cut(
    stretch: Stretch, cuts: list[FoundRepeat], repeats: list[FoundRepeat]
) -> FoundRepeat:
    """Return the way of cutting a repeat that suits best once its neighbours have joined.

    That is the one of most blocks; then the one of most nodes; then where the last node of a
    block is used most, as the stream of residuals is; then the earliest.
    """
    others = [repeat for repeat in repeats if repeat not in cuts]

    def score(repeat: FoundRepeat) -> tuple[int, int, int, int]:
        joined = FoundRepeat(list(repeat.blocks), repeat.exemplar, repeat.run)
        low, high = _room(stretch, repeat, others)
        for forwards in (False, True):
            _join_neighbours(stretch, joined, low, high, forwards=forwards)
        users = int(stretch.users[repeat.blocks[repeat.exemplar][-1]])
        return len(joined.blocks), joined.node_count, users, -joined.low

    return max(cuts, key=score)


def _room(stretch: Stretch, repeat: FoundRepeat, others: list[FoundRepeat]) -> tuple[int, int]:
    """Return the range in which blocks may join: up to repeats larger than a block."""
    size = len(repeat.blocks[repeat.exemplar])
    low, high = 0, len(stretch.rows)
    for other in others:
        if other is repeat or other.node_count <= size:
            continue
        if other.low < repeat.low:
            low = max(low, other.high, _end_of(other.high, other.run.high, other.run.period))
        else:
            high = min(high, other.low, _end_of(other.low, other.run.low, other.run.period))
    return min(low, repeat.low), max(high, repeat.high)


def _end_of(block: int, run: int, period: int) -> int:
    """Return where a repeat ends: at its last block, or where its run has nearly one more."""
    return run if abs(run - block) >= _NEARLY_WHOLE * period else block


def _find_cuts(stretch: Stretch, run: Run) -> list[int]:
    """Return the places of a run at which a first block can begin, the best first.

    Best are those at which the fewest tensors cross the borders of all blocks.
    """
    period, low, high = run
    count = (high - low) // period
    firsts = np.arange(low, min(low + period, high - 2 * period + 1))
    if not len(firsts):
        return [low]
    borders = firsts[:, None] + period * np.arange(max(1, count - 1))[None, :]
    crossing = stretch.crossing[borders].mean(axis=1)
    users = stretch.users[np.minimum(firsts + period - 1, high - 1)]
    least = crossing.min()
    best = np.flatnonzero(crossing <= least + 1e-9)
    # those whose last node is used most come first: the residual stream; then the earliest
    best = best[np.lexsort((best, -users[best]))]
    cuts = [int(firsts[index]) for index in best[:_MOST_CUTS]]
    earliest = int(firsts[best.min()])
    return cuts if earliest in cuts else [*cuts, earliest]


def _cut(stretch: Stretch, run: Run, first: int) -> FoundRepeat | None:
    """Cut a run into blocks from a place on; keep the longest row of equal wiring."""
    period = run.period
    count = (run.high - first) // period
    if not _is_enough(count, period):
        return None
    places = first + np.arange(count * period).reshape(count, period)
    producers = stretch.producers[first : first + count * period].reshape(count, period, -1)
    begins = places[:, :1, None]
    relative = producers - begins
    is_inner = (relative >= 0) & (relative < period)
    inner = np.where(is_inner, relative, -1)
    exemplar = _most_common_row(inner.reshape(count, -1))
    same = (inner == inner[exemplar]).all(axis=2).mean(axis=1) >= _SAME_WIRING
    if period > 1 and not is_inner[exemplar].any():
        return None
    same[1:] &= _have_same_sources(producers, is_inner, begins)
    if count > 2:
        # the first block has nothing before it to be compared with
        same[0] &= same[1]
    low, high = _longest_true(same)
    if not _is_enough(high - low, period):
        return None
    typical = min(max(exemplar, low), high - 1)
    return FoundRepeat(list(places[low:high]), typical - low, run)


def _have_same_sources(
    producers: Integers, is_inner: npt.NDArray[np.bool_], begins: Integers
) -> npt.NDArray[np.bool_]:
    """Return for each block but the first whether it hangs on the others as it should.

    An operand from outside should come from the block before, from the same node that gives
    it to the block before, or from before the first block.
    """
    outer = (producers[1:] >= 0) & ~is_inner[1:]
    from_previous = (producers[1:] >= begins[:-1]) & (producers[1:] < begins[1:])
    as_previous = producers[1:] == producers[:-1]
    parallel = (producers[1:] < begins[0]) & (producers[:-1] < begins[0])
    good = from_previous | as_previous | parallel
    total = outer.sum(axis=(1, 2))
    agreeing = (outer & good).sum(axis=(1, 2))
    result: npt.NDArray[np.bool_] = agreeing >= _SAME_SOURCES * total
    return result


def _is_enough(count: int, period: int) -> bool:
    if count < 2 or count * period < LEAST_NODES:
        return False
    if period == 1:
        return count >= LEAST_OF_ONE
    return count > 2 or period >= LEAST_OF_TWO


def _most_common_row(rows: Integers) -> int:
    _, firsts, counts = np.unique(rows, axis=0, return_index=True, return_counts=True)
    return int(firsts[np.argmax(counts)])


def _longest_true(flags: Integers) -> tuple[int, int]:
    edges = np.diff(np.concatenate(([0], flags.astype(np.int8), [0])))
    lows, highs = np.flatnonzero(edges == 1), np.flatnonzero(edges == -1)
    if not len(lows):
        return 0, 0
    best = int(np.argmax(highs - lows))
    return int(lows[best]), int(highs[best])


def _join_neighbours(
    stretch: Stretch, repeat: FoundRepeat, low: int, high: int, *, forwards: bool
) -> None:
    """Let blocks behind or before, within a range, join as long as they are like the others."""
    pattern = repeat.blocks[repeat.exemplar]
    if len(pattern) < LEAST_OF_TWO:
        return
    reach = 2 * len(pattern) + _MOST_SKIPPED
    while True:
        if forwards:
            window = range(repeat.high, min(high, repeat.high + reach))
            block = _match(stretch, pattern, window)
        else:
            window = range(repeat.low - 1, max(low, repeat.low - reach) - 1, -1)
            block = _match(stretch, pattern[::-1], window)
        if block is None:
            return
        if forwards:
            repeat.blocks.append(block)
        else:
            repeat.blocks.insert(0, block)
            repeat.exemplar += 1


def _match(stretch: Stretch, pattern: Integers, window: range) -> Integers | None:
    """Find most of a block's nodes in a window in the same order, and what belongs to them.

    Both are walked from the side of the run. Where they differ, the fewest nodes of either
    are skipped after which two nodes agree again. The wiring must agree too.
    """
    wanted = stretch.kinds[pattern].tolist()
    given = (
        stretch.kinds[window.start : window.stop : window.step].tolist()
        if (window.step > 0)
        else stretch.kinds[window.stop + 1 : window.start + 1][::-1].tolist()
    )
    pairs: dict[int, int] = {}
    here = there = 0
    first = -1
    while here < len(wanted) and there < len(given):
        if wanted[here] == given[there]:
            pairs[int(pattern[here])] = window[there]
            first = there if first < 0 else first
            here, there = here + 1, there + 1
            continue
        skip = _find_skip(wanted, given, here, there)
        if skip is None:
            break
        missing, between = here + skip[0] - len(pairs), there + skip[1] - len(pairs)
        if missing > (1 - _ALIKE) * len(wanted) or between > _MOST_BETWEEN * len(wanted):
            break
        here, there = here + skip[0], there + skip[1]
    if len(pairs) < _ALIKE * len(wanted) or first > _MOST_SKIPPED // 4:
        return None
    return _own(stretch, sorted(pairs.values())) if _is_wired_alike(stretch, pairs) else None


def _is_wired_alike(stretch: Stretch, pairs: dict[int, int]) -> bool:
    """Return whether most operands inside a block come from the matching nodes."""
    ours, theirs = stretch.producers[list(pairs)], stretch.producers[list(pairs.values())]
    total = agreeing = 0
    for row, other in zip(ours.tolist(), theirs.tolist(), strict=True):
        for producer, match in zip(row, other, strict=True):
            if producer in pairs:
                total += 1
                agreeing += pairs[producer] == match
    return agreeing >= _SAME_SOURCES * total


def _find_skip(
    wanted: list[int], given: list[int], here: int, there: int
) -> tuple[int, int] | None:
    for total in range(1, _MOST_SKIPPED):
        for left in range(min(total, len(wanted) - here - 1) + 1):
            right = total - left
            same = wanted[here + left : here + left + 2] == given[there + right : there + right + 2]
            if same and there + right < len(given):
                return left, right
    return None


def _own(stretch: Stretch, places: list[int]) -> Integers:
    """Add to a block the nodes between its own that only the block uses."""
    inside = set(places)
    low, high = places[0], places[-1] + 1
    for place in range(high - 1, low - 1, -1):
        if place not in inside and stretch.is_used_only_by(place, inside):
            inside.add(place)
    return np.array(sorted(inside), dtype=np.int64)
