"""Pages, titles, legends, fonts: sizes to the point, nothing drawn that does not occur."""

from __future__ import annotations

import io
import re
import struct
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pypdf
import pytest
from onnx import helper

from netloupe.commands.cli import main
from netloupe.explorer.layout import Composer, LayoutEngine
from netloupe.explorer.layout.column_cutter import ColumnCutter
from netloupe.explorer.layout.first_view_search import STACK_ZOOMS
from netloupe.explorer.model import Model
from netloupe.explorer.readers.load import load
from netloupe.explorer.render.category import HUES
from netloupe.explorer.render.fonts import find_font, writing_in
from netloupe.explorer.render.legend import Entry, Legend, list_legend, mark_sample
from netloupe.explorer.render.paint import Paint
from netloupe.explorer.render.picture import Picture, make_picture, render_picture
from netloupe.explorer.render.sheet import LEAST_TEXT, PAPERS
from netloupe.explorer.render.svg import draw_sample
from netloupe.explorer.render.text import measure_text
from netloupe.explorer.render.theme import load_theme
from netloupe.explorer.view import ViewOptions
from tests.corpus import corpus_file, light_file

_PAGES = pytest.mark.parametrize("page", ["a4", "letter", "slide", "column"])
#: width and height of a page in points, and of its PNG in pixels
_SIZES = {
    "a4": (210 / 25.4 * 72, 297 / 25.4 * 72, 1654, 2339),
    "letter": (612.0, 792.0, 1700, 2200),
    "slide": (960.0, 540.0, 1920, 1080),
}


@pytest.fixture(scope="module")
def engine() -> Iterator[LayoutEngine]:
    engine = LayoutEngine()
    yield engine
    engine.stop()


@pytest.fixture(scope="module")
def resnet() -> Model:
    return load(light_file("light_resnet50.onnx"))


@pytest.fixture(scope="module")
def gpt2() -> Model:
    return load(corpus_file("exported/gpt2.legacy.onnx"))


def draw(model: Model, engine: LayoutEngine, **options: Any) -> Picture:
    return make_picture(model, ViewOptions.parse(options), composer=Composer(engine))


def make_chain(length: int, name: str = "Relu") -> Model:
    nodes, last = [], "x"
    for number in range(length):
        nodes.append(helper.make_node(name, [last], [f"n{number}"], name=f"n{number}"))
        last = f"n{number}"
    x, y = (helper.make_tensor_value_info(each, 1, [4]) for each in ("x", last))
    return load(helper.make_model(helper.make_graph(nodes, "g", [x], [y])).SerializeToString())


def png_size(data: bytes) -> tuple[int, int]:
    width, height = struct.unpack(">II", data[16:24])
    return width, height


# pages


@_PAGES
def test_a_page_has_its_size_in_every_format(
    page: str, resnet: Model, engine: LayoutEngine
) -> None:
    picture = draw(resnet, engine, page=page, legend=True, title="Residual CNN")
    sheet = picture.sheet
    assert sheet is not None
    width, height = sheet.width * sheet.scale, sheet.height * sheet.scale
    if page == "column":
        assert width == pytest.approx(252)
        assert height <= 684 + 1e-6
        pixels = (1050, round(height / 72 * 300))
    else:
        assert (width, height) == pytest.approx(_SIZES[page][:2])
        pixels = _SIZES[page][2:]
    root = ElementTree.fromstring(render_picture(picture, "svg"))
    assert [float(root.attrib[side].removesuffix("pt")) for side in ("width", "height")] == (
        pytest.approx([width, height], abs=0.01)
    )
    assert png_size(render_picture(picture, "png")) == pixels
    box = pypdf.PdfReader(io.BytesIO(render_picture(picture, "pdf"))).pages[0].mediabox
    assert (float(box.width), float(box.height)) == pytest.approx((width, height), abs=0.01)


