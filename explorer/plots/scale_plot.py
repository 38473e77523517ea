"""Draw scales and zero points of a quantization: of each channel, or of each block."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from netloupe.explorer.options import ThemeName

from .plot_frame import COLOURS, add_note, style_axes

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from netloupe.explorer.quantization import Quantization

Array = np.ndarray[Any, Any]

_MOST_POINTS = 256
_MOST_COLUMNS = 512
#: where the largest scale is this many times the smallest, the axis is logarithmic
_LOG_RATIO = 30.0


def draw_scales(ax: Axes, quantization: Quantization, theme: ThemeName = "light") -> Axes:
    """Draw the scale of each channel or block, and the zero points where they differ from 0.

    Parameters
    ----------
    ax
        Where to draw.
    quantization
        With a constant scale.
    theme
        ``light`` or ``dark``.

    Raises
    ------
    ValueError
        Where the scale is not known.

    Notes
    -----
    Up to 256 scales are points; of more, a band shows the range of neighbours and a line
    their median. Scales of blocks are a picture with one point for each block.
    """
    from matplotlib.ticker import FuncFormatter, LogLocator

    scale = quantization.scale
    if scale is None or not scale.size:
        raise ValueError("the scale is not constant")
    colours = COLOURS[theme]
    scales = scale.astype(np.float64)
    positive = bool((scales > 0).all() and np.isfinite(scales).all())
    is_log = positive and float(scales.max()) > _LOG_RATIO * float(scales.min())
    if quantization.granularity == "per block" and scales.ndim > 1:
        _draw_blocks(ax, scales, is_log, colours)
    else:
        subject = "block" if quantization.granularity == "per block" else "channel"
        axis = "" if quantization.axis is None else f" (axis {quantization.axis})"
        _draw_row(ax, scales.reshape(-1), colours["bar"])
        ax.set_xlabel(f"{subject}{axis}")
        ax.set_ylabel("scale")
        if is_log:
            ax.set_yscale("log")
            ax.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
            ax.yaxis.set_major_formatter(FuncFormatter(lambda number, _place: f"{number:g}"))
        elif positive and float(scales.min()) < float(scales.max()):
            ax.set_ylim(bottom=0)
        ax.yaxis.grid(True, color=colours["line"], linewidth=0.5, alpha=0.6)
    _write_range(ax, scales, colours)
    zero_point = quantization.zero_point
    style_axes(ax, colours)
    if zero_point is not None and zero_point.size and np.any(zero_point.astype(np.float64)):
        _draw_zero_points(ax, zero_point.astype(np.float64), scales, colours)
    return ax


def _draw_row(ax: Axes, numbers: Array, colour: str) -> None:
    from matplotlib.ticker import MaxNLocator

    places = np.arange(numbers.size)
    if numbers.size <= _MOST_POINTS:
        ax.plot(places, numbers, ".", color=colour, markersize=4 if numbers.size < 64 else 3)
    else:
        columns = min(numbers.size // 4, _MOST_COLUMNS)
        pieces = np.array_split(numbers, columns)
        centres = [piece.mean() for piece in np.array_split(places, columns)]
        ax.fill_between(
            centres,
            [piece.min() for piece in pieces],
            [piece.max() for piece in pieces],
            color=colour,
            alpha=0.35,
            linewidth=0,
        )
        ax.plot(centres, [np.median(piece) for piece in pieces], color=colour, linewidth=0.9)
    ax.set_xlim(-0.5 - 0.01 * numbers.size, numbers.size - 0.5 + 0.01 * numbers.size)
    ax.xaxis.set_major_locator(MaxNLocator(5, integer=True))


def _draw_blocks(ax: Axes, scales: Array, is_log: bool, colours: dict[str, str]) -> None:
    from matplotlib.colors import LinearSegmentedColormap, LogNorm, Normalize
    from matplotlib.ticker import MaxNLocator

    grid = scales.reshape(-1, scales.shape[-1])
    # of many rows or columns as many as can be seen, evenly spread
    rows, columns = (
        np.linspace(0, size - 1, min(size, _MOST_COLUMNS)).astype(np.int64) for size in grid.shape
    )
    norm = LogNorm if is_log else Normalize
    picture = ax.imshow(
        grid[np.ix_(rows, columns)],
        aspect="auto",
        interpolation="nearest",
        extent=(-0.5, grid.shape[1] - 0.5, grid.shape[0] - 0.5, -0.5),
        cmap=LinearSegmentedColormap.from_list("nl", [colours["background"], colours["bar"]]),
        norm=norm(float(np.nanmin(scales)), float(np.nanmax(scales))),
    )
    bar = ax.figure.colorbar(picture, ax=ax, fraction=0.06, pad=0.02)
    bar.outline.set_visible(False)
    bar.ax.tick_params(colors=colours["quiet"], labelsize=8, width=0.6, which="both")
    ax.set_xlabel("block")
    ax.set_ylabel("row")
    for axis in (ax.xaxis, ax.yaxis):
        axis.set_major_locator(MaxNLocator(4, integer=True))


def _draw_zero_points(ax: Axes, zero_points: Array, scales: Array, colours: dict[str, str]) -> None:
    low, high = float(zero_points.min()), float(zero_points.max())
    if low == high:
        add_note(ax, f"zero point {low:g}", colours["quantization"], "left")
        return
    if zero_points.size != scales.size or (scales.ndim > 1 and min(scales.shape) > 1):
        add_note(ax, f"zero points {low:g} … {high:g}", colours["quantization"], "left")
        return
    right = ax.twinx()
    _draw_row(right, zero_points.reshape(-1), colours["quantization"])
    right.set_ylabel("zero point")
    style_axes(right, colours)
    for text in (right.yaxis.label, *right.get_yticklabels()):
        text.set_color(colours["quantization"])
    right.tick_params(axis="y", colors=colours["quantization"], length=0)


def _write_range(ax: Axes, scales: Array, colours: dict[str, str]) -> None:
    finite = scales[np.isfinite(scales)]
    if not finite.size:
        add_note(ax, "no finite scale", colours["quiet"])
        return
    low, high = float(finite.min()), float(finite.max())
    text = f"{low:.3g} … {high:.3g}"
    if low > 0 and high > low:
        text += f" (×{high / low:.3g})"
    add_note(ax, text, colours["quiet"])
