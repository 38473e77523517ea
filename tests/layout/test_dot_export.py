"""The DOT text of a view: Graphviz can draw it, and it holds what is shown."""

from __future__ import annotations

from pathlib import Path

import graphviz
import pytest

from netloupe.explorer.readers.load import load
from netloupe.explorer.view import View, expand_view
from tests.corpus import also_beside, light_file, shared_model
from tests.dot_check import draw_with_graphviz
from tests.expanding import open_view
from tests.onnx_text import load_text

MODEL = """g (bool c, float[N] x) => (float[N] y) {
    [pre] p = Relu (x)
    [if] y = If (c) <
        then_branch = then () => (float[N] a) { [neg] a = Neg (p) },
        else_branch = else () => (float[N] p) { }
    >
}"""


def test_open_groups_are_clusters(tmp_path: Path) -> None:
    model = load_text(MODEL)
    path = tmp_path / "out.dot"
    dot = model.to_dot(path, expand="all")
    assert isinstance(dot, graphviz.Digraph)
    assert path.read_text() == dot.source
    assert dot.source.count("subgraph cluster_") == 3
    drawing = draw_with_graphviz(dot.source)
    view = View(model)
    expand_view(view, "all")
    links = sum(len(view.links(item)) for item in view.open_items())
    assert len(drawing["edges"]) == links


def test_lines_of_a_label_are_escapes() -> None:
    model = load_text("g (float[N] x) => (float[N] y) { y = Conv <kernel_shape = [3, 3]> (x, x) }")
    source = model.to_dot(details="all").source
    assert all(line.count('"') % 2 == 0 for line in source.splitlines())
    (label,) = [
        object_["label"]
        for object_ in draw_with_graphviz(source)["objects"]
        if object_.get("label", "").startswith("Conv")
    ]
    assert r"\nkernel 3×3" in label


@pytest.mark.parametrize("text", ["<b>", "\\N", "a\\", '"', "a:b", "\\G\\l", "}", "<<>", "&amp;"])
def test_names_mean_nothing_to_graphviz(text: str) -> None:
    model = load_text("g (float[N] x) => (float[N] y) { y = Relu (x) }")
    model.graph.inputs[0].name = text
    drawing = draw_with_graphviz(model.to_dot().source)
    assert len(drawing["objects"]) == 3
    assert len(drawing["edges"]) == 2


@pytest.mark.parametrize("expand", ["none", "auto", "all"])
def test_a_light_model(expand: str) -> None:
    model = load(light_file("light_squeezenet.onnx"))
    view = View(model)
    open_view(view, expand)
    opened = [item for item in view.open_items() if item is not view.root]
    drawing = draw_with_graphviz(model.to_dot(expand=expand).source)
    clusters = [shape for shape in drawing["objects"] if shape["name"].startswith("cluster_")]
    ports = sum(len(item.inputs) + len(item.outputs) for item in opened)
    assert len(clusters) == len(opened)
    assert len(drawing["objects"]) == len(view.items) - 1 + ports


@pytest.mark.parametrize("direction", ["TB", "LR"])
@pytest.mark.parametrize(
    "name",
    also_beside(
        [
            "exported/bert.dynamo.onnx",
            "exported/gpt2.legacy.onnx",
            "features/control_flow_3deep.onnx",
            "hostile/scope_cycle.onnx",
            "hostile/evil_scopes.onnx",
        ]
    ),
)
def test_corpus_models_can_be_drawn(name: str, direction: str) -> None:
    dot = shared_model(name).to_dot(expand="auto", direction=direction)
    assert draw_with_graphviz(dot.source)["objects"]
