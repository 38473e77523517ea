"""Widths, shortening, and what may stand in a label."""

import json
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import matplotlib
import pytest
from hypothesis import given
from hypothesis import strategies as st
from matplotlib.ft2font import FT2Font, LoadFlags

from netloupe.explorer.render.text import (
    LONGEST_LABEL,
    clean_label,
    load_widths,
    measure_text,
    shorten_text,
)

ROOT = Path(__file__).resolve().parents[2]
ANY_TEXT = st.text(st.characters(exclude_categories=()), max_size=400)


@pytest.mark.parametrize("bold", [False, True])
@pytest.mark.parametrize("text", ["LayerNormalization", "int64[batch, seq]", "⟨768×2304⟩", "…"])
def test_widths_are_those_of_the_font(text: str, bold: bool) -> None:
    file_name = "DejaVuSans-Bold.ttf" if bold else "DejaVuSans.ttf"
    font = FT2Font(str(Path(matplotlib.get_data_path()) / "fonts" / "ttf" / file_name))
    font.set_size(100, 72)
    font.set_text(text, 0, flags=LoadFlags.NO_HINTING)
    width = font.get_width_height()[0] / 64
    # kerning and the ink's overhang are not counted
    assert measure_text(text, 100, bold) == pytest.approx(width, rel=0.02, abs=12)


def test_characters_that_the_font_lacks_have_a_likely_width() -> None:
    assert measure_text("中", 10) == 10
    assert measure_text("\U0001f600", 10) == 10
    assert measure_text("a\U0001e8d0", 10) == measure_text("a", 10)  # a combining number
    assert measure_text("\U000104a0", 10) == 6


def test_the_committed_widths_are_current() -> None:
    script = ROOT / "tools" / "make_font_metrics.py"
    assert subprocess.run([sys.executable, str(script), "--check"], check=False).returncode == 0


@pytest.mark.parametrize("backwards", [False, True])
def test_every_character_of_the_font_has_its_width_in_whatever_order(backwards: bool) -> None:
    text = (ROOT / "explorer" / "render" / "font_metrics.json").read_text("utf-8")
    font = json.loads(text)["regular"]
    expected: dict[str, int] = {}
    for first, *run in font["runs"]:
        widths: list[int] = []
        for number in run:
            widths += [number] if number >= 0 else [widths[-1]] * (-number - 1)
        expected |= {chr(first + n): width for n, width in enumerate(widths)}
    found = load_widths.__wrapped__(False)
    order = sorted(expected, reverse=backwards)
    assert [found[each] * font["units_per_em"] for each in order] == [expected[e] for e in order]
    gap = chr(ord(min(expected)) - 1)
    assert (found[gap], found["中"]) == (0.6, 1.0)  # which the font lacks


def test_of_a_font_only_the_runs_are_read_that_a_text_needs() -> None:
    widths = load_widths.__wrapped__(True)
    for character in "LayerNormalization ⟨768×2304⟩ …":
        assert widths[character] > 0
    assert len(widths) < 1_000  # of some 5,000


def test_line_ends_controls_and_bidi_marks_become_visible() -> None:
    assert clean_label("a\nb\tc\r\x00\x1b") == "a↵b⇥c↵\ufffd\ufffd"
    assert clean_label("\u202eevil\u2066\u200f") == "\ufffdevil\ufffd\ufffd"
    assert clean_label("\ud800x\uffff\u200b") == "\ufffdx\ufffd\ufffd"
    assert clean_label("naïve 層 ⟨3×3⟩") == "naïve 層 ⟨3×3⟩"


@given(ANY_TEXT)
def test_a_label_is_one_line_of_valid_xml(text: str) -> None:
    label = clean_label(text)
    assert len(label) <= LONGEST_LABEL
    assert len(label.splitlines()) <= 1
    escaped = label.replace("&", "&amp;").replace("<", "&lt;")
    assert ElementTree.fromstring(f"<t>{escaped}</t>".encode()).text == (label or None)


@given(ANY_TEXT, st.floats(15, 500), st.booleans(), st.sampled_from(["both", "start"]))
def test_a_shortened_text_fits(text: str, width: float, bold: bool, keep: str) -> None:
    shown = shorten_text(text, width, 11, bold, keep)  # type: ignore[arg-type]
    assert measure_text(shown, 11, bold) <= width


def test_the_end_of_a_name_stays() -> None:
    name = "/model/layers.0/self_attn/q_proj/MatMul"
    shown = shorten_text(name, 150, 11)
    assert shown.startswith("/model")
    assert "…" in shown
    assert shown.endswith("/q_proj/MatMul")
    assert shorten_text(name, 150, 11, keep="start").endswith("…")
    assert shorten_text(name, 400, 11) == name


def test_a_very_long_name_costs_little() -> None:
    assert len(clean_label("x" * 1_000_000)) == LONGEST_LABEL
    assert measure_text(shorten_text("x" * 1_000_000, 200, 11), 11) <= 200
