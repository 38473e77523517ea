"""Numbers of quantized weights beside their twins: measured references, and odd weights."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from netloupe.explorer.audit.fidelity import Fidelity, measure_fidelity
from netloupe.explorer.audit.twins import compare_with_twin
from netloupe.explorer.compare.references import Reference
from netloupe.explorer.quantization.quantized_elements import QuantizedElements
from netloupe.explorer.tensors.elements import as_elements
from tests.audit.networks import quantize_blocks

Array = np.ndarray[Any, Any]
_NORMAL = np.random.default_rng(0).standard_normal((64, 64, 3, 3))
_MATRIX = np.random.default_rng(0).standard_normal((512, 1024))


def make_quantized(
    codes: Array,
    scale: Array | float,
    zero: Array | float = 0.0,
    *,
    ends: tuple[int, int] = (-128, 127),
    axis: int | None = None,
    block: int | None = None,
) -> QuantizedElements:
    scales, zeros = (np.atleast_1d(np.asarray(n, np.float64)).reshape(-1) for n in (scale, zero))
    return QuantizedElements(as_elements(codes), codes.shape, scales, zeros, *ends, axis, block)


def measure(weight: QuantizedElements, floats: Array, axis: int | None = 0) -> Fidelity:
    found = measure_fidelity(weight, Reference(as_elements(floats)), axis)
    return found.summarize(found.find_gain())


def round_channels(weights: Array, factor: float = 1.0) -> QuantizedElements:
    largest = np.abs(weights).reshape(len(weights), -1).max(axis=1)
    scale = largest * factor / 127
    spread = scale.reshape(-1, *[1] * (weights.ndim - 1))
    codes = np.clip(np.rint(weights / spread), -128, 127).astype(np.int8)
    return make_quantized(codes, scale, axis=0)


def test_int8_with_a_scale_for_each_channel() -> None:
    found = measure(round_channels(_NORMAL), _NORMAL)
    assert found.sqnr_db == pytest.approx(42.32, abs=0.005)
    assert found.excess_error == pytest.approx(1.001, abs=0.0005)
    assert found.max_step_error == pytest.approx(0.49999, abs=0.00001)
    assert found.clipped == 0
    assert found.cosine is not None
    assert found.cosine > 0.9999
    assert found.channels == 64
    assert found.ideal_sqnr_db == pytest.approx(42.40, abs=0.005)


def test_the_ideal_is_what_the_formula_says() -> None:
    largest = np.abs(_NORMAL).reshape(64, -1).max(axis=1)
    sigma = _NORMAL.reshape(64, -1).std(axis=1)
    formula = 6.0206 * 8 + 10.79 - 20 * np.log10(2 * largest / sigma)
    assert formula.mean() == pytest.approx(42.5, abs=0.03)
    each = [
        measure_fidelity(
            round_channels(_NORMAL[place : place + 1]),
            Reference(as_elements(_NORMAL[place : place + 1])),
            0,
        ).find_ideal()
        for place in range(64)
    ]
    rms = np.sqrt((_NORMAL.reshape(64, -1) ** 2).mean(axis=1))
    exact = 6.0206 * 8 + 10.7918 - 20 * np.log10(2 * largest / rms)
    assert each == pytest.approx(exact, abs=0.001)


def test_int8_with_one_scale_and_what_channels_would_gain() -> None:
    scale = np.abs(_NORMAL).max() / 127
    found = measure(make_quantized(np.rint(_NORMAL / scale).astype(np.int8), scale), _NORMAL)
    assert found.sqnr_db == pytest.approx(39.35, abs=0.005)
    assert found.per_channel_gain_db == pytest.approx(42.32 - 39.35, abs=0.01)


@pytest.mark.parametrize(
    ("block", "is_symmetric", "sqnr", "zeroed"),
    [
        (32, True, 20.26, 0.132),
        (128, True, 18.59, 0.160),
        (32, False, 21.86, None),
        (128, False, 19.94, None),
    ],
)
def test_int4_in_blocks(block: int, is_symmetric: bool, sqnr: float, zeroed: float | None) -> None:
    codes, scale, zero = quantize_blocks(_MATRIX, block, is_symmetric=is_symmetric)
    ends = (-8, 7) if is_symmetric else (0, 15)
    found = measure(make_quantized(codes, scale, zero, ends=ends, axis=1, block=block), _MATRIX)
    assert found.sqnr_db == pytest.approx(sqnr, abs=0.01)
    assert found.max_step_error == pytest.approx(0.5, abs=0.0001)
    assert found.excess_error == pytest.approx(1.0, abs=0.02)
    if zeroed is not None:
        assert found.zeroed == pytest.approx(zeroed, abs=0.001)


def test_one_clipped_channel_stands_out() -> None:
    good = round_channels(_NORMAL)
    scale = good.scale.copy()
    scale[7] /= 3
    spread = scale.reshape(-1, 1, 1, 1)
    codes = np.clip(np.rint(_NORMAL / spread), -128, 127).astype(np.int8)
    found = measure(make_quantized(codes, scale, axis=0), _NORMAL)
    assert found.worst_channel == 7
    assert found.worst[0].clipped > 0.1
    assert found.worst[0].excess_error is not None
    assert found.worst[0].excess_error > 3
    assert found.worst[1].clipped == 0


def test_a_folded_batch_normalization_is_told_from_other_weights() -> None:
    factors = np.random.default_rng(1).uniform(0.2, 5.0, 64)
    folded = _NORMAL * factors.reshape(-1, 1, 1, 1)
    found = compare_with_twin(round_channels(folded), Reference(as_elements(_NORMAL)), 0)
    assert found.factor_axis == 0
    assert found.factors == pytest.approx((factors.min(), factors.max()), rel=1e-3)
    assert found.fidelity.excess_error == pytest.approx(1.0, abs=0.01)
    assert found.fidelity.sqnr_db == pytest.approx(42.3, abs=0.3)


def test_equalised_input_channels_are_told() -> None:
    factors = np.random.default_rng(1).uniform(0.2, 5.0, 64)
    scaled = _NORMAL * factors.reshape(1, -1, 1, 1)
    found = compare_with_twin(round_channels(scaled), Reference(as_elements(_NORMAL)), 0)
    assert found.factor_axis == 1
    assert found.fidelity.excess_error == pytest.approx(1.0, abs=0.02)


def test_one_factor_for_all_is_no_axis() -> None:
    found = compare_with_twin(round_channels(_NORMAL * 2), Reference(as_elements(_NORMAL)), 0)
    assert found.factor_axis is None
    assert found.factors == pytest.approx((2, 2), rel=0.01)


def test_other_weights_are_not_explained_by_factors() -> None:
    other = np.random.default_rng(5).standard_normal(_NORMAL.shape)
    found = compare_with_twin(round_channels(_NORMAL), Reference(as_elements(other)), 0)
    assert found.factors is None
    assert found.fidelity.excess_error is not None
    assert found.fidelity.excess_error > 10


def test_equal_weights_differ_by_nothing_and_zeros_by_no_ratio() -> None:
    whole = np.array([[1.0, -2.0], [3.0, 4.0]])
    found = measure(make_quantized(whole.astype(np.int8), 1.0), whole)
    assert found.sqnr_db == float("inf")
    assert found.max_step_error == 0
    zeros = measure(make_quantized(np.zeros((2, 2), np.int8), 1.0), np.zeros((2, 2)))
    assert zeros.cosine is None
    assert zeros.relative_error == 0


def test_numbers_that_are_not_finite_are_left_out() -> None:
    floats = _NORMAL.copy()
    floats[0, 0, 0, 0], floats[1, 0, 0, 0] = np.nan, np.inf
    found = measure(round_channels(_NORMAL), floats)
    assert found.count == floats.size - 2
    assert found.sqnr_db == pytest.approx(42.32, abs=0.01)


@pytest.mark.parametrize("batch", [1, 3])
def test_turned_twins_are_read_in_the_order_of_the_codes(
    batch: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    from netloupe.explorer.compare import references

    given = np.arange(batch * 6 * 5, dtype=np.float64).reshape(batch, 6, 5)
    wanted = given.transpose(0, 2, 1).reshape(-1)
    for tile in (2**22, 60, 30, 13, 6, 1):
        monkeypatch.setattr(references, "_TILE", tile)
        reference = Reference(as_elements(given), (batch, 6, 5))
        for start in range(wanted.size):
            for stop in (start, start + 1, start + 7, wanted.size):
                stop = min(stop, wanted.size)
                assert reference.take(start, stop).tolist() == wanted[start:stop].tolist()


def test_kurtosis_is_that_of_the_float_weights() -> None:
    for weights, expected in (
        (_NORMAL, 3.0),
        (np.random.default_rng(0).uniform(-1, 1, _NORMAL.shape), 1.8),
        (np.random.default_rng(0).laplace(size=_NORMAL.shape) + 5.0, 6.0),
    ):
        found = measure(round_channels(weights), weights).kurtosis
        moved = weights - weights.mean()
        assert found == pytest.approx((moved**4).mean() / (moved**2).mean() ** 2, rel=1e-6)
        assert found == pytest.approx(expected, rel=0.05)
    equal = np.full((4, 8), 0.5)
    assert measure(round_channels(equal), equal).kurtosis is None


def divide(weights: Array, decoded: Array, low: float, high: float, bins: int) -> float:
    """Return sum p ln(p / q) by numpy's own histograms."""
    inside = (np.clip(numbers, low, high) for numbers in (weights, decoded))
    p, q = (np.histogram(numbers, bins, (low, high))[0] + 0.5 for numbers in inside)
    p, q = p / p.sum(), q / q.sum()
    return float((p * np.log(p / q)).sum())


