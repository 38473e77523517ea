"""Every element has a box that shows or hides it, and a note on it marks that box."""

from __future__ import annotations

import random

import pytest

from netloupe.explorer.model import Model
from netloupe.explorer.readers.load import load
from netloupe.explorer.review import ReviewItem, mark_items
from netloupe.explorer.view import View, list_showing
from tests.cases.shown import TEXTS
from tests.corpus import corpus_file
from tests.onnx_text import load_text
from tests.standalone.composing import open_at_random

STATES = range(4)
MODELS = [*TEXTS, "caffe2"]


def load_model(name: str) -> Model:
    if name == "caffe2":
        return load(corpus_file("caffe2/fills/predict_net.pb"))
    return load_text(TEXTS[name])


def list_elements(view: View) -> list[str]:
    """Return the paths of all elements and groups that a picture of the main graph has."""
    graphs = [g for g in view.model.graphs if g.kind != "function"]
    groups = [path for graph in graphs for path in view.borders(graph).tree.groups]
    whole = {f"{graph.path}/" for graph in graphs} | {"main"}
    return [path for path in [*view.model, *groups] if path not in whole]


def open_state(view: View, state: int) -> None:
    if state:
        open_at_random(view, random.Random(state), 4 * state)


def marks_of(view: View, path: str) -> set[str]:
    item = ReviewItem("note", "noted", "title", "", "note", (path,))
    return {*mark_items([item], view.model, lambda graph: view.borders(graph).tree)}


@pytest.mark.parametrize("state", STATES)
@pytest.mark.parametrize("name", MODELS)
def test_a_note_marks_the_box_that_shows_its_element(name: str, state: int) -> None:
    view = View(load_model(name))
    open_state(view, state)
    drawn = {child.path for item in view.open_items() for child in item.children}
    missed = []
    for path in list_elements(view):
        shown = {item.path for item in list_showing(view, path)}
        # in the body of an open call a path begins with that of the call
        if "functions/" in path:
            continue
        if shown and not shown & marks_of(view, path) & drawn:
            missed.append((path, shown))
    assert missed == []


@pytest.mark.parametrize("name", MODELS)
def test_all_but_what_nothing_uses_has_a_box(name: str) -> None:
    view = View(load_model(name))
    missing = [path for path in list_elements(view) if not list_showing(view, path)]
    values = view.model.graph.values
    unused = [value for value in values.values() if not (value.is_used or value.is_input)]
    assert missing == [each.path for each in unused if not (each.producer or each.is_output)]


def test_a_bias_behind_a_dequantizer_is_shown_by_all_that_take_it() -> None:
    view = View(load_text(TEXTS["quantized"]))
    for path in list_elements(view):
        view.reveal(path) if path != "main/%unused" else None
    for path in ("main/%b", "main/%bs", "main/%bz", "main/dequantize_b", "main/%bd"):
        found = {item.path for item in list_showing(view, path)}
        assert found == {"main/block/first/Gemm", "main/block/second/Gemm", "main/head/Add"}, path


def test_an_element_of_a_function_is_in_the_calls_of_it() -> None:
    view = View(load_text(TEXTS["calls"]))
    (inner,) = [g for g in view.model.graphs if g.path.endswith("inner")]
    view.open("main/one")
    found = {item.path for item in list_showing(view, inner.nodes[0].path)}
    assert found <= {"main/one", "main/two", *view.items}
    assert found
