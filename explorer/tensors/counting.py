"""Count how often each value occurs, where a type has few values.

A type of 16 bits or fewer has at most 65,536 values: one pass over the bit patterns gives
everything that statistics and histograms need, exactly and faster than arithmetic on the
elements would.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

Array = np.ndarray[Any, Any]

# elements handled at a time: such a piece of float64 and its scratch space stay in the cache
CHUNK = 2**16


@dataclass(frozen=True, slots=True)
class ValueCounts:
    """The finite values that occur, ascending, and how often; what is not finite beside."""

    values: npt.NDArray[np.float64]
    counts: npt.NDArray[np.int64]
    nans: int
    positive_infinities: int
    negative_infinities: int


def split_chunks(elements: Array) -> Iterator[Array]:
    """Yield a flat array in consecutive views of at most ``CHUNK`` elements."""
    for start in range(0, elements.size, CHUNK):
        yield elements[start : start + CHUNK]


def count_values(array: Array) -> ValueCounts | None:
    """Count the values of an array with elements of 16 bits or fewer; None for others."""
    if array.dtype.itemsize > 2 or array.dtype.kind == "O":
        return None
    pattern_type = np.dtype(np.uint8 if array.dtype.itemsize == 1 else np.uint16)
    size = 256**pattern_type.itemsize
    # in two's complement or as a bit pattern, whatever the type: the table below translates
    patterns = np.ascontiguousarray(array).reshape(-1).view(pattern_type)
    counts = np.zeros(size, np.int64)
    for chunk in split_chunks(patterns):
        counts += np.bincount(chunk, minlength=size)
    present = np.flatnonzero(counts)
    found = present.astype(pattern_type)
    # bools first: a damaged file may hold any byte, and every one but zero is true
    native = found != 0 if array.dtype.kind == "b" else found.view(array.dtype)
    values = native.astype(np.float64)
    counts = counts[present]
    finite = np.isfinite(values)
    distinct, inverse = np.unique(values[finite], return_inverse=True)  # -0.0 equals 0.0
    merged = np.zeros(distinct.size, np.int64)
    np.add.at(merged, inverse.reshape(-1), counts[finite])
    return ValueCounts(
        distinct,
        merged,
        int(counts[np.isnan(values)].sum()),
        int(counts[values == np.inf].sum()),
        int(counts[values == -np.inf].sum()),
    )


def count_integers(array: Array, low: int, high: int) -> ValueCounts:
    """Count the values of a wide integer array whose elements lie in ``low`` … ``high``.

    Allocates by ``high - low``: the caller sees to it that this is small.
    """
    counts = np.zeros(high - low + 1, np.int64)
    for chunk in split_chunks(array.reshape(-1)):
        offsets = chunk - chunk.dtype.type(low)  # fits: both lie in a span that is small
        counts += np.bincount(offsets.astype(np.intp), minlength=counts.size)
    present = np.flatnonzero(counts)
    return ValueCounts((present + low).astype(np.float64), counts[present], 0, 0, 0)


def measure_magnitude(array: Array) -> Array:
    """Return the magnitudes of a complex array as float64, without intermediate overflow."""
    flat = array.reshape(-1)
    magnitudes = np.empty(flat.size, np.float64)
    with np.errstate(over="ignore", invalid="ignore"):
        for start in range(0, flat.size, CHUNK):
            chunk = flat[start : start + CHUNK].astype(np.complex128)
            magnitudes[start : start + CHUNK] = np.abs(chunk)
    return magnitudes


def sample_elements(array: Array, limit: int) -> Array:
    """Return about ``limit`` elements in short runs spread evenly over the array.

    Short runs, not single elements, so that a mapped file is read in few places.
    """
    flat = array.reshape(-1)
    if flat.size <= limit:
        return flat
    run = min(1024, max(limit, 1))
    starts = np.linspace(0, flat.size - run, max(limit // run, 1)).astype(np.int64)
    return np.concatenate([flat[start : start + run] for start in starts])
