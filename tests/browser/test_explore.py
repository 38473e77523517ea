"""The explorer in real applications: the whole way from a cell to the selection and back."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from .notebook_page import NotebookPage
from .servers import ROOT, Server, run_server, write_notebook

pytestmark = pytest.mark.browser

DEMO = ROOT / "demo_notebooks" / "models" / "digits_cnn.onnx"
GPT2 = ROOT.parent / "shared" / "corpus" / "exported" / "gpt2.legacy.onnx"

#: what is selected is written beside the explorer, and a button selects from Python
CELL = """\
import ipywidgets, netloupe
ex = netloupe.explore({model!r})
seen = ipywidgets.Label("nothing seen")
ex.observe(lambda change: setattr(seen, "value", f"seen {{change.new}}"), "selection")
button = ipywidgets.Button(description="select from Python")
button.on_click(lambda _: ex.select({target!r}))
ipywidgets.VBox([button, seen])
"""
SHOW = "ex"


@pytest.fixture(scope="module", params=["lab", "notebook", "voila"])
def server(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Server]:
    folder = tmp_path_factory.mktemp(request.param)
    shutil.copy(DEMO, folder)
    model = {"model": "digits_cnn.onnx", "target": "main/blocks/2/second/conv/"}
    write_notebook(folder / "demo.ipynb", CELL.format(**model), SHOW, "print('is', ex.selection)")
    if GPT2.exists():
        shutil.copy(GPT2, folder)
        model = {
            "model": "gpt2.legacy.onnx",
            "target": "main/model/transformer/h.3/mlp/c_fc/Gemm",
        }
        write_notebook(folder / "gpt2.ipynb", CELL.format(**model), SHOW, "print('is', ex.selection)")
    with run_server(request.param, folder) as running:
        yield running


def open_notebook(page: Any, server: Server, name: str) -> NotebookPage:
    notebook = NotebookPage(page, server, name)
    notebook.run_cell(0)
    notebook.run_cell(1)
    notebook.wait_for_canvas()
    notebook.settle()
    return notebook


def test_gpt2_from_the_cell_to_a_histogram_and_back(page: Any, server: Server) -> None:
    if not GPT2.exists():
        pytest.skip("../shared/corpus is not here")
    notebook = open_notebook(page, server, "gpt2.ipynb")
    layer = "main/model/transformer/h.0/"
    assert layer in notebook.call("paths")
    page.evaluate("() => document.querySelector('[data-netloupe=canvas]').focus()")
    # search jumps to the layer, so that it is in the window
    page.keyboard.press("/")
    page.keyboard.type("h.0/attn/c_attn")
    page.keyboard.press("Enter")
    attention = "main/model/transformer/h.0/attn/"
    notebook.wait_for_path(attention)
    edges = notebook.call("edges")
    residual = "main/%/model/transformer/drop/Dropout_output_0"
    assert edges, residual
    notebook.settle()


def test_weight_shows_its_histogram(page: Any, server: Server) -> None:
    notebook = open_notebook(page, server, "demo.ipynb")
    node = next(path for path in notebook.call("paths") if "stem" in path and "conv" in path)
    notebook.click(node)
    notebook.wait_for_text(f"seen {node}")
    assert notebook.selected() == node
