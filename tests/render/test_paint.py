"""Paint: colours by path over faces that stay as they are, in every picture and on the canvas."""

from __future__ import annotations

import io
import re
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pypdf
import pytest
from matplotlib.image import imread

import netloupe
from netloupe import Paint, ViewError
from netloupe.explorer.grouping.lookup import find_tree
from netloupe.explorer.layout import Scene
from netloupe.explorer.readers.load import load
from netloupe.explorer.render.faces import FaceBook
from netloupe.explorer.render.paint import Paints, check_paints, lay_paints, list_tones
from netloupe.explorer.render.svg import draw_svg
from netloupe.explorer.render.theme import load_theme
from tests.compare.networks import make_layers
from tests.onnx_text import load_text

SVG = "{http://www.w3.org/2000/svg}"
TWO = """
two (float[4] x) => (float[4] y) {
    [first] t = Relu (x)
    [second] y = Relu (t)
}"""


def group_of(svg: str, path: str) -> ElementTree.Element:
    """Return what is drawn of the element with a path."""
    root = ElementTree.fromstring(svg)
    for group in root.iter(f"{SVG}g"):
        title = group.find(f"{SVG}title")
        if title is not None and (title.text or "").split("\n")[0] == path:
            return group
    raise AssertionError(path)


def colours_of(svg: str, path: str) -> set[str]:
    group = group_of(svg, path)
    return {part.get(key, "") for part in group.iter() for key in ("fill", "stroke")}


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_only_what_is_named_is_painted(theme: str) -> None:
    model = load_text(TWO)
    tone = load_theme(theme).tones["warning"]
    svg = model.to_svg(paint={"main/second": Paint("warning", "slow")}, theme=theme)
    assert {tone.fill, tone.border, tone.text} <= colours_of(svg, "main/second")
    assert "slow" in "".join(group_of(svg, "main/second").itertext())
    plain = model.to_svg(theme=theme)
    for path in ("main/first", "main/%t", "main/%x"):
        assert colours_of(svg, path) == colours_of(plain, path)
    assert tone.fill not in plain


def test_edges_take_the_border_of_the_tone() -> None:
    model = load_text(TWO)
    added = load_theme("light").tones["added"]
    svg = model.to_svg(paint={model.value("t"): Paint("added")})
    assert added.border in colours_of(svg, "main/%t")
    assert added.fill not in svg


def test_places_and_texts_stay(scene: Scene) -> None:
    book = FaceBook()
    faces = [book.face(box.item) for box in scene.boxes]
    paints: Paints = {box.item.path: Paint("scale-3") for box in scene.boxes}
    plain, painted = draw_svg(scene, book.face), draw_svg(scene, book.face, paints=paints)
    assert [book.face(box.item) for box in scene.boxes] == faces
    assert len(book._faces) == len({id(face) for face in faces})
    assert re.sub(r"#[0-9a-f]{6}|stroke-width=\"[\d.]+\"", "", plain).count(
        "<text"
    ) == painted.count("<text")
    assert re.findall(r"translate\(.*?\)", plain) == re.findall(r"translate\(.*?\)", painted)


def test_open_groups_keep_their_ground(scene: Scene) -> None:
    frame = next(box for box in scene.boxes if box.item.is_open)
    note = load_theme("light").tones["note"]
    svg = draw_svg(scene, FaceBook().face, paints={frame.item.path: Paint("note")})
    colours = colours_of(svg, frame.item.path)
    assert note.border in colours
    assert note.fill not in colours


def count_pixels(png: bytes, colour: str) -> int:
    pixels: Any = imread(io.BytesIO(png), format="png")[:, :, :3]
    wanted = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    return int((abs(pixels - wanted).max(axis=2) < 0.01).sum())


def test_png_and_pdf_have_the_paint_too() -> None:
    model = load_text(TWO)
    fill = load_theme("light").tones["error"].fill
    paint = {"main/first": Paint("error", "broken")}
    assert count_pixels(model.to_png(), fill) == 0
    assert count_pixels(model.to_png(paint=paint), fill) > 500
    text = pypdf.PdfReader(io.BytesIO(model.to_pdf(paint=paint))).pages[0].extract_text()
    assert "broken" in text


