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

from .plot_frame import COLOURS, add_note, choose_unit, make_axes, style_axes

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from netloupe.explorer.model import DataType, SparseTensor, Tensor
    from netloupe.explorer.quantization import Quantization

_MAX_GRID_LINES = 64
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
    if quantization is not None and unit == 1 and _is_about(quantization, dtype):
        drawn = _draw_quantization(ax, quantization, dtype.is_integer, colours)
        notes = [drawn] if drawn else []
    if saturation is not None:
        notes.append(saturation.describe())
    subject = "magnitude" if dtype.is_complex else "value"
    ax.set_xlabel(subject if unit == 1 else f"{subject} / {unit:.0e}")
    ax.set_ylabel("count")
    if log:
        ax.set_yscale("log")
        ax.set_ylim(bottom=0.7)
    has_note = _draw_note(ax, histogram, colours)
    if notes:
        add_note(ax, " · ".join(notes), colours["quantization"], "left", int(has_note))
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
    margin = 2 * widths[0] if counts.size == 1 else 0.02 * (edges[-1] - edges[0])
    ax.set_xlim(edges[0] - margin, edges[-1] + margin)
    if not counts.any():
        ax.set_ylim(0, 1)
        ax.set_yticks([])


def _is_about(quantization: Quantization, dtype: DataType) -> bool:
    """Return whether elements of a type are what is quantized."""
    return dtype.numpy is None or quantization.describes(dtype.numpy)


def _draw_quantization(
    ax: Axes,
    quantization: Quantization,
    is_stored: bool,
    colours: dict[str, str],
) -> str:
    """Draw levels, range or zero point; return in words what the lines do not tell."""
    colour = colours["quantization"]
    if is_stored:
        zero_point = quantization.zero_point
        if zero_point is not None and zero_point.size == 1:
            level = float(zero_point.reshape(-1)[0])
            ax.axvline(level, color=colour, linewidth=1.0)
            return f"zero point {level:g}"
        return ""
    if quantization.real_range is None:
        return ""
    low = float(np.min(quantization.real_range[0]))
    high = float(np.max(quantization.real_range[1]))
    if not (np.isfinite(low) and np.isfinite(high) and low < high):
        return ""
    # show the range's ends where they are near; data squeezed into a corner help nobody
    left, right = ax.get_xlim()
    span = right - left
    left, right = min(left, max(low, left - span)), max(right, min(high, right + span))
    ax.set_xlim(left, right)
    levels = quantization.levels
    visible = None if levels is None else levels[(levels >= left) & (levels <= right)]
    if visible is not None and visible.size <= _MAX_GRID_LINES:
        ax.vlines(
            visible,
            0,
            1,
            transform=ax.get_xaxis_transform(),
            color=colour,
            linewidth=0.6,
            alpha=0.6,
            zorder=3,
        )
    else:
        ax.axvspan(low, high, color=colour, alpha=0.10, linewidth=0, zorder=0.4)
        for end in (low, high):
            if left <= end <= right:
                ax.axvline(end, color=colour, linewidth=0.8, alpha=0.7, zorder=0.5)
    ax.set_xlim(left, right)
    if visible is not None and visible.size <= _MAX_GRID_LINES:
        return ""
    return _describe_step(quantization)


def _describe_step(quantization: Quantization) -> str:
    """Return the distance of neighbouring levels; of float levels there is none."""
    scale, storage = quantization.scale, quantization.storage
    if scale is None or storage is None or not storage.is_integer:
        return ""
    steps = np.abs(scale.astype(np.float64))
    low, high = float(steps.min()), float(steps.max())
    return f"step {low:.3g}" if low == high else f"steps {low:.3g} … {high:.3g}"


def _draw_note(ax: Axes, histogram: Histogram, colours: dict[str, str]) -> bool:
    """Say what the bars do not show; return whether there is anything to say."""
    parts = [
        f"{number:,} {name}"
        for number, name in (
            (histogram.nans, "NaN"),
            (histogram.above, "+Inf"),
            (histogram.below, "−Inf"),
        )
        if number
    ]
    counted = int(histogram.counts.sum())
    if histogram.is_sample:
        parts.append(f"sample of {counted:,}")
    elif not counted:
        parts.append("no finite elements" if parts else "no elements")
    if parts:
        colour = colours["quantization"] if histogram.nans else colours["quiet"]
        add_note(ax, " · ".join(parts), colour)
    return bool(parts)


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
