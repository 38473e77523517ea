"""Statistics and histograms against numpy on the full data."""

import io

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from onnx import helper, numpy_helper

import netloupe
from netloupe.explorer.model import data_type
from netloupe.explorer.tensors import Statistics, compute_histogram, compute_statistics

NUMERIC = [
    "bool", "int2", "uint2", "int4", "uint4", "int8", "uint8", "int16", "uint16", "int32",
    "uint32", "int64", "uint64", "float4_e2m1fn", "float6_e2m3fn", "float6_e3m2fn",
    "float8_e4m3fn", "float8_e4m3fnuz", "float8_e5m2", "float8_e5m2fnuz", "float8_e8m0fnu",
    "bfloat16", "float16", "float32", "float64", "complex64", "complex128",
]  # fmt: skip


def random_array(name, shape):
    """Return an array of random bit patterns: NaNs and infinities included."""
    dtype = data_type(name).numpy
    generator = np.random.default_rng(len(name))
    if name == "bool":
        return generator.integers(0, 2, shape).astype(bool)
    bits = data_type(name).bits
    if bits < 8:
        return generator.integers(0, 2**bits, shape).astype(np.uint8).view(dtype)
    raw = generator.integers(0, 256, int(np.prod(shape)) * dtype.itemsize).astype(np.uint8)
    return raw.view(dtype).reshape(shape)


def widen(array):
    """Return the elements as numpy can compute with them."""
    with np.errstate(invalid="ignore", over="ignore"):
        if array.dtype.kind == "c":
            return np.abs(array.reshape(-1).astype(np.complex128))
        return array.reshape(-1).astype(np.float64)


def assert_equals_numpy(array):
    statistics = compute_statistics(array)
    wide = widen(array)
    finite = wide[np.isfinite(wide)]
    assert statistics.count == array.size
    assert statistics.nans == np.isnan(wide).sum()
    assert statistics.positive_infinities == (wide == np.inf).sum()
    assert statistics.negative_infinities == (wide == -np.inf).sum()
    assert statistics.zeros == (wide == 0).sum()
    assert not statistics.is_sample
    if not finite.size:
        assert statistics.minimum is statistics.maximum is statistics.mean is None
        assert statistics.quantiles == {}
        return
    assert float(statistics.minimum) == finite.min()
    assert float(statistics.maximum) == finite.max()
    with np.errstate(over="ignore", invalid="ignore"):
        mean, std = finite.mean(), finite.std()
    scale = np.abs(finite).max()
    if np.isfinite(mean):
        assert statistics.mean == pytest.approx(mean, rel=1e-12, abs=1e-13 * scale)
    if np.isfinite(std):
        assert statistics.std == pytest.approx(std, rel=1e-9, abs=1e-12 * scale)
    if statistics.distinct is not None:
        assert statistics.distinct == np.unique(finite).size
    with np.errstate(over="ignore", invalid="ignore"):
        expected = np.quantile(finite, list(statistics.quantiles))
    good = np.isfinite(expected)
    found = np.array(list(statistics.quantiles.values()))
    np.testing.assert_allclose(found[good], expected[good], rtol=1e-12, atol=1e-14 * scale)
    assert np.isfinite(found).all()


@pytest.mark.parametrize("shape", [(0,), (1,), (3, 5), (70_000,), (3, 41_000)], ids=str)
@pytest.mark.parametrize("name", NUMERIC)
def test_statistics_equal_numpy(name, shape):
    assert_equals_numpy(random_array(name, shape))


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64, ml_dtypes.bfloat16])
def test_statistics_of_weights(dtype):
    weights = (0.05 * np.random.default_rng(1).standard_normal((300, 700))).astype(dtype)
    weights[:, ::7] = 0
    assert_equals_numpy(weights)
    assert_equals_numpy(weights.T)
    assert_equals_numpy(weights[::3, 1::2])


@given(
    hnp.arrays(
        st.sampled_from([np.float16, np.float32, np.float64, np.int8, np.int64, np.uint64]),
        hnp.array_shapes(min_dims=0, max_dims=2, min_side=0, max_side=20),
    )
)
def test_statistics_of_anything(array):
    assert_equals_numpy(array)


