"""How many elements a quantization cannot hold, or holds at its ends."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from netloupe.explorer.tensors.channels import compute_channels
from netloupe.explorer.tensors.counting import count_values
from netloupe.explorer.tensors.elements import Elements, Walk, sample_elements
from netloupe.explorer.tensors.histogram import compute_histogram

if TYPE_CHECKING:
    from .record import Quantization


def find_lowest_end(lowest: float, highest: float, *, is_symmetric: bool) -> float:
    """Return the code up to which codes are at the lower end of their range.

    Symmetric quantizers leave the lowest code out: they have -127 as the lowest of int8, and 1 of
    uint8 around 128. Both codes are at the end then.
    """
    return lowest + (is_symmetric and highest - lowest > 1)


@dataclass(frozen=True, slots=True)
class Saturation:
    """The elements outside the real range, or of stored integers those at either end.

    As everywhere, the lower end of symmetric codes is :func:`find_lowest_end`.

    Parameters
    ----------
    count
        How many elements these are.
    size
        How many elements were looked at, NaNs left out.
    is_stored
        Whether the stored integers were looked at.
    """

    count: int
    size: int
    is_stored: bool

    @property
    def share(self) -> float:
        """The share of the elements, 0 to 1."""
        return self.count / self.size if self.size else 0.0

    def describe(self) -> str:
        """Return ``0.12 % outside the range`` or the like."""
        place = "at the ends" if self.is_stored else "outside the range"
        if not self.count:
            return f"none {place}"
        share = f"{100 * self.share:.2f} %" if self.share >= 0.0001 else f"{self.count:,}"
        return f"{share} {place}"


def measure_saturation(
    elements: Elements,
    quantization: Quantization,
    dims: tuple[int, ...] | None = None,
    *,
    limit: int | None = None,
) -> Saturation | None:
    """Count the elements that a quantization cannot hold, or that are stored at its ends.

    Parameters
    ----------
    elements
        Real numbers, or the stored integers.
    quantization
        How they are quantized. A number is outside where it is below (qmin − zero_point) ·
        scale or above (qmax − zero_point) · scale, of its channel where there are channels.
    dims
        The shape of the elements; None where they are one channel.
    limit
        Look at about this many elements only, with channels as many of each.

    Returns
    -------
    Saturation or None
        None where range or storage is unknown, per block, for stored numbers that are not
        integers of up to 16 bits, and for bytes that hold several numbers.
    """
    if not quantization.describes(elements.dtype):
        return None
    if elements.is_integer:
        if limit is not None:
            elements = sample_elements(elements, limit)
        return _count_ends(elements, quantization)
    real_range = quantization.real_range
    if real_range is None or elements.dtype.kind in "OcSU":
        return None
    low, high = map(np.asarray, real_range)
    low, high = np.minimum(low, high), np.maximum(low, high)  # a scale may be negative
    if not (np.isfinite(low).all() and np.isfinite(high).all()):
        return None
    if low.size == 1:
        ends = float(low.reshape(())), float(high.reshape(()))
        if ends[0] == ends[1]:
            return None
        found = compute_histogram(elements, 1, ends, limit=limit)
        outside = found.below + found.above
        return Saturation(outside, outside + int(found.counts.sum()), False)
    axis = quantization.axis
    if (
        dims is None
        or axis is None
        or quantization.block_size
        or not -len(dims) <= axis < len(dims)
        or dims[axis] != low.size
    ):
        return None
    channels = compute_channels(elements, dims, axis, 1, ranges=(low, high), limit=limit)
    if channels.outside is None:
        return None
    return Saturation(int(channels.outside.sum()), channels.size * low.size, False)


def _count_ends(elements: Elements, quantization: Quantization) -> Saturation | None:
    ends = quantization.stored_range
    counted = count_values(Walk(elements)) if ends is not None else None
    if ends is None or counted is None:
        return None
    bottom = find_lowest_end(*ends, is_symmetric=quantization.is_symmetric)
    at_ends = (counted.values <= bottom) | (counted.values >= ends[1])
    count = int(counted.counts[at_ends].sum())
    return Saturation(count, elements.size, True)
