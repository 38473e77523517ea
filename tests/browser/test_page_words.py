"""What a page says of itself, and what of it stays: saved copy, nothing to draw, tab, theme."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import onnx
import pytest

import netloupe
from netloupe.explorer.view import ViewOptions
from netloupe.live.server import LiveServer

from .live_servers import live_servers
from .servers import ROOT
from .shown_page import CANVAS, ShownPage

pytestmark = pytest.mark.browser

_DIGITS = ROOT / "demo_notebooks" / "models" / "digits_cnn.onnx"
_BLANK = f"{CANVAS} .nl-blank"


def test_a_page_says_that_it_is_a_copy_and_keeps_its_tab(page: Any, tmp_path: Path) -> None:
    model = netloupe.load(_DIGITS)
    file = tmp_path / "page.html"
    model.to_html(file, review=netloupe.check(model))
    shown = ShownPage(page, file.as_uri())
    remark = page.locator(f"{CANVAS} .nl-remark")
    assert remark.inner_text().startswith("Saved copy")
    assert "does not follow the model" in remark.get_attribute("title")
    assert page.locator(_BLANK).is_hidden()
    review = page.get_by_role("tab", name="Review")
    assert review.get_attribute("aria-selected") == "false"
    review.click()
    page.wait_for_function("() => location.hash.includes('tab=review')")
    page.reload()
    page.wait_for_selector(f'{CANVAS}[data-ready="true"]')
    assert review.get_attribute("aria-selected") == "true"
    page.get_by_role("tab", name="Inspect").click()
    page.wait_for_function("() => !location.hash.includes('tab=')")
    shown.settle()


def test_a_page_of_a_program_keeps_its_tab(page: Any) -> None:
    with live_servers() as run:
        model = netloupe.load(_DIGITS)
        running = run(lambda: LiveServer(model, ViewOptions.parse({}), "right"))
        ShownPage(page, running.server.address)
        assert page.locator(f"{CANVAS} .nl-remark").count() == 0  # it is no copy
        for name in ("Review", "Inspect"):
            tab = page.get_by_role("tab", name=name, exact=True)
            tab.click()
            page.wait_for_function(
                "(kept) => location.hash.includes('tab=review') === kept", arg=name == "Review"
            )
            page.reload()
            page.wait_for_selector(f'{CANVAS}[data-ready="true"]')
            assert tab.get_attribute("aria-selected") == "true"


def test_where_there_is_nothing_to_draw_that_is_said(page: Any, tmp_path: Path) -> None:
    graph = onnx.helper.make_graph([], "empty", [], [])
    model = netloupe.load(onnx.helper.make_model(graph).SerializeToString())
    file = tmp_path / "page.html"
    model.to_html(file)
    ShownPage(page, file.as_uri())
    assert page.inner_text(_BLANK) == "Nothing to draw: this graph has no nodes, inputs or outputs."


@pytest.mark.parametrize(
    ("asked", "shown"), [({}, "dark"), ({"theme": "light"}, "light"), ({"theme": "dark"}, "dark")]
)
def test_in_a_dark_system_a_page_is_dark_unless_a_theme_was_asked_for(
    asked: dict[str, Any], shown: str, page: Any, tmp_path: Path
) -> None:
    page.emulate_media(color_scheme="dark")
    file = tmp_path / "page.html"
    netloupe.load(_DIGITS).to_html(file, weights="none", **asked)
    ShownPage(page, file.as_uri())
    page.wait_for_selector(f'html[data-theme="{shown}"]')
