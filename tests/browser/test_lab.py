"""JupyterLab and Notebook 7 below a base URL: a double click on a model opens the explorer."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest

from tests.browser.notebook_page import NotebookPage
from tests.browser.servers import TOKEN, Server, run_server, write_notebook
from tests.browser.shown_page import API, CANVAS
from tests.corpus import corpus_file

pytestmark = pytest.mark.browser

DOCUMENT = '[data-netloupe="document"]'
CELL = 'import netloupe\nex = netloupe.explore("{}")\nex'
MILLISECONDS = 60_000


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the servers; what they show is in ``root``."""
    made: Path = tmp_path_factory.mktemp("jupyter")
    models = made / "root" / "models"
    models.mkdir(parents=True)
    shutil.copy(corpus_file("exported/gpt2.legacy.onnx"), models / "gpt2.onnx")
    # as of TensorFlow: a graph whose first node is a placeholder
    (models / "frozen.pb").write_bytes(b"\x0a\x10\x0a\x01x\x12\x0bPlaceholder")
    (made / ".config").mkdir()
    (made / ".config" / "jupyter_server_config.py").write_text(
        "c.LabApp.expose_app_in_browser = True\nc.JupyterNotebookApp.expose_app_in_browser = True\n"
    )
    return made


@pytest.fixture(scope="module")
def server(folder: Path) -> Iterator[Server]:
    """JupyterLab's server, which serves Notebook 7 as well."""
    with run_server("lab", folder, folder / "root", "/user/someone/") as running:
        yield running


class Browser:
    """JupyterLab or Notebook 7, and what they ask of their server."""

    def __init__(self, page: Any, server: Server) -> None:
        page.context.set_default_timeout(MILLISECONDS)  # of pages that it opens, too
        self.page, self.server = page, server
        self.asked: list[tuple[str, str]] = []
        self.given: list[Any] = []
        page.context.on("request", self._take_request)
        page.context.on("response", self._take_response)

    def _take_request(self, request: Any) -> None:
        self.asked.append((request.method, request.url))

    def _take_response(self, response: Any) -> None:
        if "/api/contents/models/gpt2.onnx" in response.url:
            self.given.append(response)

    def list_files(self, path: str) -> None:
        """Show the models in the file browser."""
        self.page.goto(f"{self.server.address}/{path}?token={TOKEN}&reset")
        self.page.locator(".jp-DirListing-item", has_text="gpt2.onnx").wait_for()

    def open(self, name: str) -> None:
        """Double-click on a file."""
        self.page.locator(".jp-DirListing-item", has_text=name).dblclick()

    def run(self, command: str, **arguments: Any) -> None:
        """Run a command of JupyterLab."""
        self.page.evaluate(
            "([name, given]) => window.jupyterapp.commands.execute(name, given)",
            [command, arguments],
        )


def find_explorer(page: Any) -> Any:
    """Return the frame of the model that is shown, once its first picture is painted."""
    frame = page.wait_for_selector(f"{DOCUMENT} iframe").content_frame()
    frame.wait_for_selector(f'{CANVAS}[data-ready="true"]')
    return frame


def click(page: Any, path: str, *, times: int = 1) -> None:
    """Click on the box at a path."""
    frame = find_explorer(page)
    frame.wait_for_function(f"() => !{API}.stats().busy")
    place = frame.evaluate(f"(path) => {API}.locate(path)", path)
    assert place, (path, frame.evaluate(f"{API}.paths()"))
    box = page.locator(f"{DOCUMENT} iframe").bounding_box()
    page.mouse.click(box["x"] + place["x"], box["y"] + place["y"], click_count=times)


def test_a_double_click_opens_the_explorer(page: Any, server: Server, folder: Path) -> None:
    lab = Browser(page, server)
    lab.list_files("lab/tree/models")
    lab.open("gpt2.onnx")
    frame = find_explorer(page)
    # search
    frame.focus(CANVAS)
    page.keyboard.press("/")
    page.keyboard.type("lm_head")
    page.keyboard.press("Enter")
    frame.wait_for_function(
        "() => document.querySelector('.nl-inspector').innerText.includes('lm_head')"
    )
    # a weight and its histogram
    frame.locator(".nl-inspector-link", has_text="MatMul").first.click()
    frame.wait_for_selector(".nl-inspector .nl-histogram")
    # a group
    frame.focus(CANVAS)
    page.keyboard.press("f")
    frame.wait_for_function(f"() => !{API}.stats().busy")
    shown = frame.evaluate(f"{API}.paths()")
    (attention,) = [path for path in shown if path.endswith("/attn/")]
    click(page, attention, times=2)
    frame.wait_for_function(f"(count) => {API}.paths().length > count", arg=len(shown))
    # what is seen stands in no address: the page has none of its own
    assert frame.evaluate("location.hash") == ""
    assert "open=" not in page.url
    # the theme
    for name, expected in (("JupyterLab Dark", "dark"), ("JupyterLab Light", "light")):
        lab.run("apputils:change-theme", theme=name)
        frame.wait_for_selector(f'html[data-theme="{expected}"]', state="attached")
    # what travelled
    told = [(method, url) for method, url in lab.asked if "gpt2.onnx" in url]
    assert told
    for method, url in told:
        assert method == "GET", (method, url)
        if "/api/contents/models/gpt2.onnx?" in url:
            assert "content=0" in url
    for response in lab.given:
        told_of_file = response.json()
        assert not (isinstance(told_of_file, dict) and told_of_file["content"]), response.url


