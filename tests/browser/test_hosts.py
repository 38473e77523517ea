"""The page around the explorer: its rules do not reach in, and keys do not reach out."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import netloupe

from .notebook_page import CANVAS, NotebookPage
from .servers import ROOT, Server, run_server, write_notebook
from .stand import Stand

pytestmark = pytest.mark.browser

Open = Callable[..., Stand]
CNN = ROOT / "demo_notebooks" / "models" / "digits_cnn.onnx"

#: rules as style sheets of notebooks, themes and resets have them, and worse
HOSTILE = """
dl { margin: 1em 0; } dt { float: left; width: 20%; clear: left; } dd { margin-left: 40px; }
dl dt:first-of-type { margin-top: 30px; }
button, input, select { min-width: 90px; padding: 9px; margin: 5px; border: 3px solid red;
  text-transform: uppercase; letter-spacing: 3px; font: 20px serif; }
input::placeholder { color: transparent; }
ul, li { list-style: square; margin-left: 3em; padding: 8px; }
table, th, td { border: 4px solid green; padding: 12px; font-size: 21px; }
svg, canvas, img { max-width: 50%; border: 2px solid; vertical-align: super; }
nav { display: none; } kbd { float: right; } p { text-indent: 4em; }
[hidden] { display: block; }
* { box-sizing: content-box !important; line-height: 3 !important; margin: 7px !important; }
div { padding: 6px !important; min-height: 40px !important; transform: rotate(1deg); }
span, button { display: inline !important; color: red !important; float: left !important; }
*::before, *::after { content: "x" !important; }
"""

#: place and size of everything in the canvas, in the order of the document
RECTANGLES = """(host) => [...host.shadowRoot.querySelectorAll("*")]
  .filter((element) => element.getClientRects().length > 0).map((element) => {
  const at = element.getBoundingClientRect(), from = host.getBoundingClientRect();
  return [element.className.baseVal ?? element.className, element.textContent.slice(0, 20),
    ...[at.x - from.x, at.y - from.y, at.width, at.height].map((value) => Math.round(value)),
    getComputedStyle(element).color];
})"""


@pytest.fixture
def show(page: Any) -> Iterator[Open]:
    opened: list[netloupe.Explorer] = []

    def open_model(style: str = "", **view: Any) -> Stand:
        explorer = netloupe.explore(CNN, **view)
        opened.append(explorer)
        return Stand(page, explorer, style)

    yield open_model
    for explorer in opened:
        explorer.close()


def test_rules_of_the_page_do_not_reach_the_canvas(browser: Any) -> None:
    def look(style: str) -> list[list[object]]:
        explorer = netloupe.explore(CNN)
        own = browser.new_page(viewport={"width": 1200, "height": 800})
        try:
            stand = Stand(
                own, explorer, style + "#here { width: 1000px !important; transform: none; }"
            )
            stand.press("/", *"conv")
            stand.press("?")
            return list(own.locator(CANVAS).evaluate(RECTANGLES))
        finally:
            own.close()
            explorer.close()

    alone, hostile = look(""), look(HOSTILE)
    assert len(alone) > 80
    assert hostile == alone


def test_keys_typed_in_the_canvas_end_there(show: Open) -> None:
    stand = show()
    stand.page.evaluate(
        """() => {
          window.heard = [];
          for (const type of ["keydown", "keyup", "keypress", "paste"])
            document.addEventListener(type, (event) => heard.push(`${type} ${event.key}`));
        }"""
    )
    stand.press("/", "d", "d", "Control+z", "Escape", "d", "d", "x", "Control+c", "?", "Enter")
    assert stand.page.evaluate("heard") == []
    stand.page.evaluate("() => document.activeElement.blur()")
    stand.page.keyboard.press("d")
    assert stand.page.evaluate("heard") == ["keydown d", "keypress d", "keyup d"]


@pytest.fixture(scope="module", params=["lab", "notebook"])
def server(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Server]:
    folder: Path = tmp_path_factory.mktemp(request.param)
    shutil.copy(CNN, folder)
    cell = f"import netloupe\nnetloupe.explore({CNN.name!r})"
    write_notebook(folder / "keys.ipynb", cell, "1 + 1", "2 + 2")
    with run_server(request.param, folder) as running:
        yield running


def test_keys_typed_in_the_canvas_do_nothing_to_the_notebook(page: Any, server: Server) -> None:
    notebook = NotebookPage(page, server, "keys.ipynb")
    notebook.run_cell(0)
    notebook.wait_for_canvas()
    notebook.settle()

    def cells() -> list[str]:
        return [str(text) for text in page.locator(".jp-Notebook .cm-content").all_inner_texts()]

    before = cells()
    assert len(before) == 3
    box = page.locator(f"{CANVAS} input").first
    for focus in (box.click, lambda: page.evaluate(f"document.querySelector('{CANVAS}').focus()")):
        focus()
        # in a notebook: delete, insert, cut and paste cells, change their kind, undo, run
        for key in ["Control+a", "Control+z", "Shift+Enter", "Control+Enter", *"ddabxvmyz1"]:
            page.keyboard.press(key)
        notebook.settle()
        assert cells() == before
        assert page.evaluate(f"document.activeElement.matches('{CANVAS}')")
    assert page.locator(".jp-OutputArea-executeResult").count() == 0
    assert box.input_value() == "ddabxvmyz1"
