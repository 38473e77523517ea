"""The page around the explorer: its rules do not reach in, and keys do not reach out."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import netloupe

from .hostile_style import HOSTILE, RECTANGLES
from .notebook_page import CANVAS, NotebookPage
from .servers import ROOT, Server, run_server, write_notebook
from .stand import Stand

pytestmark = pytest.mark.browser

Open = Callable[..., Stand]
CNN = ROOT / "demo_notebooks" / "models" / "digits_cnn.onnx"


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
            stand = Stand(own, explorer, style + "#here { width: 1000px !important; }")
            stand.press("/", *"conv")
            # the search begins when typing has ended, which a page at rest may not have noticed
            stand.wait(lambda: own.locator(f"{CANVAS} .nl-hit").count() > 0)
            stand.settle()
            stand.press("?")
            return list(own.locator(CANVAS).evaluate(RECTANGLES))
        finally:
            own.close()
            explorer.close()

    alone, hostile = look(""), look(HOSTILE)
    assert len(alone) > 80
    assert hostile == alone


#: what hosts say of their theme, after which ours follows; in the order of who is believed first
THEMES = [
    ("document.documentElement.setAttribute('theme', 'dark')", "dark"),  # Colab
    ("document.body.dataset.theme = 'light'", "light"),  # marimo
    ("document.body.dataset.theme = 'dark'", "dark"),
    ("document.body.className = 'vscode-light'", "light"),
    ("document.body.className = 'vscode-dark'", "dark"),
    ("document.body.className = 'vscode-high-contrast vscode-high-contrast-light'", "light"),
    ("document.body.className = 'vscode-high-contrast'", "dark"),
    ("document.body.dataset.jpThemeLight = 'true'", "light"),
    ("document.body.dataset.jpThemeLight = 'false'", "dark"),
]


def test_the_theme_of_the_host_is_followed(show: Open) -> None:
    stand = show()
    for code, theme in THEMES:
        stand.page.evaluate(code)
        stand.page.wait_for_selector(f'{CANVAS}[data-theme="{theme}"]')


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
    # the key Ctrl by itself may begin a shortcut of the page
    assert [one for one in stand.page.evaluate("heard") if "Control" not in one] == []
    stand.page.evaluate("() => document.activeElement.blur()")
    stand.page.keyboard.press("d")
    assert stand.page.evaluate("heard")[-3:] == ["keydown d", "keypress d", "keyup d"]


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
