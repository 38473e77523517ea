"""What JupyterLab saves of an explorer, and what it shows of that without the kernel."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from .notebook_page import CANVAS, NotebookPage
from .servers import ROOT, Server, make_environment, run_server, write_notebook

pytestmark = pytest.mark.browser

DEMO = ROOT / "demo_notebooks" / "models" / "digits_cnn.onnx"
STACK = "main/blocks/0-3/"
INSIDE = "main/blocks/0/first/"
#: the page is written as soon as there is a picture, and waits for no other test
CELL = f"""\
import netloupe
from netloupe.widgets import page_process, saving
saving._SOON = 0
page_process._NICENESS = 0
ex = netloupe.explore("digits_cnn.onnx", expand="none")
ex.select("{STACK}")
ex
"""
FRAMES = ".nl-static iframe"
#: the server knows folder and keys of its own, as the one who trusts a notebook does
TRUST = (
    "import sys; from nbformat.sign import TrustNotebookApp as A; A.launch_instance(sys.argv[1:])"
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("lab")
    shutil.copy(DEMO, folder)
    write_notebook(folder / "live.ipynb", CELL)
    return folder


@pytest.fixture(scope="module")
def lab(folder: Path) -> Iterator[Server]:
    with run_server("lab", folder) as running:
        yield running


@pytest.fixture(scope="module")
def saved(shared_page: Any, lab: Server, folder: Path) -> Path:
    """A notebook that was run and saved by somebody."""
    page = shared_page
    # what runs in a frame that nobody sees would cost time
    page.add_init_script(
        "window.ran = 0; addEventListener('DOMContentLoaded', () => {"
        " if (location.href === 'about:srcdoc') console.log('a page ran in a frame'); });"
    )
    notebook = NotebookPage(page, lab, "live.ipynb")
    notebook.run_cell(0)
    notebook.wait_for_canvas()
    path = folder / "live.ipynb"
    for _ in range(60):
        page.keyboard.press("Control+s")
        page.wait_for_timeout(1000)
        if "<iframe" in path.read_text():
            break
    # the canvas stands alone, and has hidden what came late
    assert page.locator(FRAMES).count() == 0
    assert not page.locator("[data-netloupe-static]").first.is_visible()
    assert page.locator(CANVAS).first.is_visible()
    assert "a page ran in a frame" not in notebook.console
    return path


def read_output(path: Path) -> dict[str, Any]:
    content = json.loads(path.read_text())
    data = content["cells"][0]["outputs"][-1]["data"]
    return {kind: "".join(text) for kind, text in data.items()}


def copy_notebook(saved: Path, name: str, *, trusted: bool) -> str:
    """Copy a saved notebook, as for somebody else: without the widgets that the kernel knows."""
    path = saved.with_name(name)
    content = json.loads(saved.read_text())
    content["metadata"].pop("widgets", None)
    text = json.dumps(content)
    for data in [output["data"] for output in content["cells"][0]["outputs"]]:
        view = data.get("application/vnd.jupyter.widget-view+json")
        if view:
            text = text.replace(view["model_id"], "0" * 32)
    # of the same content a signature is known already
    path.write_text(text.replace('"id": "cell0"', f'"id": "{path.stem}"'))
    if trusted:
        subprocess.run(
            [sys.executable, "-c", TRUST, str(path)],
            env=make_environment(saved.parent),
            check=True,
            capture_output=True,
        )
    return name


def test_what_is_saved_has_the_explorer_and_the_picture(saved: Path) -> None:
    data = read_output(saved)
    assert data["text/html"].count("<iframe") == 1
    assert data["text/html"].count("<img") == 1
    assert len(saved.read_bytes()) < 1_000_000


def test_a_trusted_notebook_shows_the_explorer_alone(
    shared_page: Any, lab: Server, saved: Path
) -> None:
    page = shared_page
    NotebookPage(page, lab, copy_notebook(saved, "trusted.ipynb", trusted=True))
    page.wait_for_selector(FRAMES)
    explorer = page.query_selector(FRAMES).content_frame()
    explorer.wait_for_selector(f'{CANVAS}[data-ready="true"]')
    # as it was when it was saved
    assert explorer.get_attribute(CANVAS, "data-selected") == STACK
    page.get_by_text("model not found").first.wait_for(state="attached")
    assert not page.get_by_text("model not found").first.is_visible()
    assert not page.get_by_text("The graph as it was saved.").is_visible()
    # and it can be explored
    explorer.focus(CANVAS)
    page.keyboard.press("Enter")
    explorer.wait_for_function(
        f"(path) => document.querySelector('{CANVAS}').netloupe.paths().includes(path)", arg=INSIDE
    )


def test_a_notebook_that_is_not_trusted_shows_the_picture_once(
    shared_page: Any, lab: Server, saved: Path
) -> None:
    page = shared_page
    NotebookPage(page, lab, copy_notebook(saved, "untrusted.ipynb", trusted=False))
    page.get_by_text("Where the notebook is trusted").wait_for()
    assert page.locator("iframe").count() == 0
    pictures = [each for each in page.locator(".jp-OutputArea img").all() if each.is_visible()]
    [picture] = pictures
    assert picture.evaluate("(picture) => picture.naturalWidth") > 100
    said = page.locator(".jp-OutputArea").first.inner_text().splitlines()
    assert "Explorer of digits_cnn.onnx" in said
    assert sum(map(len, said)) < 300
    assert not page.get_by_text("The graph is explored where").is_visible()
