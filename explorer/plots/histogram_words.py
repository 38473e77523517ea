"""What a histogram's picture says beside its bars: how its elements are quantized, and the rest.

For every picture of a histogram, whoever draws it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from netloupe.explorer.tensors.histogram import Histogram

if TYPE_CHECKING:
    from netloupe.explorer.model import DataType
    from netloupe.explorer.quantization import Quantization

_MAX_GRID_LINES = 64


@dataclass(frozen=True, slots=True)
class HistogramOverlay:
    """A quantization, as it is laid over a histogram.

    Parameters
    ----------
    extent
        From where to where the axis of values goes, so that the ends of a range near it are seen.
    note
        In words what the lines do not tell, or "".
    zero_point
        The stored number that stands for 0.0, where stored numbers are counted.
    levels
        Each real number within the extent that can be held; empty where there are too many.
    band
        The real range, in place of its levels.
    """

    extent: tuple[float, float]
    note: str = ""
    zero_point: float | None = None
    levels: tuple[float, ...] = ()
    band: tuple[float, float] | None = None


def choose_extent(edges: npt.NDArray[np.float64]) -> tuple[float, float]:
    """Return from where to where the axis of values goes: a little beyond the bins."""
    low, high = float(edges[0]), float(edges[-1])
    margin = 2 * (high - low) if edges.size == 2 else 0.02 * (high - low)
    return low - margin, high + margin


def lay_over(
    quantization: Quantization, dtype: DataType, extent: tuple[float, float]
) -> HistogramOverlay | None:
    """Return what of a quantization is drawn over a histogram; None where there is nothing.

    Parameters
    ----------
    quantization
        How the elements are quantized.
    dtype
        Their type.
    extent
        From where to where the axis of values goes without it.
    """
    if dtype.numpy is not None and not quantization.describes(dtype.numpy):
        return None
    if dtype.is_integer:
        zero_point = quantization.zero_point
        if zero_point is None or zero_point.size != 1:
            return None
        level = float(zero_point.reshape(-1)[0])
        return HistogramOverlay(extent, f"zero point {level:g}", zero_point=level)
    if quantization.real_range is None:
        return None
    low = float(np.min(quantization.real_range[0]))
    high = float(np.max(quantization.real_range[1]))
    if not (np.isfinite(low) and np.isfinite(high) and low < high):
        return None
    # show the range's ends where they are near; data squeezed into a corner help nobody
    left, right = extent
    span = right - left
    left, right = min(left, max(low, left - span)), max(right, min(high, right + span))
    levels = quantization.levels
    visible = None if levels is None else levels[(levels >= left) & (levels <= right)]
    if visible is not None and visible.size <= _MAX_GRID_LINES:
        return HistogramOverlay((left, right), levels=tuple(visible.astype(np.float64).tolist()))
    return HistogramOverlay((left, right), _describe_step(quantization), band=(low, high))


def _describe_step(quantization: Quantization) -> str:
    """Return the distance of neighbouring levels; of float levels there is none."""
    scale, storage = quantization.scale, quantization.storage
    if scale is None or storage is None or not storage.is_integer:
        return ""
    steps = np.abs(scale.astype(np.float64))
    low, high = float(steps.min()), float(steps.max())
    return f"step {low:.3g}" if low == high else f"steps {low:.3g} … {high:.3g}"


def describe_rest(histogram: Histogram) -> str:
    """Return what the bars do not show, or ""."""
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
    return " · ".join(parts)


def name_values(dtype: DataType, unit: float) -> str:
    """Return what stands along the axis of values, which are divided by a unit."""
    subject = "magnitude" if dtype.is_complex else "value"
    return subject if unit == 1 else f"{subject} / {unit:.0e}"
