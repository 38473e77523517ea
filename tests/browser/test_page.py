"""The explorer in one file, opened from disk with nothing behind it."""

from __future__ import annotations

import random
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

import netloupe
from tests.browser.shown_page import API, CANVAS, ShownPage
from tests.corpus import corpus_file

pytestmark = pytest.mark.browser

FOCUS = f'{CANVAS} [data-netloupe-chip="focus"]'
MODELS = [
    "exported/gpt2.legacy.onnx",
    "exported/unet.dynamo.onnx",
    "exported/condloop.dynamo.onnx",
    "quantized/bert.qdq.onnx",
]

Show = Callable[..., "Page"]


class Page(ShownPage):
    """A page written for a model, in Chromium."""

    def __init__(self, page: Any, file: Path, fragment: str = "") -> None:
        self.file = file
        #: what the page has asked the network for
        self.requests: list[str] = []
        page.on("request", lambda request: self.requests.append(request.url))
        super().__init__(page, f"{file.as_uri()}{fragment}")

    def press(self, title: str) -> None:
        """Press the button of a title."""
        self.page.locator(f'{CANVAS} button[title="{title}"]').click()
        self.settle()

    def lit(self) -> int | None:
        """Return how many boxes and edges are lit; None where all are as usual."""
        count: int | None = self.page.evaluate(f"{API}.stats().lit")
        return count

    def inspector(self) -> str:
        """Return what the inspector says."""
        return str(self.page.inner_text(".nl-inspector"))

    def error(self) -> str:
        """Wait for a message, and return it."""
        strip = self.page.locator(f"{CANVAS} .nl-strip")
        strip.locator("text=/./").first.wait_for()
        return str(strip.inner_text())


@pytest.fixture
def show(page: Any, tmp_path: Path) -> Show:
    def write(name: str, fragment: str = "", **view: Any) -> Page:
        file = tmp_path / "page.html"
        netloupe.load(corpus_file(name)).to_html(file, **view)
        page.context.set_offline(True)
        page.keyboard.press("Escape")
        return Page(page, file, fragment)

    return write


@pytest.mark.parametrize("name", MODELS)
def test_groups_open_in_any_order_and_close_again(show: Show, name: str) -> None:
    shown = show(name)
    first = shown.paths()
    shown.press("Open all groups")
    every = set(shown.paths())
    assert len(every) >= len(first)
    shown.press("Close all groups")
    closed = shown.paths()
    assert len(closed) < len(every)
    chance = random.Random(name)
    tried = 0
    for path in chance.sample(closed, min(len(closed), 8)):
        shown.click(path, times=2)
        shown.settle()
        assert set(closed) - {path} <= set(shown.paths())
        if set(shown.paths()) == set(closed):
            continue  # a node, or an input
        tried += 1
        shown.page.keyboard.press("Control+z")
        shown.page.wait_for_function(f"(count) => {API}.paths().length === count", arg=len(closed))
    assert tried
    assert [url for url in shown.requests if not url.startswith(("file:", "blob:"))] == []


def test_what_is_selected_is_described(show: Show) -> None:
    shown = show("exported/gpt2.legacy.onnx")
    assert "Decoder-only transformer" in shown.inspector()
    path = next(path for path in shown.paths() if path.endswith("/attn/"))
    shown.click(path)
    shown.page.wait_for_selector("text=Self-attention")
    assert path in shown.inspector()
    link = shown.page.locator('.nl-inspector-link[title*="/%"]').first
    text = link.get_attribute("title")
    link.click()
    shown.page.wait_for_function(
        f"(path) => document.querySelector('{CANVAS}').dataset.selected === path", arg=text
    )
    assert text in shown.inspector()
    shown.page.locator('.nl-inspector-link[title="main"]').first.click()
    shown.page.wait_for_selector(".nl-inspector-kind >> text=/graph/i")


