"""Where a word stands in a sequence of numbers, by hashes of all its windows of one length.

See R. Karp and M. Rabin, Efficient randomized pattern-matching algorithms, IBM Journal of
Research and Development 31, 1987. Whoever uses a place compares it with the word itself.
"""

from __future__ import annotations

import numpy as np

from .signatures import Integers

_BASE = 0x9E3779B97F4A7C15
_INVERSE = pow(_BASE, -1, 2**64)
_MIX = np.uint64(0xBF58476D1CE4E5B9)


class WordFinder:
    """Finds words in a sequence of numbers; each search takes time linear in the sequence."""

    def __init__(self, numbers: Integers) -> None:
        self._numbers = numbers
        count = len(numbers)
        mixed = (numbers.astype(np.uint64) + np.uint64(1)) * _MIX
        mixed = (mixed ^ (mixed >> np.uint64(29))) * _MIX
        terms = (mixed ^ (mixed >> np.uint64(32))) * _powers(_BASE, count)
        self._sums = np.concatenate((np.zeros(1, np.uint64), np.cumsum(terms, dtype=np.uint64)))
        self._shifts = _powers(_INVERSE, count)
        self._length = 0
        self._hashes = np.zeros(0, np.uint64)

    def find(self, first: int, length: int, low: int, high: int) -> list[tuple[int, int]]:
        """Return where the word that begins at a place stands, without overlaps.

        Parameters
        ----------
        first, length
            The word.
        low, high
            It is looked for from ``low``, and ends at ``high`` or before.

        Returns
        -------
        list of tuple
            Where each row of the word said again and again begins, and how often it is said.
        """
        if length != self._length:
            windows = self._sums[length:] - self._sums[:-length]
            self._hashes = windows * self._shifts[: len(windows)]
            self._length = length
        found = np.flatnonzero(self._hashes[low : high - length + 1] == self._hashes[first]) + low
        rows: list[tuple[int, int]] = []
        begin, end = -1, low
        for place in found.tolist():
            if place < end:
                continue
            if place > end or begin < 0:
                if begin >= 0:
                    rows.append((begin, (end - begin) // length))
                begin = place
            end = place + length
        if begin >= 0:
            rows.append((begin, (end - begin) // length))
        return rows

    def is_said(self, first: int, length: int, place: int, times: int) -> bool:
        """Return whether a word really stands at a place so many times; hashes may be equal."""
        word = self._numbers[first : first + length]
        said = self._numbers[place : place + times * length].reshape(times, length)
        return bool((said == word).all())


def _powers(base: int, count: int) -> np.ndarray[tuple[int], np.dtype[np.uint64]]:
    """Return the powers of a number modulo 2⁶⁴, from 0 to ``count - 1``."""
    factors = np.full(count, base, dtype=np.uint64)
    factors[:1] = 1
    return np.cumprod(factors, dtype=np.uint64)