def test_the_divergence_of_histograms_is_that_of_its_definition() -> None:
    scale = float(np.abs(_NORMAL).max()) / 127
    for factor in (1.0, 0.4, 3.0):  # as it is; clipped; a part of the range
        step = scale * factor
        codes = np.clip(np.rint(_NORMAL / step), -128, 127).astype(np.int8)
        found = measure(make_quantized(codes, step), _NORMAL).kl_nats
        ends = -128.5 * step, 127.5 * step
        assert found == pytest.approx(divide(_NORMAL, codes * step, *ends, 128), rel=1e-3, abs=1e-6)
    good = measure(make_quantized(np.rint(_NORMAL / scale).astype(np.int8), scale), _NORMAL).kl_nats
    other = measure(
        make_quantized(np.rint(_NORMAL / scale).astype(np.int8), scale), 2 * _NORMAL
    ).kl_nats
    assert good is not None
    assert other is not None
    assert good < 0.001 < 0.1 < other


def test_four_bits_are_compared_on_a_bin_for_each_code() -> None:
    scale = float(np.abs(_NORMAL).max()) / 7
    codes = np.clip(np.rint(_NORMAL / scale), -8, 7).astype(np.int8)
    found = measure(make_quantized(codes, scale, ends=(-8, 7)), _NORMAL)
    assert found.kl_nats == pytest.approx(0.0, abs=1e-5)
