"""The palette: contrast (WCAG 2.1) and what remains of it for colour-blind eyes and in print."""

from itertools import combinations, pairwise

import numpy as np
import pytest

from netloupe.explorer.errors import ViewError
from netloupe.explorer.render.category import FAMILIES
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
COMMON = ("linear", "activation", "normalization", "shape", "elementwise", "attention")
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


def distance(theme: Theme, one: str, other: str, deficiency: str) -> float:
    """The largest ΔE (CIE 1976) between the tints, borders or texts of two families."""
    return max(
        float(np.linalg.norm(lab(a, deficiency) - lab(b, deficiency)))
        for role in ("tint", "border", "text")
        for a, b in [
            (
                getattr(theme.categories[one], role),
                getattr(theme.categories[other], role),
            )
        ]
    )


@pytest.mark.parametrize("theme", THEMES, ids=lambda theme: theme.name)
def test_every_text_has_a_contrast_of_4_5(theme: Theme) -> None:
    pairs = [(colours.text, colours.tint) for colours in theme.categories.values()]
    pairs += [(theme.ink, theme.body), (theme.muted, theme.body)]
    pairs += [(theme.muted, theme.frames[0].fill), (theme.ink, theme.frames[0].fill)]
    for frame in theme.frames:
        pairs += [
            (theme.frame_text, frame.fill),
            (theme.frame_muted, frame.fill),
            (theme.edge_label, frame.fill),
        ]
    pairs += [(theme.edge_label, theme.page), (theme.badge.text, theme.badge.fill)]
    pairs += [(theme.stub.text, theme.stub.fill)]
    assert {pair: round(contrast(*pair), 2) for pair in pairs if contrast(*pair) < 4.5} == {}


@pytest.mark.parametrize("theme", THEMES, ids=lambda theme: theme.name)
def test_lines_and_marks_stand_out_from_every_ground(theme: Theme) -> None:
    grounds = [theme.page, *(frame.fill for frame in theme.frames)]
    for ground in grounds:
        for line in (theme.edge, theme.edge_captured, theme.edge_control):
            assert contrast(line, ground) >= 2.2, (line, ground)
        # WCAG 2.2, 1.4.11: what shows a state
        assert contrast(theme.accent, ground) >= 3


@pytest.mark.parametrize("theme", THEMES, ids=lambda theme: theme.name)
def test_the_palette_has_every_family(theme: Theme) -> None:
    assert set(theme.categories) == {*FAMILIES, "preparation", "terminal", "constant"}
    assert theme.category("no such family") == theme.categories["other"]


@pytest.mark.parametrize("deficiency", DEFICIENCIES)
@pytest.mark.parametrize("theme", THEMES, ids=lambda theme: theme.name)
def test_families_differ_for_all_eyes(theme: Theme, deficiency: str) -> None:
    # ΔE 2.3 is just noticeable. Where hues fall together, lightness of border and text differs.
    for pair in combinations(COMMON, 2):
        assert distance(theme, *pair, deficiency) >= 12, pair
    families = [name for name in FAMILIES if name not in ("group", "function")]
    for pair in combinations(families, 2):
        assert distance(theme, *pair, deficiency) >= 7, pair


def test_an_unknown_theme_is_an_error_that_lists_the_known() -> None:
    with pytest.raises(ViewError, match="light, dark"):
        load_theme("sepia")


def test_deep_frames_take_turns() -> None:
    theme = load_theme("light")
    fills = [theme.frame(depth).fill for depth in range(8)]
    assert all(a != b for a, b in pairwise(fills))
