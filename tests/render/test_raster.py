"""PNG and PDF: signatures, sizes, limits, and text that can be found."""

import io
import re
import shutil
import struct
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path

import matplotlib as mpl
import numpy as np
import pypdf
import pytest
from matplotlib.font_manager import FontEntry, FontProperties, findfont, fontManager
from matplotlib.image import imread

from netloupe.explorer.layout import Scene
from netloupe.explorer.options import Background
from netloupe.explorer.render import fonts, raster
from netloupe.explorer.render.faces import FaceBook
from netloupe.explorer.render.fonts import find_font, writing_in
from netloupe.explorer.render.marks import TextMark
from netloupe.explorer.render.raster import (
    LONGEST_PAGE,
    LONGEST_SIDE,
    MOST_PIXELS,
    choose_font,
    choose_pdf_scale,
    choose_png_scale,
    draw_pdf,
    draw_png,
    replace_missing,
)
from netloupe.explorer.render.sheet import Sheet
from netloupe.explorer.render.svg import draw_svg
from netloupe.explorer.render.text import load_widths
from netloupe.explorer.render.theme import load_theme


def png_size(data: bytes) -> tuple[int, int]:
    assert data[:8] == b"\x89PNG\r\n\x1a\n"
    width, height = struct.unpack(">II", data[16:24])
    return width, height


def test_a_png_has_the_size_asked_for_and_the_themes_ground(scene: Scene, faces: FaceBook) -> None:
    data = draw_png(scene, faces.face, "dark", 1.5)
    assert png_size(data) == (1140, 1515)
    pixels = (imread(io.BytesIO(data))[..., :3] * 255).round().astype(int)
    page = load_theme("dark").page
    assert pixels[2, 2].tolist() == [int(page[i : i + 2], 16) for i in (1, 3, 5)]
    assert len(np.unique(pixels.reshape(-1, 3), axis=0)) > 100


def test_text_is_drawn_where_the_face_has_it(scene: Scene, faces: FaceBook) -> None:
    box = next(box for box in scene.boxes if box.item.path == "main/Conv")
    pixels = imread(io.BytesIO(draw_png(scene, faces.face, "light", 2)))[..., :3]
    header = pixels[int(box.y * 2) + 10 : int(box.y * 2) + 42, int(box.x * 2) + 18 :][:, :66]
    assert header.min() < 0.45  # the title's dark strokes
    right = pixels[int(box.y * 2) + 10 : int(box.y * 2) + 42, int((box.x + box.width) * 2) - 16 :]
    assert right[:, :10].std(axis=(0, 1)).max() < 0.01  # nothing in the margin


def test_large_pictures_are_bounded_with_a_notice() -> None:
    assert choose_png_scale(Scene(100, 100)) == (2.0, "")
    for size in ((1_000_000, 10), (30_000, 30_000), (10, 80_000)):
        scale, notice = choose_png_scale(Scene(*size))
        assert size[0] * scale <= LONGEST_SIDE + 1e-6
        assert size[1] * scale <= LONGEST_SIDE + 1e-6
        assert size[0] * size[1] * scale**2 <= MOST_PIXELS + 1
        assert notice
    width, height = png_size(draw_png(Scene(100_000, 10), FaceBook().face))
    assert (width, height) == (LONGEST_SIDE, 1)


def test_long_pages_are_bounded_with_a_notice() -> None:
    assert choose_pdf_scale(Scene(100, 100)) == (1.0, "")
    scene = Scene(50, 50_000)
    scale, notice = choose_pdf_scale(scene)
    assert notice
    page = pypdf.PdfReader(io.BytesIO(draw_pdf(scene, FaceBook("all").face))).pages[0]
    assert float(page.mediabox.height) == pytest.approx(LONGEST_PAGE, abs=1)
    assert float(page.mediabox.width) == pytest.approx(50 * scale, abs=1)


def test_a_pdf_is_one_page_with_text(scene: Scene, faces: FaceBook) -> None:
    data = draw_pdf(scene, faces.face, title="a model")
    assert data.startswith(b"%PDF-")
    reader = pypdf.PdfReader(io.BytesIO(data))
    assert len(reader.pages) == 1
    assert (float(reader.pages[0].mediabox.width), float(reader.pages[0].mediabox.height)) == (
        760,
        1010,
    )
    text = re.sub(r"\s+", " ", reader.pages[0].extract_text())
    for word in (
        "LayerNormalization",
        "kernel 3×3",
        "⟨4×4×3×3⟩",
        "int8 · per channel",
        "GPT2Block",
    ):
        assert word in text
    assert reader.metadata is not None
    assert reader.metadata.title == "a model"


def test_identical_input_gives_identical_bytes(scene: Scene, faces: FaceBook) -> None:
    assert draw_png(scene, faces.face) == draw_png(scene, FaceBook("all").face)
    assert draw_pdf(scene, faces.face) == draw_pdf(scene, FaceBook("all").face)


def test_matplotlibs_settings_are_left_alone(scene: Scene, faces: FaceBook) -> None:
    before = dict(mpl.rcParams)
    draw_png(scene, faces.face)
    draw_pdf(scene, faces.face)
    assert dict(mpl.rcParams) == before


@pytest.mark.parametrize(
    "name",
    ["$x^$", "\\frac{", "層の名前", "\U0001f600", "\u0627\u0644", "\x00\ud800", "%s", "x" * 99_999],
)
def test_odd_names_draw_without_warnings(scene: Scene, name: str) -> None:
    for box in scene.boxes:
        box.item.label = name
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        draw_png(scene, FaceBook().face, scale=1)
        draw_pdf(scene, FaceBook().face, title=name)


