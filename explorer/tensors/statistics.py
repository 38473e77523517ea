"""Statistics of a tensor's elements."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from netloupe.explorer.notation import clip_text, write_count, write_number

from .counting import (
    ValueCounts,
    count_integers,
    count_values,
    measure_magnitude,
    sample_elements,
    split_chunks,
)

Array = np.ndarray[Any, Any]

QUANTILES = (0.01, 0.05, 0.25, 0.5, 0.75, 0.95, 0.99)


@dataclass(frozen=True, slots=True)
class Statistics:
    """What the elements of a tensor are like.

    Parameters
    ----------
    count
        Number of elements, those included that are not finite.
    minimum, maximum, mean, std
        Over the finite elements; ``std`` divides by their number, as numpy does. None where
        there are none, and for strings.
    zeros, nans, positive_infinities, negative_infinities
        How many elements are these.
    distinct
        Number of different finite values; None where it was not counted (wide types with a
        wide range).
    quantiles
        From fractions to values, interpolated linearly between the finite elements.
    is_magnitude
        Whether the tensor is complex, so that all of this is about absolute values.
    is_sample
        Whether only a part of the elements was looked at; ``count`` is then that of the part.
    """

    count: int
    minimum: float | int | None = None
    maximum: float | int | None = None
    mean: float | None = None
    std: float | None = None
    zeros: int = 0
    nans: int = 0
    positive_infinities: int = 0
    negative_infinities: int = 0
    distinct: int | None = None
    quantiles: dict[float, float] = field(default_factory=dict)
    is_magnitude: bool = False
    is_sample: bool = False

    def __repr__(self) -> str:
        sample = "a sample of " if self.is_sample else ""
        parts = [f"{sample}{write_count(self.count, 'element')}"]
        if self.minimum is not None and self.maximum is not None:
            parts[0] += f" from {write_number(self.minimum)} to {write_number(self.maximum)}"
        for name, number in (("mean", self.mean), ("std", self.std)):
            if number is not None:
                parts.append(f"{name} {write_number(number)}")
        infinities = self.positive_infinities + self.negative_infinities
        if self.zeros:
            parts.append(write_count(self.zeros, "zero"))
        parts += [f"{n:,} {name}" for name, n in (("NaN", self.nans), ("Inf", infinities)) if n]
        return f"<Statistics: {clip_text(', '.join(parts), 100)}>"

    def _repr_html_(self) -> str:
        from netloupe.explorer.render.html import describe_statistics

        return describe_statistics(self)


# signalling NaNs are no news, and moments of numbers near the end of float64 may be infinite
@np.errstate(over="ignore", invalid="ignore")
def compute_statistics(array: Array, *, limit: int | None = None) -> Statistics:
    """Compute the statistics of an array of any dtype and shape.

    Parameters
    ----------
    array
        Numbers, bools, or objects (strings), for which count and distinct alone are given.
    limit
        Look at about this many elements only, spread evenly; None for all of them.

    Returns
    -------
    Statistics
        Exact for types of up to 16 bits; for others count, zeros, minimum, maximum and
        quantiles are exact, mean and deviation are accumulated in float64.
    """
    is_sample = limit is not None and array.size > limit
    elements = sample_elements(array, limit) if limit is not None else array.reshape(-1)
    if array.dtype.kind in "OSU":
        return Statistics(elements.size, distinct=len(set(elements.tolist())), is_sample=is_sample)
    is_magnitude = array.dtype.kind == "c"
    if is_magnitude:
        elements = measure_magnitude(elements)
    counted = count_values(elements)
    low, high = (None, None) if counted else _find_range(elements)
    if (
        elements.dtype.kind in "iu"
        and isinstance(low, int)
        and isinstance(high, int)
        and high - low < min(2**16, 4 * elements.size + 256)
        and max(-low, high) < 2**53  # beyond, float64 cannot tell neighbours apart
    ):
        counted = count_integers(elements, low, high)
    if counted is not None:
        return _summarize_counts(counted, elements, is_sample)
    return _summarize_elements(elements, low, high, is_magnitude, is_sample)


def _summarize_counts(counted: ValueCounts, elements: Array, is_sample: bool) -> Statistics:
    values, counts = counted.values, counted.counts
    nonfinite = (counted.nans, counted.positive_infinities, counted.negative_infinities)
    total = int(counts.sum())
    if total == 0:
        return Statistics(
            elements.size, None, None, None, None, 0, *nonfinite, distinct=0, is_sample=is_sample
        )
    mean = float(values @ counts) / total
    std = float(np.sqrt(((values - mean) ** 2 @ counts) / total))
    is_float = not (elements.dtype.kind in "iub" or "int" in elements.dtype.name)
    number = float if is_float else int
    ends = counts.cumsum()
    return Statistics(
        elements.size,
        number(values[0]),
        number(values[-1]),
        mean,
        std,
        int(counts[values == 0].sum()),
        *nonfinite,
        distinct=values.size,
        quantiles=_interpolate(
            total, lambda ranks: values[np.searchsorted(ends, ranks, side="right")]
        ),
        is_sample=is_sample,
    )


def _find_range(elements: Array) -> tuple[float | int | None, float | int | None]:
    """Return the smallest and the largest finite element, ints for integers."""
    number = int if elements.dtype.kind in "iu" else float
    low = high = None
    for chunk in split_chunks(elements):
        smallest, largest = chunk.min(), chunk.max()
        if not (np.isfinite(smallest) and np.isfinite(largest)):
            chunk = chunk[np.isfinite(chunk)]
            if not chunk.size:
                continue
            smallest, largest = chunk.min(), chunk.max()
        low = smallest if low is None else min(low, smallest)
        high = largest if high is None else max(high, largest)
    return (None, None) if low is None or high is None else (number(low), number(high))


def _summarize_elements(
    elements: Array,
    low: float | int | None,
    high: float | int | None,
    is_magnitude: bool,
    is_sample: bool,
) -> Statistics:
    zeros = nans = positive = negative = seen = 0
    mean = squares = 0.0
    for chunk in split_chunks(elements):
        zeros += chunk.size - int(np.count_nonzero(chunk))
        wide = chunk.astype(np.float64)
        total = wide.sum()
        if not np.isfinite(total):
            finite = np.isfinite(wide)
            nans += int(np.count_nonzero(np.isnan(wide)))
            positive += int(np.count_nonzero(wide == np.inf))
            negative += int(np.count_nonzero(wide == -np.inf))
            wide = wide[finite]
            if not wide.size:
                continue
            total = wide.sum()
        # the sum of finite numbers may overflow where their mean does not
        chunk_mean = total / wide.size if np.isfinite(total) else (wide / wide.size).sum()
        # moments of two sets joined: Chan, Golub and LeVeque, 1979
        deviations = wide - chunk_mean
        joined = seen + wide.size
        delta = chunk_mean - mean
        squares += deviations @ deviations + delta * (seen * wide.size / joined) * delta
        mean += delta * (wide.size / joined)
        seen = joined
    std = float(np.sqrt(squares / seen)) if seen else None
    return Statistics(
        elements.size,
        low,
        high,
        float(mean) if seen else None,
        std,
        zeros,
        nans,
        positive,
        negative,
        distinct=None if elements.size else 0,
        quantiles=_find_quantiles(elements, seen),
        is_magnitude=is_magnitude,
        is_sample=is_sample,
    )


def _find_quantiles(elements: Array, finite: int) -> dict[float, float]:
    ordered = np.sort(elements if finite == elements.size else elements[np.isfinite(elements)])
    return _interpolate(finite, lambda ranks: ordered[ranks].astype(np.float64))


def _interpolate(count: int, look_up: Any) -> dict[float, float]:
    """Interpolate between the elements of neighbouring ranks (``numpy.quantile``, linear)."""
    if count == 0:
        return {}
    positions = np.array(QUANTILES) * (count - 1)
    ranks = np.floor(positions).astype(np.int64)
    weights = positions - ranks
    below: npt.NDArray[np.float64] = look_up(ranks)
    above: npt.NDArray[np.float64] = look_up(np.minimum(ranks + 1, count - 1))
    mixed = np.where(below == above, below, below * (1 - weights) + above * weights)
    return dict(zip(QUANTILES, mixed.tolist(), strict=True))
