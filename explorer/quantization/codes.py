"""What the codes of a quantized weight are like: no float model is needed for it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from netloupe.explorer.tensors import Walk, list_blocks

from .opened import OpenedWeight

Numbers = npt.NDArray[np.float64]
Counts = npt.NDArray[np.int64]

#: elements looked at at once
PIECE = 2**18
#: codes beyond so many are not counted one by one
_MOST_CODES = 2**16
#: below a sixteenth of the largest range a channel keeps half of eight bits or less
SMALL_SHARE = 16
#: a gap between codes is told where so many elements a code are there
_ELEMENTS_A_CODE = 64
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
        Of the codes, in bits: -sum(p log2 p).
    at_lowest, at_highest
        How many codes lie at the ends of the range; where zero is in the middle of it also those at
        -(2^(b-1)) + 1, which symmetric quantizers use as the lowest.
    zeros
        How many stand for 0.0.
    has_most_negative
        Whether the code -2^(b-1) occurs, which symmetric kernels may not expect.
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
        The largest range of a channel over the median: max r_c / median r_c, r_c = max |w|.
    small_channels
        How many channels have a range below a sixteenth of the largest; such of zeros do not count.
    mean_precision
        The mean of r_c / max r_c (Nagel et al. 2019, arXiv:1906.04721, 4.1), from 0 to 1.
    bits_left
        The bits that the channel with the smallest range has left: b - log2(max r / r_c).
    ended_channel, ended_share
        The channel with the largest share of codes at the ends, and this share; -1 and 0 where
        channels have too few weights to tell.
    ended_channels
        How many channels have more than 1 % of their codes, and more than three, at the ends.
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


def measure_codes(opened: OpenedWeight, axis: int | None) -> CodeFacts | None:
    """Count the codes of a weight, read once in pieces.

    Parameters
    ----------
    opened
        The weight.
    axis
        That of its output channels; None where it is not known.

    Returns
    -------
    CodeFacts or None
        None of a code book, of narrow floats, of more than 65,536 codes, and of no elements.
    """
    if opened.lowest is None or opened.highest is None or not opened.codes.size:
        return None
    if opened.highest - opened.lowest >= _MOST_CODES:
        return None
    counter = _Counter(opened, axis)
    if opened.codes.is_constant:
        counter.add(0, opened.codes.take(0, 1), 0, (1, 1, 1), opened.codes.size)
        return counter.finish()
    dims, place = (opened.dims, axis) if axis is not None else ((1, opened.codes.size), 0)
    blocks = [*list_blocks(dims, place, PIECE)]
    pieces = Walk(opened.codes).pieces(span for span, _ in blocks)
    for piece, ((start, _), (first, shape)) in zip(pieces, blocks, strict=True):
        counter.add(start, piece, first, shape)
    return counter.finish()


class _Counter:
    def __init__(self, opened: OpenedWeight, axis: int | None) -> None:
        assert opened.lowest is not None  # noqa: S101 - the caller has looked
        assert opened.highest is not None  # noqa: S101
        self._opened = opened
        self._low, self._high = opened.lowest, opened.highest
        self._counts: Counts = np.zeros(int(self._high - self._low) + 1, np.int64)
        self._beyond = 0
        self._zeros = 0
        self._channels = opened.dims[axis] if axis is not None else 0
        count = max(self._channels, 1)
        self._ranges: Numbers = np.zeros(count)
        self._ended: Counts = np.zeros(count, np.int64)
        self._sizes: Counts = np.zeros(count, np.int64)
        self._bottom = self._find_bottom()

    def _find_bottom(self) -> float:
        """Return the lowest code that a quantizer may use: -127 of a symmetric one."""
        return self._low + (self._opened.is_symmetric and self._high - self._low > 1)

    def add(
        self,
        start: int,
        codes: npt.NDArray[Any],
        first: int,
        shape: tuple[int, int, int],
        times: int = 1,
    ) -> None:
        """Add codes of shape [outer, some channels, inner], from a place and a channel on."""
        opened, stop = self._opened, start + codes.size
        whole = codes.astype(np.float64)
        places = whole - self._low
        inside = (places >= 0) & (places < self._counts.size)
        if not inside.all():
            self._beyond += int(inside.size - np.count_nonzero(inside)) * times
            places = places[inside]
        self._counts += np.bincount(places.astype(np.intp), minlength=self._counts.size) * times
        with np.errstate(all="ignore"):
            centred = whole - opened.spread(opened.zero_point, start, stop)
            self._zeros += int(np.count_nonzero(centred == 0)) * times
            real = np.abs(centred * opened.spread(opened.scale, start, stop)).reshape(shape)
        rows = slice(first, first + shape[1])
        ended = ((whole <= self._bottom) | (whole >= self._high)).reshape(shape)
        self._ended[rows] += np.count_nonzero(ended, axis=(0, 2)) * times
        self._sizes[rows] += shape[0] * shape[2] * times
        np.fmax(self._ranges[rows], real.max(axis=(0, 2)), out=self._ranges[rows])

    def finish(self) -> CodeFacts | None:
        counts, opened = self._counts, self._opened
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
            size=opened.codes.size,
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
            is_symmetric=opened.is_symmetric,
            scales=opened.units,
            smallest_scale=float(opened.scale.min(initial=np.inf)),
            largest_scale=float(opened.scale.max(initial=-np.inf)),
            channels=self._channels,
            disparity=float(largest / np.median(used)) if used.size else None,
            small_channels=int(np.count_nonzero(used * SMALL_SHARE < largest)),
            mean_precision=float((used / largest).mean()) if used.size else None,
            bits_left=bits - float(np.log2(largest / used.min())) if used.size else None,
            ended_channel=ended_channel,
            ended_share=ended_share,
            ended_channels=ended_channels,
        )

    def _find_ended(self) -> tuple[int, float, int]:
        """Return the channel with the most codes at the ends, their share, and how many have."""
        if not self._channels or int(self._sizes.min()) < _LEAST_IN_CHANNEL:
            return -1, 0.0, 0
        shares = self._ended / self._sizes
        worst = int(shares.argmax())
        many = int(np.count_nonzero((shares > 0.01) & (self._ended > 3)))
        return worst, float(shares[worst]), many


def _find_gaps(counts: Counts) -> tuple[int, int]:
    """Return how many codes in the middle of a distribution do not occur, and how many may."""
    total = np.cumsum(counts)
    low, high = np.searchsorted(total, [0.05 * total[-1], 0.95 * total[-1]])
    middle = counts[int(low) : int(high) + 1]
    if middle.size < 3 or int(middle.sum()) < _ELEMENTS_A_CODE * middle.size:
        return 0, int(middle.size)
    return int(np.count_nonzero(middle == 0)), int(middle.size)
