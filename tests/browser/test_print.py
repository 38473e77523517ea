"""Explorers on paper: whole, without what is there to press, in colours for white paper."""

from __future__ import annotations

import io
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any
from unicodedata import normalize

import pypdf
import pytest
from onnx import TensorProto, helper

import netloupe
from netloupe.explorer.review import Review, ReviewItem
from netloupe.explorer.standalone.page import make_page
from netloupe.explorer.view import ViewOptions
from tests.browser.servers import ROOT
from tests.browser.shown_page import CANVAS, ShownPage

pytestmark = pytest.mark.browser

DEMO = ROOT / "demo_notebooks" / "models"
SIZE = {"width": 1300, "height": 700}
#: what of the explorer is laid out though it is there to be pressed
FIND_CONTROLS = """() => {
  const root = document.querySelector('[data-netloupe="canvas"]').shadowRoot;
  const found = [...root.querySelectorAll("button, input, select, [role=separator]")];
  return found.filter((each) => each.checkVisibility()).map((each) => each.className);
}"""
#: the colour of the picture's corner, and how many pixels it has for each of the window's
LOOK = """() => {
  const root = document.querySelector('[data-netloupe="canvas"]').shadowRoot;
  const picture = root.querySelector(".nl-picture");
  const [red] = picture.getContext("2d").getImageData(2, 2, 1, 1).data;
  return { red, width: picture.width };
}"""


def print_page(page: Any) -> tuple[str, int]:
    """Return all that is written on the sheets of a page, without blanks, and their number."""
    sheets = pypdf.PdfReader(io.BytesIO(page.pdf(format="A4"))).pages
    # fonts have one sign for "fl"
    told = normalize("NFKC", "".join(sheet.extract_text() for sheet in sheets))
    return re.sub(r"\s+", "", told), len(sheets)


@pytest.fixture
def open_page(page: Any, tmp_path: Path) -> Callable[..., ShownPage]:
    def write(**view: Any) -> ShownPage:
        page.set_viewport_size(SIZE)
        model = netloupe.load(DEMO / "digits_cnn.onnx")
        file = tmp_path / "page.html"
        file.write_bytes(make_page(model, ViewOptions.parse(view))[0])
        return ShownPage(page, file.as_uri())

    return write


def test_the_inspector_is_printed_to_its_end(open_page: Callable[..., ShownPage]) -> None:
    page = open_page().page
    inspector = page.locator(".nl-inspector")
    page.locator(".nl-inspector-title", has_text="digits_cnn").wait_for()
    assert inspector.evaluate("(each) => each.scrollHeight > each.clientHeight + 50")
    told = page.locator(".nl-inspector-part").inner_text()
    printed, sheets = print_page(page)
    assert sheets >= 2
    assert [
        word for word in normalize("NFKC", told).split() if word.lower() not in printed.lower()
    ] == []
    page.emulate_media(media="print")
    assert page.evaluate(FIND_CONTROLS) == []


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_the_picture_is_light_and_sharp_on_paper(
    open_page: Callable[..., ShownPage], theme: str
) -> None:
    page = open_page(theme=theme).page
    before = page.evaluate(LOOK)
    assert (before["red"] > 200) == (theme == "light")
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    page.emulate_media(media="print")
    page.set_viewport_size({"width": 700, "height": 700})  # as the sheet may be narrower
    page.evaluate("() => new Promise((done) => requestAnimationFrame(() => setTimeout(done)))")
    printed = page.evaluate(LOOK)
    assert printed["red"] > 240
    assert printed["width"] >= 2.5 * before["width"]
    page.emulate_media(media="screen")
    page.set_viewport_size(SIZE)
    page.evaluate("dispatchEvent(new Event('afterprint'))")
    page.wait_for_function(f"(before) => (({LOOK})()).width === before.width", arg=before)
    assert page.evaluate(LOOK)["red"] == before["red"]


def test_both_panes_are_whole_on_one_sheet(page: Any, tmp_path: Path) -> None:
    page.set_viewport_size(SIZE)
    file = tmp_path / "panes.html"
    netloupe.diff(
        *(netloupe.load(DEMO / name) for name in ("digits_cnn.onnx", "digits_cnn.qdq.onnx"))
    ).to_panes(file)
    page.goto(file.as_uri())
    page.wait_for_selector("body[data-ready]")
    printed, sheets = print_page(page)
    assert sheets == 1
    for name in ("digits_cnn.onnx", "digits_cnn.qdq.onnx"):
        assert name in printed
    assert "previous" not in printed
    page.emulate_media(media="print")
    for frame in page.locator("iframe").all():
        inside = frame.content_frame.locator(CANVAS)
        cut = """(host) => {
          const picture = host.shadowRoot.querySelector(".nl-picture").getBoundingClientRect();
          return picture.bottom > innerHeight + 1 || picture.right > innerWidth + 1;
        }"""
        assert not inside.evaluate(cut)


def test_a_list_is_printed_with_all_its_rows(page: Any, tmp_path: Path) -> None:
    """Also those that no window has in sight."""
    page.set_viewport_size(SIZE)
    nodes = [
        helper.make_node("Identity", ["x" if k == 0 else f"v{k - 1}"], [f"v{k}"], f"copy_{k:03}")
        for k in range(60)
    ]
    x, y = (helper.make_tensor_value_info(name, TensorProto.FLOAT, [4]) for name in ("x", "v59"))
    model = netloupe.load(helper.make_model(helper.make_graph(nodes, "g", [x], [y])))
    items = tuple(
        ReviewItem(*("finding", "warning", f"item {k:03}", "w", "NL-G02"), (f"main/copy_{k:03}",))
        for k in range(60)
    )
    file = tmp_path / "page.html"
    file.write_bytes(make_page(model, ViewOptions.parse({}), review=Review(items))[0])
    ShownPage(page, file.as_uri())
    page.get_by_role("tab", name="Review").click()
    row = page.locator(".nl-review-row")
    row.first.wait_for()
    before = row.count()
    assert before < 60
    printed, _ = print_page(page)
    assert [k for k in range(60) if f"item{k:03}" not in printed] == []
    page.wait_for_function(
        """(before) => document.querySelector('[data-netloupe="review"]').shadowRoot
          .querySelectorAll(".nl-review-row").length === before""",
        arg=before,
    )