def test_what_is_not_in_the_picture_is_left_out(tmp_path: Path) -> None:
    model = load_text(TWO)
    assert model.to_svg(paint={"main/elsewhere": Paint("note")}) == model.to_svg()
    assert model.to_svg(tmp_path / "x.svg", paint={}) == model.to_svg()


def test_texts_of_paints_are_escaped_and_shortened() -> None:
    model = load_text(TWO)
    svg = model.to_svg(paint={"main/first": Paint("note", "<script>" + "long " * 50)})
    text = "".join(group_of(svg, "main/first").itertext())
    assert "<script>" in text
    assert "…" in text
    assert "<script>" not in svg


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_a_ring_leaves_the_box_as_it_is(theme: str) -> None:
    model = load_text(TWO)
    plain = model.to_svg(theme=theme)
    svg = model.to_svg(
        paint={"main/second": Paint(ring="removed", mark="−", dashed=True)}, theme=theme
    )
    tone = load_theme(theme).tones["removed"]
    assert colours_of(svg, "main/second") - colours_of(plain, "main/second") == {
        tone.strong,
        load_theme(theme).page,
    } - colours_of(plain, "main/second")
    drawn = group_of(svg, "main/second")
    assert "−" in "".join(drawn.itertext())
    dashed = [part for part in drawn.iter() if part.get("stroke-dasharray")]
    assert [part.get("stroke") for part in dashed] == [tone.strong]


def test_what_is_hatched_has_strokes_inside_its_border() -> None:
    svg = load_text(TWO).to_svg(paint={"main/second": Paint(hatched=True)})
    drawn = group_of(svg, "main/second")
    (strokes,) = [part for part in drawn.iter(f"{SVG}path") if "L" in part.get("d", "")]
    border = max(
        (float(part.get("width", 0)), float(part.get("height", 0)))
        for part in drawn.iter(f"{SVG}rect")
    )
    ends = re.findall(r"[ML]([\d.]+) ([\d.]+)", strokes.get("d", ""))
    assert len(ends) > 10
    assert all(0 <= float(x) <= border[0] and 0 <= float(y) <= border[1] for x, y in ends)


def test_dashes_of_a_box_and_of_an_edge_survive_grey_print() -> None:
    model = load_text(TWO)
    paint = {"main/second": Paint("removed", dashed=True), "main/%t": Paint("removed", dashed=True)}
    svg = model.to_svg(paint=paint)
    for path in paint:
        assert any(part.get("stroke-dasharray") for part in group_of(svg, path).iter())
    assert "stroke-dasharray" not in model.to_svg()


def test_a_mark_stands_in_the_corner_of_an_open_group_too(scene: Scene) -> None:
    frame = next(box for box in scene.boxes if box.item.is_open)
    paints = {frame.item.path: Paint(mark="12", mark_tone="error")}
    svg = draw_svg(scene, FaceBook().face, paints=paints)
    root = ElementTree.fromstring(svg)
    drawn = [g for g in root.iter(f"{SVG}g") if g.findtext(f"{SVG}title") == frame.item.path]
    assert "12" in [text.text for g in drawn for text in g.iter(f"{SVG}text")]
    strong = load_theme("light").tones["error"].strong
    assert strong in [part.get("fill") for g in drawn for part in g.iter()]
    # in front of the rings on its border
    assert svg.index('class="ports"') < svg.index(">12<")


def test_marks_are_in_png_and_pdf() -> None:
    model = load_text(TWO)
    strong = load_theme("light").tones["changed"].strong
    paint = {"main/first": Paint(ring="changed", mark="Δ", hatched=True)}
    assert count_pixels(model.to_png(), strong) == 0
    assert count_pixels(model.to_png(paint=paint), strong) > 300
    text = pypdf.PdfReader(io.BytesIO(model.to_pdf(paint=paint))).pages[0].extract_text()
    assert "Δ" in text


