"""The Review tab in JupyterLab: a finding is found, shown, and gone through from Python."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import onnx
import pytest
from onnx import helper

from tests.browser.notebook_page import CANVAS, NotebookPage
from tests.browser.servers import Server, run_server, write_notebook
from tests.corpus import corpus_file

pytestmark = pytest.mark.browser

REVIEW = '[data-netloupe="review"]'
BLOCK = "main/model/transformer/h.3/"
FAULTY = f"{BLOCK}attn/Transpose"
CELL = """\
import ipywidgets, netloupe
ex = netloupe.explore("faulty.onnx")
seen = ipywidgets.Label("nothing seen")
def button(text, action):
    made = ipywidgets.Button(description=text)
    made.on_click(lambda _: action())
    return made
def tell():
    item = ex.next_item()
    seen.value = f"{item.id} of {len(ex.review)}, {ex.selection}"
ipywidgets.HBox([button("next item", tell), seen])
"""


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    folder: Path = tmp_path_factory.mktemp("lab")
    model = onnx.load(corpus_file("exported/gpt2.legacy.onnx"))
    (node,) = [n for n in model.graph.node if n.name == FAULTY.removeprefix("main")]
    node.attribute.append(helper.make_attribute("axes", [0, 1]))
    onnx.save(model, folder / "faulty.onnx")
    write_notebook(folder / "review.ipynb", CELL, "ex")
    with run_server("lab", folder) as running:
        yield running


def test_a_finding_is_listed_and_shown(page: Any, server: Server) -> None:
    notebook = NotebookPage(page, server, "review.ipynb")
    notebook.run_cell(0)
    notebook.run_cell(1)
    notebook.wait_for_canvas()
    notebook.settle()
    page.wait_for_selector(f'{REVIEW}[data-stage="checked"]')
    inspector = page.locator(".nl-inspector")
    inspector.get_by_text("faulty").first.wait_for()
    page.locator(f"{REVIEW} .nl-tab").nth(1).click()
    page.wait_for_selector(f'{REVIEW}[data-tab="review"]')
    assert page.locator(".nl-inspector-part").first.is_hidden()
    rows = page.locator(f"{REVIEW} .nl-review-row")
    rows.first.click()
    notebook.wait_for_path(FAULTY)
    page.wait_for_selector(f'{CANVAS}[data-selected="{FAULTY}"]')
    assert page.locator(f"{REVIEW} .nl-review-detail").is_visible()
    # keys are for the list, and not for the notebook around it
    cells = page.locator(".jp-Notebook .jp-Cell").count()
    page.keyboard.press("b")
    page.keyboard.press("n")
    page.wait_for_selector(f'{REVIEW} .nl-chosen[data-item="1"]')
    # Python follows later: JupyterLab brings what a widget sends and a press of a button to two
    # threads of the kernel
    page.wait_for_selector(f'{CANVAS}[data-selected="{BLOCK}"]')
    assert page.locator(".jp-Notebook .jp-Cell").count() == cells
    page.get_by_label("Filter by words").fill("axes")
    page.wait_for_function(
        f"""() => document.querySelector('{REVIEW}').shadowRoot
            .querySelectorAll("li").length === 1"""
    )
    page.get_by_label("Filter by words").fill("")
    # all of it stands inside of the inspector, whatever the style of the page
    around = inspector.bounding_box()
    scroll = page.locator(f"{REVIEW} .nl-review-scroll").bounding_box()
    assert scroll["height"] > 200
    assert scroll["y"] + scroll["height"] <= around["y"] + around["height"] + 1
    assert scroll["width"] <= around["width"]
    # Python goes on from where the list is
    page.get_by_role("button", name="next item", exact=True).click()
    notebook.wait_for_text("NL-G04 of ")
    page.wait_for_selector(f'{REVIEW} .nl-chosen[data-item="2"]')
    page.get_by_role("button", name="read the weights").click()
    page.locator(f"{REVIEW} .nl-review-status").wait_for(state="hidden")
    marks = page.locator(f"{REVIEW} .nl-review-marks")
    assert marks.get_attribute("aria-pressed") == "true"
    marks.click()
    assert marks.get_attribute("aria-pressed") == "false"
    page.locator(f"{REVIEW} .nl-tab").first.click()
    assert page.locator(".nl-inspector-part").first.is_visible()
