"""Count how often each value occurs, where a type has few values.

A type of 16 bits or fewer has at most 65,536 values: one pass over the bit patterns gives
everything that statistics and histograms need, exactly and faster than arithmetic on the
elements would.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from .elements import CHUNK, Walk

#: counters are added up once a piece: with many counters pieces are larger
_LARGE_CHUNK = 2**18


@dataclass(frozen=True, slots=True)
class ValueCounts:
    """The finite values that occur, ascending, and how often; what is not finite beside."""

    values: npt.NDArray[np.float64]
    counts: npt.NDArray[np.int64]
    nans: int
    positive_infinities: int
    negative_infinities: int


def count_values(walk: Walk) -> ValueCounts | None:
    """Count the values of elements of 16 bits or fewer; None for others."""
    dtype = walk.elements.dtype
    if dtype.itemsize > 2 or dtype.kind == "O":
        return None
    pattern_type = np.dtype(np.uint8 if dtype.itemsize == 1 else np.uint16)
    size = 256**pattern_type.itemsize
    # in two's complement or as a bit pattern, whatever the type: the table below translates
    counts = np.zeros(size, np.int64)
    for chunk in walk.chunks(CHUNK if size == 256 else _LARGE_CHUNK):
        patterns = np.ascontiguousarray(chunk).view(pattern_type)
        counts += np.bincount(patterns, minlength=size)
    present = np.flatnonzero(counts)
    found = present.astype(pattern_type)
    # bools first: a damaged file may hold any byte, and every one but zero is true
    native = found != 0 if dtype.kind == "b" else found.view(dtype)
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


def count_integers(walk: Walk, low: int, high: int) -> ValueCounts:
    """Count the values of wide integers that lie in ``low`` … ``high``.

    Allocates by ``high - low``: the caller sees to it that this is small.
    """
    counts = np.zeros(high - low + 1, np.int64)
    for chunk in walk.chunks(_LARGE_CHUNK):
        offsets = chunk - chunk.dtype.type(low)  # fits: both lie in a span that is small
        counts += np.bincount(offsets.astype(np.intp), minlength=counts.size)
    present = np.flatnonzero(counts)
    return ValueCounts((present + low).astype(np.float64), counts[present], 0, 0, 0)


def count_strings(walk: Walk) -> Counter[str | bytes]:
    """Count how often each string occurs."""
    counted: Counter[str | bytes] = Counter()
    for chunk in walk.chunks():
        counted.update(chunk.tolist())
    walk.finish()
    return counted
