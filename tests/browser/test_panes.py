"""Two models side by side in Chromium, opened from disk with the network off."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import netloupe
from tests.browser.own_page import PATIENCE
from tests.browser.shown_page import API, AT_REST, CANVAS, wait_for_timers

pytestmark = pytest.mark.browser

_MODELS = Path(__file__).parents[2] / "demo_notebooks" / "models"
#: in both models; the second is inside a closed group of the newer one
_CONV, _ADD = "main/node_conv2d_3", "main/node_add_65"
#: in the newer model alone, and the closed groups that hold it
_ADDED = "main/relu_4_QuantizeLinear"
_AROUND_ADDED = ("main/blocks/0/act/relu_4/", "main/blocks/0/act/relu_4/Relu/")
#: what a layer holds that both models have
_LINEAR, _NEWER_LINEAR = "main/node_linear", "main/head/classify/linear/Gemm/"
_OLD, _NEW = 0, 1


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("panes") / "panes.html"
    old, new = (
        netloupe.load(_MODELS / name) for name in ("digits_cnn.onnx", "digits_cnn.qdq.onnx")
    )
    netloupe.diff(old, new).to_panes(file, weights="none")
    return file


class PanesPage:
    """The page of two panes, once both have painted their pictures."""

    def __init__(self, page: Any, address: str) -> None:
        self.page = page
        self.problems: list[str] = []
        self.asked: list[str] = []
        page.on("console", lambda m: self.problems.append(m.text) if m.type == "error" else None)
        page.on("pageerror", lambda error: self.problems.append(str(error)))
        page.on("request", lambda request: self.asked.append(request.url))
        page.goto(address)
        page.wait_for_selector("body[data-ready]")
        self.frames = [
            page.query_selector(f'[data-side="{side}"] iframe').content_frame()
            for side in ("old", "new")
        ]

    def paths(self, side: int) -> list[str]:
        found: list[str] = self.frames[side].evaluate(f"{API}.paths()")
        return found

    def selected(self, side: int) -> str:
        return str(self.frames[side].locator(CANVAS).get_attribute("data-selected"))

    def locate(self, side: int, path: str) -> dict[str, float] | None:
        """Return where something stands in its window; None where it is not in it."""
        self.settle()
        found: dict[str, float] | None = self.frames[side].evaluate(
            f"(path) => {API}.locate(path)", path
        )
        return found

    def zoom(self, side: int) -> float:
        return float(self.frames[side].evaluate(f"{API}.stats().zoom"))

    def settle(self) -> None:
        """Wait until nothing moves on either side, nor on the other because of it."""
        for frame in [*self.frames, *self.frames]:
            frame.wait_for_function(AT_REST)

    def click(self, side: int, path: str, *, times: int = 1) -> None:
        at = self.locate(side, path)
        assert at is not None, path
        box = self.frames[side].frame_element().bounding_box()
        self.page.mouse.click(box["x"] + at["x"], box["y"] + at["y"], click_count=times)

    def open_added(self) -> None:
        """Open what holds a node that only the newer model has."""
        for path in _AROUND_ADDED:
            self.wait_for_path(_NEW, path)
            self.click(_NEW, path, times=2)
        self.wait_for_path(_NEW, _ADDED)

    def wait_for_selection(self, side: int, path: str) -> None:
        self.frames[side].wait_for_selector(f'{CANVAS}[data-selected="{path}"]')

    def wait_for_path(self, side: int, path: str, *, is_drawn: bool = True) -> None:
        script = f"([path, wanted]) => {API}.paths().includes(path) === wanted"
        self.frames[side].wait_for_function(script, arg=[path, is_drawn])

    def told(self, side: str) -> str:
        return str(self.page.locator(f'[data-side="{side}"] .nlp-alone').text_content())

    def check_quiet(self) -> None:
        assert self.problems == []
        assert [url for url in self.asked if not url.startswith(("file:", "about:"))] == []


@pytest.fixture
def show(browser: Any, file: Path) -> Iterator[Callable[..., PanesPage]]:
    contexts: list[Any] = []

    def make(**settings: Any) -> PanesPage:
        given = {"viewport": {"width": 1500, "height": 900}, "reduced_motion": "reduce", **settings}
        context = browser.new_context(offline=True, **given)
        contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(PATIENCE)
        return PanesPage(page, file.as_uri())

    yield make
    for context in contexts:
        context.close()


def test_what_is_selected_is_selected_and_seen_on_the_other_side(show: Any) -> None:
    shown = show()
    assert shown.zoom(_OLD) == shown.zoom(_NEW)
    assert _CONV not in shown.paths(_NEW)
    shown.click(_OLD, _CONV)
    shown.wait_for_selection(_NEW, _CONV)
    here, there = shown.locate(_OLD, _CONV), shown.locate(_NEW, _CONV)
    assert here is not None
    assert there is not None
    assert abs(here["x"] - there["x"]) < 30
    assert abs(here["y"] - there["y"]) < 30
    assert shown.told("old") == shown.told("new") == ""
    # a value is a pair too, and the newer side may lead
    shown.frames[_NEW].locator(CANVAS).focus()
    shown.page.keyboard.press("f")
    shown.click(_NEW, "main/%logits")
    shown.wait_for_selection(_OLD, "main/%logits")
    assert shown.locate(_OLD, "main/%logits")
    # what the other model does not have is said, and nothing is selected there
    shown.open_added()
    shown.click(_NEW, _ADDED)
    shown.wait_for_selection(_OLD, "")
    assert shown.told("old") == f"No pair here: {_ADDED}"
    assert shown.told("new") == ""
    shown.check_quiet()


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("width", [500, 900, 1400])
def test_what_has_no_pair_is_said_beside_the_pictures(show: Any, width: int, theme: str) -> None:
    shown = show(viewport={"width": width, "height": 900}, color_scheme=theme)
    page = shown.page

    def place_of(selector: str) -> list[dict[str, float]]:
        """Return where elements stand in the page, however far that is scrolled."""
        found: list[dict[str, float]] = page.locator(selector).evaluate_all(
            """(all) => all.map((each) => {
              const { x, y, width, height } = each.getBoundingClientRect();
              return { x: x + scrollX, y: y + scrollY, width, height };
            })"""
        )
        return found

    frames = place_of(".nlp-frame iframe")
    shown.frames[_NEW].locator(CANVAS).focus()
    page.keyboard.press("f")
    shown.open_added()
    shown.click(_NEW, _ADDED)
    shown.wait_for_selection(_OLD, "")
    message = page.locator('[data-side="old"] .nlp-alone')
    message.locator("span").first.wait_for()
    assert place_of(".nlp-frame iframe") == frames
    (place,) = place_of('[data-side="old"] .nlp-alone')
    for frame in frames:
        across, down = (
            min(place[at] + place[size], frame[at] + frame[size]) - max(place[at], frame[at])
            for at, size in (("x", "width"), ("y", "height"))
        )
        assert across <= 0 or down <= 0
    # all of the words and the end of the path can be read, and belong to the older model
    (pane,) = place_of('[data-side="old"]')
    assert pane["x"] <= place["x"]
    assert place["x"] + place["width"] <= pane["x"] + pane["width"] + 1
    words, what = message.locator("span").all()
    assert words.evaluate("(each) => each.scrollWidth <= each.clientWidth + 1 || !each.clientWidth")
    assert what.bounding_box()["width"] > 100
    end = what.locator("bdi").evaluate("(each) => each.getBoundingClientRect().right")
    assert end <= what.bounding_box()["x"] + what.bounding_box()["width"] + 1
    shown.check_quiet()


def test_what_has_no_box_is_gone_to_where_it_is_shown(show: Any) -> None:
    shown = show()
    page = shown.page
    page.keyboard.press("l")
    row = page.locator(".nlp-list .nl-review-row", has_text="blocks.1.second.conv.weight").first
    row.click()
    shown.settle()
    # the weight of a convolution, which is read through what dequantizes it
    assert shown.selected(_NEW) == "main/%blocks.1.second.conv.weight_quantized"
    assert shown.locate(_NEW, "main/node_conv2d_7")
    assert "No pair here" in shown.told("old")


def test_groups_open_and_close_on_both_sides_and_repeats_step(show: Any) -> None:
    shown = show()
    head, newer_head = "main/head/classify/", "main/head/classify/linear/"
    inside, newer_inside = _LINEAR, _NEWER_LINEAR
    assert inside not in shown.paths(_OLD)
    assert newer_inside not in shown.paths(_NEW)
    shown.click(_OLD, "main/head/", times=2)
    shown.wait_for_path(_OLD, head)
    shown.click(_OLD, head, times=2)
    shown.wait_for_path(_OLD, inside)
    shown.wait_for_path(_NEW, newer_inside)
    shown.click(_NEW, newer_head)
    shown.wait_for_selection(_OLD, head)
    shown.page.keyboard.press("Enter")
    shown.wait_for_path(_NEW, newer_inside, is_drawn=False)
    shown.wait_for_path(_OLD, inside, is_drawn=False)
    # the repetition that is shown
    shown.click(_OLD, "main/blocks/0/")
    shown.frames[_OLD].get_by_role("button", name="Next").first.click()
    shown.wait_for_path(_OLD, "main/blocks/1/")
    shown.wait_for_path(_NEW, "main/blocks/1/")
    shown.check_quiet()


def test_the_other_window_goes_along_until_it_is_let_go(show: Any) -> None:
    shown = show()
    before = shown.locate(_NEW, "main/%logits")
    box = shown.frames[_OLD].frame_element().bounding_box()
    shown.page.mouse.click(box["x"] + 40, box["y"] + 300)
    shown.page.mouse.move(box["x"] + 60, box["y"] + 300)
    shown.page.mouse.down()
    shown.page.mouse.move(box["x"] + 160, box["y"] + 260, steps=4)
    shown.page.mouse.up()
    after = shown.locate(_NEW, "main/%logits")
    assert before is not None
    assert after is not None
    assert 60 < after["x"] - before["x"] < 140
    shown.page.keyboard.press("+")
    shown.settle()
    assert shown.zoom(_OLD) == shown.zoom(_NEW)
    switch = shown.page.get_by_role("switch")
    assert switch.get_attribute("aria-checked") == "true"
    switch.click()
    assert switch.get_attribute("aria-checked") == "false"
    shown.frames[_OLD].locator(CANVAS).focus()
    zoom = shown.zoom(_NEW)
    shown.page.keyboard.press("+")
    shown.page.keyboard.press("f")
    shown.settle()
    shown.click(_OLD, _CONV)
    shown.wait_for_selection(_OLD, _CONV)
    shown.settle()
    assert (shown.zoom(_NEW), shown.selected(_NEW)) == (zoom, "")
    # on again it takes over what is selected
    shown.page.keyboard.press("s")
    assert switch.get_attribute("aria-checked") == "true"
    shown.wait_for_selection(_NEW, _CONV)
    shown.settle()
    assert shown.zoom(_OLD) == shown.zoom(_NEW)
    shown.check_quiet()


def test_differences_are_stepped_through_and_listed(show: Any) -> None:
    shown = show()
    page = shown.page
    listed = page.locator("[data-list]")
    count = int(listed.inner_text().split()[0])
    assert count > 10
    page.get_by_role("button", name="next").click()
    shown.settle()
    first = shown.selected(_NEW)
    assert first
    assert listed.inner_text() == f"1 of {count}"
    assert "added" in page.locator(".nlp-told").inner_text()
    # the keys work in a frame too, where nobody types
    shown.frames[_NEW].locator(CANVAS).focus()
    page.keyboard.press("j")
    shown.settle()
    assert listed.inner_text() == f"2 of {count}"
    assert shown.selected(_NEW) != first
    page.keyboard.press("/")
    page.keyboard.type("jkls")
    assert listed.inner_text() == f"2 of {count}"
    page.get_by_role("button", name="previous").click()
    shown.wait_for_selection(_NEW, first)
    page.get_by_role("button", name=f"1 of {count}").click()
    assert listed.get_attribute("aria-expanded") == "true"
    row = page.locator(".nlp-list .nl-review-row").nth(4)
    row.click()
    shown.settle()
    assert listed.inner_text() == f"5 of {count}"
    assert shown.selected(_NEW) not in ("", first)
    page.keyboard.press("l")
    assert page.locator(".nlp-list").is_hidden()
    shown.check_quiet()


def test_what_has_no_place_leaves_nothing_selected_or_dimmed(show: Any) -> None:
    shown = show()
    page = shown.page
    lit = f"{API}.stats().lit"
    shown.click(_OLD, "main/%relu_1")  # several nodes take it: all else is dimmed
    shown.frames[_OLD].wait_for_function(f"{lit} !== null")
    page.keyboard.press("k")  # the last one: what only texts of the models differ in
    shown.settle()
    assert "Other texts" in page.locator(".nlp-told").inner_text()
    for side in (_OLD, _NEW):
        shown.wait_for_selection(side, "")
        assert shown.frames[side].evaluate(lit) is None
    shown.check_quiet()


def test_what_is_seen_survives_a_reload(show: Any, file: Path) -> None:
    shown = show()
    page = shown.page
    head, inside = "main/head/classify/", _LINEAR
    shown.click(_OLD, "main/head/", times=2)
    shown.wait_for_path(_OLD, head)
    shown.click(_OLD, head, times=2)
    shown.wait_for_path(_NEW, _NEWER_LINEAR)
    shown.click(_OLD, _CONV)
    shown.wait_for_selection(_NEW, _CONV)
    page.get_by_role("switch").click()
    page.wait_for_function("() => location.hash.includes('synchronised=no')")
    name = _CONV.rpartition("/")[2]
    page.wait_for_function("(name) => location.hash.split(name).length > 2", arg=name)
    shown.settle()
    wait_for_timers(page, 400)
    here = [shown.locate(side, _CONV) for side in (_OLD, _NEW)]
    page.reload()
    again = PanesPage(page, page.url)
    assert page.get_by_role("switch").get_attribute("aria-checked") == "false"
    for side in (_OLD, _NEW):
        assert (inside, _NEWER_LINEAR)[side] in again.paths(side)
        assert again.selected(side) == _CONV
        at, before = again.locate(side, _CONV), here[side]
        assert at is not None
        assert before is not None
        assert abs(at["x"] - before["x"]) + abs(at["y"] - before["y"]) < 6
    # an address of other files is said not to fit, and both are there
    page.goto("about:blank")
    other = PanesPage(page, f"{file.as_uri()}#old=v%3D1%26of%3Dother&new=nonsense")
    other.frames[_OLD].get_by_text("does not fit").first.wait_for()
    assert other.problems == []


def test_below_900_pixels_they_stand_one_above_the_other(show: Any) -> None:
    shown = show(viewport={"width": 500, "height": 900})
    page = shown.page
    old, new = (frame.frame_element().bounding_box() for frame in shown.frames)
    assert new["y"] >= old["y"] + old["height"] - 24
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    shown.click(_OLD, "main/%image")
    shown.wait_for_selection(_NEW, "main/%image")
    assert shown.locate(_NEW, "main/%image")
    shown.check_quiet()


def test_both_and_the_page_around_are_dark_together(show: Any) -> None:
    shown = show()
    page = shown.page
    assert page.locator("html").get_attribute("data-theme") == "light"
    shown.frames[_OLD].locator(CANVAS).focus()
    page.keyboard.press("m")
    shown.frames[_OLD].get_by_text("Dark", exact=True).click()
    page.wait_for_selector('html[data-theme="dark"]')
    shown.frames[_NEW].wait_for_selector('html[data-theme="dark"]')
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(15, 19, 24)"


def test_without_scripts_both_pictures_are_there(browser: Any, file: Path) -> None:
    context = browser.new_context(java_script_enabled=False, offline=True)
    try:
        page = context.new_page()
        page.goto(file.as_uri())
        assert page.locator(".nlp-frame svg").count() == 2
        assert page.locator(".nlp-frame svg").first.is_visible()
        assert "The models differ" in page.inner_text("h1")
    finally:
        context.close()
