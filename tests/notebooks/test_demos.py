"""The demo notebooks run from top to bottom, and their pages show pictures without a kernel."""

from __future__ import annotations

import base64
import copy
import re
import shutil
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from tests.browser.servers import ROOT
from tests.notebooks.running import Execute, export_page, run_kernel

DEMOS = ROOT / "demo_notebooks"
NAMES = ["compare_versions", "explore", "export", "review_quantized"]
WITH_EXPLORER = ["compare_versions", "explore", "review_quantized"]
STALE = "the stored outputs are old: run `python tools/execute_notebooks.py`"
WIDGET = "application/vnd.jupyter.widget-view+json"
STATIC = '<div class="nl-static"'
#: what is left of the bar of opening, which is shown only where that takes long
OPENED = 'data-netloupe="opened"'
#: attributes of a picture that its page carries itself
PICTURE = re.compile(r'<img\b[^>]*\bsrc="data:image/svg\+xml;base64,([^"]+)"')
#: folders of a machine, wherever a notebook was executed
FOLDERS = re.compile(r'(?:^|["\' (=])(/(?:home|root|tmp|work|usr|Users|private)/[^\s"\\]*)')

# the kernel's own modules warn of what a test of notebooks cannot change
pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")


@pytest.fixture(scope="module")
def executed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Any]]:
    """Every demo, executed in a copy of the folder by one kernel that has forgotten the last."""
    home = tmp_path_factory.mktemp("home")
    folder = home / "demos"
    shutil.copytree(DEMOS, folder)
    with run_kernel(home, folder) as run:
        yield {name: execute(folder / f"{name}.ipynb", run) for name in NAMES}


@cache
def read_notebook(path: Path) -> Any:
    """Return a notebook, which nobody may change."""
    import nbformat

    return nbformat.read(path, as_version=4)  # type: ignore[no-untyped-call]


def execute(path: Path, run: Execute) -> Any:
    """Execute a notebook as a new kernel would: no name is left of the last one."""
    import nbformat.v4

    notebook = copy.deepcopy(read_notebook(path))
    for cell in notebook.cells:
        if cell.cell_type == "code":
            cell.outputs = []
    before = sorted(path.parent.rglob("*"))
    forget = nbformat.v4.new_code_cell("%reset -f")  # type: ignore[no-untyped-call]
    notebook.cells.insert(0, forget)
    run(notebook)
    notebook.cells.remove(forget)
    left = [p for p in path.parent.rglob("*") if p not in before and "__pycache__" not in p.parts]
    assert not left, f"{path.name} left files behind"
    return notebook


def find_explorers(notebook: Any) -> list[Any]:
    """Return the cells that show an explorer as their last expression."""
    return [
        cell
        for cell in notebook.cells
        if cell.cell_type == "code" and any(STATIC in html for html in list_html(cell))
    ]


def list_html(cell: Any) -> list[str]:
    return [output.get("data", {}).get("text/html", "") for output in cell.outputs]


def test_every_demo_is_tested() -> None:
    assert sorted(path.stem for path in DEMOS.glob("*.ipynb")) == NAMES


@pytest.mark.parametrize("name", NAMES)
def test_runs_without_error(executed: dict[str, Any], name: str) -> None:
    for cell in executed[name].cells:
        for output in cell.get("outputs", []):
            assert output.output_type != "error"
            assert output.get("name") != "stderr", output.get("text")


@pytest.mark.parametrize("name", WITH_EXPLORER)
def test_explorer_stands_with_its_static_picture(executed: dict[str, Any], name: str) -> None:
    cells = find_explorers(executed[name])
    assert cells
    for cell in cells:
        assert "netloupe.explore(" in cell.source
        assert any(WIDGET in output.get("data", {}) for output in cell.outputs)


@pytest.mark.parametrize("name", WITH_EXPLORER)
def test_page_holds_the_static_picture(executed: dict[str, Any], name: str) -> None:
    for cell in find_explorers(executed[name]):
        alone = copy.copy(executed[name])
        alone.cells = [cell]
        assert len(find_pictures(export_page(alone))) == 1, cell.source


def test_page_of_exports_holds_the_pictures(executed: dict[str, Any]) -> None:
    notebook = executed["export"]
    shown = sum("SVG(" in cell.source for cell in notebook.cells if cell.cell_type == "code")
    assert shown >= 5
    assert len(find_pictures(export_page(notebook))) == shown


def find_pictures(page: str) -> list[str]:
    """Return the drawings of ours that a page holds."""
    pictures = [base64.b64decode(text).decode() for text in PICTURE.findall(page)]
    for svg in pictures:
        assert ElementTree.fromstring(svg).tag == "{http://www.w3.org/2000/svg}svg"
    return [svg for svg in pictures if '<g class="group' in svg or '<g class="node' in svg]


