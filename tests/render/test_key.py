"""The key: the hues of a picture in a line at its foot."""

from __future__ import annotations

import itertools
from xml.etree import ElementTree

import pytest

from netloupe.explorer.model import Model
from netloupe.explorer.render.category import HUES
from netloupe.explorer.render.key import Key
from netloupe.explorer.render.marks import RectMark, TextMark
from netloupe.explorer.render.paint import Paint
from netloupe.explorer.render.text import measure_text
from netloupe.explorer.render.theme import load_theme
from tests.onnx_text import load_text


def make(*operators: str) -> Model:
    nodes = "".join(f"v{n + 1} = {name}(v{n})\n" for n, name in enumerate(operators))
    return load_text(f"""
        <ir_version: 8, opset_import: ["": 17]>
        g (float[1, 2, 8, 8] v0) => (float[1, 2, 1, 1] v{len(operators)}) {{ {nodes} }}
    """)


def words_around(svg: str) -> list[str]:
    root = ElementTree.fromstring(svg)
    space = "{http://www.w3.org/2000/svg}"
    return [
        text.text or ""
        for group in root.iter(f"{space}g")
        if group.get("class") == "around"
        for text in group.iter(f"{space}text")
    ]


def test_hues_that_occur_are_told_in_one_line_and_no_others() -> None:
    model = make("Relu", "Sin", "GlobalAveragePool")
    assert words_around(model.to_svg()) == ["activation", "pooling, resampling"]
    assert words_around(model.to_svg(key=False)) == []


def test_one_hue_needs_no_words() -> None:
    assert words_around(make("Relu", "Sin").to_svg()) == []


def test_a_legend_is_in_its_place() -> None:
    words = words_around(make("Relu", "GlobalAveragePool").to_svg(legend=True))
    assert "pooling, resampling, reduction" in words
    assert "pooling, resampling" not in words


def test_what_is_painted_has_no_hues_to_tell() -> None:
    model = make("Relu", "GlobalAveragePool")
    paint = {node.path: Paint("note") for node in model.graph.nodes}
    assert "activation" not in words_around(model.to_svg(paint=paint))


@pytest.mark.parametrize("width", [40, 150, 300, 900])
def test_it_stays_in_its_width_and_says_each_hue_once(width: float) -> None:
    key = Key(HUES)
    width = max(width, key.least_width)
    marks = [*key.place(width, load_theme("light"))]
    texts = [(x, y, mark) for x, y, mark in marks if isinstance(mark, TextMark)]
    assert len(texts) == len(HUES) == sum(isinstance(mark, RectMark) for _, _, mark in marks)
    for x, y, mark in texts:
        assert x >= 0
        assert x + mark.x + measure_text(mark.text, mark.size, mark.bold) <= width + 0.01
        assert y + mark.y < key.height(width)
    rows = [[*row] for _, row in itertools.groupby(texts, key=lambda text: text[1])]
    assert len(rows) == 1 or width < 900


def test_stills_have_no_signs_of_the_explorer_unless_they_are_asked_for() -> None:
    model = load_text("""
        <ir_version: 8, opset_import: ["": 17, "l": 1]>
        g (float[N] x) => (float[N] y) { y = l.F(x) }
        <domain: "l", opset_import: ["": 17]> F (a) => (b) { t = Sin(a) b = Elu(t) }
    """)
    assert ">+</text>" not in model.to_svg(expand="none")
    assert ">+</text>" in model.to_svg(expand="none", controls=True)