def test_the_model_cannot_be_overwritten(page: Any, server: Server, folder: Path) -> None:
    model = folder / "root" / "models" / "gpt2.onnx"
    before = model.read_bytes()
    lab = Browser(page, server)
    lab.list_files("lab/tree/models")
    lab.open("gpt2.onnx")
    find_explorer(page)
    said = page.evaluate(
        "() => window.jupyterapp.commands.execute('docmanager:save').then(String, String)"
    )
    assert "never changes it" in said
    assert model.read_bytes() == before
    checkpoints = model.parent / ".ipynb_checkpoints"
    assert not checkpoints.exists() or not list(checkpoints.glob("*.onnx"))


def test_open_in_notebook_inserts_the_cell(page: Any, server: Server, folder: Path) -> None:
    lab = Browser(page, server)
    lab.list_files("lab/tree/models")
    lab.open("gpt2.onnx")
    find_explorer(page)
    page.get_by_text("Open in notebook").first.click()
    page.wait_for_selector(".jp-Notebook .jp-CodeCell")
    made = folder / "root" / "models" / "Untitled.ipynb"
    (cell,) = json.loads(made.read_text())["cells"]
    assert cell["source"] == CELL.format("gpt2.onnx") or "".join(cell["source"]) == CELL.format(
        "gpt2.onnx"
    )
    # once a notebook is there, the cell goes into it
    page.locator(".lm-TabBar-tab", has_text="gpt2.onnx").first.click()
    page.get_by_text("Open in notebook").first.click()
    page.wait_for_function("document.querySelectorAll('.jp-Notebook .jp-CodeCell').length === 2")
    cells = page.locator(".jp-Notebook .jp-CodeCell .cm-content")
    assert cells.nth(1).inner_text().strip() == CELL.format("gpt2.onnx")


def test_what_cannot_be_shown_is_said(page: Any, server: Server) -> None:
    lab = Browser(page, server)
    lab.list_files("lab/tree/models")
    lab.open("frozen.pb")
    frame = page.wait_for_selector(f"{DOCUMENT} iframe").content_frame()
    frame.wait_for_selector(".nl-page-error >> text=models/frozen.pb:")
    page.locator(".lm-TabBar-tab", has_text="frozen.pb").locator(".lm-TabBar-tabCloseIcon").click()
    lab.open("gpt2.onnx")
    frame = find_explorer(page)
    shown = frame.evaluate(f"{API}.paths()")
    for process in psutil.Process(server.process).children():
        if "model_server.py" in " ".join(process.cmdline()):
            process.kill()
    frame.wait_for_selector(f"{CANVAS} .nl-strip >> text=was killed")
    assert frame.evaluate(f"{API}.paths()") == shown
    page.get_by_text("Reload", exact=True).first.click()
    frame.wait_for_selector(f"{CANVAS} .nl-strip >> text=was killed", state="detached")
    find_explorer(page)


def test_notebook_7_opens_it_in_a_page_of_its_own(page: Any, server: Server) -> None:
    notebook = Browser(page, server)
    notebook.list_files("tree/models")
    with page.expect_popup() as opened:
        notebook.open("gpt2.onnx")
    frame = find_explorer(opened.value)
    frame.wait_for_selector(".nl-inspector >> text=gpt2.onnx")
    told = [url for _, url in notebook.asked if "/api/contents/models/gpt2.onnx?" in url]
    assert told
    assert all("content=0" in url for url in told)


def test_ctrl_s_saves_the_notebook_wherever_in_the_explorer_the_keyboard_is(
    page: Any, server: Server, folder: Path
) -> None:
    file = folder / "root" / "keys.ipynb"
    write_notebook(file, CELL.format("models/gpt2.onnx"), "kept = 1")
    notebook = NotebookPage(page, server, file.name)
    notebook.run_cell(0)
    notebook.wait_for_canvas()
    notebook.settle()

    def save() -> None:
        """Press the keys, and wait until the server has the file, which is as if changed.

        While JupyterLab is at the checkpoint that follows, it takes no keys to save: these are
        pressed when that is there, and the document is known to be unchanged.
        """
        page.evaluate("() => { jupyterapp.shell.currentWidget.context.model.dirty = true; }")
        with (
            page.expect_response(
                lambda told: told.request.method == "POST" and "/checkpoints" in told.url
            ),
            page.expect_response(
                lambda told: told.request.method == "PUT" and file.name in told.url
            ) as answer,
        ):
            page.keyboard.press("Control+s")
        assert answer.value.ok
        page.wait_for_function("() => !jupyterapp.shell.currentWidget.context.model.dirty")

    # on the picture: a key of ours, which a notebook would take for a command, and theirs
    page.focus(CANVAS)
    page.keyboard.press("f")
    page.keyboard.press("x")
    save()
    told = json.loads(file.read_text())
    assert ["".join(cell["source"]) for cell in told["cells"]][1:] == ["kept = 1"]
    assert told["cells"][0]["outputs"]
    # while something is typed, in the search and in a review
    page.keyboard.press("/")
    page.keyboard.type("lm_head")
    save()
    assert page.evaluate(f"document.querySelector('{CANVAS}').shadowRoot.activeElement.value") == (
        "lm_head"
    )
    page.get_by_role("tab", name="Review").click()
    save()
    # a control of the inspector
    page.get_by_role("tab", name="Inspect", exact=True).focus()
    save()
    assert len(json.loads(file.read_text())["cells"]) == 2
