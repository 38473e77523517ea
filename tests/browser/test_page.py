"""The explorer in one file, opened from disk with nothing behind it."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

import netloupe
from tests.corpus import corpus_file

from .shown_page import CANVAS
from .written_page import WrittenPage

pytestmark = pytest.mark.browser

Show = Callable[..., WrittenPage]


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


def test_what_a_small_page_leaves_out_is_said(page: Any, tmp_path: Path) -> None:
    model = netloupe.load(corpus_file("exported/distilbert.legacy.onnx"))
    file = tmp_path / "page.html"
    with pytest.raises(netloupe.NetloupeError) as caught:
        model.to_html(size_limit="1kB")
    (least,) = re.findall(r"the page takes (\d+) kB at least", str(caught.value))
    model.to_html(file, size_limit=f"{int(least) + 2}kB", expand="none")
    shown = WrittenPage(page, file)
    assert re.search(r"To take at most \d+ kB this page leaves out statistics", shown.error())
    shown.click(next(path for path in shown.paths() if path.endswith("/")))
    page.wait_for_selector("text=Its description is not in this file.")
