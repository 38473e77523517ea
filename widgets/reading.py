"""What the tensor panel reads: the counts behind a picture and statistics, of a part or of all."""

from __future__ import annotations

import dataclasses
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from netloupe.explorer.describe import Section, choose_elements, list_statistics
from netloupe.explorer.model import SparseTensor, Tensor
from netloupe.explorer.options import ThemeName
from netloupe.explorer.plots import (
    draw_channels,
    draw_frequencies,
    draw_histogram,
    find_ranges,
)
from netloupe.explorer.progress import part
from netloupe.explorer.quantization import Quantization, Saturation, measure_saturation
from netloupe.explorer.tensors import (
    ChannelHistogram,
    Elements,
    Histogram,
    Statistics,
    Walk,
    compute_channels,
    compute_histogram,
    compute_statistics,
    count_strings,
    open_elements,
    sample_elements,
    take_channel,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

TensorView = Literal["all", "channels", "channel", "scales"]

#: shares of the time that statistics, histogram and saturation take, roughly
_STATISTICS, _HISTOGRAM = 0.65, 0.85


@dataclass(frozen=True, slots=True)
class Question:
    """What is to be shown.

    Parameters
    ----------
    view
        ``all`` elements, the ``channels`` side by side, one ``channel``, or the ``scales``.
    axis, channel
        Where the view is of channels.
    bins
        Of the histogram.
    """

    view: TensorView = "all"
    axis: int = 0
    channel: int = 0
    bins: int = 64


@dataclass(frozen=True, slots=True)
class Reading:
    """What came of reading a tensor: the statistics, and what the picture shows.

    Parameters
    ----------
    statistics
        Of what is shown; with channels side by side, of all elements.
    section
        The statistics in words.
    counts
        What the picture shows; None where there is nothing to draw.
    quantization
        How what is shown is quantized.
    saturation
        How many elements the quantization cannot hold.
    is_sample
        Whether only a part of the elements was read.
    """

    tensor: Tensor | SparseTensor
    statistics: Statistics
    section: Section
    counts: Histogram | ChannelHistogram | Counter[str | bytes] | None
    quantization: Quantization | None
    saturation: Saturation | None
    is_sample: bool

    @property
    def has_overlay(self) -> bool:
        """Whether the picture has anything to draw for the quantization."""
        if self.quantization is None:
            return False
        if isinstance(self.counts, ChannelHistogram):
            return self.counts.ranges is not None
        if self.saturation is not None:
            return True
        found, dtype = self.quantization, self.tensor.dtype
        if dtype.is_integer:  # of the stored numbers only the zero point is one
            is_one = found.zero_point is not None and found.zero_point.size == 1
            return is_one and (dtype.numpy is None or found.describes(dtype.numpy))
        return found.real_range is not None

    def draw(self, ax: Axes, *, log: bool, overlay: bool, theme: ThemeName) -> None:
        """Draw the picture; ``overlay`` is whether the quantization is laid over it."""
        counts = self.counts
        if isinstance(counts, ChannelHistogram):
            if not overlay:
                counts = dataclasses.replace(counts, ranges=None, outside=None)
            draw_channels(ax, counts, theme)
        elif isinstance(counts, Histogram):
            over = (self.quantization, self.saturation) if overlay else (None, None)
            draw_histogram(ax, counts, self.tensor.dtype, log, *over, theme=theme)
        elif counts is not None:
            draw_frequencies(ax, counts, theme)


def look_at_tensor(
    whole: Tensor | SparseTensor,
    question: Question,
    quantization: Quantization | None = None,
    *,
    limit: int | None = None,
    known: Statistics | None = None,
) -> Reading:
    """Read a tensor, or a sample of it.

    Parameters
    ----------
    whole
        The tensor; of a huge sparse one the given elements are read.
    question
        What is to be shown.
    quantization
        How the tensor is quantized.
    limit
        Read about this many elements; None for all.
    known
        Its statistics, where they are computed already.

    Raises
    ------
    TensorDataError
        Where the elements cannot be given.
    ValueError
        For a channel that does not exist, and for more channels than can be counted.
    """
    tensor = choose_elements(whole)
    elements, dims = open_elements(tensor), tensor.dims
    which = "" if tensor is whole else "the given elements only"
    shown: tuple[int, ...] | None = dims
    if question.view == "channel":
        elements = take_channel(elements, dims, question.axis, question.channel)
        quantization = _choose_channel(quantization, dims, question)
        which, shown = f"channel {question.channel:,} of axis {question.axis}", None
    with part(0.0, _STATISTICS):
        statistics = known or compute_statistics(elements, limit=limit)
    done = 0.0 if known else _STATISTICS
    counts: Histogram | ChannelHistogram | Counter[str | bytes] | None = None
    saturation = None
    if elements.dtype == object:
        sample = elements if limit is None else sample_elements(elements, limit)
        with part(done, 1.0):
            counts = count_strings(Walk(sample))
    elif question.view == "channels":
        with part(done, 1.0):
            counts = _count_channels(elements, tensor, question, quantization, limit)
    elif elements.size > 1:
        with part(done, 1.0 if quantization is None else _HISTOGRAM):
            counts = compute_histogram(elements, question.bins, limit=limit)
        if quantization is not None:
            with part(_HISTOGRAM, 1.0):
                saturation = measure_saturation(elements, quantization, shown, limit=limit)
    section = list_statistics(statistics, elements, which)
    is_sample = limit is not None and elements.size > limit
    return Reading(tensor, statistics, section, counts, quantization, saturation, is_sample)


def _count_channels(
    elements: Elements,
    tensor: Tensor | SparseTensor,
    question: Question,
    quantization: Quantization | None,
    limit: int | None,
) -> ChannelHistogram:
    ranges = None
    if not tensor.dtype.is_integer:
        ranges = find_ranges(quantization, tensor.dims, question.axis)
    return compute_channels(
        elements,
        tensor.dims,
        question.axis,
        question.bins,
        ranges=ranges,
        limit=limit,
    )


def _choose_channel(
    quantization: Quantization | None, dims: tuple[int, ...], question: Question
) -> Quantization | None:
    """Return how one channel is quantized; None where that does not differ along this axis."""
    if quantization is None or quantization.granularity in ("per tensor", None):
        return quantization
    size = 0 if quantization.scale is None else quantization.scale.size
    if (
        quantization.granularity == "per block"
        or quantization.axis != question.axis
        or size != dims[question.axis]
    ):
        return None
    return quantization.channel(question.channel)
