"""Pages of real models, opened from disk: every group opens, all is traced and found."""

from __future__ import annotations

import random
from collections.abc import Callable

import pytest

from .shown_page import API, CANVAS
from .written_page import WrittenPage

pytestmark = pytest.mark.browser

MODELS = [
    "exported/gpt2.legacy.onnx",
    "exported/unet.dynamo.onnx",
    "exported/condloop.dynamo.onnx",
    "quantized/bert.qdq.onnx",
]

Show = Callable[..., WrittenPage]


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


@pytest.mark.parametrize("name", MODELS)
def test_what_is_around_a_box_is_traced(show: Show, name: str) -> None:
    shown = show(name)
    paths = shown.paths()
    path = next(path for path in paths[len(paths) // 2 :] if path.count("%") == 0)
    shown.dismiss()
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


def test_the_legend_explains_what_is_shown(show: Show) -> None:
    shown = show("quantized/bert.qdq.onnx")
    shown.page.get_by_role("button", name="More").click()
    shown.page.locator(".nl-menu-entry").filter(has_text="Legend").click()
    rows = shown.page.locator(".nl-legend-row")
    rows.first.wait_for()
    assert "learned weights: convolution, linear layer, MLP" in rows.all_inner_texts()
    # the policy of the page lets the samples be drawn
    samples = "[...document.querySelectorAll('.nl-legend-sample')]"
    shown.page.wait_for_function(f"() => {samples}.every((each) => each.naturalWidth)")
    before = rows.count()
    shown.press("Open all groups")
    shown.page.wait_for_function(
        "(before) => document.querySelectorAll('.nl-legend-row').length !== before", arg=before
    )
