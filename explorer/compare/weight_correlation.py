"""Whether a float tensor is what a quantized weight was made of, told from some of the elements.

Where there is no pair of nodes to go by, this finds the twin among many tensors; and it keeps a
pair of nodes from being believed that is wrong.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from netloupe.explorer.quantization.quantized_elements import QuantizedElements

from .references import Reference

Numbers = npt.NDArray[np.float64]

#: of a weight so many rows are looked at, and of each so many elements
_ROWS, _COLUMNS = 24, 64
#: rows up to so long are read in one piece
_LONGEST_ROW = 2**16
#: fewer elements tell nothing
LEAST_ELEMENTS = 8
#: correlation of weights with what b bits leave of them, at least: rounding to b bits leaves of
#: normal numbers 0.80 (1 bit), 0.94, 0.98, 0.99 (4 bits; Max 1960, Quantizing for minimum
#: distortion); of numbers that have nothing to do with each other about 1 / sqrt(n)
_LEAST_CORRELATION = {1: 0.5, 2: 0.7, 3: 0.85}
_MOST_CORRELATION = 0.9


class Sample(NamedTuple):
    """Elements of a weight at the same places as of others: some rows, of each some columns."""

    numbers: Numbers
    is_grid: bool


class WeightCorrelation(NamedTuple):
    """How alike a quantized weight and a float tensor are.

    Parameters
    ----------
    overall
        Of all elements that were looked at.
    row, column
        The median over rows, and over columns: high also where channels were rescaled.
    """

    overall: float
    row: float
    column: float

    @property
    def best(self) -> float:
        """The highest of the three."""
        return max(self.overall, self.row, self.column)


def find_least_correlation(bits: float | None) -> float:
    """Return the correlation that a weight of so many bits has with its twin at least."""
    return _LEAST_CORRELATION.get(round(bits or 8), _MOST_CORRELATION)


def choose_places(dims: tuple[int, ...], size: int) -> tuple[list[int], list[int], int]:
    """Return rows, columns and the width of a row, the axes behind the first taken together."""
    rows = dims[0] if len(dims) > 1 and dims[0] else 1
    width = max(size // rows, 1)
    return _spread(rows, _ROWS), _spread(width, _COLUMNS), width


def _spread(count: int, most: int) -> list[int]:
    found: list[int] = np.unique(
        np.linspace(0, count - 1, min(count, most)).astype(np.int64)
    ).tolist()
    return found


@np.errstate(all="ignore")
def sample_codes(quantized: QuantizedElements) -> Sample:
    """Return real numbers that some codes of a weight stand for."""
    rows, columns, width = choose_places(quantized.dims, quantized.codes.size)
    taken = []
    for row in rows:
        parts = []
        for start, stop, places in _list_spans(row * width, columns):
            codes = quantized.codes.take(start, stop)
            parts.append(quantized.dequantize(codes, start, stop)[places])
        taken.append(np.concatenate(parts))
    return Sample(np.stack(taken), len(rows) > 1)


def _list_spans(base: int, columns: list[int]) -> Iterator[tuple[int, int, list[int]]]:
    """Yield what is read of a row, and which elements of it are wanted: not all of a long one."""
    if columns[-1] - columns[0] < _LONGEST_ROW:
        yield base + columns[0], base + columns[-1] + 1, [each - columns[0] for each in columns]
        return
    for each in columns:
        yield base + each, base + each + 1, [0]


@np.errstate(all="ignore")
def sample_reference(reference: Reference, dims: tuple[int, ...], size: int) -> Sample:
    """Return elements of a float tensor at the places where :func:`sample_codes` takes its own."""
    rows, columns, width = choose_places(dims, size)
    turned = reference.turned
    if turned is None:
        taken = [
            np.concatenate(
                [
                    reference.elements.take(start, stop)[places]
                    for start, stop, places in _list_spans(row * width, columns)
                ]
            )
            for row in rows
        ]
        return Sample(np.stack(taken).astype(np.float64), len(rows) > 1)
    _, height, across = turned
    area = height * across
    taken = []
    for row in rows:
        line = []
        for column in columns:
            place = row * width + column
            batch, inside = divmod(place, area)
            at = batch * area + (inside % height) * across + inside // height
            line.append(reference.elements.take(at, at + 1)[0])
        taken.append(np.array(line, np.float64))
    return Sample(np.stack(taken), len(rows) > 1)


def compare_samples(one: Sample, other: Sample) -> WeightCorrelation:
    """Return how alike two samples of the same places are."""
    left, right = one.numbers, other.numbers
    good = np.isfinite(left) & np.isfinite(right)
    left, right = np.where(good, left, 0.0), np.where(good, right, 0.0)
    whole = _correlate(left.reshape(1, -1), right.reshape(1, -1))
    if not one.is_grid:
        return WeightCorrelation(whole, whole, whole)
    is_small = left.shape[1] < LEAST_ELEMENTS, left.shape[0] < LEAST_ELEMENTS
    return WeightCorrelation(
        whole,
        whole if is_small[0] else _correlate(left, right),
        whole if is_small[1] else _correlate(left.T, right.T),
    )


@np.errstate(all="ignore")
def _correlate(left: Numbers, right: Numbers) -> float:
    """Return the median cosine of rows that are not zero; 0 where all are."""
    lengths = np.sqrt((left * left).sum(axis=1) * (right * right).sum(axis=1))
    cosines = (left * right).sum(axis=1) / lengths
    known = cosines[np.isfinite(cosines)]
    return float(np.median(known)) if known.size else 0.0
