"""Positions and masks that an exporter stored, where it knew how many tokens there are."""

from __future__ import annotations

import numpy as np

from netloupe.explorer.errors import NetloupeError
from netloupe.explorer.model import Value
from netloupe.explorer.model.stored_tensors import find_stored_tensor

#: of longer lists no elements are read
_MOST_POSITIONS = 65_536
#: of larger masks no elements are read
_MOST_OF_MASK = 1 << 20
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


def hides_later(value: Value | None) -> bool:
    """Return whether stored numbers hide from each token what comes after it, and nothing else.

    They are squares that are 0 on and below the diagonal, and above it so low that a softmax gives
    nothing (A. Vaswani and others, 2017, section 3.2.3: minus infinity).
    """
    tensor = None if value is None else find_stored_tensor(value)
    if tensor is None or len(tensor.dims) < 2 or not tensor.dtype.is_float:
        return False
    rows, columns = tensor.dims[-2:]
    if rows != columns or rows < 2 or tensor.size > _MOST_OF_MASK:
        return False
    try:
        squares = tensor.numpy().reshape(-1, rows, rows)
    except (NetloupeError, TypeError, ValueError):
        return False
    is_later = np.triu(np.ones((rows, rows), np.bool_), 1)
    return bool(len(squares) and (squares[:, is_later] <= _HIDING).all()) and not bool(
        squares[:, ~is_later].any()
    )
