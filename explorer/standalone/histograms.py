"""Histograms as a page draws them: how many elements lie in each bin, and what stands beside.

What is told of a histogram is a JSON object; what is missing is as usual.

================ ==================================================================
key              content
================ ==================================================================
``edges``        where the first bin begins and the last one ends, in units
``bins``         their number
``of``           what the axis says: ``value``, ``magnitude``, ``value / 1e-250``
``kind``         ``integer`` or ``bool``, for the numbers along the axis
``times``        by how much each count is to be multiplied
``rest``         in words what the bars do not show, and ``odd`` where NaNs are among it
``note``         in words how the elements are quantized
``extent``       from where to where the axis goes
``zero_point``   the stored number that stands for 0.0
``levels``       numbers that can be held
``band``         from where to where numbers can be held
================ ==================================================================
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from netloupe.explorer.model import DataType
from netloupe.explorer.plots import (
    choose_extent,
    choose_unit,
    describe_rest,
    lay_over,
    name_values,
)
from netloupe.explorer.quantization import Quantization, Saturation
from netloupe.explorer.tensors import Histogram

#: counts of at least so much are written as parts of it, since columns have 32 bits
_LARGEST = 2**31
#: an axis is told to so many parts of its length
_PARTS = 10_000


@dataclass(frozen=True, slots=True)
class HistogramRecord:
    """A histogram as a page has it.

    Parameters
    ----------
    counts
        For each bin, to be multiplied by ``times``.
    facts
        What is told beside the counts.
    """

    counts: tuple[int, ...]
    facts: dict[str, Any]


def record_histogram(
    histogram: Histogram,
    dtype: DataType,
    quantization: Quantization | None = None,
    saturation: Saturation | None = None,
) -> HistogramRecord:
    """Return a histogram as a page draws it.

    Parameters
    ----------
    histogram
        What is drawn.
    dtype
        The element type of the tensor.
    quantization
        How its elements are quantized.
    saturation
        How many elements lie outside the real range or at its ends.
    """
    unit = choose_unit(histogram.edges)
    usual = choose_extent(histogram.edges / unit)
    overlay = lay_over(quantization, dtype, usual) if quantization and unit == 1 else None
    notes = [overlay.note] if overlay is not None and overlay.note else []
    if saturation is not None:
        notes.append(saturation.describe())
    most = int(histogram.counts.max())
    times = -(-most // (_LARGEST - 1)) if most >= _LARGEST else 1
    extent = overlay.extent if overlay is not None else usual

    def shorten(numbers: Iterable[float]) -> list[float]:
        return _shorten(numbers, extent[1] - extent[0])

    facts: dict[str, Any] = {
        "edges": shorten((histogram.edges[[0, -1]] / unit).tolist()),
        "bins": histogram.counts.size,
        "extent": shorten(extent),
        "of": name_values(dtype, unit),
    }
    if dtype.name == "bool" or dtype.is_integer:
        facts["kind"] = "bool" if dtype.name == "bool" else "integer"
    if times > 1:
        facts["times"] = times
    if rest := describe_rest(histogram):
        facts["rest"] = rest
    if histogram.nans:
        facts["odd"] = True
    if notes:
        facts["note"] = " · ".join(notes)
    if overlay is not None:
        if overlay.zero_point is not None:
            facts["zero_point"] = overlay.zero_point
        if overlay.levels:
            facts["levels"] = shorten(overlay.levels)
        if overlay.band is not None:
            facts["band"] = shorten(overlay.band)
    # rounded up: a bin that holds anything is not empty
    return HistogramRecord(tuple((-(-histogram.counts // times)).tolist()), facts)


def _shorten(numbers: Iterable[float], length: float) -> list[float]:
    """Return numbers along an axis with no more digits than can be seen."""
    places = math.ceil(math.log10(_PARTS / length)) if length > 0 else 0
    return [round(number, min(places, 300)) + 0.0 for number in numbers]
