"""Channels: statistics, histograms and ranges along an axis, against numpy on the full data."""

from __future__ import annotations

import numpy as np
import pytest

from netloupe.explorer.model import Payload, Tensor, data_type
from netloupe.explorer.plots import draw_channels, find_ranges, make_axes, plot_channels
from netloupe.explorer.quantization import Quantization, measure_saturation
from netloupe.explorer.tensors import (
    ChannelHistogram,
    Histogram,
    channels,
    compute_channels,
    compute_statistics,
    take_channel,
)
from netloupe.explorer.tensors.channels import sample_channels
from netloupe.explorer.tensors.elements import Elements, as_elements

RANDOM = np.random.default_rng(5)
SHAPES = [
    (1, 1), (3, 4), (7, 1, 5), (2, 3, 4, 5), (70_000, 3), (3, 70_000), (2, 70_000, 2),
    (300, 500), (2, 3, 70_000),
]  # fmt: skip


def make_tensor(array: np.ndarray) -> Tensor:
    dtype = data_type(array.dtype.name)
    data = array.tobytes()
    return Tensor("w", "main/%w", dtype, array.shape, "", None, lambda: Payload("raw", data))


def make_quantization(scale: object, axis: int | None, storage: str = "int8") -> Quantization:
    scales = np.asarray(scale, np.float32)
    zero_point = np.zeros(scales.shape, np.int8)
    return Quantization(None, "test", scales, zero_point, axis, None, data_type(storage))  # type: ignore[arg-type]