def test_layers_of_paints_keep_what_each_says() -> None:
    low = {"a": Paint("scale-3", "12 ms"), "b": Paint("scale-0"), "d": Paint(hatched=True)}
    high = {
        "a": Paint(ring="error", mark="!"),
        "c": Paint("added"),
        "d": Paint(mark="3", mark_tone="note"),
    }
    laid = lay_paints(high, low)
    assert laid["a"] == Paint("scale-3", "12 ms", "error", "!", "error")
    assert laid["b"] == low["b"]
    assert laid["c"] == high["c"]
    assert laid["d"] == Paint(mark="3", mark_tone="note", hatched=True)
    assert laid["a"].encode() == ["scale-3", "12 ms", "error", "!", "error"]
    assert laid["d"].encode() == ["", "", "", "3", "note", 2]
    assert lay_paints({}, low) is low


def test_what_is_no_paint_is_said() -> None:
    with pytest.raises(ViewError, match="too long"):
        Paint("note", mark="12345")
    with pytest.raises(ViewError, match="drawn in a tone"):
        Paint(text="slow")
    with pytest.raises(ViewError, match="drawn in a tone"):
        Paint(mark="!")
    with pytest.raises(ViewError, match="no tone 'pink'"):
        Paint(ring="pink")
    with pytest.raises(ViewError, match=r"no tone 'pink'.*added"):
        Paint("pink")
    with pytest.raises(ViewError, match="'main/first' is painted with a str"):
        load_text(TWO).to_svg(paint={"main/first": "red"})  # type: ignore[dict-item]
    with pytest.raises(ViewError, match="what is painted is a int"):
        check_paints({3: Paint("note")})


def contrast(one: str, other: str) -> float:
    """Return the contrast of two colours (WCAG 2.2, section 1.4.3)."""

    def luminance(colour: str) -> float:
        shares = (int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5))
        linear = [s / 12.92 if s <= 0.04045 else ((s + 0.055) / 1.055) ** 2.4 for s in shares]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    dark, light = sorted((luminance(one), luminance(other)))
    return (light + 0.05) / (dark + 0.05)


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_texts_can_be_read_in_every_tone(theme: str) -> None:
    tones = load_theme(theme).tones
    assert tuple(tones) == list_tones()
    for name, tone in tones.items():
        assert contrast(tone.fill, tone.text) >= 4.5, name
        assert contrast(tone.strong, load_theme(theme).page) >= 4.5, name


def test_paint_is_public() -> None:
    assert netloupe.Paint is Paint


@pytest.mark.parametrize("mark", ["+", "7", "42", "120", "888", "1k+"])
def test_a_mark_stays_in_the_picture_and_off_the_number_of_repetitions(mark: str) -> None:
    """The frame of a stack is the widest thing here, and its number ends at the right."""
    model = load(make_layers(4))
    paths = [*find_tree(model, model.graph).groups]
    svg = model.to_svg(
        paint={path: Paint(mark=mark, mark_tone="changed") for path in paths}, expand="all"
    )
    root = ElementTree.fromstring(svg)
    strong = load_theme("light").tones["changed"].strong
    discs: list[tuple[float, ...]] = []
    numbers: list[tuple[float, ...]] = []
    for group in root.iter(f"{SVG}g"):
        moved = re.match(r"translate\(([\d.]+) ([\d.]+)\)", group.get("transform", ""))
        x, y = map(float, moved.groups()) if moved else (0.0, 0.0)
        for each in group.findall(f"{SVG}rect"):
            if each.get("fill") == strong:
                left, top, *size = (float(each.get(k, "")) for k in ("x", "y", "width", "height"))
                discs.append((x + left, y + top, x + left + size[0], y + top + size[1]))
        for each in group.findall(f"{SVG}text"):
            if each.get("text-anchor") == "end":
                right, below = float(each.get("x", "")), float(each.get("y", ""))
                letters = 0.73 * float(each.get("font-size", ""))
                numbers.append((x + right - 8, y + below - letters, x + right, y + below))
    assert len(discs) > 8
    assert len(numbers) == 2
    for left, top, right, below in discs:
        assert right + 1.2 <= float(root.get("width", ""))
        assert top >= 1.2
        for number in numbers:
            is_apart = right <= number[0] or number[2] <= left or below <= number[1]
            assert is_apart or number[3] <= top
