"""Stored matrices that were given rather than trained: coordinates of places, and who is joined."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from netloupe.explorer.errors import NetloupeError
from netloupe.explorer.model import Tensor, Value
from netloupe.explorer.model.kept import find_kept
from netloupe.explorer.model.stored_tensors import find_stored_tensor
from netloupe.explorer.operators import HANDING_TRAITS

#: homogeneous coordinates in a plane and in space
_COORDINATES = (3, 4)
#: of fewer places a row may be of equal numbers by chance; of larger matrices none are read
_LEAST_PLACES, _LEAST_JOINED, _MOST_READ = 16, 4, 1 << 18
#: so many numbers are looked at first: trained ones are hardly all positive
_FIRST = 64
#: shares add up to 1 but for rounding
_ROUNDING = 1e-3
_LEAST_ZEROS = 0.5
#: kinds of edges, and between which nodes
_TABLES = 3
#: between shares and the product that takes them as its fixed side
_MOST_STEPS = 4
#: values that a matrix is computed of
_MOST_SEEN = 60


def is_given(value: Value | None) -> bool:
    """Return whether a stored matrix holds places or edges, so that a product is no layer.

    Places are written with a row of ones below their coordinates (R. Hartley and A. Zisserman,
    Multiple View Geometry in Computer Vision, 2004, section 2.2). Edges are a square of numbers
    that are not negative, of which most are 0, or which add up to 1 along rows or columns, as steps
    of a walk do (Y. Li and others, Diffusion Convolutional Recurrent Neural Network, 2018, section
    2.2). An order is a square of 0 and one other number, such as a triangle. Trained weights are
    none of these, nor are shares that are made of stored numbers (Z. Wu and others, Graph WaveNet,
    2019, equation 5), or what is computed of an identity matrix alone, as that which takes means
    off (P. Li and others, Towards Faster Training of Global Covariance Pooling Networks, 2018,
    equation 2). Of several kinds of edges there are several squares, each times what was
    learned of its edges (S. Yan and others, Spatial Temporal Graph Convolutional Networks, 2018,
    equation 10).
    """
    if value is None:
        return False
    known = find_kept(value.graph, _KnownMatrices, _KnownMatrices)
    if value not in known:
        known[value] = (
            _are_shares(value) or _is_made_of_identity(value) or _holds_places_or_edges(value)
        )
    return known[value]


class _KnownMatrices(dict[Value, bool]):
    """Which matrices of a graph were given: every group of nodes around one asks for it."""


def _holds_places_or_edges(value: Value) -> bool:
    tensor = find_stored_tensor(value)
    dims = [dim for dim in tensor.dims if dim != 1] if isinstance(tensor, Tensor) else []
    if len(dims) == _TABLES and isinstance(tensor, Tensor):
        return _are_edges(tensor, dims)
    if len(dims) != 2 or not _LEAST_PLACES <= dims[0] * dims[1] <= _MOST_READ:
        return False
    is_square = dims[0] == dims[1] >= _LEAST_JOINED
    is_narrow = min(dims) in _COORDINATES and max(dims) >= _LEAST_PLACES
    if not (is_square or is_narrow) or not isinstance(tensor, Tensor):
        return False
    try:
        stored = tensor.numpy()
        if is_square and stored.reshape(-1)[:_FIRST].min() < 0:
            return False
        matrix = stored.astype(np.float64).reshape(dims)
    except (NetloupeError, TypeError, ValueError):
        return False
    if not np.isfinite(matrix).all():
        return False
    if is_narrow:
        rows = matrix if dims[0] < dims[1] else matrix.T
        spans = np.ptp(rows, axis=1)
        ones = (spans == 0) & (rows[:, 0] == 1)
        return bool(ones.sum() == 1 and (spans > 0).sum() == len(rows) - 1)
    if matrix.min() < 0 or matrix.max() == matrix.min():
        return False
    if np.isin(matrix, (0.0, matrix.max())).all():
        return True
    if np.mean(matrix == 0) >= _LEAST_ZEROS and (matrix.sum(axis=0) * matrix.sum(axis=1)).all():
        return True
    return any(bool(np.all(np.abs(matrix.sum(axis=k) - 1) < _ROUNDING)) for k in (0, 1))


def _are_edges(tensor: Tensor, dims: Sequence[int]) -> bool:
    """Return whether several squares of equal size are mostly zeros, none of them all."""
    count, rows, columns = dims
    if not rows == columns >= _LEAST_JOINED or count * rows * columns > _MOST_READ:
        return False
    try:
        tables = tensor.numpy().reshape(dims) != 0
    except (NetloupeError, TypeError, ValueError):
        return False
    return bool(1 - np.mean(tables) >= _LEAST_ZEROS and tables.any(axis=(1, 2)).all())


def _are_shares(given: Value) -> bool:
    value: Value | None = given
    for _ in range(_MOST_STEPS):
        node = value.producer if value is not None else None
        if node is None:
            return False
        if node.operator.has("distributes"):
            return True
        if not node.operator.has(*HANDING_TRAITS):
            return False
        value = node.input(0)
    return False


def _is_made_of_identity(given: Value) -> bool:
    """Return whether a value is computed of an identity matrix and of single numbers."""
    pending, seen, has_identity = [given], set[Value](), False
    while pending:
        value = pending.pop()
        node = value.producer
        if value in seen:
            continue
        seen.add(value)
        tensor = find_stored_tensor(value)
        if tensor is not None:
            if tensor.dtype.is_float and tensor.size > 1:
                return False
            continue
        if node is None or len(seen) > _MOST_SEEN or node.operator.has("random"):
            return False
        if node.operator.has("fills"):
            continue  # of one number
        if node.operator.has("generates"):
            has_identity = True
            continue  # of what it takes the size alone counts
        if node.operator.has("reads_shape"):
            continue
        laid_out = node.operator.has(*HANDING_TRAITS, "broadcasts", "repeats")
        taken = node.inputs[:1] if laid_out else node.inputs
        pending += [operand for operand in taken if operand is not None]
    return has_identity