def assert_equals_numpy(array: np.ndarray, axis: int, bins: int = 16) -> ChannelHistogram:
    found = compute_channels(array, array.shape, axis, bins)
    rows = np.moveaxis(array, axis, 0).reshape(array.shape[axis], -1).astype(np.float64)
    assert found.counts.shape == (len(rows), found.edges.size - 1)
    assert found.size == rows.shape[1]
    for channel in {0, len(rows) // 2, len(rows) - 1}:
        row = rows[channel]
        finite = row[np.isfinite(row)]
        np.testing.assert_array_equal(found.counts[channel], np.histogram(finite, found.edges)[0])
        assert found.nonfinite[channel] == row.size - finite.size
        if finite.size:
            assert found.minimum[channel] == finite.min()
            assert found.maximum[channel] == finite.max()
            np.testing.assert_allclose(found.mean[channel], finite.mean(), rtol=1e-9, atol=1e-12)
        else:
            assert np.isnan([found.minimum[channel], found.mean[channel]]).all()
    assert found.counts.sum() + found.nonfinite.sum() == array.size
    return found


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("dtype", [np.float32, np.float16, np.int8])
def test_channels_equal_numpy(shape: tuple[int, ...], dtype: type[np.generic]) -> None:
    array = (10 * RANDOM.standard_normal(shape)).astype(dtype)
    for axis in range(len(shape)):
        assert_equals_numpy(array, axis)


def test_numbers_that_are_not_finite_stay_in_their_channel() -> None:
    array = RANDOM.standard_normal((5, 70_000)).astype(np.float32)
    array[1] = np.nan
    array[2, 7] = np.inf
    array[3, ::2] = -np.inf
    found = assert_equals_numpy(array, 0)
    assert found.nonfinite.tolist() == [0, 70_000, 1, 35_000, 0]
    assert_equals_numpy(array.T.copy(), 1)


def test_nothing_and_strings() -> None:
    empty = compute_channels(np.empty((0, 3), np.float32), (0, 3), 1)
    assert empty.counts.sum() == 0
    assert np.isnan(empty.mean).all()
    with pytest.raises(ValueError, match="strings"):
        compute_channels(np.array([["a"]], object), (1, 1), 0)


def test_axes_and_channels_that_do_not_exist() -> None:
    array = np.zeros((2, 3), np.float32)
    with pytest.raises(ValueError, match="no axis 2"):
        compute_channels(array, array.shape, 2)
    with pytest.raises(ValueError, match="no channel 3"):
        take_channel(array, array.shape, 1, 3)
    with pytest.raises(ValueError, match="no axis 0"):
        make_tensor(np.float32(3).reshape(())).histogram(axis=0)
    with pytest.raises(ValueError, match="needs its axis"):
        make_tensor(array).statistics(channel=1)


def test_too_many_counters_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(channels, "MAX_COUNTERS", 100)
    with pytest.raises(ValueError, match="more than 100 counters"):
        compute_channels(np.zeros((20, 2), np.float32), (20, 2), 0, 6)


@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_one_channel_is_what_numpy_takes(shape: tuple[int, ...]) -> None:
    array = RANDOM.integers(0, 2**16, shape).astype(np.int32)
    for axis, size in enumerate(shape):
        for channel in {0, size - 1}:
            found = take_channel(array, shape, axis, channel)
            expected = np.take(array, channel, axis).reshape(-1)
            assert found.size == expected.size
            np.testing.assert_array_equal(found.take(0, found.size), expected)


def test_the_tensors_own_methods() -> None:
    array = RANDOM.standard_normal((6, 40)).astype(np.float32)
    tensor = make_tensor(array)
    assert isinstance(tensor.histogram(axis=-1), ChannelHistogram)
    one = tensor.histogram(8, axis=0, channel=2)
    assert isinstance(one, Histogram)
    np.testing.assert_array_equal(one.counts, np.histogram(array[2].astype(float), one.edges)[0])
    assert tensor.statistics(axis=0, channel=2) == compute_statistics(array[2])
    assert repr(tensor.histogram(4, axis=0)) == (
        "<ChannelHistogram: 6 channels of 40 elements along axis 0 in 4 bins>"
    )


def test_elements_outside_the_range_of_their_channel() -> None:
    array = RANDOM.standard_normal((4, 30_000)).astype(np.float32)
    array[0, 0] = np.inf
    scale = np.array([0.01, 0.02, 0.03, 1], np.float32)
    quantization = make_quantization(scale, 0)
    low, high = -128 * scale.astype(float), 127 * scale.astype(float)
    expected = ((array < low[:, None]) | (array > high[:, None])).sum(axis=1)
    found = compute_channels(
        array, array.shape, 0, ranges=find_ranges(quantization, array.shape, 0)
    )
    assert found.outside is not None
    np.testing.assert_array_equal(found.outside, expected)
    assert expected[3] == 1 - 1
    whole = measure_saturation(as_elements(array), quantization, array.shape)
    assert whole is not None
    assert whole.count == expected.sum()
    assert find_ranges(quantization, array.shape, 1) is None


def test_elements_outside_one_range_and_at_the_ends() -> None:
    array = RANDOM.standard_normal(100_000).astype(np.float32)
    array[3] = np.nan
    quantization = make_quantization(0.01, None)
    found = measure_saturation(as_elements(array), quantization)
    assert found is not None
    real_range = quantization.real_range
    assert real_range is not None
    assert found.count == ((array < real_range[0]) | (array > real_range[1])).sum()
    assert found.size == array.size - 1
    assert found.describe() == f"{100 * found.share:.2f} % outside the range"
    stored = np.array([-128, -128, 127, 0, 5], np.int8)
    ends = measure_saturation(as_elements(stored), quantization)
    assert ends is not None
    assert (ends.count, ends.describe()) == (3, "60.00 % at the ends")
    none = measure_saturation(as_elements(stored[3:]), quantization)
    assert none is not None
    assert none.describe() == "none at the ends"


@pytest.mark.parametrize("scale", [0.0, np.nan, np.inf, -0.01])
def test_odd_ranges(scale: float) -> None:
    array = np.array([-5, 0, 0.1], np.float32)
    found = measure_saturation(as_elements(array), make_quantization(scale, None))
    assert found is None if scale != -0.01 else found is not None and found.count == 1


def test_quantization_of_one_channel() -> None:
    quantization = make_quantization([0.5, 0.25], 0)
    assert quantization.channel(1).real_range == (-32.0, 31.75)
    single = make_quantization(0.5, None)
    assert single.channel(7) is single
    with pytest.raises(ValueError, match="no channel 2"):
        quantization.channel(2)
    with pytest.raises(ValueError, match="by block"):
        make_quantization([[0.5, 1], [2, 3]], 1).channel(0)


def test_thousands_of_channels_share_columns() -> None:
    array = RANDOM.standard_normal((3000, 8)).astype(np.float32)
    array[1234] = 50
    ax = plot_channels(make_tensor(array), 0)
    (picture,) = ax.images
    assert picture.get_array().shape == (64, 512)
    assert [text.get_text() for text in ax.texts] == ["3,000 channels in 512 columns"]
    highest = ax.patches[1].get_data().values  # the greatest element of each column
    assert highest.max() == 50
    assert plot_channels(make_tensor(array[:40]), 0).images[0].get_array().shape == (64, 40)


def test_plot_tells_what_lies_outside_and_where_most() -> None:
    array = np.zeros((3, 100), np.float32)
    array[1, :25] = 9
    ax = make_tensor(array).plot(
        plot_channels(make_tensor(array), 0),
        axis=0,
        quantization=make_quantization([1, 0.01, 1], 0),
    )
    assert "8.33 % outside · most in 1 (25.0 %)" in [text.get_text() for text in ax.texts]


def test_plot_of_one_channel_has_its_own_grid() -> None:
    from matplotlib.figure import Figure

    array = np.linspace(-1, 1, 200, dtype=np.float32).reshape(2, 100)
    ax = Figure().add_subplot()
    quantization = make_quantization([0.1, 0.5], 0, "int4")
    make_tensor(array).plot(ax, axis=0, channel=1, quantization=quantization)
    (lines,) = ax.collections
    places = [path.vertices[0, 0] for path in lines.get_paths()]
    assert np.diff(places) == pytest.approx(0.5)


@pytest.mark.parametrize("count", [2, 200, 3000])
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_scales_are_drawn(count: int, theme: str) -> None:
    from matplotlib.figure import Figure

    scale = np.linspace(0.01, 0.02, count)
    ax = make_quantization(scale, 0).plot(Figure().add_subplot(), theme=theme)  # type: ignore[arg-type]
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("channel (axis 0)", "scale")
    assert [text.get_text() for text in ax.texts] == ["0.01 … 0.02 (×2)"]
    if count <= 200:
        np.testing.assert_allclose(ax.lines[0].get_ydata(), scale.astype(np.float32))
    else:
        assert ax.collections


def test_zero_points_have_an_axis_of_their_own() -> None:
    from matplotlib.figure import Figure

    scale = np.array([0.1, 0.2, 0.3], np.float32)
    zero_point = np.array([1, 2, 3], np.uint8)
    figure = Figure()
    Quantization(
        None,
        "test",
        scale,
        zero_point,
        0,
        None,
        data_type("uint8"),  # type: ignore[arg-type]
    ).plot(figure.add_subplot())
    assert [ax.get_ylabel() for ax in figure.axes] == ["scale", "zero point"]
    assert figure.axes[1].lines[0].get_ydata().tolist() == [1, 2, 3]


def test_scales_of_blocks_are_a_picture_and_unknown_ones_an_error() -> None:
    from matplotlib.figure import Figure

    blocks = RANDOM.uniform(0.1, 9, (700, 6)).astype(np.float32)
    quantization = Quantization(
        None,
        "test",
        blocks,
        None,
        1,
        32,
        data_type("uint4"),  # type: ignore[arg-type]
    )
    ax = quantization.plot(Figure().add_subplot())
    assert ax.images[0].get_array().shape == (512, 6)
    unknown = Quantization(None, "test", None, None, 1, 32, data_type("uint4"))  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="not constant"):
        unknown.plot()


