"""Draw the channels of a tensor side by side: a heat map with the range of each."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from netloupe.explorer.notation import write_count
from netloupe.explorer.options import ThemeName
from netloupe.explorer.tensors.channels import ChannelHistogram, compute_channels
from netloupe.explorer.tensors.decode import open_elements

from .plot_frame import COLOURS, add_note, choose_unit, make_axes, style_axes

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from netloupe.explorer.model import SparseTensor, Tensor
    from netloupe.explorer.quantization import Quantization

Array = np.ndarray[Any, Any]

#: more channels than this share columns, so that each column is wide enough to be seen
MOST_COLUMNS = 512
#: lines over more columns than this are thinner
_MOST_SHARP = 100


def plot_channels(
    tensor: Tensor | SparseTensor,
    axis: int,
    ax: Axes | None = None,
    bins: int = 64,
    quantization: Quantization | None = None,
    theme: ThemeName = "light",
) -> Axes:
    """Draw the channels of a tensor along an axis.

    Parameters
    ----------
    tensor
        What to draw; its elements are decoded.
    axis
        The axis along which the channels lie.
    ax
        Where to draw; None makes a figure of its own.
    bins, quantization, theme
        As for :func:`compute_channels` and :func:`draw_channels`.

    Raises
    ------
    TensorDataError
        Where the elements cannot be decoded.
    ValueError
        For strings, and an axis that does not exist.
    """
    elements = open_elements(tensor)
    # of the stored integers the range says nothing
    ranges = None
    if not tensor.dtype.is_integer:
        ranges = find_ranges(quantization, tensor.dims, axis)
    channels = compute_channels(elements, tensor.dims, axis, bins, ranges=ranges)
    return draw_channels(make_axes(theme) if ax is None else ax, channels, theme)


def find_ranges(
    quantization: Quantization | None, dims: tuple[int, ...], axis: int
) -> tuple[Array, Array] | None:
    """Return the ends of each channel's real range; None where they are not known.

    One range for all holds for each; ranges that differ do where they lie along this axis.
    """
    real_range = quantization.real_range if quantization is not None else None
    if quantization is None or real_range is None or not -len(dims) <= axis < len(dims):
        return None
    first, second = (np.asarray(end, np.float64).reshape(-1) for end in real_range)
    count = dims[axis]
    is_along = quantization.axis == axis % len(dims) and not quantization.block_size
    if first.size != 1 and (first.size != count or not is_along):
        return None
    low = np.broadcast_to(np.minimum(first, second), count)
    high = np.broadcast_to(np.maximum(first, second), count)
    return (low, high) if np.isfinite(low).all() and np.isfinite(high).all() else None


def draw_channels(ax: Axes, channels: ChannelHistogram, theme: ThemeName = "light") -> Axes:
    """Draw channels from left to right and their elements from bottom to top.

    Parameters
    ----------
    ax
        Where to draw.
    channels
        What to draw. The darker, the larger the share of a channel's elements; lines show
        the least, the mean and the greatest element. Of more than 512 channels neighbours
        share a column, which shows the range of all of them. Where it has ranges, their
        ends are drawn as well.
    theme
        ``light`` or ``dark``.
    """
    from matplotlib.colors import LinearSegmentedColormap, PowerNorm
    from matplotlib.ticker import MaxNLocator

    colours = COLOURS[theme]
    count = channels.counts.shape[0]
    starts = np.linspace(0, count, min(count, MOST_COLUMNS) + 1).astype(np.int64)[:-1]
    left, right = -0.5, max(count, 1) - 0.5
    unit = choose_unit(channels.edges)
    channels = _divide(channels, unit)
    bottom, top = float(channels.edges[0]), float(channels.edges[-1])
    if count:
        pooled = np.add.reduceat(channels.counts, starts, axis=0).astype(np.float64)
        pooled /= np.maximum(pooled.sum(axis=1, keepdims=True), 1)
        ax.imshow(
            pooled.T,
            origin="lower",
            aspect="auto",
            interpolation="nearest",
            extent=(left, right, bottom, top),
            cmap=LinearSegmentedColormap.from_list("nl", [colours["background"], colours["bar"]]),
            norm=PowerNorm(0.5, 0, max(float(pooled.max()), 1e-12)),
        )
        _draw_lines(ax, channels, starts, right, colours)
        if channels.ranges is not None:
            bottom, top = _draw_ranges(
                ax, channels.ranges, starts, (left, right), (bottom, top), colours
            )
    ax.set_xlim(left, right)
    ax.set_ylim(bottom, top)
    ax.set_xlabel(f"channel (axis {channels.axis})")
    ax.set_ylabel("value" if unit == 1 else f"value / {unit:.0e}")
    ax.xaxis.set_major_locator(MaxNLocator(5, integer=True))
    ax.yaxis.set_major_locator(MaxNLocator(5))
    _write_notes(ax, channels, count, starts.size, colours)
    style_axes(ax, colours)
    return ax


def _divide(channels: ChannelHistogram, unit: float) -> ChannelHistogram:
    """Return the same in another unit."""
    ranges = channels.ranges
    return replace(
        channels,
        edges=channels.edges / unit,
        minimum=channels.minimum / unit,
        mean=channels.mean / unit,
        maximum=channels.maximum / unit,
        ranges=None if ranges is None else (ranges[0] / unit, ranges[1] / unit),
    )


def _draw_lines(
    ax: Axes, channels: ChannelHistogram, starts: Array, right: float, colours: dict[str, str]
) -> None:
    borders = np.append(starts - 0.5, right)
    with np.errstate(invalid="ignore"):
        low = np.fmin.reduceat(channels.minimum, starts)
        high = np.fmax.reduceat(channels.maximum, starts)
        sizes = np.add.reduceat(np.isfinite(channels.mean).astype(np.float64), starts)
        mean = np.add.reduceat(np.nan_to_num(channels.mean), starts) / np.maximum(sizes, 1)
    mean[sizes == 0] = np.nan
    is_dense = starts.size > _MOST_SHARP
    for line, width in ((low, 0.7), (high, 0.7), (mean, 0.9)):
        width, alpha = (0.6 * width, 0.7) if is_dense else (width, 0.9)
        ax.stairs(line, borders, baseline=None, color=colours["text"], linewidth=width, alpha=alpha)


def _draw_ranges(
    ax: Axes,
    ranges: tuple[Array, Array],
    starts: Array,
    sides: tuple[float, float],
    view: tuple[float, float],
    colours: dict[str, str],
) -> tuple[float, float]:
    """Draw the ends of the real ranges; return the view with them, where they are near."""
    borders = np.append(starts - 0.5, sides[1])
    low, high = np.minimum.reduceat(ranges[0], starts), np.maximum.reduceat(ranges[1], starts)
    width = 0.6 if starts.size > _MOST_SHARP else 0.9
    for line in (low, high):
        ax.stairs(line, borders, baseline=None, color=colours["quantization"], linewidth=width)
    span = view[1] - view[0]
    margin = 0.02 * span
    return (
        min(view[0], max(float(low.min()), view[0] - span) - margin),
        max(view[1], min(float(high.max()), view[1] + span) + margin),
    )


def _write_notes(
    ax: Axes, channels: ChannelHistogram, count: int, columns: int, colours: dict[str, str]
) -> None:
    parts = []
    others = int(channels.nonfinite.sum())
    if others:
        parts.append(f"{others:,} not finite")
    if channels.is_sample:
        parts.append(f"a sample of {channels.size:,} each")
    if count > columns:
        parts.append(f"{count:,} channels in {write_count(columns, 'column')}")
    if parts:
        add_note(ax, " · ".join(parts), colours["quiet"])
    if channels.outside is not None and channels.counts.size:
        total = int(channels.outside.sum())
        text = "none outside its range"
        if total:
            worst = int(channels.outside.argmax())
            share = total / max(channels.size * count, 1)
            worst_share = int(channels.outside[worst]) / max(channels.size, 1)
            text = f"{100 * share:.2f} % outside · most in {worst} ({100 * worst_share:.1f} %)"
        add_note(ax, text, colours["quantization"], "left", int(bool(parts)))