@pytest.mark.parametrize("number", [1.34078079e154, -1.7e308, 5e-324])
def test_statistics_of_one_extreme_number(number):
    statistics = compute_statistics(np.array(number))
    assert (statistics.mean, statistics.std) == (number, 0.0)


def test_integers_stay_exact():
    array = np.array([2**63 - 1, -(2**63), 2**53 + 1], np.int64)
    statistics = compute_statistics(array)
    assert statistics.maximum == 2**63 - 1
    assert statistics.minimum == -(2**63)
    top = np.array([2**64 - 1, 2**64 - 2], np.uint64)
    assert compute_statistics(top).maximum == 2**64 - 1
    assert compute_statistics(top).minimum == 2**64 - 2


def test_distinct_is_counted_where_it_is_cheap():
    assert compute_statistics(np.array([1, 1, 5, -3], np.int64)).distinct == 3
    assert compute_statistics(np.array([0.0, -0.0, 1.0, np.nan], np.float16)).distinct == 2
    assert compute_statistics(np.array([True, True])).distinct == 1
    assert compute_statistics(np.ones(3, np.float32)).distinct is None


def test_strings_and_complex():
    strings = compute_statistics(np.array(["a", "b", "a", b"\xff"], object))
    assert (strings.count, strings.distinct, strings.mean) == (4, 3, None)
    numbers = compute_statistics(np.array([3 + 4j, 0], np.complex64))
    assert numbers.is_magnitude
    assert (numbers.maximum, numbers.zeros) == (5.0, 1)


def test_a_sample_says_so():
    array = np.arange(1_000_000, dtype=np.float32)
    statistics = compute_statistics(array, limit=10_000)
    assert statistics.is_sample
    assert statistics.count <= 10_000
    assert statistics.mean == pytest.approx(array.mean(), rel=0.05)
    assert compute_histogram(array, limit=10_000).is_sample
    assert not compute_statistics(array[:100], limit=10_000).is_sample


def test_bools_of_odd_bytes_are_true():
    array = np.frombuffer(b"\x00\x02\xff\x01", np.bool_)
    assert compute_statistics(array).mean == 0.75
    assert compute_histogram(array).counts.tolist() == [1, 3]


def assert_histogram_equals_numpy(array, bins=64, value_range=None):
    histogram = compute_histogram(array, bins, value_range)
    wide = widen(array)
    finite = wide[np.isfinite(wide)]
    assert (np.diff(histogram.edges) > 0).all()
    assert histogram.counts.size == histogram.edges.size - 1 <= bins
    with np.errstate(over="ignore", invalid="ignore"):
        expected, _ = np.histogram(finite, histogram.edges)
    np.testing.assert_array_equal(histogram.counts, expected)
    assert histogram.nans == np.isnan(wide).sum()
    assert histogram.below == (wide < histogram.edges[0]).sum()
    assert histogram.above == (wide > histogram.edges[-1]).sum()
    if value_range is None:
        assert histogram.counts.sum() == finite.size
    return histogram


@pytest.mark.parametrize("value_range", [None, (-1.5, 2.25), (0, 1), (1e6, 1e6 + 1)], ids=str)
@pytest.mark.parametrize("shape", [(0,), (1,), (3, 5), (70_000,)], ids=str)
@pytest.mark.parametrize("name", NUMERIC)
def test_histogram_equals_numpy(name, shape, value_range):
    if name == "bool" and value_range is None:
        assert compute_histogram(random_array(name, shape)).edges.tolist() == [-0.5, 0.5, 1.5]
    else:
        assert_histogram_equals_numpy(random_array(name, shape), 64, value_range)


@pytest.mark.parametrize("bins", [1, 7, 64, 1000, 65_536])
@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_histogram_of_elements_on_the_edges(dtype, bins):
    grid = np.linspace(-1, 1, bins + 1)
    around = np.concatenate([grid, np.nextafter(grid, -1), np.nextafter(grid, 1)])
    with np.errstate(over="ignore"):
        array = np.clip(around, -1, 1).astype(dtype)
    assert_histogram_equals_numpy(array, bins)
    assert_histogram_equals_numpy(array, bins, (-1.0, 1.0))
    assert_histogram_equals_numpy(array * dtype(0.3), bins, (-0.1, 0.2))


