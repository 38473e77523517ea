"""The explorer in a notebook of marimo, which a real server below a base URL runs."""

from __future__ import annotations

import shutil
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from .servers import ROOT, START_SECONDS, TOKEN, end_server, find_port, make_environment

pytestmark = [
    pytest.mark.browser,
    # importing it takes seconds of each process that has tests
    pytest.mark.skipif(find_spec("marimo") is None, reason="marimo is not installed"),
]

BASE = "/user/somebody"
CONV = "main/node_conv2d_3"
CANVAS = '[data-netloupe="canvas"]'
NOTEBOOK = """\
import marimo

app = marimo.App(width="full")


@app.cell
def _():
    import marimo as mo
    import netloupe

    ex = netloupe.explore("digits_cnn.onnx")
    ex
    return ex, mo, netloupe


@app.cell
def _(ex, mo):
    shared = mo.ui.anywidget(ex.canvas)
    return (shared,)


@app.cell
def _(ex, mo, shared):
    mo.md(f"canvas: {shared.value['selection']}; explorer: {ex.selection}")
    return


@app.cell
def _(ex, mo):
    mo.ui.button(label="select from Python", on_click=lambda _: ex.select("main/head/"))
    return
"""


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    folder = tmp_path_factory.mktemp("marimo")
    shutil.copy(ROOT / "demo_notebooks" / "models" / "digits_cnn.onnx", folder)
    (folder / "notebook.py").write_text(NOTEBOOK)
    port = find_port()
    environment = make_environment(folder)
    environment |= {name: str(folder) for name in ("XDG_CONFIG_HOME", "XDG_STATE_HOME")}
    options = ["--headless", f"--port={port}", f"--base-url={BASE}", f"--token-password={TOKEN}"]
    with (folder / "log").open("wb") as log:
        server = subprocess.Popen(
            [sys.executable, "-m", "marimo", "run", "notebook.py", *options],
            cwd=folder,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=subprocess.STDOUT,
        )
    try:
        wait(server, f"http://127.0.0.1:{port}{BASE}/health", folder / "log")
        yield f"http://127.0.0.1:{port}{BASE}/?access_token={TOKEN}"
    finally:
        end_server(server)


def wait(server: subprocess.Popen[bytes], address: str, log: Path) -> None:
    end = time.monotonic() + START_SECONDS
    while time.monotonic() < end and server.poll() is None:
        try:
            urllib.request.urlopen(address, timeout=20).close()
        except (urllib.error.URLError, OSError):
            time.sleep(0.2)
        else:
            return
    raise RuntimeError(f"marimo did not start: {log.read_text()[-2000:]}")


class Shown:
    """An explorer on a page of marimo, inside of shadow roots."""

    def __init__(self, page: Any, address: str) -> None:
        self.page = page
        page.goto(address)
        page.locator(f'{CANVAS}[data-ready="true"]').wait_for()
        self.canvas = page.locator(CANVAS)
        self.inspector = page.locator(".nl-inspector")

    def call(self, code: str, given: object = None) -> Any:
        """Ask the canvas: ``api`` is what it offers to scripts."""
        return self.canvas.evaluate(
            f"(element, given) => ((api) => {code})(element.netloupe)", given
        )

    def settle(self) -> None:
        while self.call("api.stats().busy"):
            self.page.wait_for_timeout(50)

    def click(self, path: str, *, times: int = 1) -> None:
        self.settle()
        place = self.call("api.locate(given)", path)
        assert place, path
        self.page.mouse.click(place["x"], place["y"], click_count=times)
        self.settle()

    def expect_selected(self, path: str) -> None:
        self.page.locator(f'{CANVAS}[data-selected="{path}"]').wait_for()


def test_everything_works_in_one_widget(page: Any, address: str) -> None:
    shown = Shown(page, address)
    shown.inspector.get_by_text("51 nodes").first.wait_for()

    # search, and read the selection back in Python
    shown.canvas.focus()
    page.keyboard.press("/")
    page.keyboard.type("second conv")
    page.keyboard.press("Enter")
    shown.expect_selected(CONV)
    page.get_by_text(f"canvas: {CONV}; explorer: {CONV}").wait_for()
    page.keyboard.press("Escape")

    # open a group
    before = len(shown.call("api.paths()"))
    shown.click("main/stem/", times=2)
    while len(shown.call("api.paths()")) <= before:
        page.wait_for_timeout(50)

    # a histogram
    shown.inspector.get_by_text("stem.0.conv.weight").first.wait_for()
    shown.inspector.locator(".nl-inspector-link", has_text="stem.0.conv.weight").first.click()
    shown.inspector.locator(".nl-histogram").first.wait_for()

    # select from Python
    page.get_by_role("button", name="select from Python").click()
    shown.expect_selected("main/head/")
    shown.inspector.get_by_text("main/head/").first.wait_for()

    # the review
    shown.inspector.get_by_role("tab", name="Review").click()
    shown.inspector.get_by_text("Weights were not read.").wait_for()
    shown.inspector.get_by_role("button", name="read the weights").click()
    shown.inspector.get_by_text("Weights were not read.").wait_for(state="detached")

    # the page's theme
    page.evaluate("document.body.dataset.theme = 'dark'")
    page.locator(".nl-inspector.nl-inspector-dark").wait_for()