# samples


@pytest.mark.parametrize(
    ("dims", "axis", "limit"),
    [
        ((300, 500), 0, 3000),  # ten elements of each channel, in one run
        ((300, 500), 1, 3000),  # six whole rows
        ((3, 70_000), 0, 30_000),
        ((40, 50, 60), 1, 6000),
        ((5, 7, 9000), 1, 70_000),  # runs of some places of the axis before
        ((4, 3, 2, 1000), -1, 4000),
        ((600, 4), 0, 100),  # more channels than elements that may be taken
    ],
)
def test_a_sample_has_as_many_elements_of_every_channel(
    dims: tuple[int, ...], axis: int, limit: int
) -> None:
    # each element says which channel it is of, and how many it is
    array = np.zeros(dims, np.int64) + np.arange(np.prod(dims)).reshape(dims)
    sample, shape = sample_channels(as_elements(array), dims, axis, limit)
    taken = sample.take(0, sample.size).reshape(shape)
    assert shape[1] == dims[axis]
    assert len(np.unique(taken)) == taken.size
    assert limit / 3 < sample.size <= max(limit, dims[axis])
    of_channels = np.moveaxis(array, axis, 0).reshape(dims[axis], -1)
    for channel in range(dims[axis]):
        assert np.isin(taken[:, channel], of_channels[channel]).all()


