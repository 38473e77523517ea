"""Repeats of one word: where runs can be cut into blocks, and which of these are wired alike."""

from __future__ import annotations

from collections import Counter

import numpy as np
import numpy.typing as npt

from .found_repeat import FoundRepeat, is_enough
from .runs import Run
from .signatures import Integers, Stretch
from .units import is_behind_weights
from .words import WordFinder

_SAME_WIRING = 0.8
_SAME_SOURCES = 0.6
_MOST_CUTS = 6
#: of so many places it is seen whether they cut a unit
_MOST_LOOKED = 200
#: how many rows of one word are looked at
_MOST_ROWS = 200
#: a block that stands alone among others of its word has at least so many nodes
_LEAST_ALONE = 5
#: steps that a row of blocks takes, beside those for its nodes
_STEPS_A_ROW = 200

#: repeats of one block
Family = list[FoundRepeat]


def find_cuts(stretch: Stretch, run: Run) -> list[int]:
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
    best = _leave_units_whole(stretch, firsts, np.flatnonzero(crossing <= least + 1e-9))
    leaving = np.array([count_leaving(stretch, int(firsts[one]), period) for one in best])
    # those of which the first block gives nothing from within; those whose last node is used most:
    # the residual stream; then the earliest
    best = best[np.lexsort((best, -users[best], leaving))]
    cuts = [int(firsts[index]) for index in best[:_MOST_CUTS]]
    cuts.append(int(firsts[best.min()]))
    # a concatenation may also begin a block: what comes along a UNet's skips
    for cut in cuts[:1]:
        if stretch.node(cut + period - 1).operator.has("joins") and cut > low:
            cuts.append(cut - 1)
    return list(dict.fromkeys(cuts))


def count_leaving(stretch: Stretch, first: int, period: int) -> int:
    """Return how many more values the first of some blocks gives from within than the second.

    What a sum behind all blocks takes besides is the stream before the first one.
    """
    counts = [
        int((stretch.last_uses[low : low + period - 1] >= low + 2 * period).sum())
        for low in (first, first + period)
    ]
    return max(0, counts[0] - counts[1])


def _leave_units_whole(stretch: Stretch, firsts: Integers, best: Integers) -> Integers:
    """Return those of some places that do not cut a norm or an activation off; else all."""
    whole = [
        number
        for number in best[:_MOST_LOOKED].tolist()
        if not is_behind_weights(stretch.node(int(firsts[number])))
    ]
    return np.array(whole, np.int64) if whole else best