@pytest.mark.parametrize("name", MODELS)
def test_what_is_around_a_box_is_traced(show: Show, name: str) -> None:
    shown = show(name)
    paths = shown.paths()
    path = next(path for path in paths[len(paths) // 2 :] if path.count("%") == 0)
    shown.click(path)
    shown.page.keyboard.press("u")
    shown.settle()
    bar = shown.page.locator(f'{CANVAS} [data-netloupe-chip="trace"]')
    assert bar.inner_text().startswith("Upstream of")
    upstream = shown.lit()
    assert upstream
    shown.page.keyboard.press("d")
    shown.settle()
    assert bar.inner_text().startswith("Up and downstream of")
    assert (shown.lit() or 0) > upstream
    shown.page.keyboard.press("Escape")
    shown.settle()
    assert shown.lit() is None


@pytest.mark.parametrize("name", MODELS)
def test_what_is_found_is_shown_and_described(show: Show, name: str) -> None:
    shown = show(name)
    before = shown.paths()
    shown.page.locator(".nl-search-text").fill("add")
    rows = shown.page.locator(".nl-hit")
    rows.first.wait_for()
    shown.page.locator(".nl-search-text").press("Enter")
    selected = f"document.querySelector('{CANVAS}').dataset.selected"
    shown.page.wait_for_function(f"() => {selected}")
    shown.settle()
    path = str(shown.page.evaluate(selected))
    assert "add" in path.lower() or "Add" in shown.inspector()
    assert path in shown.inspector()
    place = shown.page.evaluate(f"(path) => {API}.locate(path)", path)
    assert place or path in before
    assert shown.requests == [shown.file.as_uri()]


def test_an_address_brings_back_what_was_seen(show: Show) -> None:
    shown = show("exported/gpt2.legacy.onnx")
    shown.press("Close all groups")
    path = next(path for path in shown.paths() if path.endswith(" … 11/") or "h." in path)
    shown.click(path, times=2)
    shown.settle()
    opened = shown.paths()
    shown.page.wait_for_function("() => location.hash.includes('open=')")
    shown.page.wait_for_timeout(400)
    shown.page.reload()
    shown.page.wait_for_selector(f'{CANVAS}[data-ready="true"]')
    assert shown.paths() == opened
    assert "select=" in shown.page.evaluate("location.hash")


@pytest.mark.parametrize(
    ("fragment", "why"),
    [
        ("#v=1&of=00000000&open=1", "another file"),
        ("#nonsense", "not one of this page's addresses"),
        (f"#v=1&of=00000000&open={'9' * 70_000}", "too long"),
        ("#v=1&of=MARK&open=999999", "not in this file"),
        ("#v=1&of=MARK&open=1(2", "damaged"),
        ("#v=1&of=MARK&open=&at=1,2,x", "damaged"),
        ("#v=1&of=MARK&open=&direction=UP", "direction"),
    ],
)
def test_a_foreign_address_is_refused_and_the_picture_stays(
    show: Show, fragment: str, why: str
) -> None:
    shown = show("exported/condloop.dynamo.onnx")
    first = shown.paths()
    mark = re.search(r'"mark":"(\w+)"', shown.file.read_text("utf-8"))
    assert mark
    shown.page.goto("about:blank")
    again = Page(shown.page, shown.file, fragment.replace("MARK", mark[1]))
    assert why in again.error()
    assert again.paths() == first


def test_it_turns_to_the_right_and_undoes_that_nothing(show: Show) -> None:
    shown = show("exported/gpt2.legacy.onnx", theme="dark")
    before = shown.page.evaluate(f"{API}.bounds({API}.paths()[0])")
    shown.press("Run downwards or to the right")
    shown.page.wait_for_function(f"(y) => {API}.bounds({API}.paths()[0]).y !== y", arg=before["y"])
    assert shown.page.get_attribute("html", "data-theme") == "dark"
    assert sorted(shown.paths())


def test_names_of_a_model_run_nothing(show: Show) -> None:
    shown = show("hostile/evil_names.onnx")
    for path in shown.paths()[:12]:
        shown.click(path)
        shown.settle()
    assert (
        shown.page.evaluate("Object.keys(window).filter((key) => /pwn|evil|xss/i.test(key))") == []
    )
    assert shown.page.locator("img, iframe, object, embed").count() == 0


@pytest.mark.parametrize("share", [0.001, 0.2])
def test_a_file_that_was_cut_short_says_so(
    show: Show, page: Any, tmp_path: Path, share: float
) -> None:
    whole = show("exported/condloop.dynamo.onnx").file.read_text("utf-8")
    behind = whole.index("</script>")
    file = tmp_path / "cut.html"
    file.write_text(whole[: behind + int((len(whole) - behind) * share)], "utf-8")
    page.goto(file.as_uri())
    page.wait_for_selector("text=/damaged|cut short/")


@pytest.mark.parametrize("width", [500, 2_000])
def test_it_fits_narrow_and_wide_windows(show: Show, page: Any, width: int) -> None:
    page.set_viewport_size({"width": width, "height": 800})
    shown = show("exported/gpt2.legacy.onnx")
    assert shown.page.evaluate("document.documentElement.scrollWidth") <= width
    assert shown.paths()


def test_several_elements_are_told_each_by_its_title(show: Show) -> None:
    shown = show("exported/condloop.dynamo.onnx", expand="none")
    shown.page.set_default_timeout(20_000)
    first, *others = shown.paths()
    shown.click(first)
    shown.page.wait_for_function("() => location.hash.includes('select=')")
    more = "".join(f"&select={quote(path, safe='')}" for path in others)
    shown.page.evaluate("(more) => { location.hash += more; }", more)
    title = shown.page.locator(".nl-inspector-title", has_text=f"x and {len(others)} more")
    title.wait_for()
    told = shown.inspector()
    assert "2 values, 1 group, 1 node" in told
    assert "float32[4, 8]" in told
    assert shown.page.locator(".nl-inspector-link").count() == len(others) + 1


def focus(shown: Page, path: str) -> None:
    """Select a box and show only what is around it."""
    shown.click(path)
    shown.page.keyboard.press("h")
    shown.page.locator(FOCUS).wait_for(state="visible")
    shown.settle()


@pytest.mark.parametrize("direction", ["TB", "LR"])
def test_what_is_around_an_element_is_shown_alone(show: Show, direction: str) -> None:
    shown = show("exported/resnet50.legacy.onnx", direction=direction, expand="none")
    shown.page.set_default_timeout(20_000)
    chip = shown.page.locator(FOCUS)
    every = shown.paths()
    path = "main/maxpool/MaxPool"
    focus(shown, path)
    around = shown.paths()
    assert path in around
    assert set(around) != set(every)
    chip.locator("button").nth(1).click()
    chip.locator("text=3 hops").wait_for()
    shown.settle()
    wider = shown.paths()
    assert wider != around
    shown.page.wait_for_function("() => location.hash.includes('hops=3')")
    shown.page.reload()
    shown.page.wait_for_selector(f'{CANVAS}[data-ready="true"]')
    assert shown.paths() == wider
    chip.wait_for(state="visible")
    assert "3 hops" in chip.inner_text()
    chip.locator("button").last.click()
    chip.wait_for(state="hidden")
    shown.settle()
    assert shown.paths() != wider
    shown.page.keyboard.press("Control+z")
    chip.wait_for(state="visible")
    shown.settle()
    assert shown.paths() == wider


def test_undo_leaves_a_neighbourhood(show: Show) -> None:
    shown = show("exported/gpt2.legacy.onnx")
    shown.page.set_default_timeout(20_000)
    chip = shown.page.locator(FOCUS)
    before = shown.paths()
    focus(shown, next(path for path in before if path.endswith("/attn/")))
    around = shown.paths()
    assert set(around) != set(before)
    shown.page.keyboard.press("Control+z")
    chip.wait_for(state="hidden")
    shown.settle()
    assert shown.paths() == before
    shown.page.keyboard.press("Control+Shift+z")
    chip.wait_for(state="visible")
    shown.settle()
    assert shown.paths() == around


def test_what_a_small_page_leaves_out_is_said(page: Any, tmp_path: Path) -> None:
    page.set_default_timeout(20_000)
    model = netloupe.load(corpus_file("exported/distilbert.legacy.onnx"))
    file = tmp_path / "page.html"
    with pytest.raises(netloupe.NetloupeError) as caught:
        model.to_html(size_limit="1kB")
    (least,) = re.findall(r"the page takes (\d+) kB at least", str(caught.value))
    model.to_html(file, size_limit=f"{int(least) + 2}kB", expand="none")
    shown = Page(page, file)
    assert re.search(r"To take at most \d+ kB this page leaves out statistics", shown.error())
    shown.click(next(path for path in shown.paths() if path.endswith("/")))
    page.wait_for_selector("text=Its description is not in this file.")


def test_the_legend_explains_what_is_shown(show: Show) -> None:
    shown = show("quantized/bert.qdq.onnx")
    shown.page.get_by_role("button", name="More").click()
    shown.page.locator(".nl-menu-entry").filter(has_text="Legend").click()
    rows = shown.page.locator(".nl-legend-row")
    rows.first.wait_for()
    assert "convolution, matrix product" in rows.all_inner_texts()
    # the policy of the page lets the samples be drawn
    samples = "[...document.querySelectorAll('.nl-legend-sample')]"
    shown.page.wait_for_function(f"() => {samples}.every((each) => each.naturalWidth)")
    before = rows.count()
    shown.press("Open all groups")
    shown.page.wait_for_function(
        "(before) => document.querySelectorAll('.nl-legend-row').length !== before", arg=before
    )
