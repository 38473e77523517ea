"""The whole way in a real application: from a cell to the selection and back."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import netloupe
from netloupe.explorer.view import View
from tests.corpus import corpus_file

from .notebook_page import CANVAS, NotebookPage
from .servers import ROOT, Server, run_server, write_notebook

DEMO = ROOT / "demo_notebooks" / "models" / "digits_cnn.onnx"

#: what is selected is written beside the explorer, and buttons call it from Python
CELL = """\
import ipywidgets, netloupe
ex = netloupe.explore({model!r})
seen = ipywidgets.Label("nothing seen")
ex.observe(lambda change: setattr(seen, "value", f"seen {{change.new}}"), "selection")
def button(text, action):
    made = ipywidgets.Button(description=text)
    made.on_click(lambda _: action())
    return made
ipywidgets.HBox([
    button("select", lambda: ex.select({target!r})),
    button("go to group", lambda: ex.select({group!r})),
    button("ask", lambda: setattr(seen, "value", f"selection is {{ex.selection}}")),
    button("colour", lambda: ex.color_by("macs", "parameters")),
    button("ask for colours", lambda: setattr(seen, "value", f"coloured by {{ex.overlay.name}}")),
    seen,
])
"""

GPT2_NAMES = {
    "model": "gpt2.legacy.onnx",
    "target": "main/model/transformer/h.3/mlp/c_fc/Gemm",
    "group": "main/model/transformer/h.0-11/",
}
DEMO_NAMES = {
    "model": "digits_cnn.onnx",
    "target": "main/node_conv2d_5",
    "group": "main/blocks/0-3/",
}


@contextmanager
def run_host(application: str, folder: Path) -> Iterator[Server]:
    """Run an application on a folder that gets notebooks of the demo and of a large model."""
    shutil.copy(DEMO, folder)
    write_notebook(folder / "demo.ipynb", CELL.format(**DEMO_NAMES), "ex")
    shutil.copy(corpus_file("exported/gpt2.legacy.onnx"), folder)
    write_notebook(folder / "gpt2.ipynb", CELL.format(**GPT2_NAMES), "ex")
    with run_server(application, folder) as running:
        yield running


def open_notebook(page: Any, server: Server, name: str) -> NotebookPage:
    notebook = NotebookPage(page, server, name)
    notebook.run_cell(0)
    notebook.run_cell(1)
    notebook.wait_for_canvas()
    notebook.settle()
    return notebook


def press(page: Any, text: str) -> None:
    page.get_by_role("button", name=text, exact=True).click()


def residual_of(model: Path, group_path: str) -> tuple[str, list[str]]:
    """Return the value that enters a group and goes both through and around its first part."""
    view = View(netloupe.load(model))
    item = view.open(group_path)
    for value in item.inputs:
        consumers = [child.path for child in item.children if value in child.inputs]
        if len(consumers) > 1:
            return f"main/%{value.name}", consumers
    raise AssertionError("there is no residual connection")


def explore(page: Any, server: Server, notebook_name: str, names: dict[str, str]) -> NotebookPage:
    """Go the whole way: from the cell to a group, a node, its weight, its histogram, and back."""
    model = DEMO if names is DEMO_NAMES else corpus_file("exported/gpt2.legacy.onnx")
    notebook = open_notebook(page, server, notebook_name)
    group = names["group"]
    assert group in notebook.call("paths")

    # opening a repeat shows what is repeated, with the residual edge through its wall
    press(page, "go to group")
    page.wait_for_selector(f'{CANVAS}[data-selected="{group}"]')
    notebook.settle()
    residual, consumers = residual_of(model, group)
    if consumers[0] not in notebook.call("paths"):  # the window is too small for an open stack
        notebook.click(group, double=True)
        notebook.wait_for_path(consumers[0])
    notebook.click(group, double=True)
    for consumer in consumers:
        notebook.wait_until_gone(consumer)
    notebook.click(group, double=True)
    for consumer in consumers:
        notebook.wait_for_path(consumer)
    assert residual in notebook.call("edges")

    # a node: its attributes; a weight: its histogram
    press(page, "select")
    page.wait_for_selector(f'{CANVAS}[data-selected="{names["target"]}"]')
    notebook.wait_for_path(names["target"])
    host = page.locator(CANVAS).first.bounding_box()
    place = notebook.locate(names["target"])
    assert abs(place["x"] - host["x"] - host["width"] / 2) < host["width"] / 3
    assert abs(place["y"] - host["y"] - host["height"] / 2) < host["height"] / 3
    notebook.click(names["target"])
    notebook.wait_for_text("Attributes")
    press(page, "ask")
    notebook.wait_for_text(f"selection is {names['target']}")

    node = netloupe.load(model)[names["target"]]
    assert isinstance(node, netloupe.Node)
    weight = node.inputs[1]
    assert weight is not None
    notebook.click(weight.path)
    notebook.wait_for_text(f"seen {weight.path}")
    page.wait_for_function(
        "() => [...document.querySelectorAll('.widget-image, img.widget-image')]"
        ".some((image) => image.naturalWidth > 100)"
    )
    press(page, "ask")
    notebook.wait_for_text(f"selection is {weight.path}")
    return notebook


def check_contract(page: Any, server: Server) -> None:
    """The contract of each host: what a cell shows is painted and passes messages both ways.

    It holds that a host runs the cell, shows the widget and takes its picture away; that Python
    moves the canvas and gets what is clicked; that scenes, descriptions and pictures of weights
    come as bytes; that the canvas gets its keys, and answers and errors come back; that the legend
    of colours looks as it does elsewhere, and another column can be chosen in it. What the explorer
    itself can do is tested on the canvas alone.
    """
    notebook = explore(page, server, "demo.ipynb", DEMO_NAMES)
    page.wait_for_function(
        "() => [...document.querySelectorAll('[data-netloupe-static]')]"
        ".every((element) => element.getClientRects().length === 0)"
    )

    # keys, search and errors
    page.evaluate(f"() => document.querySelector('{CANVAS}').focus()")
    page.keyboard.press("/")
    page.keyboard.type("Gemm")
    notebook.wait_for_text("1 hit")
    page.keyboard.press("Enter")
    page.wait_for_selector(f'{CANVAS}[data-selected="main/node_linear"]')
    page.keyboard.press("Escape")
    # an expression that is not valid is told, and what was typed stays
    page.keyboard.press("/")
    box = page.locator(f"{CANVAS} input").first
    box.fill("(")
    press(page, "Regular expression")
    notebook.wait_for_text("is not valid")
    assert box.input_value() == "("
    page.keyboard.press("Escape")
    check_legend(notebook)


def check_legend(notebook: NotebookPage) -> None:
    """Hold that colours asked for in Python have a legend, and that Python hears of what it says.

    Its rules have to reach it, and its list has to get the clicks and keys of a host that has rules
    and keys of its own.
    """
    page = notebook.page
    press(page, "colour")
    legend = page.locator(f"{CANVAS} .nl-legend").first
    legend.wait_for()
    unfold = page.get_by_role("button", name="Unfold the legend")
    if unfold.count():  # where there is little room
        unfold.click()
    words = legend.locator(".nl-legend-words")
    words.filter(has_text="MACs;").first.wait_for()
    notebook.settle()
    assert legend.locator("option").all_inner_texts() == ["None", "MACs", "parameters"]
    inner, room = legend.bounding_box(), page.locator(f"{CANVAS} .nl-room").first.bounding_box()
    assert inner is not None
    assert room is not None
    assert room["x"] <= inner["x"]
    assert room["y"] <= inner["y"]
    assert inner["x"] + inner["width"] <= room["x"] + room["width"]
    assert inner["y"] + inner["height"] <= room["y"] + room["height"]
    # small and above the picture, whatever the host's rules for lists, buttons and images are
    assert inner["width"] < 400
    for row in legend.locator(".nl-legend-words").all():
        box, size = (
            row.bounding_box(),
            row.evaluate("row => parseFloat(getComputedStyle(row).fontSize)"),
        )
        assert box is not None
        assert inner["x"] <= box["x"]
        assert box["x"] + box["width"] <= inner["x"] + inner["width"]
        assert 10 <= size <= 14
    select = legend.locator("select")
    assert select.evaluate(
        """(select) => {
          const { x, y, width, height } = select.getBoundingClientRect();
          const root = select.getRootNode();
          return root.elementFromPoint(x + width / 2, y + height / 2) === select;
        }"""
    )
    select.focus()
    page.keyboard.press("ArrowDown")
    words.filter(has_text="parameters;").first.wait_for()
    press(page, "ask for colours")
    notebook.wait_for_text("coloured by parameters")
