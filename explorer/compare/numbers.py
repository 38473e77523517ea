"""How far the stored numbers of two tensors are apart."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from netloupe.explorer.errors import NetloupeError
from netloupe.explorer.model import Tensor
from netloupe.explorer.progress import is_ending, step
from netloupe.explorer.tensors import open_elements

Numbers = npt.NDArray[np.float64]

#: so many elements are read at once
_PIECE = 2**18


@dataclass(frozen=True, slots=True)
class NumberDifference:
    """How far the numbers of two tensors of the same dimensions are apart.

    Parameters
    ----------
    count
        How many there are in each.
    changed
        How many of them are not the same in both. NaN is the same as NaN, and 0 as -0.
    largest
        The largest magnitude of a difference; of differences that are finite.
    relative
        The length of all differences (L2) as a share of that of the left numbers; infinite where
        these are all 0, and some of the right ones are not.
    cosine
        The cosine of the angle between both, as vectors; None where one of them is all 0.
    """

    count: int
    changed: int
    largest: float
    relative: float
    cosine: float | None


@np.errstate(invalid="ignore")
def compare_numbers(left: Tensor, right: Tensor) -> NumberDifference | None:
    """Compare two tensors element by element, read in pieces.

    Returns
    -------
    NumberDifference or None
        None where their dimensions differ, or elements cannot be read or are no real numbers.
    """
    if left.dims != right.dims or not (_is_real(left) and _is_real(right)):
        return None
    try:
        return _compare(left, right)
    except NetloupeError as error:
        if is_ending(error):
            raise
        return None


def _is_real(tensor: Tensor) -> bool:
    dtype = tensor.dtype
    return dtype.is_float or dtype.is_integer or dtype.name == "bool"


def _compare(left: Tensor, right: Tensor) -> NumberDifference:
    first, second = open_elements(left), open_elements(right)
    count = min(first.size, second.size)
    sums = DifferenceSums()
    for start in range(0, count, _PIECE):
        step()
        stop = min(start + _PIECE, count)
        pieces = first.take(start, stop), second.take(start, stop)
        if pieces[0].dtype == pieces[1].dtype and pieces[0].tobytes() == pieces[1].tobytes():
            one = other = pieces[0].astype(np.float64)
        else:
            one, other = (piece.astype(np.float64) for piece in pieces)
        sums.add(one, other)
    return sums.finish(count)


class DifferenceSums:
    """What is added up of two rows of numbers, piece by piece."""

    def __init__(self) -> None:
        self._changed = 0
        self._largest = self._apart = self._left = self._right = self._together = 0.0

    def add(self, left: Numbers, right: Numbers) -> None:
        """Add a piece of both; one and the same array where they are known to be equal."""
        if left is not right:
            is_same = (left == right) | (np.isnan(left) & np.isnan(right))
            self._changed += int(is_same.size - np.count_nonzero(is_same))
        is_finite = np.isfinite(left) & np.isfinite(right)
        a, b = left[is_finite], right[is_finite]
        with np.errstate(over="ignore"):
            differences = np.abs(b - a)
            self._largest = max(self._largest, float(differences.max(initial=0.0)))
            self._apart += float(differences @ differences)
            self._left += float(a @ a)
            self._right += float(b @ b)
            self._together += float(a @ b)

    def finish(self, count: int) -> NumberDifference:
        """Return how far both are apart."""
        apart, left, right = self._apart, self._left, self._right
        relative = (apart / left) ** 0.5 if left else (float("inf") if apart else 0.0)
        cosine = self._together / (left * right) ** 0.5 if left and right else None
        return NumberDifference(count, self._changed, self._largest, relative, cosine)
