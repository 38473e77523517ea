"""Draw a tensor's histogram, with the quantization grid over it; of strings, the commonest."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import numpy as np

from netloupe.explorer.options import ThemeName
from netloupe.explorer.quantization import Saturation, measure_saturation
from netloupe.explorer.tensors.counting import count_strings
from netloupe.explorer.tensors.decode import open_elements
from netloupe.explorer.tensors.elements import Elements, Walk, sample_elements
from netloupe.explorer.tensors.histogram import Histogram, compute_histogram

from .histogram_words import HistogramOverlay, choose_extent, describe_rest, lay_over, name_values
from .plot_frame import COLOURS, add_note, choose_unit, make_axes, style_axes

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from netloupe.explorer.model import DataType, SparseTensor, Tensor
    from netloupe.explorer.quantization import Quantization

_MAX_STRINGS = 20
_ROW_POINTS = 12.0
_MAX_LABEL = 28


def plot_histogram(
    tensor: Tensor | SparseTensor,
    ax: Axes | None = None,
    bins: int = 64,
    log: bool = False,
    quantization: Quantization | None = None,
    theme: ThemeName = "light",
    *,
    elements: Elements | None = None,
    limit: int | None = None,
) -> Axes:
    """Draw the histogram of a tensor; of strings, the most frequent ones as bars.

    Parameters
    ----------
    tensor
        What to draw; its elements are decoded.
    ax
        Where to draw; None makes a figure of its own, reached as ``ax.figure``.
    bins
        Number of bins, as for :func:`compute_histogram`.
    log
        Whether counts are drawn on a logarithmic scale.
    quantization
        Marks the real range as a band, and each level as a line where at most 64 are in
        view, else says the step; on the stored integers themselves, the zero point. Says
        which share of the elements lies outside the range, or at its ends.
    theme
        ``light`` or ``dark``.
    elements
        Look at these instead of all of the tensor: one of its channels.
    limit
        Look at about this many elements only, and say so in the picture.

    Returns
    -------
    matplotlib.axes.Axes

    Raises
    ------
    TensorDataError
        Where the elements cannot be decoded.
    """
    if ax is None:
        ax = make_axes(theme)
    is_whole = elements is None
    if elements is None:
        elements = open_elements(tensor)
    if elements.dtype == object:
        if limit is not None:
            elements = sample_elements(elements, limit)
        return draw_frequencies(ax, count_strings(Walk(elements)), theme)
    saturation = None
    if quantization is not None:
        dims = tensor.dims if is_whole else None
        saturation = measure_saturation(elements, quantization, dims, limit=limit)
    histogram = compute_histogram(elements, bins, limit=limit)
    return draw_histogram(ax, histogram, tensor.dtype, log, quantization, saturation, theme)


def draw_histogram(
    ax: Axes,
    histogram: Histogram,
    dtype: DataType,
    log: bool = False,
    quantization: Quantization | None = None,
    saturation: Saturation | None = None,
    theme: ThemeName = "light",
) -> Axes:
    """Draw a histogram that is counted already, and return the axes.

    Parameters
    ----------
    ax
        Where to draw.
    histogram
        What to draw.
    dtype
        The element type of the tensor.
    log, quantization, theme
        As for :func:`plot_histogram`.
    saturation
        How many elements lie outside the real range or at its ends.
    """
    colours = COLOURS[theme]
    unit = choose_unit(histogram.edges)
    _draw_bars(ax, histogram, unit, colours)
    notes = []
    if quantization is not None and unit == 1:
        overlay = lay_over(quantization, dtype, choose_extent(histogram.edges))
        if overlay is not None:
            _draw_overlay(ax, overlay, colours)
            notes = [overlay.note] if overlay.note else []
    if saturation is not None:
        notes.append(saturation.describe())
    ax.set_xlabel(name_values(dtype, unit))
    ax.set_ylabel("count")
    if log:
        ax.set_yscale("log")
        ax.set_ylim(bottom=0.7)
    rest = describe_rest(histogram)
    if rest:
        add_note(ax, rest, colours["quantization"] if histogram.nans else colours["quiet"])
    if notes:
        add_note(ax, " · ".join(notes), colours["quantization"], "left", int(bool(rest)))
    _choose_ticks(ax, dtype, histogram, log, colours)
    style_axes(ax, colours)
    return ax


def _draw_bars(ax: Axes, histogram: Histogram, unit: float, colours: dict[str, str]) -> None:
    edges, counts = histogram.edges / unit, histogram.counts
    widths = np.diff(edges)
    # a hairline between bars, narrow enough to vanish where there are many
    gap = 0.08 if counts.size <= 100 else 0.0
    ax.bar(
        edges[:-1] + widths * gap / 2,
        counts,
        width=widths * (1 - gap),
        align="edge",
        color=colours["bar"],
        linewidth=0,
    )
    ax.set_xlim(*choose_extent(edges))
    if not counts.any():
        ax.set_ylim(0, 1)
        ax.set_yticks([])


def _draw_overlay(ax: Axes, overlay: HistogramOverlay, colours: dict[str, str]) -> None:
    colour = colours["quantization"]
    left, right = overlay.extent
    if overlay.zero_point is not None:
        ax.axvline(overlay.zero_point, color=colour, linewidth=1.0)
        return
    if overlay.band is None:
        ax.vlines(
            overlay.levels,
            0,
            1,
            transform=ax.get_xaxis_transform(),
            color=colour,
            linewidth=0.6,
            alpha=0.6,
            zorder=3,
        )
    else:
        ax.axvspan(*overlay.band, color=colour, alpha=0.10, linewidth=0, zorder=0.4)
        for end in overlay.band:
            if left <= end <= right:
                ax.axvline(end, color=colour, linewidth=0.8, alpha=0.7, zorder=0.5)
    ax.set_xlim(left, right)


def draw_frequencies(ax: Axes, counted: Counter[str | bytes], theme: ThemeName = "light") -> Axes:
    """Draw how often the most frequent strings occur, and return the axes."""
    from matplotlib.ticker import EngFormatter, MaxNLocator

    colours = COLOURS[theme]
    height = ax.bbox.height * 72 / ax.figure.dpi
    rows = min(max(int(height / _ROW_POINTS), 3), _MAX_STRINGS)
    shown = counted.most_common(rows)[::-1]
    ax.barh(range(len(shown)), [count for _, count in shown], color=colours["bar"], height=0.8)
    ax.set_yticks(
        range(len(shown)),
        [_make_legible(text) for text, _ in shown],
        parse_math=False,
        usetex=False,
    )
    ax.tick_params(axis="y", length=0)
    ax.xaxis.set_major_locator(MaxNLocator(4, integer=True))
    ax.xaxis.set_major_formatter(EngFormatter(sep=""))
    ax.xaxis.grid(True, color=colours["line"], linewidth=0.5, alpha=0.6)
    ax.set_xlabel("count")
    if len(counted) > len(shown):
        add_note(ax, f"… {len(counted) - len(shown):,} more", colours["quiet"])
    elif not counted:
        add_note(ax, "no elements", colours["quiet"])
    style_axes(ax, colours)
    return ax


def _make_legible(text: str | bytes) -> str:
    """Shorten a string of the file, and escape what the font has no sign for."""
    from matplotlib.font_manager import findfont, get_font

    font = get_font(findfont("DejaVu Sans"))
    plain = text if isinstance(text, str) else repr(text[:_MAX_LABEL])
    shown = "".join(
        sign
        if sign.isprintable() and font.get_char_index(ord(sign))
        else sign.encode("unicode_escape").decode()
        for sign in plain[: _MAX_LABEL + 1]
    )
    return shown if len(shown) <= _MAX_LABEL else shown[: _MAX_LABEL - 1] + "…"


def _choose_ticks(
    ax: Axes, dtype: DataType, histogram: Histogram, log: bool, colours: dict[str, str]
) -> None:
    from matplotlib.ticker import EngFormatter, MaxNLocator

    steps = [1, 2, 5, 10]
    if dtype.name == "bool":
        ax.set_xticks([0, 1], ["false", "true"])
    else:
        ax.xaxis.set_major_locator(MaxNLocator(5, steps=steps, integer=dtype.is_integer))
    if histogram.counts.any() and not log:
        ax.yaxis.set_major_locator(MaxNLocator(4, steps=steps, integer=True))
        ax.yaxis.set_major_formatter(EngFormatter(sep=""))
    ax.tick_params(axis="x", length=3)
    ax.tick_params(axis="y", length=0)
    ax.yaxis.grid(True, color=colours["line"], linewidth=0.5, alpha=0.6)
