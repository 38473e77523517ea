"""Products with stored polynomials and waves of time, of which forecasts are sums."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from netloupe.explorer.arrays import sort_distinct
from netloupe.explorer.dataflow import find_source
from netloupe.explorer.errors import NetloupeError
from netloupe.explorer.model import Value
from netloupe.explorer.model.kept import find_kept
from netloupe.explorer.model.stored_tensors import find_stored_tensor
from netloupe.explorer.operators import LAYOUT_TRAITS

from .found_blocks import FoundBlock, FoundBlocks
from .weight_sizes import read_dims, read_features

_LEAST_FUNCTIONS, _MOST_FUNCTIONS = 2, 128
_LEAST_STEPS, _MOST_STEPS = 6, 4096
_MATRIX = 2
_NEARLY = 1e-3

Matrix = npt.NDArray[np.float64]


def find_stored_bases(blocks: FoundBlocks) -> Iterator[FoundBlock]:
    """Find coefficients times stored powers of time, or stored sines and cosines of it.

    B. Oreshkin and others, N-BEATS: Neural Basis Expansion Analysis for Interpretable Time Series
    Forecasting, 2020, section 3.3: trend and seasonality.
    """
    operations = blocks.operations
    for number, kind in enumerate(operations.kinds):
        if kind != "Gemm" or len(operations.operands[number]) != 1:
            continue
        owner = blocks.owner[number]
        if owner is not None and (owner.kind != "linear" or len(owner.numbers) > 1):
            continue
        fixed = operations.fixed(number)
        if len(fixed) != 1:
            continue
        dims = read_dims(fixed[0])
        if len(dims) != _MATRIX or operations.nodes[number].input(1) is not fixed[0]:
            continue
        taken, given = read_features(operations.nodes[number])
        # what has fewer results than it takes is a transform, and no sum
        name = _find_basis(fixed[0], dims) if taken < given else ""
        if name:
            functions, steps = sorted(dims)
            facts = (f"{functions} → {steps}",)
            numbers = frozenset({number})
            yield FoundBlock("basis", name, numbers, number, facts)


class _KnownBases(dict[Value, str]):
    """What the stored matrices of a graph are called: each group of nodes around one asks."""


def _find_basis(value: Value, dims: tuple[int, ...]) -> str:
    known = find_kept(value.graph, _KnownBases, _KnownBases)
    if value not in known:
        known[value] = _read_basis(value, dims)
    return known[value]


def _read_basis(value: Value, dims: tuple[int, ...]) -> str:
    functions, steps = sorted(dims)
    if not _LEAST_FUNCTIONS <= functions <= _MOST_FUNCTIONS or functions == steps:
        return ""
    if not _LEAST_STEPS <= steps <= _MOST_STEPS:
        return ""
    source = find_source(value, *LAYOUT_TRAITS)
    tensor = find_stored_tensor(source) if source is not None else None
    if tensor is None or not tensor.dtype.is_float or tensor.size != functions * steps:
        return ""
    try:
        rows = tensor.numpy().astype(np.float64).reshape([d for d in tensor.dims if d != 1])
    except (NetloupeError, TypeError, ValueError):
        return ""
    if rows.ndim != _MATRIX or not np.isfinite(rows).all():
        return ""
    rows = rows if rows.shape[0] == functions else rows.T
    if _are_powers(rows):
        return "Polynomial basis"
    return "Fourier basis" if _are_waves(rows) else ""


def _are_powers(rows: Matrix) -> bool:
    """Return whether rows are the powers of one that rises evenly, from 0 on."""
    if len(rows) < _LEAST_FUNCTIONS or not np.allclose(rows[0], 1):
        return False
    steps = np.diff(rows[1])
    if np.ptp(steps) > _NEARLY * np.abs(steps).max() or not steps.any():
        return False
    powers = rows[1] ** np.arange(len(rows))[:, None]
    return bool(np.allclose(rows, powers, rtol=_NEARLY, atol=_NEARLY))


def _are_waves(rows: Matrix) -> bool:
    """Return whether each row is a sine: neighbours of a place add up to a multiple of it."""
    inner, around = rows[:, 1:-1], rows[:, 2:] + rows[:, :-2]
    squares = (inner**2).sum(axis=1)
    moving = squares > _NEARLY
    if moving.sum() < len(rows) - 1 or len(rows) <= _LEAST_FUNCTIONS:
        return False  # of a sine without a frequency all is 0
    factors = (inner * around).sum(axis=1)[moving] / squares[moving]
    left = around[moving] - factors[:, None] * inner[moving]
    are_sines = bool((np.abs(left) <= _NEARLY * np.abs(rows).max()).all())
    are_within = bool((np.abs(factors) <= _LEAST_FUNCTIONS + _NEARLY).all())
    return are_sines and are_within and len(sort_distinct(factors.round(4))) > 1
