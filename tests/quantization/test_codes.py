"""What is told of codes is what counting them one by one tells, however scales are laid out."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest

from netloupe.explorer.quantization import codes as measured
from netloupe.explorer.quantization.codes import CodeFacts, measure_codes
from netloupe.explorer.quantization.quantized_elements import QuantizedElements
from netloupe.explorer.tensors.elements import as_elements, repeat_element

Array = np.ndarray[Any, Any]
_DIMS = (6, 8, 4)


def make(
    axis: int | None,
    block: int | None,
    *,
    dtype: Any = np.int8,
    ends: tuple[int, int] = (-128, 127),
    zero: bool = False,
) -> tuple[QuantizedElements, Array, Array, Array]:
    """Return a weight with its codes, and the scale and zero point of each of them."""
    chance = np.random.default_rng(0)
    whole = chance.integers(ends[0], ends[1] + 1, _DIMS)
    shape = [1, 1, 1]
    if axis is not None:
        shape[axis] = _DIMS[axis]
    if block is not None and axis is not None:
        shape = [*_DIMS]
        shape[axis] = -(-_DIMS[axis] // block)
    scale = chance.uniform(0.1, 2.0, shape)
    zeros = chance.integers(ends[0], ends[1] + 1, shape) if zero else np.zeros(shape)
    places = [np.arange(dim) for dim in _DIMS]
    for each in range(3):
        places[each] = places[each] * 0 if shape[each] == 1 else places[each]
    if block is not None and axis is not None:
        places[axis] = np.arange(_DIMS[axis]) // block
    spread, zero_spread = scale[np.ix_(*places)], zeros[np.ix_(*places)]
    stored = whole.astype(np.int16).astype(dtype) if dtype is not np.uint8 else whole.astype(dtype)
    quantized = QuantizedElements(
        as_elements(stored),
        _DIMS,
        scale.reshape(-1),
        zeros.reshape(-1).astype(np.float64),
        *ends,
        None if scale.size == 1 else axis,
        block,
    )
    return quantized, whole, spread, zero_spread


def count(quantized: QuantizedElements, axis: int | None) -> CodeFacts:
    found = measure_codes(quantized, axis)
    assert found is not None
    return found


_KINDS = [
    (np.int8, (-128, 127)),
    (np.uint8, (0, 255)),
    (ml_dtypes.int4, (-8, 7)),
    (ml_dtypes.uint4, (0, 15)),
    (np.int16, (-300, 300)),
]


@pytest.mark.parametrize(("dtype", "ends"), _KINDS)
@pytest.mark.parametrize(
    ("axis", "block"),
    [(None, None), (0, None), (1, None), (2, None), (2, 2), (2, 3), (1, 4), (0, 5)],
)
@pytest.mark.parametrize("along", [None, 0, 1, 2])
@pytest.mark.parametrize("zero", [False, True])
@pytest.mark.parametrize("piece", [2**17, 5])
def test_facts_are_those_of_the_codes_one_by_one(
    dtype: Any,
    ends: tuple[int, int],
    axis: int | None,
    block: int | None,
    along: int | None,
    zero: bool,
    piece: int,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(measured, "PIECE", piece)
    quantized, whole, scale, zeros = make(axis, block, dtype=dtype, ends=ends, zero=zero)
    found = count(quantized, along)
    real = scale * (whole - zeros)
    assert quantized.dequantize(
        quantized.codes.take(0, whole.size), 0, whole.size
    ) == pytest.approx(real.reshape(-1))
    assert (found.least, found.most) == (whole.min(), whole.max())
    assert found.distinct == np.unique(whole).size
    assert found.zeros == (whole == zeros).sum()
    _, counts = np.unique(whole, return_counts=True)
    shares = counts / whole.size
    assert found.entropy == pytest.approx(-(shares * np.log2(shares)).sum())
    bottom = ends[0] + quantized.is_symmetric
    assert found.at_lowest == (whole <= bottom).sum()
    assert found.at_highest == (whole == ends[1]).sum()
    if along is None:
        assert found.channels == 0
        return
    others = tuple(each for each in range(3) if each != along)
    ranges = np.abs(real).max(axis=others)
    assert found.channels == _DIMS[along]
    assert found.disparity == pytest.approx(ranges.max() / np.median(ranges))
    assert found.mean_precision == pytest.approx((ranges / ranges.max()).mean())


def test_codes_that_are_all_the_same_are_not_made() -> None:
    elements = repeat_element(np.array([5], np.int8), 2**40)
    quantized = QuantizedElements(
        elements, (2**40,), np.ones(1), np.zeros(1), -128, 127, None, None
    )
    found = count(quantized, None)
    assert (found.size, found.distinct, found.zeros) == (2**40, 1, 0)


def test_the_share_of_the_range_that_is_used() -> None:
    whole = np.arange(-31, 33).astype(np.int8)
    quantized = QuantizedElements(
        as_elements(whole), (64,), np.ones(1), np.zeros(1), -128, 127, None, None
    )
    found = count(quantized, None)
    assert found.used_span == 64 / 256
    assert found.reach == 32 / 127
    assert found.effective_bits == 6
    assert not found.has_most_negative
    assert found.zeros == 1