@pytest.mark.parametrize("bins", [2, 3, 127, 128, 129, 5000])
@pytest.mark.parametrize("away", [0, 1, 300, 1e5, 1e7, 1e11])
@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int64])
def test_histogram_of_elements_on_edges_far_from_zero(dtype, away, bins):
    # the farther a range lies from zero, the fewer digits tell one bin from the next
    for low in (away, -away - 1, away * 0.77):
        ends = low, low + (bins if dtype == np.int64 else 1)
        edges = np.linspace(*ends, bins + 1)
        around = edges.astype(dtype)
        if dtype == np.int64:
            near = np.concatenate([around - 1, around, around + 1])
        else:
            near = [np.nextafter(around, dtype(side)) for side in (-np.inf, np.inf)]
            near = np.concatenate([around, *near, np.nextafter(near[1], dtype(np.inf))])
        assert_histogram_equals_numpy(near, bins, ends)
        assert_histogram_equals_numpy(np.repeat(near, 3), bins)


@pytest.mark.parametrize(
    "array",
    [
        np.full(10, 3.0, np.float32),
        np.zeros(10, np.float32),
        np.full(10, 1e30, np.float32),
        np.array([1.7e308, -1.7e308, 0.0]),
        np.full(3, 1.7976931348623157e308),
        np.array([5e-324, 0.0, 1e-323]),
        np.array([1.0, np.nextafter(1.0, 2)]),
        np.array([1.0, np.nextafter(1, 2, dtype=np.float32)], np.float32),
        np.array([3.4e38, -3.4e38, 1], np.float32),
        np.full(3, -np.finfo(np.float32).max),
        np.array([np.finfo(np.float32).min, 0], np.float32),
        np.array([1e-45, 3e-45], np.float32),
        np.array([np.nan, np.inf, -np.inf], np.float32),
        np.array([np.nan, 1.0, 2.0, np.inf]),
        np.array([2**63 - 1, -(2**63)], np.int64),
        np.array([2**64 - 1, 2**64 - 2], np.uint64),
        np.arange(-128, 128, dtype=np.int8),
        np.array(7, np.int32),
    ],
    ids=lambda array: f"{array.dtype}-{array.reshape(-1)[:2]}",
)
def test_histogram_of_odd_ranges(array):
    assert_histogram_equals_numpy(array)


@settings(deadline=None)
@given(
    hnp.arrays(
        st.sampled_from([np.float16, np.float32, np.float64, np.int16, np.int64, np.uint64]),
        st.integers(0, 50),
    ),
    st.integers(1, 300),
)
def test_histogram_of_anything(array, bins):
    assert_histogram_equals_numpy(array, bins)


def test_large_histogram_with_many_zeros():
    array = np.random.default_rng(2).standard_normal(300_000, np.float32)
    array[::3] = 0
    array[5] = np.nan
    array[70_000] = np.inf
    assert_histogram_equals_numpy(array)
    assert_histogram_equals_numpy(array, 64, (-2.0, 2.0))


def test_integers_are_centred_in_their_bins():
    histogram = compute_histogram(np.array([1, 2, 2, 4], np.int64))
    assert histogram.edges.tolist() == [0.5, 1.5, 2.5, 3.5, 4.5]
    assert histogram.counts.tolist() == [1, 2, 0, 1]
    uniform = compute_histogram(np.arange(-100, 100, dtype=np.int8), bins=64)
    assert set(uniform.counts[:-1].tolist()) == {4}


@pytest.mark.parametrize(
    ("bins", "value_range"),
    [(0, None), (-1, None), (10**9, None), (4, (1.0, 1.0)), (4, (0.0, np.inf)), (4, (2, 1))],
)
def test_histogram_refuses(bins, value_range):
    with pytest.raises(ValueError, match=r"bins|value_range"):
        compute_histogram(np.zeros(3), bins, value_range)


def test_histogram_refuses_strings():
    with pytest.raises(ValueError, match="strings"):
        compute_histogram(np.array(["a"], object))


