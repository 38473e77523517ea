"""What the codes of a quantized weight are like: no float model is needed for it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from netloupe.explorer.tensors import Walk, list_blocks

from .quantized_elements import QuantizedElements
from .saturation import find_lowest_end

Numbers = npt.NDArray[np.float64]
Counts = npt.NDArray[np.int64]

#: elements looked at at once
PIECE = 2**17
_LARGEST_SIGNED = 127
#: so many codes beside an end are near it
_NEAR = 3
#: codes beyond so many are not counted one by one
_MOST_CODES = 2**16
#: below a sixteenth of the largest range a channel keeps half of eight bits or less
SMALL_SHARE = 16
#: a gap between codes is told where so many elements a code are there
_ELEMENTS_A_CODE = 8
#: a channel of fewer weights has some at the ends by chance
_LEAST_IN_CHANNEL = 32


@dataclass(frozen=True, slots=True)
class CodeFacts:
    """What the codes of a weight are like.

    Parameters
    ----------
    size
        How many codes there are.
    lowest, highest
        The ends of the range that codes may have.
    least, most
        The smallest and the largest code that occurs.
    distinct
        How many different codes occur.
    entropy
        Of the codes, in bits: ``-sum(p log2 p)``.
    at_lowest, at_highest
        How many codes lie at the ends of the range; where zero is in the middle of it also those at
        ``-(2^(b-1)) + 1``, which symmetric quantizers use as the lowest.
    zeros
        How many stand for 0.0.
    has_most_negative
        Whether the code ``-2^(b-1)`` occurs, which symmetric kernels may not expect.
    empty_between
        How many codes between the 5th and the 95th percentile do not occur; 0 where there are too
        few elements to tell.
    between
        How many codes lie between these percentiles.
    is_symmetric
        Whether every zero point is the middle of the range.
    scales
        How many scales there are.
    smallest_scale, largest_scale
        Of all scales.
    channels
        How many output channels there are; 0 where their axis is not known.
    disparity
        The largest range of a channel over the median: ``max r_c / median r_c``, ``r_c = max |w|``.
    small_channels
        How many channels have a range below a sixteenth of the largest; such of zeros do not count.
    mean_precision
        The mean of ``r_c / max r_c`` (Nagel et al. 2019, arXiv:1906.04721, 4.1), from 0 to 1.
    bits_left
        The bits that the channel with the smallest range has left: ``b - log2(max r / r_c)``.
    ended_channel, ended_share
        The channel with the largest share of codes at the ends, and this share; -1 and 0 where
        channels have too few weights to tell.
    ended_channels
        How many channels have more than 1 % of their codes, and more than three, at the ends.
    near_ends, near_share
        How many codes are among the three next to either end, and the share in the channel with the
        most at the ends: where these are as many, nothing was clipped.
    """

    size: int
    lowest: float
    highest: float
    least: float
    most: float
    distinct: int
    entropy: float
    at_lowest: int
    at_highest: int
    zeros: int
    has_most_negative: bool
    empty_between: int
    between: int
    is_symmetric: bool
    scales: int
    smallest_scale: float
    largest_scale: float
    channels: int
    disparity: float | None
    small_channels: int
    mean_precision: float | None
    bits_left: float | None
    ended_channel: int
    ended_share: float
    ended_channels: int
    near_ends: int
    near_share: float

    @property
    def used_span(self) -> float:
        """The share of the range between the smallest and the largest code: 0 to 1."""
        return (self.most - self.least + 1) / (self.highest - self.lowest + 1)

    @property
    def reach(self) -> float:
        """How far codes go from the middle, as a share of how far they can: 0 to 1.

        Where zero is not in the middle the same as the used span.
        """
        if not self.is_symmetric:
            return self.used_span
        middle = 0.0 if self.lowest < 0 else (self.lowest + self.highest + 1) / 2
        reached = max(self.most - middle, middle - self.least)
        return min(reached / (self.highest - middle), 1.0) if self.highest > middle else 1.0

    @property
    def effective_bits(self) -> float:
        """The binary logarithm of how many codes are used."""
        return float(np.log2(max(self.distinct, 1)))

    @property
    def ended(self) -> float:
        """The share of codes at either end of the range."""
        return (self.at_lowest + self.at_highest) / self.size if self.size else 0.0


@np.errstate(all="ignore")
def measure_codes(quantized: QuantizedElements, axis: int | None) -> CodeFacts | None:
    """Count the codes of a weight, read once in pieces.

    Parameters
    ----------
    quantized
        The weight.
    axis
        That of its output channels; None where it is not known.

    Returns
    -------
    CodeFacts or None
        None of a code book, of narrow floats, of more than 65,536 codes, and of no elements.
    """
    if quantized.lowest is None or quantized.highest is None or not quantized.codes.size:
        return None
    if quantized.highest - quantized.lowest >= _MOST_CODES:
        return None
    if quantized.codes.is_constant:  # one tells everything, and there may be more than fit anywhere
        counter = _Counter(quantized, None)
        counter.add(0, quantized.codes.take(0, 1), 0, (1, 1, 1), quantized.codes.size)
        return counter.finish()
    counter = _Counter(quantized, axis)
    dims, place = (quantized.dims, axis) if axis is not None else ((1, quantized.codes.size), 0)
    blocks = [*list_blocks(dims, place, PIECE)]
    pieces = Walk(quantized.codes).pieces(span for span, _ in blocks)
    for piece, ((start, _), (first, shape)) in zip(pieces, blocks, strict=True):
        counter.add(start, piece, first, shape)
    return counter.finish()


class _Counter:
    def __init__(self, quantized: QuantizedElements, axis: int | None) -> None:
        assert quantized.lowest is not None  # noqa: S101 - the caller has looked
        assert quantized.highest is not None  # noqa: S101
        self._quantized = quantized
        self._low, self._high = quantized.lowest, quantized.highest
        self._counts: Counts = np.zeros(int(self._high - self._low) + 1, np.int64)
        self._patterns: dict[str, Counts] = {}
        self._zeros = 0
        #: whether scales differ along the axis of the channels
        self._is_along = axis is not None and quantized.axis == axis
        self._channels = quantized.dims[axis] if axis is not None else 0
        count = max(self._channels, 1)
        self._ranges: Numbers = np.zeros(count)
        self._ended: Counts = np.zeros(count, np.int64)
        self._near: Counts = np.zeros(count, np.int64)
        self._sizes: Counts = np.zeros(count, np.int64)
        self._bottom = self._find_bottom()

    def _find_bottom(self) -> float:
        """Return the lowest code that a quantizer may use: -127 of a symmetric one."""
        is_symmetric = self._quantized.is_symmetric
        return find_lowest_end(self._low, self._high, is_symmetric=is_symmetric)

    def add(
        self,
        start: int,
        codes: npt.NDArray[Any],
        first: int,
        shape: tuple[int, int, int],
        times: int = 1,
    ) -> None:
        """Add codes of shape [outer, some channels, inner], from a place and a channel on."""
        if codes.dtype.itemsize == 1 and codes.dtype.kind not in "iu":
            codes = codes.astype(np.int16 if self._high > _LARGEST_SIGNED else np.int8)
        self._count(codes, times)
        quantized, rows, span = (
            self._quantized,
            slice(first, first + shape[1]),
            (start, start + codes.size),
        )
        block = codes.reshape(shape)
        ended = (block <= int(self._bottom)) | (block >= int(self._high))
        found = np.count_nonzero(ended, axis=(0, 2)) * times
        self._ended[rows] += found
        near = (block <= int(self._bottom) + _NEAR) | (block >= int(self._high) - _NEAR)
        self._near[rows] += np.count_nonzero(near, axis=(0, 2)) * times - found
        self._sizes[rows] += shape[0] * shape[2] * times
        reached = self._find_ranges(block, span, shape)
        np.fmax(self._ranges[rows], reached, out=self._ranges[rows])
        if quantized.zero_point.size > 1:
            zero = quantized.lay_out(quantized.zero_point, span, shape, self._is_along)
            self._zeros += int(np.count_nonzero(block == zero)) * times

    def _count(self, codes: npt.NDArray[Any], times: int) -> None:
        if codes.dtype.itemsize == 1:  # by their bit patterns, which is the fastest
            kind = str(codes.dtype)
            known = self._patterns.setdefault(kind, np.zeros(256, np.int64))
            known += np.bincount(codes.view(np.uint8), minlength=256) * times
            return
        places = np.rint(codes.astype(np.float64)) - self._low
        inside = (places >= 0) & (places < self._counts.size)
        if not inside.all():
            places = places[inside]
        self._counts += np.bincount(places.astype(np.intp), minlength=self._counts.size) * times

    def _add_patterns(self) -> None:
        """Count by code what was counted by bit pattern."""
        for kind, counts in self._patterns.items():
            codes = np.arange(256).astype(np.uint8).view(kind).astype(np.int64)
            places = codes - int(self._low)
            inside = (places >= 0) & (places < self._counts.size)
            np.add.at(self._counts, places[inside], counts[inside])
        self._patterns.clear()

    def _find_ranges(
        self, block: npt.NDArray[Any], span: tuple[int, int], shape: tuple[int, int, int]
    ) -> Numbers:
        """Return the largest magnitude of the real numbers of each channel of a piece."""
        quantized = self._quantized
        units = quantized.find_whole_blocks(*span)
        with np.errstate(all="ignore"):
            if quantized.units == 1 or (self._is_along and not quantized.block_size):
                low, high = block.min(axis=(0, 2)), block.max(axis=(0, 2))
                scale, zero = (
                    np.reshape(quantized.lay_out(each, span, shape, self._is_along), -1)
                    for each in (quantized.scale, quantized.zero_point)
                )
                return _reach(low, high, scale, zero)
            size = quantized.block_size or 1
            if units is not None and shape[2] % size == 0:
                blocks = block.reshape(-1, size)
                zero = (
                    quantized.zero_point
                    if quantized.zero_point.size == 1
                    else quantized.zero_point[units]
                )
                scale = quantized.scale if quantized.units == 1 else quantized.scale[units]
                found = _reach(blocks.min(axis=1), blocks.max(axis=1), scale, zero)
                return np.asarray(found.reshape(shape[0], shape[1], -1).max(axis=(0, 2)))
            scale, zero = (
                quantized.lay_out(each, span, shape, self._is_along)
                for each in (quantized.scale, quantized.zero_point)
            )
            return np.asarray(np.abs((block - zero) * scale).max(axis=(0, 2)))

    def finish(self) -> CodeFacts | None:
        self._add_patterns()
        counts, quantized = self._counts, self._quantized
        if quantized.zero_point.size == 1:
            place = float(quantized.zero_point[0]) - self._low
            if place.is_integer() and 0 <= place < counts.size:  # neither is so of NaN
                self._zeros = int(counts[int(place)])
        present = np.flatnonzero(counts)
        if not present.size:
            return None
        shares = counts[present] / counts.sum()
        empty, between = _find_gaps(counts)
        bottom = int(self._bottom - self._low) + 1
        ranges = self._ranges if self._channels else self._ranges[:0]
        ended_channel, ended_share, ended_channels = self._find_ended()
        used = ranges[np.isfinite(ranges) & (ranges > 0)]
        largest = float(used.max()) if used.size else 0.0
        bits = float(np.log2(self._high - self._low + 1))
        return CodeFacts(
            size=quantized.codes.size,
            lowest=self._low,
            highest=self._high,
            least=float(present[0] + self._low),
            most=float(present[-1] + self._low),
            distinct=int(present.size),
            entropy=float(-(shares * np.log2(shares)).sum()) + 0.0,
            at_lowest=int(counts[:bottom].sum()),
            at_highest=int(counts[-1]),
            zeros=self._zeros,
            has_most_negative=self._low < 0 and bool(counts[0]),
            empty_between=empty,
            between=between,
            is_symmetric=quantized.is_symmetric,
            scales=quantized.units,
            smallest_scale=float(quantized.scale.min(initial=np.inf)),
            largest_scale=float(quantized.scale.max(initial=-np.inf)),
            channels=self._channels,
            disparity=float(largest / np.median(used)) if used.size else None,
            small_channels=int(np.count_nonzero(used * SMALL_SHARE < largest)),
            mean_precision=float((used / largest).mean()) if used.size else None,
            bits_left=bits - float(np.log2(largest / used.min())) if used.size else None,
            ended_channel=ended_channel,
            ended_share=ended_share,
            ended_channels=ended_channels,
            near_ends=int(self._near.sum()),
            near_share=float(self._near[ended_channel] / self._sizes[ended_channel])
            if ended_channel >= 0
            else 0.0,
        )

    def _find_ended(self) -> tuple[int, float, int]:
        """Return the channel with the most codes at the ends, their share, and how many have."""
        if not self._channels or int(self._sizes.min()) < _LEAST_IN_CHANNEL:
            return -1, 0.0, 0
        shares = self._ended / self._sizes
        worst = int(shares.argmax())
        many = int(np.count_nonzero((shares > 0.01) & (self._ended > 3)))
        return worst, float(shares[worst]), many


@np.errstate(all="ignore")
def count_lost(quantized: QuantizedElements) -> int:
    """Return how many codes that do not stand for 0 have a scale of 0, so that they become it."""
    count = 0
    for start in range(0, quantized.codes.size, PIECE):
        stop = min(start + PIECE, quantized.codes.size)
        is_lost = np.asarray(quantized.spread(quantized.scale, start, stop) == 0)
        if is_lost.any():
            codes = quantized.codes.take(start, stop).astype(np.float64)
            zero = quantized.spread(quantized.zero_point, start, stop)
            count += int(np.count_nonzero(is_lost & (codes != zero)))
    return count


def _reach(low: npt.NDArray[Any], high: npt.NDArray[Any], scale: Numbers, zero: Numbers) -> Numbers:
    """Return the largest magnitude of s (q - z) between the lowest and the highest code."""
    far = np.maximum(np.abs(high - zero), np.abs(low - zero))
    return np.asarray(far * np.abs(scale))


def _find_gaps(counts: Counts) -> tuple[int, int]:
    """Return how many codes in the middle of a distribution do not occur, and how many may."""
    total = np.cumsum(counts)
    low, high = np.searchsorted(total, [0.05 * total[-1], 0.95 * total[-1]])
    middle = counts[int(low) : int(high) + 1]
    if middle.size < 3 or int(middle.sum()) < _ELEMENTS_A_CODE * middle.size:
        return 0, int(middle.size)
    return int(np.count_nonzero(middle == 0)), int(middle.size)