@_PAGES
def test_everything_is_inside_of_the_margins(
    page: str, resnet: Model, engine: LayoutEngine
) -> None:
    for expand in ("none", 2):
        picture = draw(resnet, engine, page=page, legend=True, title="A title", expand=expand)
        sheet, scene = picture.sheet, picture.scene
        assert sheet is not None
        margin = PAPERS[page].margin / sheet.scale - 1e-6  # type: ignore[index]
        assert margin <= sheet.left
        assert sheet.left + scene.width <= sheet.width - margin
        title = min(y for _, y, _ in sheet.marks)
        legend = [y for _, y, mark in sheet.marks if y > title + 1]
        assert margin < title < sheet.top + 16
        assert sheet.top + scene.height <= min(legend) + 1
        assert max(legend) < sheet.height - margin


@_PAGES
@pytest.mark.parametrize("expand", ["none", 1, "all"])
def test_text_is_large_enough_or_it_is_said_what_to_close(
    page: str, expand: Any, resnet: Model, engine: LayoutEngine
) -> None:
    picture = draw(resnet, engine, page=page, expand=expand)
    assert picture.sheet is not None
    said = [notice for notice in picture.notices if "points on this page" in notice]
    is_small = picture.sheet.text_size < LEAST_TEXT * 0.999
    assert len(said) == is_small
    assert list(picture.scene.notices) == picture.notices
    if not is_small:
        return
    assert f"is {picture.sheet.text_size:.2g} points" in said[0]
    if "is not enough" in said[0]:
        assert draw(resnet, engine, page=page, expand="none").notices
        return
    assert re.search(r"enough with 'main/.* closed\.$", said[0])


