"""What is taken along: pictures saved and copied, from a kernel and from a page without one."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

import netloupe
from netloupe.explorer.standalone.page import make_page
from netloupe.explorer.view import ViewOptions

from .servers import ROOT
from .shown_page import API, AT_REST
from .stand import CANVAS, Stand

pytestmark = pytest.mark.browser

CNN = ROOT / "demo_notebooks" / "models" / "digits_cnn.onnx"
SVG = "{http://www.w3.org/2000/svg}"
NO_CLIPBOARD = "() => Object.defineProperty(navigator, 'clipboard', { value: undefined })"


class Menu:
    """The canvas's menu in a page; ``settle`` lets what is behind it answer."""

    def __init__(self, page: Any, settle: Any = lambda: None) -> None:
        self.page = page
        self.settle = settle

    def choose(self, label: str) -> None:
        self.page.evaluate(f"() => document.querySelector('{CANVAS}').focus()")
        self.page.keyboard.press("m")
        self.page.locator(".nl-menu-entry", has_text=label).first.click()
        self.settle()

    def save(self, format: str, part: str, folder: Path) -> Path:
        self.choose("Save picture")
        for label in (part, format):
            self.page.locator(".nl-choice", has_text=label).locator("input").check()
        with self.page.expect_download() as download:
            self.page.locator(".nl-saving .nl-yes").click()
            self.settle()
        target = folder / str(download.value.suggested_filename)
        download.value.save_as(target)
        return target


def read_texts(path: Path) -> set[str]:
    return {"".join(text.itertext()) for text in ElementTree.parse(path).iter(f"{SVG}text")}


def read_size(png: bytes) -> tuple[int, int]:
    assert png.startswith(b"\x89PNG")
    width, height = struct.unpack(">II", png[16:24])
    return width, height


@pytest.fixture
def stand(page: Any) -> Iterator[Stand]:
    explorer = netloupe.explore(CNN)
    yield Stand(page, explorer)
    explorer.close()


def test_a_kernel_writes_what_is_seen_and_all(stand: Stand, tmp_path: Path) -> None:
    menu = Menu(stand.page, stand.settle)
    svg = menu.save("SVG", "The whole picture", tmp_path)
    assert svg.name == "digits_cnn.svg"
    assert svg.read_text("utf-8") == stand.explorer.to_svg()
    scene = stand.explorer._requests.scene.result(60)
    picture = stand.explorer._session.picture(scene)
    titles = {
        run.text
        for box in scene.boxes
        for run in picture.labels.draw(box.item).texts
        if run.style == "title"
    }
    assert len(titles) > 5
    assert titles <= read_texts(svg)
    whole = read_size(menu.save("PNG", "The whole picture", tmp_path).read_bytes())
    for _ in range(4):
        stand.press("+")
    seen = menu.save("SVG", "seen in the window", tmp_path)
    left_out = titles - read_texts(seen)
    assert left_out
    assert left_out < titles
    part = read_size(menu.save("PNG", "seen in the window", tmp_path).read_bytes())
    assert part[0] * part[1] < whole[0] * whole[1]
    assert menu.save("PDF", "The whole picture", tmp_path).read_bytes().startswith(b"%PDF")
    page = menu.save("HTML", "The whole picture", tmp_path).read_text("utf-8")
    assert 'id="nl-data"' in page


def test_what_cannot_be_copied_is_shown(stand: Stand) -> None:
    stand.page.evaluate(NO_CLIPBOARD)
    menu = Menu(stand.page, stand.settle)
    menu.choose("Copy command")
    text = stand.page.locator(".nl-by-hand")
    assert text.input_value().startswith("netloupe render ")
    assert text.evaluate("(area) => area.selectionEnd - area.selectionStart") == len(
        text.input_value()
    )
    stand.page.keyboard.press("Escape")
    assert not text.is_visible()
    menu.choose("Copy as PNG")
    assert "Save the picture instead" in stand.page.locator(".nl-error").inner_text()


@pytest.fixture
def alone(page: Any, tmp_path: Path) -> Menu:
    target = tmp_path / "page.html"
    target.write_bytes(make_page(netloupe.load(CNN), ViewOptions())[0])
    page.goto(target.as_uri())
    page.wait_for_selector(f'{CANVAS}[data-ready="true"]')
    return Menu(page)