def test_reprs_are_one_short_line():
    array = np.array([0, 1, 2, np.nan, np.inf], np.float32)
    assert repr(compute_statistics(array)) == (
        "<Statistics: 5 elements from 0 to 2, mean 1, std 0.816497, 1 zero, 1 NaN, 1 Inf>"
    )
    assert repr(compute_histogram(array, 4)) == (
        "<Histogram: 3 elements in 4 bins from 0 to 2, 1 above, 1 NaN>"
    )
    assert repr(compute_statistics(np.array(["a"], object))) == "<Statistics: 1 element>"
    odd = Statistics(
        10**30, -1.23456e-300, 1.23456e300, 1e-300, 1e300, 10**30, 10**30, is_sample=True
    )
    assert len(repr(odd)) < 120
    for dtype in (np.int8, np.bool_, np.complex64, np.float64):
        for size in (0, 3):
            zeros = np.zeros(size, dtype)
            for thing in (compute_statistics(zeros), compute_histogram(zeros)):
                assert len(repr(thing)) < 120
                assert "\n" not in repr(thing)


@pytest.mark.parametrize(
    "value_range",
    [
        (1 + 2e-8, 1 + 4e-8),  # between two neighbours
        (1.0, 1 + 4e-8),
        (1e39, 1e40),
        (-1e40, -1e39),
        (-1e40, 1e40),
        (-1e40, 1.0),
        (0.0, 1.00000001),
        (-3e38, 3e38),
    ],
)
def test_ranges_whose_ends_no_float32_is(value_range: tuple[float, float]) -> None:
    one = np.float32(1)
    some = [one, np.nextafter(one, np.float32(2)), np.float32(3.4e38), np.float32(-3.4e38), 0, -2]
    odd = [np.nan, np.inf, -np.inf]
    for others in ([], odd):
        array = np.tile(np.array([*some, *others], np.float32), 3)
        found = compute_histogram(array, 4, value_range)
        wide = array.astype(np.float64)
        inside = wide[(wide >= value_range[0]) & (wide <= value_range[1])]
        assert found.counts.tolist() == np.histogram(inside, found.edges)[0].tolist()
        assert found.below == np.count_nonzero(wide < value_range[0])
        assert found.above == np.count_nonzero(wide > value_range[1])
        assert found.nans == np.count_nonzero(np.isnan(wide))


@pytest.mark.parametrize("bins", [1, 64, 128, 129, 1000])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_elements_of_which_some_are_not_finite(bins: int, dtype: type[np.floating]) -> None:
    array = np.random.default_rng(7).normal(size=200_001).astype(dtype)
    array[np.random.default_rng(8).integers(0, array.size, 3000)] = np.nan
    array[70_000:140_000] = np.nan  # a whole piece of them
    array[[5, 150_000]] = np.inf
    array[[6, 199_999, 200_000]] = -np.inf
    found = compute_histogram(array, bins)
    finite = array[np.isfinite(array)].astype(np.float64)
    assert found.counts.tolist() == np.histogram(finite, found.edges)[0].tolist()
    assert (found.below, found.above) == (3, 2)
    assert found.nans == np.count_nonzero(np.isnan(array))
    assert (found.edges[0], found.edges[-1]) == (finite.min(), finite.max())


@pytest.mark.parametrize(
    "array",
    [
        np.array([np.finfo(np.float64).max, -np.finfo(np.float64).max]),
        np.array([np.finfo(np.float64).max] * 3),
        np.array([1.0, 2.0, 1e200, 3e200, -1e300, np.inf, np.nan]),
        np.concatenate([np.ones(5_000_000), [1e308]]),
    ],
)
def test_a_deviation_that_float64_holds_is_given(array):
    # pytest makes errors of warnings
    found = compute_statistics(array)
    scaled = array[np.isfinite(array)] / 2.0**600
    assert found.mean == pytest.approx(float(scaled.mean()) * 2.0**600)
    assert found.std == pytest.approx(float(scaled.std()) * 2.0**600)
    assert np.isfinite(list(found.quantiles.values())).all()


def test_plots_reach_to_the_ends_of_float64():
    end = np.finfo(np.float64).max
    for numbers in ([end, -end], [end, end], [end]):
        tensor = numpy_helper.from_array(np.array(numbers), "w")
        graph = helper.make_graph([], "g", [], [], [tensor])
        weight = netloupe.load(helper.make_model(graph))["w"]
        for options in ({}, {"axis": 0}, {"log": True}):
            weight.plot(**options).figure.savefig(io.BytesIO())
