"""Histograms of a tensor's elements."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from netloupe.explorer.notation import clip_text, write_count, write_number

from .counting import CHUNK, count_values, measure_magnitude, sample_elements, split_chunks

Array = np.ndarray[Any, Any]
Edges = npt.NDArray[np.float64]
Counts = npt.NDArray[np.int64]

MAX_BINS = 2**16


@dataclass(frozen=True, slots=True, eq=False)
class Histogram:
    """How many finite elements lie in each of a row of intervals.

    Parameters
    ----------
    edges
        The bins' borders, ascending, one more than bins, float64. A bin holds its lower
        border and not its upper one, except the last, which holds both.
    counts
        Elements in each bin, int64.
    below, above
        Elements outside the edges, infinite ones included.
    nans
        Elements that are no numbers.
    is_sample
        Whether only a part of the elements was counted.
    """

    edges: Edges
    counts: Counts
    below: int = 0
    above: int = 0
    nans: int = 0
    is_sample: bool = False

    def __repr__(self) -> str:
        sample = "a sample of " if self.is_sample else ""
        counted = write_count(int(self.counts.sum()), "element")
        low, high = write_number(float(self.edges[0])), write_number(float(self.edges[-1]))
        parts = [
            f"{sample}{counted} in {write_count(self.counts.size, 'bin')} from {low} to {high}"
        ]
        others = (("below", self.below), ("above", self.above), ("NaN", self.nans))
        parts += [f"{count:,} {name}" for name, count in others if count]
        return f"<Histogram: {clip_text(', '.join(parts), 100)}>"


@np.errstate(invalid="ignore")  # signalling NaNs are no news
def compute_histogram(
    array: Array,
    bins: int = 64,
    value_range: tuple[float, float] | None = None,
    *,
    limit: int | None = None,
) -> Histogram:
    """Count the elements of an array in intervals of equal width.

    Parameters
    ----------
    array
        Numbers or bools of any shape; complex numbers are counted by magnitude.
    bins
        Number of bins, 1 to 65,536. Integers and bools without a ``value_range`` get at most
        so many, each covering the same whole number of integers, with borders halfway
        between integers; so no bin is higher only because one more integer falls into it.
    value_range
        Outer edges; None for the range of the finite elements (widened where it is too
        narrow for so many bins).
    limit
        Count about this many elements only, spread evenly; None for all of them.

    Returns
    -------
    Histogram
        Counts equal those of ``numpy.histogram`` over the same edges, for every dtype.

    Raises
    ------
    ValueError
        For strings, a number of bins out of range, or a range that is empty or not finite.
    """
    if not 1 <= bins <= MAX_BINS:
        raise ValueError(f"bins must be 1 to {MAX_BINS}, not {bins}")
    if value_range is not None and not (
        math.isfinite(value_range[0])
        and math.isfinite(value_range[1])
        and value_range[0] < value_range[1]
    ):
        raise ValueError(f"value_range must be two finite numbers in order, not {value_range}")
    if array.dtype.kind in "OSU":
        raise ValueError("strings have no histogram")
    is_sample = limit is not None and array.size > limit
    elements = sample_elements(array, limit) if limit is not None else array.reshape(-1)
    if elements.dtype.kind == "c":
        elements = measure_magnitude(elements)
    is_integer = elements.dtype.kind in "iub" or "int" in elements.dtype.name

    counted = count_values(elements)
    if counted is not None:
        values = counted.values
        is_bool = elements.dtype.kind == "b"  # both bins, even where one is empty
        extent = (values[0], values[-1]) if values.size and not is_bool else (0.0, 1.0)
        edges = _choose_edges(extent, bins, value_range, is_integer)
        slots = np.searchsorted(edges, values, side="right")
        slots[values == edges[-1]] = edges.size - 1
        totals = np.zeros(edges.size + 1, np.int64)
        np.add.at(totals, slots, counted.counts)
        totals[0] += counted.negative_infinities
        totals[-1] += counted.positive_infinities
        nans = counted.nans
    else:
        low, high, has_others = _find_extent(elements)
        edges = _choose_edges((low, high), bins, value_range, is_integer)
        totals, nans = _count_elements(elements, edges, has_others or value_range is not None)
    return Histogram(
        edges, totals[1:-1], int(totals[0]), int(totals[-1]), nans, is_sample=is_sample
    )


def _choose_edges(
    extent: tuple[float, float],
    bins: int,
    value_range: tuple[float, float] | None,
    is_integer: bool,
) -> Edges:
    low, high = map(float, extent if value_range is None else value_range)
    magnitude = max(abs(low), abs(high))
    if value_range is None and is_integer and magnitude < 2**52:
        width = math.ceil((high - low + 1) / bins)
        used = math.ceil((high - low + 1) / width)
        return low - 0.5 + width * np.arange(used + 1, dtype=np.float64)
    narrowest = 4 * bins * math.ulp(magnitude)
    if value_range is None and high - low < narrowest:
        margin = 0.5 * max(1.0, magnitude, narrowest)
        largest = float(np.finfo(np.float64).max)
        low, high = max(low - margin, -largest), min(high + margin, largest)
    # halved, so that a range of more than the largest float64 does not overflow
    edges = 2 * np.linspace(low / 2, high / 2, bins + 1)
    edges[0], edges[-1] = low, high
    return edges


def _find_extent(elements: Array) -> tuple[float, float, bool]:
    """Return the finite range, and whether there are elements that are not finite."""
    low, high, has_others = math.inf, -math.inf, False
    for chunk in split_chunks(elements):
        smallest, largest = float(chunk.min()), float(chunk.max())
        if not (math.isfinite(smallest) and math.isfinite(largest)):
            has_others = True
            finite = chunk[np.isfinite(chunk)]
            if not finite.size:
                continue
            smallest, largest = float(finite.min()), float(finite.max())
        low, high = min(low, smallest), max(high, largest)
    return (low, high, has_others) if low <= high else (0.0, 1.0, has_others)


def _count_elements(elements: Array, edges: Edges, may_lie_outside: bool) -> tuple[Counts, int]:
    """Count elements below, in each bin, and above; NaNs apart."""
    totals = np.zeros(edges.size + 1, np.int64)
    nans = 0
    count_inside = _Scaler(edges, elements.dtype).count
    for chunk in split_chunks(elements):
        if may_lie_outside:
            # arrays of one element, not scalars: numpy 1 would round those to the chunk's type
            inside = (chunk >= edges[:1]) & (chunk <= edges[-1:])
            kept = chunk[inside]
            if kept.size < chunk.size:
                below = int(np.count_nonzero(chunk < edges[:1]))
                above = int(np.count_nonzero(chunk > edges[-1:]))
                nans += chunk.size - kept.size - below - above
                totals[0] += below
                totals[-1] += above
                chunk = kept
        totals[1:-1] += count_inside(chunk)
    return totals, nans


class _Scaler:
    """Finds bins by one multiplication; elements too near an edge are compared with it.

    Scaling alone is fast, but rounds: an element may come out one bin off next to an edge.
    ``tolerance`` bounds that error in units of bins, so only elements nearer than that to a
    whole number need the exact comparison.
    """

    def __init__(self, edges: Edges, dtype: np.dtype[Any]) -> None:
        self._edges = edges
        bins = edges.size - 1
        low, high = float(edges[0]), float(edges[-1])
        span = high / 2 - low / 2
        # float32 is twice as fast, where it holds the lower edge exactly and cannot overflow
        is_single = (
            dtype == np.float32
            and 1e-30 < span < 1e30
            and max(abs(low), abs(high)) < 1e38
            and float(np.float32(low)) == low
        )
        self._work = np.dtype(np.float32 if is_single else np.float64)
        usable = 1e-290 < span < 8e307
        self._scale = self._work.type(bins / (2 * span) if usable else 0)
        self._low = self._work.type(low)
        precision = 2.0**-21 if is_single else 2.0**-49
        magnitude = max(abs(low), abs(high))
        self._tolerance = (
            bins * precision + magnitude * 2.0**-49 * float(self._scale) if usable else 1.0
        )
        self._scaled = np.empty(CHUNK, self._work)
        self._nearest = np.empty(CHUNK, self._work)
        self._slots = np.empty(CHUNK, np.intp)
        self._is_near = np.empty(CHUNK, np.bool_)

    def count(self, chunk: Array) -> Counts:
        """Count elements that all lie within the edges."""
        size, edges = chunk.size, self._edges
        bins = edges.size - 1
        if self._tolerance > 0.25:
            slots = np.searchsorted(edges, chunk, side="right") - 1
            return np.bincount(np.minimum(slots, bins - 1), minlength=bins)
        scaled, nearest = self._scaled[:size], self._nearest[:size]
        slots, is_near = self._slots[:size], self._is_near[:size]
        np.subtract(chunk, self._low, out=scaled, dtype=self._work)
        np.multiply(scaled, self._scale, out=scaled)
        np.copyto(slots, scaled, casting="unsafe")
        np.rint(scaled, out=nearest)
        np.subtract(scaled, nearest, out=scaled)
        np.abs(scaled, out=scaled)
        np.less(scaled, self._tolerance, out=is_near)
        positions = np.flatnonzero(is_near)
        if positions.size:
            edge = nearest[positions].astype(np.intp)
            exact = edge - (chunk[positions] < edges[edge])
            slots[positions] = np.clip(exact, 0, bins - 1)
        return np.bincount(slots, minlength=bins)