def test_a_page_without_a_kernel_draws_by_itself(alone: Menu, tmp_path: Path) -> None:
    alone.choose("Save picture")
    formats = alone.page.locator(".nl-choices").first.locator("label").all_inner_texts()
    assert [text.split()[0] for text in formats] == ["SVG", "PNG"]
    alone.page.keyboard.press("Escape")
    svg = alone.save("SVG", "The whole picture", tmp_path)
    assert svg.name == "digits_cnn.svg"
    shown = netloupe.load(CNN).to_svg(inset="none", key=False, controls=True, share="parameters")
    wanted = {"".join(text.itertext()) for text in ElementTree.fromstring(shown).iter(f"{SVG}text")}
    assert len(wanted) > 15
    assert wanted <= read_texts(svg)
    root = ElementTree.parse(svg).getroot()
    png = read_size(alone.save("PNG", "The whole picture", tmp_path).read_bytes())
    for side, name in zip(png, ("width", "height"), strict=True):
        assert side == pytest.approx(2 * float(root.get(name, 0)), abs=1)


def test_the_command_of_a_page_owns_up_to_what_it_leaves_out(alone: Menu) -> None:
    alone.page.evaluate(NO_CLIPBOARD)
    alone.choose("Run to the right")
    alone.page.wait_for_function(AT_REST)
    alone.choose("Copy command")
    text = alone.page.locator(".nl-by-hand")
    text.wait_for()
    assert text.input_value() == (
        "netloupe render digits_cnn.onnx -o digits_cnn.svg --wrap no --direction LR"
    )
    assert "which groups are open" in alone.page.locator(".nl-told").inner_text()
    alone.page.keyboard.press("Escape")
    alone.choose("Close all groups")
    alone.page.wait_for_function(AT_REST)
    alone.choose("Copy command")
    assert text.input_value().endswith("--expand none --direction LR")
    assert "which groups" not in alone.page.locator(".nl-told").inner_text()


def test_what_is_seen_is_copied(alone: Menu) -> None:
    alone.page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    alone.choose("Copy as SVG")
    alone.page.wait_for_selector(".nl-hint:visible")
    text = str(alone.page.evaluate("() => navigator.clipboard.readText()"))
    assert ElementTree.fromstring(text).tag == f"{SVG}svg"
    alone.page.wait_for_selector(".nl-hint:visible", state="hidden")
    alone.choose("Copy as PNG")
    alone.page.wait_for_selector(".nl-hint:visible")
    kinds = "async () => (await navigator.clipboard.read()).flatMap((item) => item.types)"
    assert alone.page.evaluate(kinds) == ["image/png"]


def test_a_key_copies_the_path_of_what_is_selected(alone: Menu) -> None:
    page = alone.page
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    read = "() => navigator.clipboard.readText()"
    page.evaluate("() => navigator.clipboard.writeText('before')")
    paths = page.evaluate(f"{API}.paths()")
    page.locator(CANVAS).focus()
    page.keyboard.press("Control+c")  # nothing is selected
    assert page.evaluate(read) == "before"
    for path in paths[1:3]:
        place = page.evaluate(f"(path) => {API}.locate(path)", path)
        page.mouse.click(place["x"], place["y"])
        selected = page.locator(CANVAS).get_attribute("data-selected")
        page.keyboard.press("Control+c")
        page.wait_for_selector(".nl-hint:visible")
        assert page.evaluate(read) == selected
        assert selected.startswith("main/")

    # a text that is marked is what is meant
    title = page.locator(".nl-inspector-title")
    title.evaluate("(each) => getSelection().selectAllChildren(each)")
    page.locator(CANVAS).evaluate("(host) => host.focus()")
    page.keyboard.press("Control+c")
    assert page.evaluate(read) == title.inner_text()


def test_the_fullest_menu_fits_a_small_window(stand: Stand) -> None:
    stand.page.set_viewport_size({"width": 500, "height": 560})
    stand.settle()
    items = stand.explorer._views.current.root.children
    group = next(item.path for item in items if item.openable and not item.is_open)
    stand.click(group)
    stand.press("Enter", "Enter", "Control+z")
    stand.button("More")
    in_the_window = stand.page.locator(".nl-menu").evaluate(
        """(menu) => {
          const box = menu.getBoundingClientRect();
          const rows = [...menu.querySelectorAll(".nl-menu-entry")];
          return rows.filter((row) => {
            const { left, top, right, bottom } = row.getBoundingClientRect();
            return left >= box.left && right <= box.right && top >= box.top && bottom <= box.bottom;
          }).map((row) => row.querySelector(".nl-menu-label").textContent);
        }"""
    )
    labels = stand.page.locator(".nl-menu-label").all_inner_texts()
    assert {"Copy path", "Copy command", "Undo", "Redo", "Zoom to selection"} <= set(labels)
    assert in_the_window == labels
    too_wide = "(rows) => rows.filter((row) => row.scrollWidth > row.clientWidth).length"
    assert stand.page.locator(".nl-menu-entry").evaluate_all(too_wide) == 0