def test_a_sample_is_spread_over_the_tensor() -> None:
    array = np.arange(400 * 1000).reshape(400, 1000)
    sample, shape = sample_channels(as_elements(array), array.shape, 0, 40_000)
    places = sample.take(0, sample.size).reshape(shape) % 1000
    assert places.min() < 50
    assert places.max() > 950  # not the same columns of every row
    rows = sample_channels(as_elements(array), array.shape, 1, 10_000)[0]
    taken = rows.take(0, rows.size) // 1000
    assert (taken.min(), taken.max()) == (0, 399)


def test_what_is_small_is_no_sample() -> None:
    array = RANDOM.normal(size=(30, 40))
    found = compute_channels(array, array.shape, 0, 8, limit=1200)
    assert not found.is_sample
    assert found.size == 40
    part = compute_channels(array, array.shape, 0, 8, limit=600)
    assert part.is_sample
    assert part.size == 20
    assert part.counts.sum(axis=1).tolist() == [20] * 30
    assert repr(part).startswith("<ChannelHistogram: a sample of 30 channels of 20 elements")
    assert (part.minimum >= array.min(axis=1)).all()
    assert (part.maximum <= array.max(axis=1)).all()


def test_only_a_sample_is_read_and_said_in_the_picture() -> None:
    array = RANDOM.normal(size=(64, 10_000)).astype(np.float32)
    flat, taken = array.reshape(-1), []

    def take(start: int, stop: int) -> np.ndarray:
        taken.append(stop - start)
        return flat[start:stop]

    elements = Elements(array.dtype, array.size, take)
    ranges = (np.full(64, -1.0), np.full(64, 1.0))
    found = compute_channels(elements, array.shape, 0, 16, ranges=ranges, limit=6400)
    assert sum(taken) == 6400
    ax = draw_channels(make_axes("light"), found)
    assert any("a sample of 100 each" in text.get_text() for text in ax.texts)

    # and so of the elements that a quantization per channel cannot hold
    taken.clear()
    quantization = make_quantization(np.full(64, 1 / 127), 0)
    part = measure_saturation(elements, quantization, array.shape, limit=6400)
    assert part is not None
    assert (sum(taken), part.size) == (6400, 6400)
    whole = measure_saturation(elements, quantization, array.shape)
    assert whole is not None
    assert part.share == pytest.approx(whole.share, abs=0.03)
