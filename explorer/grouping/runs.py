"""Periodic runs in a sequence of numbers: where it says the same thing again and again.

A run of period p is a longest stretch in which every number equals the one p places before,
at least twice p long (R. Kolpakov and G. Kucherov, Finding maximal repetitions in a word in
linear time, FOCS 1999). Here only periods that repeated substrings of four numbers suggest are
looked at, each with one vectorized comparison: O(n log n) for n numbers.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .signatures import Integers

_GRAM = 4
_MOST_PERIODS = 48
#: up to so many numbers every period is looked at
_FEW = 200
#: of several runs over the same stretch the shortest period counts, if it covers so much
_COVER = 0.8
_MOST_RUNS = 6
_MOST_RIVALS = 200
#: a run that breaks off has at least so much of its period twice
_BEGUN = 0.3


class Run(NamedTuple):
    """A stretch ``low`` to ``high`` in which every number equals that ``period`` later."""

    period: int
    low: int
    high: int

    @property
    def length(self) -> int:
        """How many numbers it covers."""
        return self.high - self.low


class SiblingRun(NamedTuple):
    """Children ``low`` to ``high`` of a group that repeat every ``period``.

    ``exemplar`` tells which repetition stands for all.
    """

    low: int
    high: int
    period: int
    exemplar: int


def find_periods(numbers: Integers) -> list[int]:
    """Return periods that are worth a look: distances between equal neighbouring 4-grams."""
    count = len(numbers)
    if count <= _FEW:
        return list(range(1, count // 2 + 1))
    grams = np.zeros(count - _GRAM + 1, dtype=np.uint64)
    for offset in range(_GRAM):
        grams = grams * np.uint64(0x9E3779B97F4A7C15) + numbers[
            offset : offset + len(grams)
        ].astype(np.uint64)
        grams ^= grams >> np.uint64(29)
    order = np.argsort(grams, kind="stable")
    same = grams[order[1:]] == grams[order[:-1]]
    distances = np.diff(order)[same]
    distances = distances[distances <= count // 2]
    if not len(distances):
        return []
    periods, counts = np.unique(distances, return_counts=True)
    # a long period is seen less often than a short one that covers as much
    weights = counts * np.minimum(periods, _FEW)
    best = np.argsort(-weights, kind="stable")[:_MOST_PERIODS]
    return sorted(int(period) for period in periods[best])


def find_runs(numbers: Integers, *, with_gaps: bool = True) -> list[Run]:
    """Return the runs that are worth a look, the one to be tried first at the front.

    Runs of one period over the same numbers say the same thing at several places, so one stands
    for all, and those with little between them are weighed together. Those of most weight come
    first; among runs over about the same stretch, the one of the shortest period.

    Parameters
    ----------
    with_gaps
        Whether runs are weighed together at all.
    """
    runs = [
        run for period in find_periods(numbers) for run in _runs_of_period(numbers, period, period)
    ]
    if not runs:
        return []
    kin, weights = _weigh_kin(numbers, runs)
    if not with_gaps:
        weights = [run.length * (1 - run.period / run.length) ** 3 for run in runs]
    order = sorted(
        range(len(runs)), key=lambda at: (-weights[at], runs[at].period, -runs[at].length)
    )
    chosen: list[Run] = []
    while order and len(chosen) < _MOST_RUNS:
        heaviest = runs[order[0]]
        least, most = _COVER * heaviest.length, heaviest.length / _COVER
        rivals = {
            at
            for at in order[:_MOST_RIVALS]
            if runs[at].length <= most
            and min(runs[at].high, heaviest.high) - max(runs[at].low, heaviest.low) >= least
        }
        best = min((runs[at] for at in rivals), key=lambda run: (run.period, run.low - run.high))
        chosen.append(best)
        if best is not heaviest:
            chosen.append(heaviest)
        done = {kin[at] for at in rivals}
        order = [at for at in order if kin[at] not in done]
    return chosen


def _weigh_kin(numbers: Integers, runs: list[Run]) -> tuple[list[tuple[int, int]], list[float]]:
    """Return for each run a key that it shares with those that say the same, and their weight.

    Runs say the same where their periods are as long and hold the same numbers, whichever of
    these comes first.
    """
    mixed = numbers.astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    mixed = (mixed ^ (mixed >> np.uint64(31))) * np.uint64(0xBF58476D1CE4E5B9)
    mixed ^= mixed >> np.uint64(29)
    sums = np.concatenate((np.zeros(1, np.uint64), np.cumsum(mixed, dtype=np.uint64)))
    lows = np.array([run.low for run in runs])
    periods = np.array([run.period for run in runs])
    bags = sums[lows + periods] - sums[lows]
    keys = [*zip(periods.tolist(), bags.tolist(), strict=True)]
    ends: dict[tuple[int, int], int] = {}
    clusters: dict[tuple[int, int], list[int]] = {}
    for at in np.argsort(lows, kind="stable").tolist():
        key, run = keys[at], runs[at]
        lengths = clusters.setdefault(key, [0])
        if run.low - ends.get(key, run.low) > most_between(run.period):
            lengths.append(0)
        lengths[-1] += run.length
        ends[key] = run.high
    weights = {key: max(lengths) for key, lengths in clusters.items()}
    return keys, [weights[key] * (1 - key[0] / weights[key]) ** 3 for key in keys]


def most_between(period: int) -> int:
    """Return how many numbers may stand between two runs that are taken for one with gaps."""
    return max(2, period // 4)


def find_begun_runs(numbers: Integers, least_period: int) -> list[Run]:
    """Return stretches that are said again for a part of the period, the longest first.

    Parameters
    ----------
    least_period
        Shorter periods are not looked at.
    """
    runs = [
        run
        for period in find_periods(numbers)
        if period >= least_period
        for run in _runs_of_period(numbers, period, int(_BEGUN * period) + 1)
    ]
    return sorted(runs, key=lambda run: (run.low - run.high, run.period))[:_MOST_RUNS]


def _runs_of_period(numbers: Integers, period: int, least: int) -> list[Run]:
    """Return the stretches of which at least so many numbers equal those a period later."""
    same = np.zeros(len(numbers) - period + 2, dtype=np.int8)
    same[1:-1] = numbers[period:] == numbers[:-period]
    edges = np.diff(same)
    lows = np.flatnonzero(edges == 1)
    highs = np.flatnonzero(edges == -1)
    wanted = highs - lows >= least
    return [
        Run(period, low, high + period)
        for low, high in zip(lows[wanted].tolist(), highs[wanted].tolist(), strict=True)
    ]
