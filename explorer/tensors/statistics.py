"""Statistics of a tensor's elements."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from netloupe.explorer.model import upper_rooms
from netloupe.explorer.notation import clip_text, write_count, write_number

from .counting import ValueCounts, count_integers, count_strings, count_values
from .elements import (
    Elements,
    Walk,
    as_elements,
    measure_magnitudes,
    replace_nonfinite,
    sample_elements,
)
from .ranks import find_ranked

Array = np.ndarray[Any, Any]

# squares of numbers beyond the first would overflow float64, though their deviation does not;
# a power of two changes no digit
_HUGE = 1e150
_SCALE_OF_HUGE = 2.0**-600

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
        return upper_rooms.write_statistics_html(self)


@np.errstate(invalid="ignore")  # signalling NaNs are no news
def compute_statistics(given: Array | Elements, *, limit: int | None = None) -> Statistics:
    """Compute the statistics of numbers of any dtype and shape.

    Parameters
    ----------
    given
        Numbers, bools, or objects (strings), for which count and distinct alone are given. An
        array, or the elements of a tensor piece by piece.
    limit
        Look at about this many elements only, spread evenly; None for all of them.

    Returns
    -------
    Statistics
        Exact for types of up to 16 bits; for others count, zeros, minimum, maximum and
        quantiles are exact, mean and deviation are accumulated in float64.

    Notes
    -----
    Memory for some million elements and counters is taken, whatever the size of the tensor.
    """
    elements = as_elements(given)
    if elements.is_constant and elements.size > 1:
        one, size = compute_statistics(elements.take(0, 1)), elements.size
        return replace(
            one,
            count=size,
            zeros=one.zeros * size,
            nans=one.nans * size,
            positive_infinities=one.positive_infinities * size,
            negative_infinities=one.negative_infinities * size,
        )
    is_sample = limit is not None and elements.size > limit
    if limit is not None:
        elements = sample_elements(elements, limit)
    if elements.dtype.kind in "OSU":
        distinct = len(count_strings(Walk(elements)))
        return Statistics(elements.size, distinct=distinct, is_sample=is_sample)
    is_magnitude = elements.dtype.kind == "c"
    if is_magnitude:
        elements = measure_magnitudes(elements)
    narrow, wide = elements.dtype.itemsize <= 2, elements.dtype.itemsize > 4
    passes = 1 if narrow else (5 if wide else 3) + elements.is_integer
    walk = Walk(elements, passes)
    counted = count_values(walk)
    if counted is None and elements.is_integer and elements.size:
        low, high = _find_range(walk)
        if (
            high - low < min(2**16, 4 * elements.size + 256)
            and max(-low, high) < 2**53  # beyond, float64 cannot tell neighbours apart
        ):
            counted = count_integers(walk, low, high)
    if counted is not None:
        found = _summarize_counts(counted, elements, is_sample)
    else:
        found = _summarize_elements(walk, is_magnitude, is_sample)
    walk.finish()
    return found


def _summarize_counts(counted: ValueCounts, elements: Elements, is_sample: bool) -> Statistics:
    values, counts = counted.values, counted.counts
    nonfinite = (counted.nans, counted.positive_infinities, counted.negative_infinities)
    total = int(counts.sum())
    if total == 0:
        return Statistics(
            elements.size, None, None, None, None, 0, *nonfinite, distinct=0, is_sample=is_sample
        )
    mean = float(values @ counts) / total
    std = float(np.sqrt(((values - mean) ** 2 @ counts) / total))
    number = int if elements.is_integer else float
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


def _find_range(walk: Walk) -> tuple[int, int]:
    """Return the smallest and the largest of some integers."""
    ends = [(int(chunk.min()), int(chunk.max())) for chunk in walk.chunks()]
    return min(low for low, _ in ends), max(high for _, high in ends)


def _summarize_elements(walk: Walk, is_magnitude: bool, is_sample: bool) -> Statistics:
    elements = walk.elements
    number = int if elements.is_integer else float
    low = high = None
    zeros = nans = positive = negative = seen = 0
    mean = squares = 0.0
    scale = 1.0  # mean, and squares by its square, are kept in this unit
    for chunk in walk.chunks():
        zeros += chunk.size - int(np.count_nonzero(chunk))
        finite, places = replace_nonfinite(chunk)
        others = chunk[places]
        nans += int(np.count_nonzero(np.isnan(others)))
        positive += int(np.count_nonzero(others == np.inf))
        negative += int(np.count_nonzero(others == -np.inf))
        size = chunk.size - places.size
        if not size:
            continue
        smallest, largest = number(finite.min()), number(finite.max())
        low = smallest if low is None else min(low, smallest)
        high = largest if high is None else max(high, largest)
        wide = finite.astype(np.float64)
        wide[places] = 0
        if scale == 1 and max(-smallest, largest) > _HUGE:
            scale = _SCALE_OF_HUGE
            mean *= scale
            squares *= scale * scale
        if scale != 1:
            wide *= scale
        chunk_mean = wide.sum() / size
        # moments of two sets joined: Chan, Golub and LeVeque, 1979
        wide -= chunk_mean
        wide[places] = 0
        joined = seen + size
        delta = chunk_mean - mean
        np.multiply(wide, wide, out=wide)  # a dot product would wait for threads of its own
        squares += wide.sum() + delta * (seen * (size / joined)) * delta
        mean += delta * (size / joined)
        seen = joined
    std = float(np.sqrt(squares / seen)) / scale if seen else None
    return Statistics(
        elements.size,
        low,
        high,
        float(mean) / scale if seen else None,
        std,
        zeros,
        nans,
        positive,
        negative,
        distinct=None if elements.size else 0,
        quantiles=_interpolate(seen, lambda ranks: find_ranked(walk, ranks)),
        is_magnitude=is_magnitude,
        is_sample=is_sample,
    )


def _interpolate(count: int, look_up: Any) -> dict[float, float]:
    """Interpolate between the elements of neighbouring ranks (``numpy.quantile``, linear)."""
    if count == 0:
        return {}
    positions = np.array(QUANTILES) * (count - 1)
    ranks = np.floor(positions).astype(np.int64)
    weights = positions - ranks
    found: npt.NDArray[np.float64] = look_up(
        np.concatenate([ranks, np.minimum(ranks + 1, count - 1)])
    )
    below, above = found[: ranks.size], found[ranks.size :]
    mixed = np.where(below == above, below, below * (1 - weights) + above * weights)
    return dict(zip(QUANTILES, mixed.tolist(), strict=True))