def test_dollars_are_text(scene: Scene) -> None:
    scene.boxes[0].item.label = "$a_b$"
    reader = pypdf.PdfReader(io.BytesIO(draw_pdf(scene, FaceBook("all").face)))
    assert "$a_b$" in reader.pages[0].extract_text()


def test_characters_without_a_glyph_become_squares() -> None:
    assert replace_missing("plain") == "plain"
    assert replace_missing("⟨3×3⟩ é") == "⟨3×3⟩ é"
    assert replace_missing("\U0001fbf9\U0002fa1d") == "□□"


def test_selection_changes_the_picture(scene: Scene, faces: FaceBook) -> None:
    plain = draw_png(scene, faces.face)
    assert draw_png(scene, faces.face, selected=frozenset(["main/Conv"])) != plain


@pytest.fixture
def regular_only(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[str]:
    """A machine that has a family of other characters without bold letters, as Droid's often is."""
    family = "Droid Sans Fallback"
    name = "Fallback.ttf"
    regular = findfont(FontProperties(family="DejaVu Sans"))
    shutil.copyfile(regular, tmp_path / name)
    entry = FontEntry(fname=str(tmp_path / name), name=family, weight=400)
    monkeypatch.setattr(fontManager, "ttflist", [*fontManager.ttflist, entry])
    caches = (
        *(raster.choose_font, raster._find_other_families, raster._has_glyph),
        *(raster.replace_missing, fonts.find_font, fontManager._findfont_cached),
    )
    for each in caches:
        each.cache_clear()
    yield family
    monkeypatch.undo()
    for each in caches:
        each.cache_clear()


@pytest.mark.parametrize("draw", [draw_png, draw_pdf])
@pytest.mark.parametrize("is_asked_for", [False, True])
def test_a_family_without_bold_letters_is_used_without_a_word(
    draw: Callable[..., bytes],
    is_asked_for: bool,
    regular_only: str,
    scene: Scene,
    faces: FaceBook,
    caplog: pytest.LogCaptureFixture,
) -> None:
    assert regular_only in choose_font(10, bold=True).get_family()
    with writing_in(regular_only if is_asked_for else ""):
        assert draw(scene, faces.face)
    assert caplog.messages == []
    assert findfont(FontProperties(family=regular_only, weight="bold", size=77.7))
    assert "Failed to find font weight bold" in caplog.text  # so it would have been


@pytest.mark.parametrize(
    ("character", "is_there"), [("a", True), ("1", True), ("<", False), ("→", False), ("層", False)]
)
def test_a_font_has_what_it_draws_under_its_own_name(character: str, is_there: bool) -> None:
    found = find_font("cmr10")  # TeX's, which matplotlib brings: "¡" stands where "<" is asked for
    assert found is not None
    assert found.has(character) == is_there
    widths = load_widths(bold=False)
    assert (found.widths(bold=False)[character] == widths[character]) != is_there


def test_what_a_font_lacks_is_drawn_in_another(scene: Scene, faces: FaceBook) -> None:
    with writing_in("cmr10"):
        sheet = Sheet(
            400, 60, marks=((10, 40, TextMark(0, 0, "a < 1 % → b", 12, False, "#000000")),)
        )
        page = pypdf.PdfReader(io.BytesIO(draw_pdf(scene, faces.face, sheet=sheet))).pages[0]
        written = page.extract_text()
    assert "¡" not in written
    assert {"<", "→"} <= {*written}
    fonts_used = page["/Resources"]["/Font"].values()
    names = {str(font.get_object()["/BaseFont"]) for font in fonts_used}
    assert any("Cmr10" in name for name in names), names
    assert any("DejaVuSans" in name for name in names), names


@pytest.mark.parametrize("bold", [False, True])
@pytest.mark.parametrize(
    ("character", "is_there"),
    [("a", True), ("1", True), *((each, False) for each in '<>|{}_\\"→×')],
)
def test_what_a_font_lacks_looks_as_it_does_without_that_font(
    character: str, is_there: bool, bold: bool
) -> None:
    """TeX's fonts have other signs in the places of these: the text of a PDF does not show it."""

    def draw(family: str) -> np.ndarray:
        mark = TextMark(0, 0, character, 20, bold, "#000000")
        with writing_in(family):
            data = draw_png(
                Scene(40, 40), FaceBook().face, sheet=Sheet(40, 40, marks=((9, 30, mark),))
            )
        return imread(io.BytesIO(data))

    drawn, usual = draw("cmr10"), draw("")
    assert usual.min() < 0.5  # something is there
    assert np.array_equal(drawn, usual) != is_there


@pytest.mark.parametrize("background", ["theme", "white", "transparent"])
def test_the_ground_is_as_asked(background: Background, scene: Scene, faces: FaceBook) -> None:
    sheet = Sheet(scene.width, scene.height, background=background)
    corner = imread(io.BytesIO(draw_png(scene, faces.face, sheet=sheet)))[0, 0]
    svg = draw_svg(scene, faces.face, sheet=sheet)
    pdf = draw_pdf(scene, faces.face, sheet=sheet)
    page = load_theme("light").page
    if background == "transparent":
        assert corner[3] == 0
        assert 'class="page"' not in svg
    else:
        fill = "#ffffff" if background == "white" else page
        assert (
            f'<rect class="page" width="{scene.width:g}" height="{scene.height:g}" fill="{fill}"'
            in svg
        )
        assert corner[3] == 1
        assert (corner[:3] == 1).all() == (background == "white")
    assert (page in svg) == (background == "theme")
    assert pdf.startswith(b"%PDF")
