"""The judge of widths in a row: what layers go through is, and what only looks like it is not."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx.parser
import pytest
from onnx import numpy_helper

from netloupe.explorer.readers.load import load
from netloupe.explorer.render.labels import Labels
from netloupe.explorer.render.picture import make_picture
from netloupe.explorer.view import ViewOptions
from tests.figure_widths import find_strung_widths, has_path, read_course
from tests.raw_graph import RawGraph

#: vectors of 3 and scalars of 26 features (B. Jing and others, Geometric Vector Perceptrons, 2021)
PERCEPTRON = """
    h = MatMul (v, a)  n = ReduceL2 <keepdims = 0> (h, axis)  c = Concat <axis = -1> (s, n)
    t = MatMul (c, b)  g = MatMul (t, d)  w = MatMul (h, e)  p = Unsqueeze (g, axis)
    y = Mul (w, p)
"""
CONVOLUTIONS = """
    p = Conv (x, k)  q = Relu (p)  r = Conv (q, l)  f = Flatten (r)  y = MatMul (f, m)
"""
WEIGHTS = {
    "a": (3, 8),
    "b": (34, 32),
    "d": (32, 8),
    "e": (8, 8),
    "k": (4, 2, 1, 1),
    "l": (1, 4, 1, 1),
    "m": (9, 5),
}


def store(body: str, inputs: str, path: Path) -> Path:
    text = (
        f'<ir_version: 8, opset_import: ["" : 18]> g ({inputs}) => (float[1, N, M] y) '
        f"<int64[1] axis = {{1}}> {{ {body} }}"
    )
    model = onnx.parser.parse_model(text)
    for name, dims in WEIGHTS.items():
        model.graph.initializer.append(numpy_helper.from_array(np.ones(dims, np.float32), name))
    onnx.save(model, path / "model.onnx")
    return path / "model.onnx"


@pytest.mark.parametrize(
    ("widths", "is_so"),
    [
        ("3 → 8 → 8", True),
        ("34 → 32 → 8", True),
        ("3 → 8 → 32 → 8 → 8", False),  # scalars take the lengths of vectors beside others
        ("34 → 32 → 8 → 8", False),  # the gate is multiplied with what is of vectors
        ("3 → 8 → 8 → 8", False),
        ("8 → 3 → 8", False),
    ],
)
def test_courses_of_scalars_and_vectors(widths: str, is_so: bool, tmp_path: Path) -> None:
    raw = RawGraph(store(PERCEPTRON, "float[1, 5, 3] v, float[1, 26] s", tmp_path))
    assert has_path(read_course(widths), raw.nodes.values(), raw) == is_so


@pytest.mark.parametrize(
    ("widths", "is_so"),
    [("2 → 4 → 1", True), ("2 → 4 → 1 → 5", True), ("4 → 1 → 9 → 5", False), ("2 → 1 → 5", False)],
)
def test_a_layer_behind_a_map_takes_all_places(widths: str, is_so: bool, tmp_path: Path) -> None:
    raw = RawGraph(store(CONVOLUTIONS, "float[1, 2, 3, 3] x", tmp_path))
    assert has_path(read_course(widths), raw.nodes.values(), raw) == is_so


def test_a_planted_course_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = store(PERCEPTRON, "float[1, 5, 3] v, float[1, 26] s", tmp_path)
    model = onnx.load(path)
    for node in model.graph.node:
        node.name = f"/perceptron/{node.op_type}_{node.output[0]}"
    model.graph.node.append(onnx.helper.make_node("Neg", ["y"], ["z"], name="/Neg"))
    model.graph.output[0].name = "z"
    onnx.save(model, path)
    picture = make_picture(load(path), ViewOptions.parse({"expand": "none"}))
    assert find_strung_widths(picture, path) == []
    draw = Labels.draw

    def draw_strung(labels: Labels, item: object) -> object:
        face = draw(labels, item)  # type: ignore[arg-type]
        strung = "3 → 8 → 32 → 8 → 8"
        texts = [run._replace(text=strung) if "×" in run.text else run for run in face.texts]
        return face._replace(texts=tuple(texts))

    monkeypatch.setattr(Labels, "draw", draw_strung)
    assert len(find_strung_widths(picture, path)) == 1
