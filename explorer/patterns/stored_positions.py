"""Positions and masks that an exporter stored, where it knew how many tokens there are."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from netloupe.explorer.errors import NetloupeError
from netloupe.explorer.model import Value
from netloupe.explorer.model.stored_tensors import find_stored_tensor

#: of longer lists no elements are read
_MOST_POSITIONS = 65_536
#: of larger masks no elements are read, of others these first squares, rows and columns
_MOST_OF_MASK = 1 << 24
_MOST_SQUARES = 64
_MOST_ROWS = 512
#: a token that sees only itself attends to nothing
_LEAST_SEEN = 2
#: so low are numbers that hide a score; half-precision numbers go down to -65,504
_HIDING = -1e4


def compares_stored_positions(one: Value | None, two: Value | None) -> bool:
    """Return whether two values are a row and a column of the same consecutive numbers.

    What compares them gives a triangle: ``arange(n)[None, :] <= arange(n)[:, None]``.
    """
    pair = [_read_positions(value) for value in (one, two)]
    if pair[0] is None or pair[1] is None:
        return False
    return {pair[0][0], pair[1][0]} == {-1, -2} and pair[0][1:] == pair[1][1:]


def _read_positions(value: Value | None) -> tuple[int, int, int] | None:
    """Return along which axis positions lie, the first and how many; None for all else."""
    tensor = None if value is None else find_stored_tensor(value)
    if tensor is None or len(tensor.dims) < 2 or not tensor.dtype.is_integer:
        return None
    count = tensor.size
    axis = next((axis for axis in (-1, -2) if tensor.dims[axis] == count), None)
    if axis is None or not 2 <= count <= _MOST_POSITIONS:
        return None
    try:
        elements = tensor.numpy().reshape(-1).astype(np.int64)
    except NetloupeError:
        return None
    return (axis, int(elements[0]), count) if np.all(np.diff(elements) == 1) else None


class StoredMask(NamedTuple):
    """Which tokens stored numbers let each token see.

    Parameters
    ----------
    hides
        Whether some token does not see another.
    is_causal
        Whether every token sees itself and another before it, and none behind it.
    window
        How many tokens each sees of these, itself with them; 0 where it sees all.
    is_odd
        Whether it is the same for all heads, but has other numbers than masks have: what it was
        when the model was trained is not told.
    """

    hides: bool = False
    is_causal: bool = False
    window: int = 0
    is_odd: bool = False


def read_stored_mask(value: Value | None) -> StoredMask | None:
    """Return what a stored mask hides; None where it is computed, unknown or of another form.

    Masks are squares of truth values, or of numbers that are added and so low where a token is
    hidden that a softmax gives nothing (A. Vaswani and others, 2017, section 3.2.3: minus
    infinity). Keys before the first query, as those of a memory, are seen by all.
    """
    squares = _read_squares(value)
    if squares is None:
        return None
    if squares.dtype.kind == "f":
        seen = squares > _HIDING
        numbers = squares[seen]
        is_odd = len(squares) == 1 and bool((numbers[:1] != numbers).any())
        return _read_seen(seen)._replace(is_odd=is_odd)
    # which of both truth values hides is told by the operator; only one gives a triangle
    forms = [_read_seen(squares), _read_seen(~squares)]
    return next((form for form in forms if form.is_causal), forms[0])


def _read_squares(value: Value | None) -> np.ndarray[Any, Any] | None:
    """Return the beginning of a stored mask: truth values or floats, by queries and keys."""
    tensor = None if value is None else find_stored_tensor(value)
    if tensor is None or len(tensor.dims) < 2 or tensor.size > _MOST_OF_MASK:
        return None
    is_truth = tensor.dtype.name in ("bool", "uint8")
    rows, columns = tensor.dims[-2:]
    if not (is_truth or tensor.dtype.is_float) or not 2 <= rows <= columns:
        return None
    try:
        squares = tensor.numpy().reshape(-1, rows, columns)
    except (NetloupeError, TypeError, ValueError):
        return None
    if rows == columns:
        squares = squares[:_MOST_SQUARES, :_MOST_ROWS, :_MOST_ROWS]
    if is_truth:
        return squares.astype(np.bool_) if squares.size and squares.max() <= 1 else None
    return squares


def _read_seen(seen: np.ndarray[Any, Any]) -> StoredMask:
    """Return what is told by which keys the queries of some squares see."""
    hides = not bool(seen.all())
    if not len(seen) or (seen != seen[:1]).any():
        return StoredMask(hides)
    square = seen[0]
    rows, columns = square.shape
    before = np.arange(columns - rows, columns)[:, None] - np.arange(columns)[None, :]
    if square[before < 0].any() or not square[before == 0].all():
        return StoredMask(hides)
    widest = int(before[square].max()) + 1
    is_band = bool(square[(before >= 0) & (before < widest)].all())
    if widest < _LEAST_SEEN or not is_band:
        return StoredMask(hides)
    return StoredMask(hides, True, widest if widest < columns else 0)
