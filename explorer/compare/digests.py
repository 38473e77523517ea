"""Digests of weights: equal for equal numbers, however these are stored.

A weight is told by a sample of its elements, rounded to 16 bits: so a network that was converted
to float16 has the digests that it had. A matrix and its transpose have the same.
"""

from __future__ import annotations

import hashlib
from typing import Any

import numpy as np

from netloupe.explorer.errors import NetloupeError
from netloupe.explorer.model import Tensor
from netloupe.explorer.tensors import Elements, open_elements

#: fewer elements tell nothing
_LEAST = 8
#: along each axis of a matrix so many elements are looked at, and of others so many in all
_ALONG, _IN_ALL = 16, 256
#: a row of a matrix is read in one piece up to so many elements
_MOST_AT_ONCE = 2**16


def shape_of_digest(tensor: Tensor) -> tuple[int, ...]:
    """Return the dimensions as far as weights need to be alike in them to be compared."""
    dims = tensor.dims
    return tuple(sorted(dims)) if len(dims) == 2 else dims


def digest_weight(tensor: Tensor) -> int | None:
    """Return what tells a weight by its elements.

    Returns
    -------
    int or None
        None where it has few elements, all that are looked at are the same, or they cannot be
        read or are no numbers.
    """
    dtype = tensor.dtype
    if tensor.size < _LEAST or not (dtype.is_float or dtype.is_integer):
        return None
    try:
        elements = open_elements(tensor)
        if elements.is_constant:
            return None
        sample = _sample(elements, tensor.dims)
    except (NetloupeError, ValueError):
        return None
    with np.errstate(over="ignore", invalid="ignore"):
        numbers = sample.astype(np.float16 if dtype.is_float else np.int64)
    if (numbers == numbers.flat[0]).all():
        return None
    kind = "float" if dtype.is_float else "integer"
    head = repr((kind, shape_of_digest(tensor))).encode()
    turned = [numbers, numbers.T] if numbers.ndim == 2 else [numbers]
    return min(_hash(head + np.ascontiguousarray(each).tobytes()) for each in turned)


def have_other_numbers(left: Tensor, right: Tensor) -> bool:
    """Return whether two weights differ in what is looked at of them; not where one is not read."""
    if shape_of_digest(left) != shape_of_digest(right):
        return True
    if left.size >= _LEAST:
        digests = digest_weight(left), digest_weight(right)
        return None not in digests and digests[0] != digests[1]
    try:
        return not np.allclose(left.numpy(), right.numpy(), equal_nan=True)
    except (NetloupeError, TypeError, ValueError):
        return False


def _hash(data: bytes) -> int:
    return int.from_bytes(hashlib.blake2b(data, digest_size=8).digest(), "little") or 1


def _sample(elements: Elements, dims: tuple[int, ...]) -> np.ndarray[Any, Any]:
    """Return elements that are spread evenly: of a matrix shape (rows, columns), else a row."""
    if len(dims) == 2:
        rows, columns = (_spread(dim, _ALONG) for dim in dims)
        return np.stack([take_places(elements, row * dims[1] + columns) for row in rows.tolist()])
    return take_places(elements, _spread(elements.size, _IN_ALL))


def _spread(count: int, most: int) -> np.ndarray[Any, np.dtype[np.int64]]:
    return np.linspace(0, count - 1, min(count, most)).astype(np.int64)


def take_places(
    elements: Elements, places: np.ndarray[Any, np.dtype[np.int64]]
) -> np.ndarray[Any, Any]:
    """Return the elements at some places, ascending."""
    first, last = int(places[0]), int(places[-1])
    if last - first < _MOST_AT_ONCE:
        taken = elements.take(first, last + 1)[places - first]
    else:
        taken = np.concatenate([elements.take(place, place + 1) for place in places.tolist()])
    return np.asarray(taken)
