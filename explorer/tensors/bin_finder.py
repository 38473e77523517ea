"""Find the bin of each of many numbers, exactly and at the speed of a few multiplications."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from .elements import CHUNK

Array = np.ndarray[Any, Any]

#: up to so many bins two elements are counted at a time, with a counter for each pair of bins
_MOST_PAIRED = 128
_PAIR_STEP = 256  # of a pair of bytes the second counts so much
#: of this share of elements near an edge on, every element is compared with an edge
_DENSE = 1 / 32


class BinFinder:
    """Finds bins by one multiplication; elements too near an edge are compared with it.

    Parameters
    ----------
    edges
        Ascending, float64, equally far apart but for rounding. A bin holds its lower border
        and not its upper one, except the last, which holds both.
    dtype
        Of the elements.

    Notes
    -----
    Scaling alone is fast, but rounds: an element may come out one bin off next to an edge.
    ``tolerance`` bounds that error in units of bins. An element whose bin is the same with the
    tolerance added and taken away is in that bin; the few others are compared with the edge.
    Outside the first and last quarter of a bin nothing has to be told apart: elements there
    are moved inwards first, so that the many elements of a rectified or clipped tensor that
    lie on an end cost nothing more.
    """

    def __init__(self, edges: npt.NDArray[np.float64], dtype: np.dtype[Any]) -> None:
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
        tolerance = bins * precision + magnitude * 2.0**-49 * float(self._scale) if usable else 1.0
        self._is_exact_only = tolerance > 0.25
        self._tolerance = self._work.type(min(tolerance, 0.25))
        self._bounds = self._work.type(0.25), self._work.type(bins - 0.25)
        self._scaled = np.empty(CHUNK, self._work)
        self._is_near = np.empty(CHUNK, np.bool_)
        self._is_paired = bins <= _MOST_PAIRED
        # bytes, where they hold every bin, are written and compared the fastest
        self._slots = np.empty(CHUNK, np.uint8 if self._is_paired else np.int32)
        self._lower = np.empty_like(self._slots)
        self._wide = np.empty(CHUNK // 2, np.intp)
        self._table = np.zeros(bins * (_PAIR_STEP if self._is_paired else 1), np.int64)
        self._odd = np.zeros(bins, np.int64)  # elements without a pair, less what is no element

    @property
    def counts(self) -> npt.NDArray[np.int64]:
        """How many of the elements added so far lie in each bin."""
        if not self._is_paired:
            return self._table + self._odd
        bins = self._edges.size - 1
        pairs = self._table.reshape(bins, _PAIR_STEP)[:, :bins]
        counts: npt.NDArray[np.int64] = pairs.sum(axis=0) + pairs.sum(axis=1) + self._odd
        return counts

    def add(self, chunk: Array, holes: npt.NDArray[np.intp] | None = None) -> None:
        """Count at most ``CHUNK`` elements that all lie within the edges.

        ``holes`` are the places of NaNs among them, which are not counted.
        """
        bins = self._edges.size - 1
        slots = self.find(chunk, holes)
        if holes is not None:
            self._odd[0] -= holes.size
        if not self._is_paired:
            self._table += np.bincount(slots, minlength=bins)
            return
        half = chunk.size // 2
        if chunk.size % 2:
            self._odd[slots[-1]] += 1
        # counting waits for memory: a pair of bins takes as long as one, and equal elements in
        # a row, for which the counter would be busy, half as long
        pairs = self._wide[:half]
        np.copyto(pairs, slots[: 2 * half].view(np.uint16))
        self._table += np.bincount(pairs, minlength=self._table.size)

    def find(
        self, chunk: Array, holes: npt.NDArray[np.intp] | None = None
    ) -> npt.NDArray[np.uint8 | np.int32]:
        """Return the bins of at most ``CHUNK`` elements that all lie within the edges.

        Of NaNs, whose places are the ``holes``, it is the first. The result is valid until the
        next call.
        """
        size, edges = chunk.size, self._edges
        slots: npt.NDArray[Any] = self._slots[:size]
        if self._is_exact_only:
            found = np.searchsorted(edges, chunk, side="right") - 1
            if holes is not None:
                found[holes] = 0
            np.copyto(slots, np.minimum(found, edges.size - 2), casting="unsafe")
            return slots
        scaled, lower, is_near = self._scaled[:size], self._lower[:size], self._is_near[:size]
        np.subtract(chunk, self._low, out=scaled, dtype=self._work)
        np.multiply(scaled, self._scale, out=scaled)
        np.clip(scaled, *self._bounds, out=scaled)
        if holes is not None:
            scaled[holes] = self._bounds[0]
        np.subtract(scaled, self._tolerance, out=scaled)
        np.copyto(lower, scaled, casting="unsafe")
        np.add(scaled, 2 * self._tolerance, out=scaled)
        np.copyto(slots, scaled, casting="unsafe")
        np.not_equal(slots, lower, out=is_near)
        count = np.count_nonzero(is_near)
        if count >= size * _DENSE:
            np.subtract(slots, chunk < edges[slots], out=slots)
        elif count:
            positions = np.flatnonzero(is_near)
            near = slots[positions]
            slots[positions] = near - (chunk[positions] < edges[near])
        return slots