def test_closing_what_is_named_is_enough_and_one_less_is_not(
    gpt2: Model, engine: LayoutEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("netloupe.explorer.render.picture._MOST_NAMED", 9)
    picture = draw(gpt2, engine, page="a4", expand=2)
    (notice,) = picture.notices
    named = re.findall(r"'(main/[^']+)'", notice)
    assert named
    view = picture.view
    composer = Composer(engine)

    def is_small() -> bool:
        from dataclasses import replace

        from netloupe.explorer.render.picture import lay_on_sheet

        scene = composer.compose(view, picture.labels)
        found = lay_on_sheet(replace(picture, scene=scene), composer)
        return bool(found.notices)

    assert is_small()
    for path in named[:-1]:
        view.close(path)
        assert is_small()
    view.close(named[-1])
    assert not is_small()


def test_a_page_is_not_cut_where_one_column_fits(engine: LayoutEngine) -> None:
    short, long = make_chain(12), make_chain(60)
    page = {"page": "a4", "grouping": "none"}
    one = draw(short, engine, **page)
    assert one.scene.width < 300
    many = draw(long, engine, **page)
    assert many.scene.width > 400
    assert many.sheet is not None
    assert many.sheet.text_size >= LEAST_TEXT
    never = draw(long, engine, wrap=False, **page)
    assert never.scene.width == one.scene.width
    assert never.notices != []


def test_a_page_has_a_first_view_that_it_has_room_for(resnet: Model, engine: LayoutEngine) -> None:
    for page in ("a4", "letter", "slide"):
        assert draw(resnet, engine, page=page).notices == []


@pytest.mark.parametrize("page", ["none", "a4", "slide"])
def test_a_first_view_leaves_room_for_title_and_legend(
    page: str, gpt2: Model, engine: LayoutEngine
) -> None:
    title = " ".join(["A decoder-only transformer with a very long title"] * 6)
    for options in ({}, {"title": title, "legend": True}):
        for height in (700, 500, 350):
            picture = draw(gpt2, engine, page=page, fit=f"800x{height}", **options)
            sheet = picture.sheet
            assert sheet is not None
            if page != "none":
                assert sheet.text_size >= LEAST_TEXT * 0.999
            elif picture.view.root.revision and any(i.repeat for i in picture.view.open_items()):
                assert min(800 / sheet.width, height / sheet.height) >= min(STACK_ZOOMS)


def test_pictures_that_fit_are_not_searched_for_cuts(
    resnet: Model, engine: LayoutEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("searched for cuts")

    monkeypatch.setattr(ColumnCutter, "__init__", refuse)
    draw(resnet, engine, wrap=False)
    draw(make_chain(5), engine)
    with pytest.raises(AssertionError, match="searched"):
        draw(resnet, engine, wrap=2)


# scale, title


def test_scale_makes_pictures_larger_in_every_format(engine: LayoutEngine) -> None:
    model = make_chain(3)
    small, large = draw(model, engine), draw(model, engine, scale=2.5)
    for format in ("svg", "png", "pdf"):
        sizes = []
        for picture in (small, large):
            data = render_picture(picture, format)
            if format == "svg":
                root = ElementTree.fromstring(data)
                sizes.append(float(root.attrib["width"]))
                assert (
                    root.attrib["viewBox"]
                    == ElementTree.fromstring(render_picture(small, "svg")).attrib["viewBox"]
                )
            elif format == "png":
                sizes.append(png_size(data)[0])
            else:
                sizes.append(float(pypdf.PdfReader(io.BytesIO(data)).pages[0].mediabox.width))
        assert sizes[1] / sizes[0] == pytest.approx(2.5, rel=0.01)
    limited = draw(model, engine, page="a4", scale=0.5).sheet
    assert limited is not None
    assert limited.scale == pytest.approx(0.375)


def test_a_title_is_text_above_the_picture_and_hides_nothing(engine: LayoutEngine) -> None:
    model = make_chain(3)
    title = 'A <b>"title"</b> & more'
    picture = draw(model, engine, title=title)
    root = ElementTree.fromstring(render_picture(picture, "svg"))
    texts = ["".join(each.itertext()) for each in root.iter("{http://www.w3.org/2000/svg}text")]
    assert title in texts
    assert root.findtext("{http://www.w3.org/2000/svg}title") == title
    assert picture.sheet is not None
    assert picture.sheet.top > 20
    page = pypdf.PdfReader(io.BytesIO(render_picture(picture, "pdf"))).pages[0]
    assert "more" in page.extract_text()
    assert b"&lt;b&gt;" in render_picture(picture, "html")
    long = draw(model, engine, title="word " * 400).sheet
    assert long is not None
    lines = [mark.text for _, _, mark in long.marks if hasattr(mark, "text")]
    assert len(lines) == 5
    assert lines[-1].endswith("…")
    assert all(measure_text(line, 17, True) <= long.width - 30 for line in lines)


def test_a_title_can_be_what_the_model_is(engine: LayoutEngine, tmp_path: Path) -> None:
    def title(model: Model, **options: Any) -> str:
        sheet = draw(model, engine, title="auto", key=False, **options).sheet
        assert sheet is not None
        return " ".join(mark.text for _, _, mark in sheet.marks if hasattr(mark, "text"))

    resnet = load(light_file("light_resnet50.onnx"))
    assert title(resnet) == resnet.architecture.sentence
    assert title(resnet).startswith("Residual CNN (bottleneck): stages of 3, 4, 6, 3 blocks")
    assert title(load(corpus_file("runtimes/custom_domain.onnx"))) == "custom_domain.onnx"
    path = corpus_file("features/control_flow_3deep.onnx")
    inner = load(path).graphs[1].path
    assert title(load(path), graph=inner) == f"control_flow_3deep.onnx · {inner}"
    picture = tmp_path / "resnet.html"
    source = str(light_file("light_resnet50.onnx"))
    assert main(["render", source, "-o", str(picture), "--title", "auto"]) == 0
    assert f"<title>{resnet.architecture.sentence}</title>" in picture.read_text()


def test_a_picture_without_any_of_it_has_no_sheet_around(engine: LayoutEngine) -> None:
    picture = draw(make_chain(3), engine)
    assert picture.sheet is not None
    assert (picture.sheet.left, picture.sheet.top, picture.sheet.marks) == (0, 0, ())
    assert b"translate(0" not in render_picture(picture, "svg").split(b'<g class="boxes"')[0]


@pytest.mark.parametrize("format", ["svg", "png", "pdf", "html"])
def test_the_same_picture_has_the_same_bytes(format: str, engine: LayoutEngine) -> None:
    def make() -> bytes:
        model = load(light_file("light_squeezenet.onnx"))
        options: dict[str, Any] = {"expand": 2, "page": "a4", "legend": True, "title": "T"}
        return render_picture(draw(model, engine, wrap=3, **options), format)

    assert make() == make()


# the legend


def test_a_legend_says_only_what_occurs(engine: LayoutEngine) -> None:
    def keys(model: Model, **options: Any) -> set[str]:
        picture = draw(model, engine, **options)
        found = list_legend(picture.scene, picture.labels.draw, picture.paints)
        assert len({entry.text for entry in found}) == len(found)
        return {entry.key for entry in found}

    assert keys(make_chain(3)) == {"activation", "terminal", "data"}
    assert keys(make_chain(3, "Sqrt")) == {"plain", "terminal", "data"}
    squeezenet = load(light_file("light_squeezenet.onnx"))
    explored = {"share": "parameters", "controls": True}
    closed = keys(squeezenet, expand="none", **explored)
    opened = keys(squeezenet, expand="all", **explored)
    assert {"stack", "opener"} <= closed
    assert not {"frame", "port", "continued"} & closed
    assert {"frame", "port"} <= opened
    assert not {"stack", "opener"} & opened
    cut = draw(squeezenet, engine, expand="all", wrap=9)
    assert any(box.leaves is not None for box in cut.scene.boxes)
    assert "continued" in keys(squeezenet, expand="all", wrap=9)
    condloop = load(corpus_file("exported/condloop.dynamo.onnx"))
    assert "captured" in keys(condloop, expand="all")
    quantized = load(corpus_file("quantized/bert.qdq.onnx"))
    assert "chip" in keys(quantized, expand=2, details="all")
    assert "share-parameters" in closed
    assert "share-bytes" in keys(squeezenet, expand="none", share="bytes")
    for options in ({}, {"share": "none"}):
        still = keys(squeezenet, expand="none", **options)
        assert not any(key.startswith("share") or key == "opener" for key in still)


def test_what_is_painted_is_explained_by_its_tone(engine: LayoutEngine) -> None:
    picture = draw(make_chain(2), engine)
    paints = {"main/n0": Paint("added"), "main/n1": Paint("scale-3")}
    found = list_legend(picture.scene, picture.labels.faces, paints)
    assert {entry.key for entry in found} == {"added", "scale", "terminal", "data"}


def test_every_entry_has_a_small_picture_in_every_theme() -> None:
    from netloupe.explorer.render.legend import load_words

    words = dict(load_words())
    light = load_theme("light")
    assert set(words["categories"]) == set(light.categories)
    assert tuple(words.pop("key")) == HUES
    tones = {tone.partition("-")[0] for tone in light.tones}
    assert set(words["tones"]) == tones
    for kind, texts in words.items():
        for key, text in texts.items():
            entry = Entry(kind, key, text)
            drawn = [draw_sample(entry, theme) for theme in ("light", "dark")]
            assert drawn[0] != drawn[1]
            assert mark_sample(entry, light)
            for svg in drawn:
                ElementTree.fromstring(svg)


def test_a_legend_has_as_many_columns_as_there_is_room_for() -> None:
    entries = [Entry("categories", key, f"text {key}") for key in load_theme("light").categories]
    legend = Legend(entries)
    heights = [legend.height(width) for width in (120, 300, 700, 5_000)]
    assert heights == sorted(heights, reverse=True)
    assert heights[0] > heights[-1]
    for width in (legend.least_width, 400, 900):
        marks = list(legend.place(width, load_theme("light")))
        assert max(y for _, y, _ in marks) < legend.height(width)
        ends = [
            x + mark.x + measure_text(mark.text, mark.size, mark.bold)
            for x, _, mark in marks
            if hasattr(mark, "text") and mark.anchor == "start"
        ]
        assert max(ends) <= width + 1e-6


# the font


def test_text_is_measured_and_drawn_in_the_font_asked_for(engine: LayoutEngine) -> None:
    model = make_chain(3, "ThresholdedRelu")
    usual = draw(model, engine)
    serif = draw(model, engine, font="dejavu serif")
    mono = draw(model, engine, font="DejaVu Sans Mono")
    widths = [measure(picture) for picture in (usual, serif, mono)]
    assert len(set(widths)) == 3
    assert serif.notices == mono.notices == []
    svg = render_picture(serif, "svg").decode()
    assert 'font-family="&quot;dejavu serif&quot;, &quot;DejaVu Sans&quot;' in svg
    assert len({render_picture(each, "png") for each in (usual, serif, mono)}) == 3
    fonts = pypdf.PdfReader(io.BytesIO(render_picture(serif, "pdf"))).pages[0]["/Resources"]
    names = {str(font.get_object()["/BaseFont"]) for font in fonts["/Font"].values()}  # type: ignore[index]
    assert any("DejaVuSerif" in name for name in names)


def measure(picture: Picture) -> float:
    """Return the width of the widest box."""
    return max(box.width for box in picture.scene.boxes)


def test_widths_of_a_font_are_those_that_matplotlib_draws() -> None:
    from matplotlib.font_manager import FontProperties
    from matplotlib.textpath import TextPath

    text = "Convolution 12"
    for bold in (False, True):
        with writing_in("STIXGeneral") as found:
            assert found is not None
            width = measure_text(text, 100, bold)
        properties = FontProperties(family="STIXGeneral", weight="bold" if bold else "normal")
        extent = TextPath((0, 0), text, size=100, prop=properties).get_extents()
        assert width == pytest.approx(extent.x1, rel=0.02)
    assert find_font("No Such Font") is None


def test_a_font_that_is_not_here_is_said(engine: LayoutEngine) -> None:
    picture = draw(make_chain(2), engine, font="No Such Font")
    (notice,) = picture.notices
    assert "'No Such Font' is not on this machine" in notice
    assert measure(picture) == measure(draw(make_chain(2), engine))
    assert b"&quot;No Such Font&quot;, " in render_picture(picture, "svg")
    assert render_picture(picture, "png") == render_picture(draw(make_chain(2), engine), "png")


# groups that go on


def test_a_group_that_goes_on_is_open_at_the_cut_and_named_again(engine: LayoutEngine) -> None:
    model = load(light_file("light_squeezenet.onnx"))
    picture = draw(model, engine, expand="all", wrap=9)
    svg = render_picture(picture, "svg").decode()
    parts = [box for box in picture.scene.boxes if box.enters is not None]
    assert parts
    assert 1 <= svg.count("… continued</text>") <= len(parts)
    identities = re.findall(r' id="([^"]+)"', svg)
    assert len(identities) == len(set(identities))
    root = ElementTree.fromstring(svg)
    space = "{http://www.w3.org/2000/svg}"
    for group in root.iter(f"{space}g"):
        titles = [text.text or "" for text in group.findall(f"{space}text")]
        if not any(title.endswith("… continued") for title in titles):
            continue
        rectangles = group.findall(f"{space}rect")
        assert all("stroke" not in each.attrib for each in rectangles)
        assert group.findall(f"{space}path")
    text = pypdf.PdfReader(io.BytesIO(render_picture(picture, "pdf"))).pages[0].extract_text()
    assert "continued" in text


# the shell


def test_the_shell_draws_columns_and_pages(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    source = str(light_file("light_resnet50.onnx"))

    def render(*words: str) -> bytes:
        path = tmp_path / "picture.svg"
        assert main(["render", source, "-o", str(path), *words]) == 0
        return path.read_bytes()

    one, two, three = (render("--wrap", count) for count in ("no", "2", "3"))
    assert len({one, two, three}) == 3
    assert capsys.readouterr().err == ""
    many = render("--wrap", "150", "--expand", "none")
    assert b"branches run beside" in many
    assert "note: The picture is in" in capsys.readouterr().err
    page = render("--page", "letter", "--legend", "--title", "R", "--font", "DejaVu Serif")
    assert b'width="612pt" height="792pt"' in page
    words = b">learned weights: convolution, linear layer, MLP<"
    assert words in page
    assert words not in render("--no-legend")
    wide, high = render("--fit", "3000x500"), render("--fit", "500x3000")
    assert wide != high


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--page", "a3"], "invalid choice: 'a3'"),
        (["--fit", "10x10"], "'10x10' is not width and height in pixels"),
        (["--scale", "0"], "'0' is no number of times its size from 0.05 to 20"),
        (["--font", "<x>"], "'<x>' is not the name of a font family"),
        (["--wrap", "0"], "'0' is none of auto, yes, no and a number of columns"),
    ],
)
def test_the_shell_says_what_it_takes(
    words: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["render", "m.onnx", "-o", "m.svg", *words])
    assert ended.value.code == 2
    assert said in capsys.readouterr().err
