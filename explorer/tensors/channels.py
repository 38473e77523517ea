"""Statistics and histograms of each channel: of each index along one axis of a tensor."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from netloupe.explorer.notation import write_count

from .bin_finder import BinFinder
from .elements import CHUNK, Elements, Walk, as_elements, measure_magnitudes
from .histogram import Counts, Edges, check_bins, choose_edges

Array = np.ndarray[Any, Any]
Numbers = npt.NDArray[np.float64]

#: the most counters, one for each bin of each channel (128 MB)
MAX_COUNTERS = 2**24
#: elements of a channel that stand side by side in a sample
_RUN = 1024
_GOLDEN = (5**0.5 - 1) / 2


@dataclass(frozen=True, slots=True, eq=False)
class ChannelHistogram:
    """How the elements of each channel are spread over the same row of intervals.

    Parameters
    ----------
    axis
        The axis along which the channels lie.
    edges
        The borders of the bins, float64, as of :class:`Histogram`.
    counts
        Finite elements of each channel in each bin, int64, shape [channels, bins].
    minimum, mean, maximum
        Over the finite elements of each channel, float64, shape [channels]; NaN where there
        are none. Integers beyond 2**53 are rounded.
    nonfinite
        Elements of each channel that are NaN or infinite, int64, shape [channels].
    outside
        Elements of each channel outside the range given for it, int64, shape [channels],
        infinite ones included; None where no ranges were given.
    size
        Elements of each channel.
    ranges
        The lowest and the highest number given for each channel, float64, shape [channels].
    is_sample
        Whether only some elements of each channel were counted; ``size`` is then their number.
    """

    axis: int
    edges: Edges
    counts: Counts
    minimum: Numbers
    mean: Numbers
    maximum: Numbers
    nonfinite: Counts
    outside: Counts | None
    size: int
    ranges: tuple[Numbers, Numbers] | None = None
    is_sample: bool = False

    def __repr__(self) -> str:
        channels, bins = self.counts.shape
        return (
            f"<ChannelHistogram: {'a sample of ' if self.is_sample else ''}"
            f"{write_count(channels, 'channel')} of "
            f"{write_count(self.size, 'element')} along axis {self.axis} "
            f"in {write_count(bins, 'bin')}>"
        )


def choose_axis(dims: tuple[int, ...], axis: int) -> int:
    """Return an axis counted from the front.

    Raises
    ------
    ValueError
        Where the dimensions have no such axis.
    """
    if not -len(dims) <= axis < len(dims):
        raise ValueError(f"a tensor of {len(dims)} dimensions has no axis {axis}")
    return axis % len(dims)


def take_channel(
    given: Array | Elements, dims: tuple[int, ...], axis: int, channel: int
) -> Elements:
    """Return the elements of one index along an axis, in row-major order.

    Raises
    ------
    ValueError
        Where there is no such axis or channel.
    """
    elements, axis = as_elements(given), choose_axis(dims, axis)
    if not 0 <= channel < dims[axis]:
        raise ValueError(f"axis {axis} has {dims[axis]} channels, and no channel {channel}")
    outer, inner = math.prod(dims[:axis]), math.prod(dims[axis + 1 :])
    if outer == 1:  # they stand side by side
        first = channel * inner
        return Elements(
            elements.dtype,
            inner,
            lambda start, stop: elements.take(first + start, first + stop),
        )
    spans, shapes = zip(*list_blocks(dims, axis, CHUNK), strict=True) if inner else ((), ())
    pieces = []
    for piece, (begin, shape) in zip(Walk(elements).pieces(spans), shapes, strict=True):
        if begin <= channel < begin + shape[1]:
            pieces.append(piece.reshape(shape)[:, channel - begin].reshape(-1))
    return as_elements(np.concatenate(pieces) if pieces else elements.take(0, 0))


def sample_channels(
    elements: Elements, dims: tuple[int, ...], axis: int, limit: int
) -> tuple[Elements, tuple[int, int, int]]:
    """Return about ``limit`` elements, as many of every channel, and their shape.

    Of each channel at least one is taken: of more channels than ``limit``, so many more.

    Returns
    -------
    Elements
        In runs of neighbours, so that a file is read in few places.
    tuple
        The shape [outer, channels, inner]: the channels lie along axis 1.
    """
    axis = choose_axis(dims, axis)
    outer, channels, inner = math.prod(dims[:axis]), dims[axis], math.prod(dims[axis + 1 :])
    row = channels * inner
    if elements.size <= limit:
        return elements, (outer, channels, inner)
    if row <= limit:  # some places of the axes before, with all that lies behind them
        places, width = limit // row, inner
    else:
        each = max(limit // channels, 1)
        places = min(outer, max(each // _RUN, 1))
        width = min(inner, max(each // places, 1))
    starts = np.linspace(0, outer - 1, places).astype(np.int64).tolist()
    if width == inner:
        pieces = [elements.take(place * row, (place + 1) * row) for place in starts]
    else:
        # each channel somewhere else: what repeats along the inner axes is not mistaken for all
        shifts = (np.arange(channels) * _GOLDEN % 1 * (inner - width)).astype(np.int64).tolist()
        pieces = []
        for place in starts:
            for channel, shift in enumerate(shifts):
                start = place * row + channel * inner + shift
                pieces.append(elements.take(start, start + width))
    return as_elements(np.concatenate(pieces)), (places, channels, width)


@np.errstate(over="ignore", invalid="ignore")
def compute_channels(
    given: Array | Elements,
    dims: tuple[int, ...],
    axis: int,
    bins: int = 64,
    value_range: tuple[float, float] | None = None,
    *,
    ranges: tuple[Array, Array] | None = None,
    limit: int | None = None,
) -> ChannelHistogram:
    """Count the elements of each channel in the same intervals of equal width.

    Parameters
    ----------
    given
        An array, or the elements of a tensor piece by piece; complex numbers by magnitude.
    dims
        The shape.
    axis
        The axis along which the channels lie; from the back where it is negative.
    bins, value_range
        As for :func:`compute_histogram`.
    ranges
        The lowest and the highest number that each channel should hold, each of shape
        [channels]; elements outside are counted.
    limit
        Count about this many elements only, as many of every channel; None for all of them.

    Returns
    -------
    ChannelHistogram

    Raises
    ------
    ValueError
        For strings, an axis that does not exist, a number of bins out of range, or more than
        2**24 counters.
    """
    check_bins(bins, value_range)
    elements, axis = as_elements(given), choose_axis(dims, axis)
    if elements.dtype.kind in "OSU":
        raise ValueError("strings have no histogram")
    if elements.dtype.kind == "c":
        elements = measure_magnitudes(elements)
    channels = dims[axis]
    if channels * bins > MAX_COUNTERS:
        raise ValueError(
            f"{channels} channels of {bins} bins need more than {MAX_COUNTERS} counters; "
            "take fewer bins or another axis"
        )
    is_sample = limit is not None and elements.size > limit
    place = axis
    if limit is not None and is_sample:
        elements, dims = sample_channels(elements, dims, axis, limit)
        place = 1
    walk = Walk(elements, 2)
    spread = _Spread(channels, ranges)
    for first, block in _walk_blocks(walk, dims, place, CHUNK):
        spread.add(first, block)
    extent = spread.extent
    if elements.dtype.kind == "b":
        extent = (0.0, 1.0)
    edges = choose_edges(extent, bins, value_range, elements.is_integer)
    bins = edges.size - 1
    counts = np.zeros((channels, bins), np.int64)
    finder = BinFinder(edges, np.dtype(np.float64))
    for first, block in _walk_blocks(walk, dims, place, CHUNK):
        some = block.shape[1]
        rows = np.broadcast_to(np.arange(some)[:, None] * bins, block.shape).reshape(-1)
        flat = block.reshape(-1)
        inside = (flat >= edges[0]) & (flat <= edges[-1])
        if not inside.all():
            flat, rows = flat[inside], rows[inside]
        slots = rows + finder.find(flat)
        if some * bins > 4 * flat.size:  # many more counters than elements
            np.add.at(counts.reshape(-1), slots + first * bins, 1)
        else:
            found = np.bincount(slots, minlength=some * bins)
            counts[first : first + some] += found.reshape(some, bins)
    walk.finish()
    return ChannelHistogram(
        axis,
        edges,
        counts,
        spread.minimum,
        spread.mean,
        spread.maximum,
        spread.nonfinite,
        spread.outside,
        elements.size // channels if channels else 0,
        spread.ranges,
        is_sample,
    )


class _Spread:
    """Minimum, mean and maximum of each channel, block after block."""

    def __init__(self, channels: int, ranges: tuple[Array, Array] | None) -> None:
        self._low = np.full(channels, np.inf)
        self._high = np.full(channels, -np.inf)
        self._seen = np.zeros(channels, np.int64)
        self._mean = np.zeros(channels)
        self.nonfinite = np.zeros(channels, np.int64)
        self.outside = None if ranges is None else np.zeros(channels, np.int64)
        self._ranges: list[Numbers] = []
        for ends in ranges or ():
            spread = np.broadcast_to(np.asarray(ends, np.float64).reshape(-1), channels)
            self._ranges.append(spread)

    def add(self, first: int, block: Numbers) -> None:
        """Add a block of shape [outer, some channels, inner]."""
        rows = slice(first, first + block.shape[1])
        if self.outside is not None:
            low, high = (ends[rows].reshape(1, -1, 1) for ends in self._ranges)
            self.outside[rows] += ((block < low) | (block > high)).sum(axis=(0, 2))
        finite = np.isfinite(block)
        size = block.shape[0] * block.shape[2]
        if finite.all():
            count: Any = size
            low, high, total = block.min((0, 2)), block.max((0, 2)), block.sum((0, 2))
        else:
            count = finite.sum(axis=(0, 2))
            self.nonfinite[rows] += size - count
            low = block.min((0, 2), initial=np.inf, where=finite)
            high = block.max((0, 2), initial=-np.inf, where=finite)
            total = block.sum((0, 2), where=finite)
        np.minimum(self._low[rows], low, out=self._low[rows])
        np.maximum(self._high[rows], high, out=self._high[rows])
        joined = self._seen[rows] + count
        # means of two sets joined; no sum over all elements, which might overflow
        step = (total / np.maximum(count, 1) - self._mean[rows]) * count / np.maximum(joined, 1)
        self._mean[rows] += step
        self._seen[rows] = joined

    @property
    def ranges(self) -> tuple[Numbers, Numbers] | None:
        """The lowest and the highest number given for each channel."""
        return (self._ranges[0], self._ranges[1]) if self._ranges else None

    @property
    def extent(self) -> tuple[float, float]:
        """The range of all finite elements; of none, 0 to 1."""
        if not self._seen.any():
            return 0.0, 1.0
        return float(self._low.min()), float(self._high.max())

    @property
    def minimum(self) -> Numbers:
        """NaN where a channel has no finite element."""
        return np.where(self._seen > 0, self._low, np.nan)

    @property
    def maximum(self) -> Numbers:
        """NaN where a channel has no finite element."""
        return np.where(self._seen > 0, self._high, np.nan)

    @property
    def mean(self) -> Numbers:
        """NaN where a channel has no finite element."""
        return np.where(self._seen > 0, self._mean, np.nan)


def _walk_blocks(
    walk: Walk, dims: tuple[int, ...], axis: int, size: int
) -> Iterator[tuple[int, Numbers]]:
    """Yield blocks [outer, some channels, inner] as float64, each with its first channel."""
    if not math.prod(dims):
        return
    blocks = list(list_blocks(dims, axis, size))
    pieces = walk.pieces(span for span, _ in blocks)
    for piece, (_, (first, shape)) in zip(pieces, blocks, strict=True):
        yield first, piece.astype(np.float64).reshape(shape)


def list_blocks(
    dims: tuple[int, ...], axis: int, size: int
) -> Iterator[tuple[tuple[int, int], tuple[int, tuple[int, int, int]]]]:
    """Yield spans of at most ``size`` elements: whole rows of channels, whole channels, or parts.

    Each with its first channel and its shape [outer, channels, inner].
    """
    outer, channels, inner = math.prod(dims[:axis]), dims[axis], math.prod(dims[axis + 1 :])
    row = channels * inner
    if row <= size:
        step = size // row
        for start in range(0, outer, step):
            some = min(step, outer - start)
            yield (start * row, (start + some) * row), (0, (some, channels, inner))
        return
    step = max(size // inner, 1)
    width = min(inner, size)
    for place in range(outer):
        for first in range(0, channels, step):
            some = min(step, channels - first)
            for begin in range(0, inner, width):
                start = place * row + first * inner + begin
                length = min(width, inner - begin)
                yield (start, start + some * length), (first, (1, some, length))