def find_family(
    stretch: Stretch, words: WordFinder, run: Run, first: int, is_taken: npt.NDArray[np.bool_]
) -> Family:
    """Return the repeats of a word where nothing is taken, and blocks that others may join.

    The word is that of a run, cut at a place. It must be said often enough in all.
    """
    period = run.period
    bulk = stretch.count_bulk(first, first + period)
    stretch.budget.spend(_STEPS_A_ROW + len(is_taken) // 100)
    if period == 1:
        alone = _cut(stretch, run.low, run.high - run.low, 1)
        return [alone] if alone is not None and is_enough(len(alone.blocks), bulk) else []
    if not _hangs_together(stretch, first, period):
        return []
    said = words.find(first, period, 0, len(is_taken))
    stretch.budget.spend(len(said))
    family: Family = []
    looked_at = 0
    for place, times in sorted(said, key=lambda row: (-row[1], row[0])):
        if is_taken[place : place + times * period].any():
            stretch.budget.spend(1)
            continue
        stretch.budget.spend(_STEPS_A_ROW + times * period // 8)
        looked_at += 1
        if looked_at > _MOST_ROWS or stretch.budget.is_spent:
            break
        if not words.is_said(first, period, place, times):
            continue
        repeat = _cut(stretch, place, times, period)
        if repeat is None or not _is_of(stretch, family, repeat):
            continue
        if run.low <= place < run.high:
            repeat.low_of_run, repeat.high_of_run = run.low, run.high
        family.append(repeat)
    blocks = sum(len(repeat.blocks) for repeat in family)
    if not any(len(repeat.blocks) > 1 for repeat in family) or not is_enough(blocks, bulk):
        return []
    for repeat in family:
        repeat.blocks_like_it = blocks
    return sorted(family, key=lambda repeat: repeat.low)


def _is_of(stretch: Stretch, family: Family, repeat: FoundRepeat) -> bool:
    """Return whether a repeat belongs to others of its word, which are at least as long."""
    count, period = len(repeat.blocks), repeat.size
    bulk = stretch.count_bulk(repeat.low, repeat.low + period)
    if not family or is_enough(count, bulk):
        return count > 1
    if not (repeat.is_serial and family[0].is_serial) or (count == 1 and period < _LEAST_ALONE):
        return False
    ours, theirs = (_inner_wiring(stretch, one.blocks[one.exemplar]) for one in (repeat, family[0]))
    return bool((ours == theirs).all(axis=1).mean() >= _SAME_WIRING)


def _inner_wiring(stretch: Stretch, block: Integers) -> Integers:
    """Return from which node of a block each operand comes; -1 for those from elsewhere."""
    inner: Integers = stretch.producers[block] - block[0]
    inner[(inner < 0) | (inner >= len(block))] = -1
    return inner


def _hangs_together(stretch: Stretch, first: int, period: int) -> bool:
    """Return whether a block is one piece, but for what only brings constants into a layout."""
    places = np.arange(first, first + period)
    sources, targets = stretch.edges_between(first, first + period)
    label = np.arange(period)
    while True:
        lower = label.copy()
        np.minimum.at(lower, sources, label[targets])
        np.minimum.at(lower, targets, label[sources])
        lower = lower[lower]
        if (lower == label).all():
            break
        label = lower
    pieces, sizes = np.unique(label, return_counts=True)
    others = label != pieces[np.argmax(sizes)]
    producers = stretch.producers[places[others]]
    return not ((producers >= 0) & ((producers < first) | (producers >= first + period))).any()


def _cut(stretch: Stretch, first: int, count: int, period: int) -> FoundRepeat | None:
    """Return the longest row of blocks that are wired alike, of those from a place on."""
    places = first + np.arange(count * period).reshape(count, period)
    if count == 1:
        sources, _ = stretch.edges_between(first, first + period)
        alone = FoundRepeat([places[0]], 0, first, first + period)
        return alone if period == 1 or len(sources) else None
    producers = stretch.producers[first : first + count * period].reshape(count, period, -1)
    begins = places[:, :1, None]
    relative = producers - begins
    is_inner = (relative >= 0) & (relative < period)
    inner = np.where(is_inner, relative, -1)
    exemplar = _most_common_row(inner.reshape(count, -1))
    same = (inner == inner[exemplar]).all(axis=2).mean(axis=1) >= _SAME_WIRING
    if period > 1 and not is_inner[exemplar].any():
        return None
    outer = (producers >= 0) & ~is_inner
    is_good = _have_same_sources(producers, outer, begins)
    from_previous = (producers[1:] >= begins[:-1]) & (producers[1:] < begins[1:])
    takes = from_previous.any(axis=(1, 2))
    is_apart = ~(outer[1:] & (producers[1:] >= begins[0])).any(axis=(1, 2))
    serial, parallel = (_longest_row(same, is_good & linked) for linked in (takes, is_apart))
    is_serial = serial[1] - serial[0] >= parallel[1] - parallel[0]
    low, high = serial if is_serial else parallel
    if high - low < min(count, 2):
        return None
    typical = min(max(exemplar, low), high - 1) - low
    begin, end = int(places[low, 0]), int(places[high - 1, -1]) + 1
    blocks = places[low:high] if period == 1 else list(places[low:high])
    return FoundRepeat(blocks, typical, begin, end, is_serial)


def _have_same_sources(
    producers: Integers, outer: npt.NDArray[np.bool_], begins: Integers
) -> npt.NDArray[np.bool_]:
    """Return for each block but the first whether it hangs on the others as it should.

    An operand from outside should come from the block before, from the same node that gives
    it to the block before, or from before the first block.
    """
    from_previous = (producers[1:] >= begins[:-1]) & (producers[1:] < begins[1:])
    as_previous = producers[1:] == producers[:-1]
    parallel = (producers[1:] < begins[0]) & (producers[:-1] < begins[0])
    good = from_previous | as_previous | parallel
    total = outer[1:].sum(axis=(1, 2))
    agreeing = (outer[1:] & good).sum(axis=(1, 2))
    result: npt.NDArray[np.bool_] = agreeing >= _SAME_SOURCES * total
    return result


def _most_common_row(rows: Integers) -> int:
    """Return the first of the rows that are there most often."""
    if len(rows) == 1:
        return 0
    if len(rows[0]) == 1:  # there may be a million
        _, firsts, times = np.unique(rows, return_index=True, return_counts=True)
        return int(firsts[times == times.max()].min())
    said = [row.tobytes() for row in rows]
    counts = Counter(said)
    return said.index(max(counts, key=lambda row: counts[row]))


def _longest_row(same: npt.NDArray[np.bool_], linked: npt.NDArray[np.bool_]) -> tuple[int, int]:
    """Return the longest row of blocks that are the same and each linked to the one before."""
    flags = np.concatenate(([0], (linked & same[1:] & same[:-1]).astype(np.int8), [0]))
    edges = np.diff(flags)
    lows, highs = np.flatnonzero(edges == 1), np.flatnonzero(edges == -1)
    if not len(lows):
        return 0, 1
    best = int(np.argmax(highs - lows))
    return int(lows[best]), int(highs[best]) + 1
