"""Find the bin of each of many numbers, exactly and at the speed of a few multiplications."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from .elements import CHUNK

Array = np.ndarray[Any, Any]

#: up to so many bins two elements are counted at a time, with a counter for each pair of bins
_MOST_PAIRED = 128
#: of this share of elements near an edge on, every element is compared with an edge
_DENSE = 1 / 32
#: float32 is twice as fast as float64, where a bin has at least so many slices in it
_SINGLE_SLICES = 256


class BinFinder:
    """Finds bins by one multiplication; elements too near an edge are compared with it.

    Parameters
    ----------
    edges
        Ascending, float64, equally far apart but for rounding. A bin holds its lower border
        and not its upper one, except the last, which holds both.
    dtype
        Of the elements.
    most
        How many elements are given at a time, at most.

    Notes
    -----
    Scaling alone is fast, but rounds: an element may come out one bin off next to an edge. So
    it is scaled to slices, of which ``2**_shift`` make a bin: as many as hold a scaled element
    to half a slice. Each edge is in the middle of a slice, whose elements are compared with
    it; every other element is in the bin of its slice. Nothing has to be told apart at the two
    ends: elements there are moved inwards first, so that the many elements of a rectified or
    clipped tensor that lie on an end cost nothing more.
    """

    def __init__(
        self, edges: npt.NDArray[np.float64], dtype: np.dtype[Any], most: int = CHUNK
    ) -> None:
        self._edges = edges
        bins = edges.size - 1
        low, high = float(edges[0]), float(edges[-1])
        span, magnitude = high / 2 - low / 2, max(abs(low), abs(high))
        usable = 1e-290 < span < 8e307
        scale = bins / (2 * span) if usable else 0.0
        self._is_paired = bins <= _MOST_PAIRED
        # 16 bits, where they hold every slice, are compared and moved the fastest
        self._type: np.dtype[Any] = np.dtype(np.uint16 if self._is_paired else np.int32)
        # the product, the offset and their sum are rounded, and the scale: at most so many bins
        single, double = magnitude * scale * 2.0**-21, magnitude * scale * 2.0**-48
        is_single = (
            dtype == np.float32
            and 1e-30 < span < 1e30
            and magnitude < 1e38
            and single * _SINGLE_SLICES <= 0.5
        )
        self._work = np.dtype(np.float32 if is_single else np.float64)
        tolerance = single if is_single else double
        self._is_exact_only = not usable or tolerance > 0.25
        most_slices = (2**16 if self._is_paired else 2**31) // (bins + 1)
        slices = min(0.5 / max(min(tolerance, 0.25), 2.0**-48), most_slices)
        self._shift = int(slices).bit_length() - 1
        self._scale = self._work.type(scale * 2**self._shift)
        self._offset = self._work.type(0.5 - low * (scale * 2**self._shift))
        self._bounds = 1, (bins << self._shift) - 1
        self._scaled = np.empty(most, self._work)
        self._slots, self._places = np.empty((2, most), self._type)
        self._is_near = np.empty(most, np.bool_)
        self._pairs, self._wide = np.empty(most // 2, np.uint32), np.empty(most // 2, np.intp)
        self._table = np.zeros(bins**2 if self._is_paired else bins, np.int64)
        self._odd = np.zeros(bins, np.int64)  # elements without a pair, less what is no element

    @property
    def counts(self) -> npt.NDArray[np.int64]:
        """How many of the elements added so far lie in each bin."""
        if not self._is_paired:
            return self._table + self._odd
        bins = self._edges.size - 1
        pairs = self._table.reshape(bins, bins)
        counts: npt.NDArray[np.int64] = pairs.sum(axis=0) + pairs.sum(axis=1) + self._odd
        return counts

    def add(self, chunk: Array, holes: npt.NDArray[np.intp] | None = None) -> None:
        """Count at most ``most`` elements that all lie within the edges.

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
        two, pairs, wide = slots[: 2 * half].view(np.uint32), self._pairs[:half], self._wide[:half]
        # the upper half counts 65,536 bins: made to count ``bins``, so that counters lie close
        np.right_shift(two, np.uint32(16), out=pairs)
        np.multiply(pairs, np.uint32(2**16 - bins), out=pairs)
        np.subtract(two, pairs, out=pairs)
        np.copyto(wide, pairs)
        self._table += np.bincount(wide, minlength=self._table.size)

    def find(
        self, chunk: Array, holes: npt.NDArray[np.intp] | None = None
    ) -> npt.NDArray[np.uint16 | np.int32]:
        """Return the bins of at most ``most`` elements that all lie within the edges.

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
        scaled, places, is_near = self._scaled[:size], self._places[:size], self._is_near[:size]
        number = self._type.type
        np.multiply(chunk, self._scale, out=scaled, dtype=self._work)
        np.add(scaled, self._offset, out=scaled)
        np.copyto(slots, scaled, casting="unsafe")
        np.clip(slots, number(self._bounds[0]), number(self._bounds[1]), out=slots)
        if holes is not None:
            slots[holes] = self._bounds[0]
        np.bitwise_and(slots, number(2**self._shift - 1), out=places)
        np.equal(places, number(0), out=is_near)
        np.right_shift(slots, number(self._shift), out=slots)
        positions = np.flatnonzero(is_near)
        if positions.size >= size * _DENSE:
            np.subtract(slots, chunk < edges[slots], out=slots)
        elif positions.size:
            near = slots[positions]
            slots[positions] = near - (chunk[positions] < edges[near])
        return slots
