"""Find the elements of given ranks without sorting all of them.

A radix selection (Knuth, The Art of Computer Programming, vol. 3, § 5.2.5): numbers are mapped
to unsigned integers of the same order, and one pass counts the values of their first 16 bits.
Only the elements that share those bits with a wanted rank matter from then on; once few are
left they are collected and sorted. Two passes for 32 bits, at most four for 64, and memory for
the counters alone.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from netloupe.explorer.arrays import sort_distinct

from .elements import Walk

Array = np.ndarray[Any, Any]
Ranks = npt.NDArray[np.int64]

#: fewer elements than this are sorted at once
SORTED_AT_ONCE = 2**20
#: so many elements that share their first bits with a wanted one are collected and sorted
_MOST_COLLECTED = 2**21
_DIGIT = 16
_VALUES = 2**_DIGIT
_CHUNK = 2**18


def find_ranked(walk: Walk, ranks: Ranks) -> npt.NDArray[np.float64]:
    """Return the finite elements that would stand at ``ranks`` if all were sorted.

    Parameters
    ----------
    walk
        Over numbers of 32 or 64 bits.
    ranks
        Positions among the finite elements, from 0.

    Returns
    -------
    numpy.ndarray
        float64, in the order of ``ranks``.
    """
    dtype = walk.elements.dtype
    if walk.elements.size <= SORTED_AT_ONCE:
        ordered = np.sort(np.concatenate(list(map(_keep_finite, walk.chunks()))))
        return ordered[ranks].astype(np.float64)
    bits = 8 * dtype.itemsize
    wanted = ranks.copy()  # relative to the first element with the same prefix
    prefixes = np.zeros(ranks.size, np.uint64)
    known = 0
    while known < bits:
        shared = sort_distinct(prefixes)
        counts = _count_digits(walk, shared, known)
        known += _DIGIT
        remaining = 0
        rows = np.searchsorted(shared, prefixes)
        ends = counts.cumsum(axis=1)
        for place, row in enumerate(rows.tolist()):
            digit = int(np.searchsorted(ends[row], wanted[place], side="right"))
            wanted[place] -= ends[row, digit] - counts[row, digit]
            prefixes[place] = (int(prefixes[place]) << _DIGIT) | digit
        occupied = sort_distinct(prefixes)
        for prefix in occupied.tolist():
            row = int(np.searchsorted(shared, prefix >> _DIGIT))
            remaining += int(counts[row, prefix & (_VALUES - 1)])
        if known < bits and remaining <= _MOST_COLLECTED:
            return _collect(walk, prefixes, wanted, known)
    return _restore(prefixes, dtype)


def _count_first(walk: Walk) -> npt.NDArray[np.int64]:
    """Count the first digit of the finite elements, in the order of the numbers."""
    dtype = walk.elements.dtype
    counts = np.zeros(_VALUES, np.int64)
    for chunk in walk.chunks(_CHUNK):
        counts += np.bincount(_view_first(chunk), minlength=_VALUES)
    patterns = np.arange(_VALUES, dtype=np.uint16)
    if dtype.kind == "f":  # all bits of the exponent set: infinite or no number (IEEE 754, 3.4)
        exponent = np.uint16(0x7F80 if dtype.itemsize == 4 else 0x7FF0)
        counts[(patterns & exponent) == exponent] = 0
    ordered = np.zeros_like(counts)
    ordered[_order_keys(patterns, dtype.kind)] = counts
    return ordered


def _count_digits(walk: Walk, shared: npt.NDArray[np.uint64], known: int) -> npt.NDArray[np.int64]:
    """Count the next digit among the elements that start with each of some prefixes."""
    if not known:
        return _count_first(walk).reshape(1, _VALUES)
    bits = 8 * walk.elements.dtype.itemsize
    counts = np.zeros(shared.size * _VALUES, np.int64)
    pending: list[npt.NDArray[np.intp]] = []
    for keys in _match(walk, shared, known):
        places = np.searchsorted(shared.astype(keys.dtype), _take_prefix(keys, known, bits))
        pending.append(_take_digit(keys, known, bits) + places * _VALUES)
        if sum(digits.size for digits in pending) > counts.size:  # one row of counters for many
            counts += np.bincount(np.concatenate(pending), minlength=counts.size)
            pending.clear()
    if pending:
        counts += np.bincount(np.concatenate(pending), minlength=counts.size)
    return counts.reshape(shared.size, _VALUES)


def _collect(
    walk: Walk, prefixes: npt.NDArray[np.uint64], wanted: Ranks, known: int
) -> npt.NDArray[np.float64]:
    """Sort the elements that start with the prefixes; ``wanted`` counts within each of them."""
    dtype = walk.elements.dtype
    ordered = np.sort(np.concatenate(list(_match(walk, sort_distinct(prefixes), known))))
    starts = _take_prefix(ordered, known, 8 * dtype.itemsize)
    return _restore(ordered[np.searchsorted(starts, prefixes) + wanted], dtype)


def _match(walk: Walk, shared: npt.NDArray[np.uint64], known: int) -> Iterator[Array]:
    """Yield the keys of the elements that start with one of the prefixes: one pass."""
    dtype = walk.elements.dtype
    bits = 8 * dtype.itemsize
    # first by a table over the first digit as it is stored: most elements are done with
    patterns = np.arange(_VALUES, dtype=np.uint16)
    firsts = (shared >> np.uint64(known - _DIGIT)).astype(np.uint16)
    is_first = np.isin(_order_keys(patterns, dtype.kind), firsts)
    for chunk in walk.chunks(_CHUNK):
        keys = _order_keys(chunk[is_first[_view_first(chunk)]], dtype.kind)
        if known > _DIGIT:
            keys = keys[np.isin(_take_prefix(keys, known, bits), shared.astype(keys.dtype))]
        yield keys


def _view_first(chunk: Array) -> Array:
    """Return the 16 bits of each number with sign and exponent."""
    digits = np.ascontiguousarray(chunk).view(np.uint16).reshape(chunk.size, -1)
    first: Array = digits[:, -1 if sys.byteorder == "little" else 0]
    return first


def _take_prefix(keys: Array, known: int, bits: int) -> Array:
    prefix: Array = keys >> keys.dtype.type(bits - known)
    return prefix


def _take_digit(keys: Array, known: int, bits: int) -> npt.NDArray[np.intp]:
    digits: Array = (keys >> keys.dtype.type(bits - known - _DIGIT)) & keys.dtype.type(_VALUES - 1)
    return digits.astype(np.intp)


def _keep_finite(chunk: Array) -> Array:
    return chunk[np.isfinite(chunk)] if chunk.dtype.kind == "f" else chunk


def _order_keys(numbers: Array, kind: str) -> Array:
    """Return unsigned integers in the order of numbers of a kind, or of their first bits.

    Of floats with the sign bit all bits are turned, of others the sign bit (IEEE 754: without
    the sign, bit patterns are in the order of the numbers).
    """
    unsigned = np.dtype(f"u{numbers.dtype.itemsize}")
    keys = numbers.view(unsigned)
    if kind == "u":
        return keys
    top = unsigned.type(1 << (8 * unsigned.itemsize - 1))
    turned: Array | np.generic = top
    if kind == "f":
        signed = keys.view(f"i{unsigned.itemsize}")
        turned = (signed >> (8 * unsigned.itemsize - 1)).view(unsigned) | top
    ordered: Array = np.bitwise_xor(keys, turned)
    return ordered


def _restore(keys: Array, dtype: np.dtype[Any]) -> npt.NDArray[np.float64]:
    """Return the numbers that keys stand for."""
    unsigned = np.dtype(f"u{dtype.itemsize}")
    narrow = keys.astype(unsigned)
    top = unsigned.type(1 << (8 * unsigned.itemsize - 1))
    if dtype.kind == "i":
        narrow = narrow ^ top
    elif dtype.kind == "f":
        narrow = np.where(narrow & top, narrow ^ top, ~narrow)
    return narrow.view(dtype).astype(np.float64) + 0.0  # of the two zeros the positive one
