"""Histograms of a tensor's elements."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from netloupe.explorer.notation import clip_text, write_count, write_number

from .bin_finder import BinFinder
from .counting import count_values
from .elements import (
    Elements,
    Walk,
    as_elements,
    measure_magnitudes,
    replace_nonfinite,
    sample_elements,
)

Array = np.ndarray[Any, Any]
Edges = npt.NDArray[np.float64]
Counts = npt.NDArray[np.int64]

MAX_BINS = 2**16

#: elements counted at a time: counters are added up once a piece
_PIECE = 2**18


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
    given: Array | Elements,
    bins: int = 64,
    value_range: tuple[float, float] | None = None,
    *,
    limit: int | None = None,
) -> Histogram:
    """Count numbers in intervals of equal width.

    Parameters
    ----------
    given
        Numbers or bools of any shape; complex numbers are counted by magnitude. An array, or
        the elements of a tensor piece by piece.
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
    check_bins(bins, value_range)
    elements = as_elements(given)
    if elements.is_constant and elements.size > 1:
        one, size = (
            compute_histogram(elements.take(0, 1), bins, value_range=value_range),
            elements.size,
        )
        return replace(
            one,
            counts=one.counts * size,
            below=one.below * size,
            above=one.above * size,
            nans=one.nans * size,
        )
    if elements.dtype.kind in "OSU":
        raise ValueError("strings have no histogram")
    is_sample = limit is not None and elements.size > limit
    if limit is not None:
        elements = sample_elements(elements, limit)
    if elements.dtype.kind == "c":
        elements = measure_magnitudes(elements)
    has_range = value_range is not None
    walk = Walk(elements, 1 if elements.dtype.itemsize <= 2 or has_range else 2)
    counted = count_values(walk)
    if counted is not None:
        values = counted.values
        is_bool = elements.dtype.kind == "b"  # both bins, even where one is empty
        extent = (values[0], values[-1]) if values.size and not is_bool else (0.0, 1.0)
        edges = choose_edges(extent, bins, value_range, elements.is_integer)
        slots = np.searchsorted(edges, values, side="right")
        slots[values == edges[-1]] = edges.size - 1
        totals = np.zeros(edges.size + 1, np.int64)
        np.add.at(totals, slots, counted.counts)
        totals[0] += counted.negative_infinities
        totals[-1] += counted.positive_infinities
        nans = counted.nans
    else:
        may_be_nan, may_lie_outside = elements.dtype.kind == "f", True
        if value_range is None:
            *ends, may_be_nan, may_lie_outside = _find_extent(walk)
            extent = (ends[0], ends[1])
        else:
            extent = value_range
        edges = choose_edges(extent, bins, value_range, elements.is_integer)
        totals, nans = _count_elements(walk, edges, may_be_nan, may_lie_outside)
    walk.finish()
    return Histogram(
        edges, totals[1:-1], int(totals[0]), int(totals[-1]), nans, is_sample=is_sample
    )


def check_bins(bins: int, value_range: tuple[float, float] | None) -> None:
    """Refuse a number of bins or a range that no histogram can have.

    Raises
    ------
    ValueError
        For a number of bins out of range, or a range that is empty or not finite.
    """
    if not 1 <= bins <= MAX_BINS:
        raise ValueError(f"bins must be 1 to {MAX_BINS}, not {bins}")
    if value_range is not None and not (
        math.isfinite(value_range[0])
        and math.isfinite(value_range[1])
        and value_range[0] < value_range[1]
    ):
        raise ValueError(f"value_range must be two finite numbers in order, not {value_range}")


def choose_edges(
    extent: tuple[float, float],
    bins: int,
    value_range: tuple[float, float] | None,
    is_integer: bool,
) -> Edges:
    """Return the borders of bins over a range that is given, or over the extent of elements."""
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


def _find_extent(walk: Walk) -> tuple[float, float, bool, bool]:
    """Return the finite range, whether there are NaNs, and whether there are infinities."""
    low, high, has_nans, has_infinities = math.inf, -math.inf, False, False
    for chunk in walk.chunks():
        if not has_nans:
            smallest, largest = float(chunk.min()), float(chunk.max())
            has_nans = math.isnan(smallest)  # a NaN is both
        if has_nans:
            smallest, largest = float(np.fmin.reduce(chunk)), float(np.fmax.reduce(chunk))
        if not (math.isfinite(smallest) and math.isfinite(largest)):
            has_infinities = has_infinities or math.isinf(smallest) or math.isinf(largest)
            finite, _ = replace_nonfinite(chunk)
            if not finite.size:
                continue
            smallest, largest = float(finite.min()), float(finite.max())
        low, high = min(low, smallest), max(high, largest)
    return (*((low, high) if low <= high else (0.0, 1.0)), has_nans, has_infinities)


def _count_elements(
    walk: Walk, edges: Edges, may_be_nan: bool, may_lie_outside: bool
) -> tuple[Counts, int]:
    """Count elements below, in each bin, and above; NaNs apart."""
    finder = BinFinder(edges, walk.elements.dtype, _PIECE)
    low, high = _choose_ends(edges, walk.elements.dtype)
    below = above = nans = 0
    moved_low = moved_high = 0
    # memory that is used again: to get new memory takes longer than to fill it
    flags, moved = np.empty(_PIECE, np.bool_), np.empty(_PIECE, low.dtype)
    for chunk in walk.chunks(_PIECE):
        size = chunk.size
        few = many = missing = 0
        holes = None
        if may_lie_outside:
            few = int(np.count_nonzero(np.less(chunk, low, out=flags[:size])))
            many = int(np.count_nonzero(np.greater(chunk, high, out=flags[:size])))
        if may_be_nan:
            holes = np.flatnonzero(np.isnan(chunk, out=flags[:size]))
            missing = holes.size
        below, above, nans = below + few, above + many, nans + missing
        if few + many + missing == size:  # perhaps the type has no number within the edges
            continue
        if few or many:
            if chunk.dtype == low.dtype:
                # counted at an end, and taken away again: faster than to leave them out
                chunk = np.clip(chunk, low, high, out=moved[:size])
                moved_low, moved_high = moved_low + few, moved_high + many
            else:
                chunk, holes = chunk[(chunk >= low) & (chunk <= high)], None
        finder.add(chunk, holes if missing else None)
    counts = finder.counts.copy()
    if moved_low or moved_high:
        counts[_find_bin(edges, low)] -= moved_low
        counts[_find_bin(edges, high)] -= moved_high
    return np.concatenate([[below], counts, [above]]), nans


def _find_bin(edges: Edges, number: Array) -> int:
    found = int(np.searchsorted(edges, float(number[0]), side="right")) - 1
    return min(found, edges.size - 2)


def _choose_ends(edges: Edges, dtype: np.dtype[Any]) -> tuple[Array, Array]:
    """Return the first and the last edge to compare elements with, as arrays of one element.

    Not scalars: numpy 1 would round those to the elements' type. Of float32 the first number
    from the first edge on and the last up to the last edge, which compare alike and faster.
    """
    low, high = edges[:1], edges[-1:]
    if dtype != np.float32:
        return low, high
    with np.errstate(over="ignore"):  # beyond float32 lies infinity, which is right
        inner = low.astype(np.float32), high.astype(np.float32)
    return (
        np.where(inner[0] < low, np.nextafter(inner[0], np.float32(np.inf)), inner[0]),
        np.where(inner[1] > high, np.nextafter(inner[1], np.float32(-np.inf)), inner[1]),
    )
