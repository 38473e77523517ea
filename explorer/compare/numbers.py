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
#: the largest share that is told of numbers that are not all 0, however far they are apart
_MOST = 1e300


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
        The largest magnitude of a difference; infinite where a change has no finite one.
    relative
        The length of all differences (L2) as a share of that of the left numbers; infinite where
        these are all 0, and some of the right ones are not, and where a change has no finite
        difference.
    cosine
        The cosine of the angle between both, as vectors; None where one of them is all 0, and
        where a change has no finite difference.
    unbounded
        How many of the changes have no finite difference: NaN or an infinity became a number, a
        number became one of them, or one of them another.
    other_bits
        How many are the same numbers in other bits: 0 and -0, or two NaNs.
    """

    count: int
    changed: int
    largest: float
    relative: float
    cosine: float | None
    unbounded: int = 0
    other_bits: int = 0

    def is_within(self, most: float) -> bool:
        """Return whether the relative difference is at most so much; with 0 nothing differs.

        Parameters
        ----------
        most
            A share of the length of the left numbers, 0.001 for 0.1 %.
        """
        if not most:
            return not self.changed and not self.other_bits
        return not self.unbounded and self.relative <= most


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
    # of two that are filled with one number each one element tells of all
    is_filled = count > 1 and first.is_constant and second.is_constant
    read = 1 if is_filled else count
    for start in range(0, read, _PIECE):
        step()
        stop = min(start + _PIECE, read)
        pieces = first.take(start, stop), second.take(start, stop)
        is_one_type = pieces[0].dtype == pieces[1].dtype
        if is_one_type and pieces[0].tobytes() == pieces[1].tobytes():
            sums.add_equal(pieces[0].astype(np.float64))
            continue
        one, other = (piece.astype(np.float64) for piece in pieces)
        if not is_one_type:
            sums.add(one, other)
            continue
        # of 64 bits more integers differ than have other values as float64
        differs = pieces[0] != pieces[1]
        bits = [np.ascontiguousarray(one).view(f"u{one.dtype.itemsize}") for one in pieces]
        sums.add(one, other, differs, bits[0] != bits[1])
    if is_filled:
        sums.multiply(count)
    return sums.finish(count)


class DifferenceSums:
    """What is added up of two rows of numbers, piece by piece."""

    def __init__(self) -> None:
        self._changed = self._unbounded = self._other_bits = 0
        self._largest = self._apart = self._left = self._right = self._together = 0.0
        self._most_left = 0.0

    def add(
        self,
        left: Numbers,
        right: Numbers,
        differs: npt.NDArray[np.bool_] | None = None,
        other_bits: npt.NDArray[np.bool_] | None = None,
    ) -> None:
        """Add a piece of both.

        Parameters
        ----------
        left, right
            The numbers, of one shape.
        differs
            Which differ as they are stored, where float64 may not tell; NaN from NaN too.
        other_bits
            Which are stored in other bits; None where that says nothing.
        """
        is_finite = np.isfinite(left) & np.isfinite(right)
        changed = (left != right) if differs is None else differs
        changed = changed & ~(np.isnan(left) & np.isnan(right))
        self._changed += int(np.count_nonzero(changed))
        self._unbounded += int(np.count_nonzero(changed & ~is_finite))
        if other_bits is not None:
            self._other_bits += int(np.count_nonzero(other_bits & ~changed))
        a, b = left[is_finite], right[is_finite]
        with np.errstate(over="ignore", invalid="ignore"):
            differences = np.abs(b - a)
            if differs is not None:
                differences[changed[is_finite] & (differences == 0)] = 1.0
            self._largest = max(self._largest, float(differences.max(initial=0.0)))
            self._most_left = max(self._most_left, float(np.abs(a).max(initial=0.0)))
            self._apart += float(differences @ differences)
            self._left += float(a @ a)
            self._right += float(b @ b)
            self._together += float(a @ b)

    def add_equal(self, numbers: Numbers) -> None:
        """Add a piece that is the same in both."""
        is_finite = np.isfinite(numbers)
        finite = numbers if is_finite.all() else numbers[is_finite]
        ends = float(finite.min(initial=0.0)), float(finite.max(initial=0.0))
        self._most_left = max(self._most_left, -ends[0], ends[1])
        with np.errstate(over="ignore", invalid="ignore"):
            squares = float(finite @ finite)
        self._left += squares
        self._right += squares
        self._together += squares

    def multiply(self, count: int) -> None:
        """Count all that was added so many times."""
        self._changed *= count
        self._unbounded *= count
        self._other_bits *= count
        self._apart *= count
        self._left *= count
        self._right *= count
        self._together *= count

    def finish(self, count: int) -> NumberDifference:
        """Return how far both are apart."""
        apart, left, right = self._apart, self._left, self._right
        counts = self._unbounded, self._other_bits
        if self._unbounded:
            endless = float("inf")
            return NumberDifference(count, self._changed, endless, endless, None, *counts)
        if not (0 < apart < np.inf and 0 < left < np.inf) and self._largest:
            # too small or too large to be squared: the largest ones tell
            most = self._most_left
            relative = min(self._largest / most, _MOST) if most else float("inf")
        else:
            relative = (apart / left) ** 0.5 if left else 0.0
        cosine = None
        if 0 < left < np.inf and 0 < right < np.inf:
            cosine = self._together / left**0.5 / right**0.5
        return NumberDifference(count, self._changed, self._largest, relative, cosine, *counts)
