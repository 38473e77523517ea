"""What a page from disk shows goes into its address and history, and comes back from there."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest

from .shown_page import API, CANVAS
from .written_page import WrittenPage

pytestmark = pytest.mark.browser

FOCUS = f'{CANVAS} [data-netloupe-chip="focus"]'

Show = Callable[..., WrittenPage]


def test_an_address_brings_back_what_was_seen(show: Show) -> None:
    shown = show("exported/gpt2.legacy.onnx")
    shown.press("Close all groups")
    path = next(path for path in shown.paths() if path.endswith(" … 11/") or "h." in path)
    shown.click(path, times=2)
    shown.settle()
    opened = shown.paths()
    shown.page.wait_for_function(
        "() => ['open=', 'select='].every((part) => location.hash.includes(part))"
    )
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
        ("#v=1&of=MARK&open=1(0", "damaged"),
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
    again = WrittenPage(shown.page, shown.file, fragment.replace("MARK", mark[1]))
    assert why in again.error()
    assert again.paths() == first


def focus(shown: WrittenPage, path: str) -> None:
    """Select a box and show only what is around it."""
    shown.click(path)
    shown.page.keyboard.press("h")
    shown.page.locator(FOCUS).wait_for(state="visible")
    shown.settle()


@pytest.mark.parametrize("direction", ["TB", "LR"])
def test_what_is_around_an_element_is_shown_alone(show: Show, direction: str) -> None:
    shown = show("exported/resnet50.legacy.onnx", direction=direction, expand="none")
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


def test_it_turns_to_the_right_and_undoes_that_nothing(show: Show) -> None:
    shown = show("exported/condloop.dynamo.onnx", theme="dark")
    before = shown.page.evaluate(f"{API}.bounds({API}.paths()[0])")
    shown.press("Run downwards or to the right")
    shown.page.wait_for_function(f"(y) => {API}.bounds({API}.paths()[0]).y !== y", arg=before["y"])
    assert shown.page.get_attribute("html", "data-theme") == "dark"
    assert sorted(shown.paths())