@pytest.mark.parametrize("name", NAMES)
def test_stored_demo_is_executed_and_clean(name: str) -> None:
    notebook = read_notebook(DEMOS / f"{name}.ipynb")
    text = (DEMOS / f"{name}.ipynb").read_text(encoding="utf-8")
    assert len(text.encode()) < 1_000_000
    assert set(notebook.metadata) == {"kernelspec", "language_info"}
    assert all(cell.execution_count for cell in notebook.cells if cell.cell_type == "code")
    assert WIDGET not in text
    for cell in notebook.cells:
        assert not cell.metadata
        assert not FOLDERS.findall(cell.source)
        for output in cell.get("outputs", []):
            for content in (output.get("text", ""), *output.get("data", {}).values()):
                assert not FOLDERS.findall(str(content))


@pytest.mark.parametrize("name", NAMES)
def test_stored_outputs_are_those_of_a_run(executed: dict[str, Any], name: str) -> None:
    stored = read_notebook(DEMOS / f"{name}.ipynb")
    for old, new in zip(stored.cells, executed[name].cells, strict=True):
        if old.cell_type == "code":
            texts, new_texts = list_texts(old), list_texts(new)
            assert len(texts) == len(new_texts), STALE
            for text, new_text in zip(texts, new_texts, strict=True):
                assert text == repair(new_text, text), STALE


#: what is left of a character that was read in two pieces
_CUT = re.compile("\ufffd{2,3}")


def repair(text: str, model: str) -> str:
    """Put together the characters that IPython has cut, where another text has them whole.

    It decodes what a command prints in the pieces that it reads, which on a busy machine end
    within a character.
    """
    while cut := _CUT.search(text):
        text = text[: cut.start()] + model[cut.start() : cut.start() + 1] + text[cut.end() :]
    return text


def test_only_characters_that_were_cut_are_repaired() -> None:
    assert repair("a \ufffd\ufffd\ufffd▏\ufffd\ufffd b", "a █▏▎ b") == "a █▏▎ b"
    assert repair("a \ufffd▏ b", "a █▏ b") != "a █▏ b"
    assert repair("a \ufffd\ufffd", "a") == "a "


def list_texts(cell: Any) -> list[str]:
    """Return what a cell printed and the plain text of what it showed."""
    printed = "".join(output.text for output in cell.outputs if output.output_type == "stream")
    shown = [
        output.data["text/plain"]
        for output in cell.outputs
        if output.output_type != "stream"
        and WIDGET not in output.data
        and OPENED not in output.data.get("text/html", "")
    ]
    return [printed.replace("\r\n", "\n"), *shown]


@pytest.mark.browser
@pytest.mark.parametrize("kind", ["executed", "stored"])
@pytest.mark.parametrize("name", NAMES)
def test_picture_is_visible_without_kernel_and_network(
    page: Any, executed: dict[str, Any], tmp_path: Path, name: str, kind: str
) -> None:
    stored = read_notebook(DEMOS / f"{name}.ipynb")
    path = tmp_path / f"{name}.html"
    path.write_text(export_page(executed[name] if kind == "executed" else stored), encoding="utf-8")
    page.context.set_offline(True)
    page.goto(path.as_uri())
    pictures = page.locator('img[src^="data:image/svg+xml"]')
    assert pictures.count() >= 1
    for picture in pictures.all():
        picture.scroll_into_view_if_needed()
        box = picture.bounding_box()
        assert box is not None
        assert box["height"] > 50  # a row of a few boxes is no higher
        assert box["width"] > 100
        assert picture.evaluate("picture => picture.complete && picture.naturalWidth > 0")
    screenshot = page.screenshot(path=tmp_path / f"{name}.png", full_page=True)
    assert screenshot.startswith(b"\x89PNG")


def test_how_long_an_explorer_took_to_open_is_not_stored() -> None:
    import nbformat.v4 as v4

    from tools.execute_notebooks import strip_notebook

    def store(*htmls: str) -> Any:
        cell = v4.new_code_cell("ex")  # type: ignore[no-untyped-call]
        cell.outputs = [
            v4.new_output("display_data", {"text/html": html})  # type: ignore[no-untyped-call]
            for html in htmls
        ]
        notebook = v4.new_notebook(cells=[cell])  # type: ignore[no-untyped-call]
        strip_notebook(notebook)
        return notebook.cells

    picture = f'{STATIC} data-netloupe-static="{"0a" * 16}"></div>'
    assert store(f"<div {OPENED}></div>", picture) == store(picture)
