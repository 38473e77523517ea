"""Keys of an explorer: what they find and mark, and which of them the page around gets."""

from __future__ import annotations

import io
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from matplotlib.image import imread

from netloupe import explore
from netloupe.explorer.render.theme import load_theme
from netloupe.explorer.view import ViewOptions
from netloupe.live.server import LiveServer
from tests.browser.live_servers import live_servers
from tests.browser.shown_page import CANVAS, ShownPage, wait_for_timers
from tests.browser.stand import Stand
from tests.cases.shown import TEXTS
from tests.onnx_text import load_text

pytestmark = pytest.mark.browser

#: a scale behind a DequantizeLinear, and the boxes of those that take what it scales
SCALE = "main/%bs"
TAKERS = ("block/first/Gemm", "block/second/Gemm", "head/Add")
BOXES = (*TAKERS, "block/first/Relu", "block/second/Relu")
SELECTED = f"document.querySelector('{CANVAS}').dataset.selected"
LISTEN = f"""() => {{
  window.heard = [];
  window.told = [];
  document.addEventListener("keydown", (event) => {{
    heard.push(event.key);
    told.push(document.querySelector('{CANVAS}').dataset.lmSuppressShortcuts ?? null);
  }});
}}"""


@pytest.fixture
def shown(page: Any, tmp_path: Path) -> ShownPage:
    file = tmp_path / "page.html"
    load_text(TEXTS["quantized"]).to_html(file, expand="all")
    return ShownPage(page, file.as_uri())


@pytest.fixture
def stand(page: Any) -> Iterator[Stand]:
    explorer = explore(load_text(TEXTS["quantized"]), expand="all")
    yield Stand(page, explorer)
    explorer.close()


def test_a_scale_is_found_marked_and_spoken_in_a_page(shown: ShownPage) -> None:
    page = shown.page
    page.keyboard.press("/")  # before anything was clicked
    page.keyboard.type("bs")
    page.locator(".nl-hit").first.wait_for()
    page.keyboard.press("ArrowDown")
    marked = page.locator('.nl-hit[aria-selected="true"]').get_attribute("title")
    page.keyboard.press("Enter")
    page.wait_for_function(f"(path) => {SELECTED} === path", arg=marked)
    assert marked == SCALE
    shown.settle()
    assert page.locator(".nl-hit").first.is_hidden()
    page.keyboard.press("Escape")
    assert page.locator(".nl-search-text").input_value() == "bs"
    told = page.locator(f"{CANVAS} .nl-unseen[aria-live]").inner_text()
    assert told == f"{SCALE}, shown by Linear and 2 more boxes"


@pytest.fixture
def closed(page: Any, tmp_path: Path) -> ShownPage:
    file = tmp_path / "closed.html"
    load_text(TEXTS["quantized"]).to_html(file, expand=0)
    return ShownPage(page, file.as_uri())


def test_enter_means_the_hit_that_is_marked_also_where_that_has_opened_a_group(
    closed: ShownPage,
) -> None:
    page = closed.page
    marked = '.nl-hit[aria-selected="true"]'
    page.keyboard.press("/")
    page.keyboard.type("Gemm")
    page.locator(".nl-hit").first.wait_for()
    for key in ("ArrowDown", "ArrowDown", "Enter"):
        page.keyboard.press(key)
        closed.settle()
        wait_for_timers(page, 300)  # what is found is asked for again, once the picture has changed
        closed.settle()
    assert page.locator(".nl-search-note").inner_text().startswith("2 of ")
    wanted = page.locator(marked).get_attribute("title")
    assert page.evaluate(SELECTED) == wanted


def test_the_list_comes_back_with_the_search(closed: ShownPage) -> None:
    page = closed.page
    page.keyboard.press("/")
    page.keyboard.type("Gemm")
    page.locator(".nl-hit").first.wait_for()
    page.keyboard.press("Enter")
    page.locator(".nl-hit").first.wait_for(state="hidden")
    page.keyboard.press("Escape")
    page.keyboard.press("/")
    page.locator(".nl-hit").first.wait_for()
    assert page.locator(".nl-search-text").get_attribute("aria-expanded") == "true"


@pytest.mark.parametrize("place", ["nothing", "inspector"])
def test_a_live_page_is_searched_before_anything_was_clicked(page: Any, place: str) -> None:
    with live_servers() as run:
        model = load_text(TEXTS["quantized"])
        running = run(lambda: LiveServer(model, ViewOptions.parse({}), "right"))
        ShownPage(page, running.server.address)
        if place == "inspector":
            page.locator(".nl-inspector-title").first.click()
        page.keyboard.press("/")
        page.keyboard.type("Gemm")
        assert page.locator(".nl-search-text").input_value() == "Gemm"
        page.locator(".nl-hit").first.wait_for()


def test_what_is_selected_from_python_is_marked_and_gone_through(stand: Stand) -> None:
    stand.explorer.select(SCALE)
    stand.settle()
    assert stand.selected == SCALE
    bar = stand.page.locator('[data-netloupe-chip="places"]')
    assert bar.is_visible()
    before = bar.inner_text()
    stand.press("n")
    assert bar.inner_text() != before
    stand.press("ArrowDown")
    assert stand.selected.removeprefix("main/") not in ("", "%bs", *TAKERS[1:])


def find_ringed(stand: Stand) -> set[str]:
    """Return the boxes of nodes around which the picture has the colour of what is selected."""
    stand.press("f")
    accent = load_theme("light").accent
    wanted = [int(accent[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    shot: Any = imread(io.BytesIO(stand.page.screenshot()), format="png")[:, :, :3]
    has_colour = abs(shot - wanted).max(axis=2) < 0.01
    ringed = set()
    for name in BOXES:
        box = stand.call("bounds", f"main/{name}")
        left, top = round(box["x"]) - 8, round(box["y"]) - 8
        part = has_colour[top : top + round(box["height"]) + 16, left:][
            :, : round(box["width"]) + 16
        ]
        if part.sum() > box["width"]:
            ringed.add(name)
    return ringed


@pytest.mark.parametrize(
    ("name", "takers"),
    [
        *((name, TAKERS) for name in ("%b", "%bs", "%bz", "dequantize_b")),
        *((name, TAKERS[:2]) for name in ("%ws", "%wz", "dequantize_w")),
    ],
)
def test_what_is_folded_away_is_ringed_where_it_is_shown_and_counted(
    stand: Stand, name: str, takers: tuple[str, ...]
) -> None:
    assert find_ringed(stand) == set()
    stand.explorer.select(f"main/{name}")
    stand.settle()
    assert find_ringed(stand) == {*takers}
    if name.startswith("%"):
        assert f" of {len(takers)}" in (stand.chip("places") or "")


def test_shortcuts_that_are_not_used_pass_on(stand: Stand) -> None:
    stand.click("main/head/Add")
    stand.page.evaluate(LISTEN)
    stand.press("Control+s", "Control+Shift+f", "Alt+x", "F9")
    passed = [key for key in stand.page.evaluate("heard") if len(key) < 3]
    assert passed == ["s", "f", "x", "F9"]
    suppressed = f"document.querySelector('{CANVAS}').dataset.lmSuppressShortcuts"
    stand.press("d", "Control+z", "Escape")
    assert [key for key in stand.page.evaluate("heard") if len(key) < 3] == passed
    assert stand.page.evaluate(suppressed) == "true"
    stand.page.locator(".nl-search-text").focus()
    stand.page.keyboard.press("Control+s")
    # what JupyterLab looks at when the key comes to it
    assert stand.page.evaluate("[heard.at(-1), told.at(-1)]") == ["s", None]
