"""Draw a tensor's histogram with matplotlib; only :func:`open_axes` touches its global state."""

from __future__ import annotations

import io
import math
from collections import Counter
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from .histogram import Histogram, compute_histogram

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from netloupe.explorer.model import DataType, SparseTensor, Tensor
    from netloupe.explorer.quantization import Quantization

Theme = Literal["light", "dark"]

_MAX_GRID_LINES = 64
_MAX_STRINGS = 20
_ROW_POINTS = 12.0
_MAX_LABEL = 28
_FONT_SIZE = 8.0
_COLOURS: dict[str, dict[str, str]] = {
    "light": {
        "bar": "#5b84b1",
        "background": "#ffffff",
        "text": "#3d4650",
        "quiet": "#8a949e",
        "line": "#cbd2d9",
        "quantization": "#c2703d",
    },
    "dark": {
        "bar": "#7fa8d6",
        "background": "#1c2128",
        "text": "#c9d1d9",
        "quiet": "#8b949e",
        "line": "#444c56",
        "quantization": "#e0955f",
    },
}


def plot_histogram(
    tensor: Tensor | SparseTensor,
    ax: Axes | None = None,
    bins: int = 64,
    log: bool = False,
    quantization: Quantization | None = None,
    theme: Theme = "light",
    *,
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
        view; on the stored integers themselves, the zero point.
    theme
        ``light`` or ``dark``.
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
    colours = _COLOURS[theme]
    array = tensor.numpy()
    if ax is None:
        from matplotlib.figure import Figure

        ax = Figure(**_choose_frame(colours)).add_subplot(facecolor=colours["background"])
    if array.dtype == object:
        _draw_frequencies(ax, array, colours)
    else:
        histogram = compute_histogram(array, bins, limit=limit)
        unit = _choose_unit(histogram)
        _draw_bars(ax, histogram, unit, colours)
        if quantization is not None and unit == 1:
            _draw_quantization(ax, quantization, tensor.dtype.is_integer, colours)
        subject = "magnitude" if tensor.dtype.is_complex else "value"
        ax.set_xlabel(subject if unit == 1 else f"{subject} / {unit:.0e}")
        ax.set_ylabel("count")
        if log:
            ax.set_yscale("log")
            ax.set_ylim(bottom=0.7)
        _draw_note(ax, histogram, colours)
        _choose_ticks(ax, tensor.dtype, histogram, log, colours)
    _style_axes(ax, colours)
    return ax


def open_axes(theme: Theme = "light") -> Axes:
    """Open a figure with pyplot and return its axes.

    A notebook shows the figure below its cell, a desktop session in a window. Without a
    display nobody would ever close it: there, only the last one stays registered.
    """
    from matplotlib import pyplot

    colours = _COLOURS[theme]
    name = None
    if pyplot.get_backend().lower() == "agg":
        name = "netloupe"
        pyplot.close(name)
    figure = pyplot.figure(name, **_choose_frame(colours))
    return figure.add_subplot(facecolor=colours["background"])


def _choose_frame(colours: dict[str, str]) -> dict[str, Any]:
    return {"figsize": (5, 3), "layout": "constrained", "facecolor": colours["background"]}


def draw_histogram_png(
    tensor: Tensor | SparseTensor,
    *,
    bins: int = 64,
    log: bool = False,
    quantization: Quantization | None = None,
    theme: Theme = "light",
    width: int = 360,
    height: int = 200,
    scale: float = 2.0,
    limit: int | None = None,
) -> bytes:
    """Draw the histogram of a tensor as a PNG.

    Parameters
    ----------
    tensor, bins, log, quantization, theme, limit
        As for :func:`plot_histogram`.
    width, height
        Size as shown, in CSS pixels.
    scale
        Pixels of the picture for one CSS pixel.

    Returns
    -------
    bytes
        A PNG file; the same input gives the same bytes.
    """
    from matplotlib.figure import Figure

    colours = _COLOURS[theme]
    figure = Figure(
        figsize=(width / 96, height / 96),
        dpi=96 * scale,
        layout="constrained",
        facecolor=colours["background"],
    )
    ax = figure.add_subplot(facecolor=colours["background"])
    plot_histogram(tensor, ax, bins, log, quantization, theme, limit=limit)
    picture = io.BytesIO()
    figure.savefig(picture, format="png", metadata={"Software": None})
    return picture.getvalue()


def _choose_unit(histogram: Histogram) -> float:
    """Return what to divide values by: matplotlib overflows near the ends of float64."""
    magnitude = float(np.abs(histogram.edges).max())
    if 1e-200 < magnitude < 1e200:
        return 1.0
    return float(10.0 ** max(math.floor(math.log10(magnitude)), -300))


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


def _draw_quantization(
    ax: Axes,
    quantization: Quantization,
    is_stored: bool,
    colours: dict[str, str],
) -> None:
    colour = colours["quantization"]
    if is_stored:
        zero_point = quantization.zero_point
        if zero_point is not None and zero_point.size == 1:
            ax.axvline(float(zero_point.reshape(-1)[0]), color=colour, linewidth=0.8, alpha=0.8)
        return
    if quantization.real_range is None:
        return
    low = float(np.min(quantization.real_range[0]))
    high = float(np.max(quantization.real_range[1]))
    if not (np.isfinite(low) and np.isfinite(high) and low < high):
        return
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


def _draw_note(ax: Axes, histogram: Histogram, colours: dict[str, str]) -> None:
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
        ax.text(
            0.99,
            1.02,
            " · ".join(parts),
            transform=ax.transAxes,
            ha="right",
            va="bottom",
            fontsize=_FONT_SIZE,
            color=colours["quantization"] if histogram.nans else colours["quiet"],
        )


def _draw_frequencies(ax: Axes, array: np.ndarray[Any, Any], colours: dict[str, str]) -> None:
    from matplotlib.ticker import EngFormatter, MaxNLocator

    counted = Counter(array.reshape(-1).tolist())
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
        ax.text(
            0.99,
            1.02,
            f"… {len(counted) - len(shown):,} more",
            transform=ax.transAxes,
            ha="right",
            va="bottom",
            fontsize=_FONT_SIZE,
            color=colours["quiet"],
        )


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


def _style_axes(ax: Axes, colours: dict[str, str]) -> None:
    ax.minorticks_off()
    for side in ("top", "right", "left"):
        ax.spines[side].set_visible(False)
    ax.spines["bottom"].set_color(colours["line"])
    ax.tick_params(colors=colours["quiet"], labelsize=_FONT_SIZE, width=0.6)
    ax.set_axisbelow(True)
    for axis in (ax.xaxis, ax.yaxis):
        axis.label.set_color(colours["text"])
        axis.label.set_fontsize(_FONT_SIZE)
        axis.offsetText.set_color(colours["quiet"])
        axis.offsetText.set_fontsize(_FONT_SIZE)
