"""The palette: contrast (WCAG 2.1) and what remains of it for colour-blind eyes and in print."""

from itertools import combinations

import numpy as np
import pytest

from netloupe.explorer.errors import ViewError
from netloupe.explorer.render.category import CATEGORIES, HUES
from netloupe.explorer.render.theme import Theme, load_theme, themes_as_json

# Machado, Oliveira and Fernandes 2009, severity 1, for linear RGB
DEFICIENCIES = {
    "none": np.eye(3),
    "protanopia": [
        [0.152286, 1.052583, -0.204868],
        [0.114503, 0.786281, 0.099216],
        [-0.003882, -0.048116, 1.051998],
    ],
    "deuteranopia": [
        [0.367322, 0.860646, -0.227968],
        [0.280085, 0.672501, 0.047413],
        [-0.011820, 0.042940, 0.968881],
    ],
    "tritanopia": [
        [1.255528, -0.076749, -0.178779],
        [-0.078411, 0.930809, 0.147602],
        [0.004733, 0.691367, 0.303900],
    ],
}
LEAST_DISTANCE = 9
THEMES = [load_theme(name) for name in themes_as_json()]


def linear_rgb(colour: str) -> np.ndarray:
    encoded = np.array([int(colour[i : i + 2], 16) for i in (1, 3, 5)]) / 255
    return np.where(encoded <= 0.04045, encoded / 12.92, ((encoded + 0.055) / 1.055) ** 2.4)


def contrast(one: str, other: str) -> float:
    weights = np.array([0.2126, 0.7152, 0.0722])
    low, high = sorted(float(linear_rgb(colour) @ weights) for colour in (one, other))
    return (high + 0.05) / (low + 0.05)


def lab(colour: str, deficiency: str) -> np.ndarray:
    """CIE L*a*b* (D65) of a colour as seen with a deficiency."""
    rgb = np.clip(np.array(DEFICIENCIES[deficiency]) @ linear_rgb(colour), 0, 1)
    xyz = (
        np.array([[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]])
        @ rgb
        / [0.9505, 1, 1.089]
    )
    f = np.where(xyz > 0.008856, np.cbrt(xyz), 7.787 * xyz + 16 / 116)
    return np.array([116 * f[1] - 16, 500 * (f[0] - f[1]), 200 * (f[1] - f[2])])


def oklab(colour: str) -> np.ndarray:
    """OKLab of a colour (Ottosson 2020), × 100."""
    to_lms = [
        [0.4122214708, 0.5363325363, 0.0514459929],
        [0.2119034982, 0.6806995451, 0.1073969566],
        [0.0883024619, 0.2817188376, 0.6299787005],
    ]
    to_lab = [
        [0.2104542553, 0.7936177850, -0.0040720468],
        [1.9779984951, -2.4285922050, 0.4505937099],
        [0.0259040371, 0.7827717662, -0.8086757660],
    ]
    found: np.ndarray = 100 * np.array(to_lab) @ np.cbrt(np.array(to_lms) @ linear_rgb(colour))
    return found


def distance(theme: Theme, one: str, other: str, deficiency: str) -> float:
    """The largest ΔE (CIE 1976) between the tints, borders or texts of two categories."""
    pair = theme.categories[one], theme.categories[other]
    return max(
        float(np.linalg.norm(np.subtract(*(lab(getattr(each, part), deficiency) for each in pair))))
        for part in ("tint", "border", "text")
    )


@pytest.mark.parametrize("theme", THEMES, ids=lambda theme: theme.name)
def test_text_on_a_tint_has_a_contrast_of_6_5(theme: Theme) -> None:
    found = {name: contrast(each.text, each.tint) for name, each in theme.categories.items()}
    assert {name: round(ratio, 2) for name, ratio in found.items() if ratio < 6.5} == {}


@pytest.mark.parametrize("theme", THEMES, ids=lambda theme: theme.name)
def test_every_text_has_a_contrast_of_4_5(theme: Theme) -> None:
    pairs = [(theme.ink, theme.body), (theme.muted, theme.body)]
    for colours in theme.categories.values():
        grounds = [(text, colours.frame) for text in (theme.muted, theme.edge_label)]
        pairs += [*grounds, (colours.text, colours.frame), (theme.ink, colours.frame)]
    pairs += [(theme.edge_label, theme.page), (theme.badge.text, theme.badge.fill)]
    pairs += [(theme.stub.text, theme.stub.fill), (theme.muted, theme.page)]
    assert {pair: round(contrast(*pair), 2) for pair in pairs if contrast(*pair) < 4.5} == {}


@pytest.mark.parametrize("theme", THEMES, ids=lambda theme: theme.name)
def test_lines_and_marks_stand_out_from_every_ground(theme: Theme) -> None:
    grounds = [theme.page, *(colours.frame for colours in theme.categories.values())]
    for ground in grounds:
        for line in (theme.edge, theme.edge_captured, theme.edge_control):
            assert contrast(line, ground) >= 2.2, (line, ground)
        # the stream is told from other lines by more than its width
        assert contrast(theme.stream, ground) >= 1.5 * contrast(theme.edge, ground)
        # WCAG 2.2, 1.4.11: what shows a state
        assert contrast(theme.accent, ground) >= 3
    for name in (*HUES, "plain"):
        assert contrast(theme.categories[name].border, theme.page) >= 3


@pytest.mark.parametrize("theme", THEMES, ids=lambda theme: theme.name)
def test_the_palette_has_every_category(theme: Theme) -> None:
    assert tuple(theme.categories) == CATEGORIES
    assert theme.category("no such category") == theme.categories["plain"]


@pytest.mark.parametrize("theme", THEMES, ids=lambda theme: theme.name)
def test_tints_are_told_from_each_other_at_a_glance(theme: Theme) -> None:
    for one, other in combinations((*HUES, "plain"), 2):
        tints = [oklab(theme.categories[name].tint) for name in (one, other)]
        assert float(np.linalg.norm(np.subtract(*tints))) >= 6, (one, other)


@pytest.mark.parametrize("deficiency", DEFICIENCIES)
@pytest.mark.parametrize("theme", THEMES, ids=lambda theme: theme.name)
def test_categories_differ_for_all_eyes(theme: Theme, deficiency: str) -> None:
    # ΔE 2.3 is just noticeable. Where hues fall together, lightness of border and text differs.
    for pair in combinations((*HUES, "plain"), 2):
        assert distance(theme, *pair, deficiency) >= LEAST_DISTANCE, pair


def test_an_unknown_theme_is_an_error_that_lists_the_known() -> None:
    with pytest.raises(ViewError, match="light, dark"):
        load_theme("sepia")
