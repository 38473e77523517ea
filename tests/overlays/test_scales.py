"""Scales: which tone a number has, and that colours can be told apart and read."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import netloupe
from netloupe import Column, Overlay, Paint, ViewError
from netloupe.explorer.overlays.scales import (
    CATEGORIES,
    DIVERGING,
    OTHER_WORDS,
    OVER,
    SEQUENTIAL,
    UNDER,
    make_scale,
)
from netloupe.explorer.overlays.units import guess_meaning, write_amount_of, write_part
from netloupe.explorer.render.theme import load_theme
from netloupe.explorer.render.tones import (
    blend_hex,
    choose_text,
    is_hex,
    measure_contrast,
    measure_luminance,
)
from tests.overlays.profiles import chain

Lab = NDArray[np.float64]

#: Machado, Oliveira and Fernandes 2009, severity 1.0: linear RGB to linear RGB
_BLINDNESS = {
    "none": np.eye(3),
    "protanopia": np.array(
        [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216],
         [-0.003882, -0.048116, 1.051998]]
    ),
    "deuteranopia": np.array(
        [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413],
         [-0.011820, 0.042940, 0.968881]]
    ),
    "tritanopia": np.array(
        [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602],
         [0.004733, 0.691367, 0.303900]]
    ),
}  # fmt: skip
_XYZ = np.array(
    [[0.4124564, 0.3575761, 0.1804375], [0.2126729, 0.7151522, 0.072175],
     [0.0193339, 0.119192, 0.9503041]]
)  # fmt: skip
_WHITE = np.array([0.95047, 1.0, 1.08883])


def lab_of(colour: str, blindness: str) -> Lab:
    channels = np.array([int(colour[at : at + 2], 16) for at in (1, 3, 5)]) / 255
    linear = np.where(channels <= 0.04045, channels / 12.92, ((channels + 0.055) / 1.055) ** 2.4)
    seen = np.clip(_BLINDNESS[blindness] @ linear, 0, 1)
    ratio = _XYZ @ seen / _WHITE
    bent = np.where(ratio > 0.008856, np.cbrt(ratio), 7.787 * ratio + 16 / 116)
    return np.array([116 * bent[1] - 16, 500 * (bent[0] - bent[1]), 200 * (bent[1] - bent[2])])


def distance(one: str, other: str, blindness: str) -> float:
    return float(np.linalg.norm(lab_of(one, blindness) - lab_of(other, blindness)))


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("blindness", list(_BLINDNESS))
@pytest.mark.parametrize("ramp", [(UNDER, *SEQUENTIAL, OVER), DIVERGING])
def test_neighbours_of_a_ramp_are_told_apart_by_everybody(
    theme: str, blindness: str, ramp: tuple[str, ...]
) -> None:
    tones = load_theme(theme).tones
    fills = [tones[name].fill for name in ramp]
    assert min(distance(a, b, blindness) for a, b in itertools.pairwise(fills)) > 6


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("blindness", list(_BLINDNESS))
def test_words_and_the_two_ends_of_a_diverging_ramp_are_told_apart(
    theme: str, blindness: str
) -> None:
    tones = load_theme(theme).tones
    fills = [tones[name].fill for name in (*CATEGORIES, OTHER_WORDS)]
    assert min(distance(a, b, blindness) for a, b in itertools.combinations(fills, 2)) > 15
    for low, high in zip(DIVERGING[:3], DIVERGING[:3:-1], strict=True):
        assert distance(tones[low].fill, tones[high].fill, blindness) > 25


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_little_to_much_goes_one_way_in_lightness(theme: str) -> None:
    tones = load_theme(theme).tones
    values = [measure_luminance(tones[name].fill) for name in SEQUENTIAL]
    assert values == sorted(values, reverse=theme == "light")


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_text_on_every_tone_can_be_read(theme: str) -> None:
    loaded = load_theme(theme)
    for name, tone in loaded.tones.items():
        assert measure_contrast(tone.text, tone.fill) >= 4.5, name
        assert measure_contrast(loaded.page, tone.strong) >= 4.5 or name.startswith("scale"), name


def test_colours_of_ones_own_are_tones_with_text_that_can_be_read() -> None:
    tones = load_theme("dark").tones
    for red, green, blue in itertools.product(range(0, 256, 51), repeat=3):
        colour = f"#{red:02x}{green:02x}{blue:02x}"
        assert measure_contrast(choose_text(colour), colour) >= 4.5
        assert tones[colour].fill == colour
    assert "#123456" not in tones  # nothing is kept of it
    with pytest.raises(KeyError):
        tones["purple"]
    assert Paint("#a0b0c0", "x").tone == "#a0b0c0"
    for wrong in ("#A0B0C0", "#abc", "red", "#12345g"):
        assert not is_hex(wrong)
        with pytest.raises(ViewError, match="there is no tone"):
            Paint(wrong)
    assert blend_hex("#000000", "#ffffff", 0.5) == "#808080"
    assert tones["#ffffff"].border == "#b3b3b3"  # as the canvas has it


def lay(numbers: list[float], **settings: Any) -> Overlay:
    names = ["conv", "relu", "add", "mul"]
    return netloupe.overlay(chain(), dict(zip(names, numbers, strict=False)), **settings)


def tones_of(overlay: Overlay) -> list[str]:
    return [overlay.paint_of(measured).tone for _, measured in overlay.list_measured()]


def test_sums_are_coloured_by_their_share_of_the_whole() -> None:
    overlay = lay([0.0, 2.0, 8.0, 90.0], aggregation="sum", unit="ms")
    assert overlay.scale.kind == "share"
    assert tones_of(overlay) == ["scale-0", "scale-3", "scale-4", "scale-6"]
    rows = [tuple(row) for row in overlay.list_rows()]
    assert rows[0] == ("scale-0", "< 0.1 % (< 100 µs)")
    assert rows[4] == ("scale-4", "3 to 10 % (3 ms to 10 ms)")
    assert rows[6] == ("scale-6", "≥ 30 % (≥ 30 ms)")


def test_bounds_belong_to_the_class_above_and_are_as_written() -> None:
    overlay = lay([0.0, 10.0, 30.0, 70.0], scale="linear", clip=None, aggregation="max")
    scale = overlay.scale
    assert scale.bounds == [10, 20, 30, 40, 50, 60]
    assert tones_of(overlay) == ["scale-0", "scale-1", "scale-3", "scale-6"]
    assert scale.tone(math.nextafter(10, 0)) == "scale-0"


def test_wide_positive_numbers_get_a_logarithmic_scale() -> None:
    overlay = lay([0.001, 0.1, 1.0, 10.0], clip=None)
    assert overlay.scale.kind == "log"
    assert tones_of(overlay) == ["scale-0", "scale-3", "scale-5", "scale-6"]
    assert lay([1.0, 2.0, 3.0, 4.0]).scale.kind == "linear"
    with_zero = lay([0.0, 0.1, 1.0, 10.0], clip=None, scale="log")
    assert tones_of(with_zero)[0] in ("scale-0", UNDER)


def test_what_is_beyond_the_percentiles_has_a_colour_of_its_own() -> None:
    model = chain()
    numbers = np.concatenate([np.linspace(10, 20, 998), [-500.0, 900.0]])
    column = Column("x", {"conv": -500.0, "relu": 900.0, "add": 15.0})
    scale = make_scale(column, numbers, None)
    assert scale.tone(-500.0) == UNDER
    assert scale.tone(900.0) == OVER
    assert scale.tone(15.0) == "scale-3"
    assert [row.tone for row in scale.list_rows()] == [UNDER, *SEQUENTIAL, OVER]
    reverse = make_scale(Column("x", {"a": 1.0}, better="higher"), numbers, None)
    assert reverse.tone(-500.0) == OVER  # the worst stands out
    assert reverse.tone(19.9) == "scale-0"
    assert "clipped at p1 and p99" in netloupe.overlay(model, column).describe()


def test_quantiles_have_as_many_nodes_each() -> None:
    numbers = np.arange(70.0) ** 3
    scale = make_scale(Column("x", {"a": 1.0}, scale="quantile"), numbers, None)
    tones = [scale.tone(number) for number in numbers.tolist()]
    assert {tones.count(tone) for tone in SEQUENTIAL} == {10}


def test_diverging_scales_have_their_middle_where_it_is_said() -> None:
    overlay = lay([0.5, 0.99, 1.01, 1.8], midpoint=1.0, clip=None)
    assert overlay.scale.kind == "diverging"
    assert tones_of(overlay) == ["diverging-1", "diverging-3", "diverging-3", "diverging-6"]
    assert overlay.scale.bounds[0] - 1 == pytest.approx(-(overlay.scale.bounds[-1] - 1))


def test_equal_numbers_and_none_at_all_have_one_class() -> None:
    same = lay([5.0, 5.0, 5.0])
    assert len(same.list_rows()) == 1
    assert tones_of(same)[3] == "missing"
    nothing = netloupe.overlay(chain(), {})
    assert tones_of(nothing) == ["missing"] * 4
    assert nothing.describe_placement() == ["value: there is nothing in it"]


def test_thresholds_without_colours_take_those_of_the_ramp() -> None:
    overlay = lay([1.0, 2.0, 3.0, 4.0], thresholds=[2, 3])
    assert tones_of(overlay) == ["scale-0", "scale-0", "scale-3", "scale-6"]


def test_more_words_than_colours_share_the_last_one() -> None:
    words = {name: f"w{number}" for number, name in enumerate(("conv", "relu", "add", "mul"))}
    overlay = netloupe.overlay(chain(), words)
    assert len({*tones_of(overlay)}) == 4
    assert OTHER_WORDS not in tones_of(overlay)


@pytest.mark.parametrize(
    ("heading", "meaning"),
    [
        ("latency (ms)", ("latency", "ms", "sum")),
        ("time_us", ("time", "µs", "sum")),
        ("Forward_MACs", ("Forward", "MACs", "sum")),
        ("bytes", ("bytes", "B", "sum")),
        ("max_abs_error", ("max_abs_error", "", "max")),
        ("sqnr [dB]", ("sqnr", "dB", "max")),
        ("parameters", ("parameters", "", "sum")),
        ("discount", ("discount", "", "max")),  # no count
        ("", ("", "", "max")),
    ],
)
def test_headings_are_read(heading: str, meaning: tuple[str, str, str]) -> None:
    assert tuple(guess_meaning(heading)) == meaning


@pytest.mark.parametrize(
    ("number", "unit", "text"),
    [
        (1234.5, "µs", "1.23 ms"),
        (0.0005, "s", "500 µs"),
        (0, "ms", "0 ms"),
        (3e-12, "s", "0.003 ns"),
        (-1500, "µs", "−1.5 ms"),
        (1500, "B", "1.5 kB"),
        (4.09e9, "MACs", "4.09 G MACs"),
        (9312, "MACs", "9,312 MACs"),
        (0.00012345, "", "0.000123"),
        (1.5e-9, "", "1.5e-9"),
        (12345678, "dB", "1.23e7 dB"),
        (42.31, "dB", "42.3 dB"),
        (999.96, "ms", "1 s"),
    ],
)
def test_numbers_are_written_with_three_digits_and_their_unit(
    number: float, unit: str, text: str
) -> None:
    assert write_amount_of(number, unit) == text


def test_shares_say_neither_nothing_nor_all_where_that_is_not_so() -> None:
    assert [write_part(part) for part in (0, 0.0004, 0.042, 0.5, 0.9996, 1)] == [
        *("0 %", "< 0.1 %", "4.2 %", "50 %", "> 99.9 %", "100 %"),
    ]
