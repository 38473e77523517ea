"""Judges of what a picture says find what is planted, and nothing where there is nothing."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

from netloupe.explorer.layout import Composer, LayoutEngine
from netloupe.explorer.readers.load import load
from netloupe.explorer.render.picture import Picture, make_picture
from netloupe.explorer.view import ViewOptions
from tests.count_faults import read_chain
from tests.picture_judges import judge_picture
from tests.raw_graph import RawGraph
from tests.title_faults import read_title

Change = Callable[[onnx.ModelProto], None]


def make_model() -> onnx.ModelProto:
    """Return a stem of three convolutions, two blocks that take from it, and a sum."""
    nodes, tensors = [], []

    def convolve(scope: str, number: int, taken: str) -> str:
        weight = f"{scope}.{number}.weight"
        elements = np.full((8, 8, 3, 3), len(nodes), np.float32)
        tensors.append(numpy_helper.from_array(elements, weight))
        result = f"{scope}.{number}"
        name = f"/{scope}/{scope}.{number}/Conv"
        nodes.append(
            helper.make_node("Conv", [taken, weight], [result], name=name, pads=[1, 1, 1, 1])
        )
        return result

    stem = "x"
    for number in range(3):
        stem = convolve("stem", number, stem)
    left = convolve("left", 1, convolve("left", 0, stem))
    right = convolve("right", 1, convolve("right", 0, stem))
    nodes.append(helper.make_node("Add", [left, right], ["sum"], name="/Add"))
    nodes.append(helper.make_node("Sigmoid", ["sum"], ["y"], name="/Sigmoid"))
    ends = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [1, 8, 16, 16]) for name in "xy"]
    graph = helper.make_graph(nodes, "main", ends[:1], ends[1:], tensors)
    return helper.make_model(graph, ir_version=10, opset_imports=[helper.make_opsetid("", 21)])


@pytest.fixture(scope="module")
def picture() -> Iterator[Picture]:
    engine = LayoutEngine()
    model = load(make_model().SerializeToString())
    try:
        yield make_picture(model, ViewOptions.parse({}), composer=Composer(engine), deadline=600)
    finally:
        engine.stop()


def judge(picture: Picture, folder: Path, change: Change | None = None) -> list[str]:
    """Return what is found where the file is changed and the picture is not."""
    model = make_model()
    if change is not None:
        change(model)
    path = folder / "model.onnx"
    onnx.save(model, path)
    return [line for lines in judge_picture(picture, path).values() for line in lines]


def test_nothing_is_wrong_with_what_is_drawn(picture: Picture, tmp_path: Path) -> None:
    assert judge(picture, tmp_path) == []


def test_edges_along_which_nothing_flows_are_found_and_flows_without_one(
    picture: Picture, tmp_path: Path
) -> None:
    def change(model: onnx.ModelProto) -> None:
        model.graph.node[5].input[0] = "left.1"  # right follows left

    found = judge(picture, tmp_path, change)
    assert "main/%stem.2 from main/stem/ to main/right/: nothing flows" in found
    assert "main/left/ gives left.1 to main/right/" in found


def test_constants_are_no_flow(picture: Picture, tmp_path: Path) -> None:
    def change(model: onnx.ModelProto) -> None:
        del model.graph.node[4].input[:]

    found = judge(picture, tmp_path, change)
    assert [line for line in found if line.startswith("main/%left.1 from")] == [
        "main/%left.1 from main/left/ to main/Add: a constant"
    ]


def test_what_is_no_result_of_a_box_but_leaves_it_is_found(
    picture: Picture, tmp_path: Path
) -> None:
    line = "main/%left.1 from main/left/ to main/Add"

    def make_mask(model: onnx.ModelProto) -> None:
        model.graph.node[4].op_type = "Mul"
        model.graph.node[4].input[:] = ["x", "x"]

    def hand_on_what_is_made(model: onnx.ModelProto) -> None:
        model.graph.node[4].op_type = "Transpose"
        model.graph.node[4].input[:] = ["left.0"]

    def choose(model: onnx.ModelProto) -> None:
        model.graph.node[4].op_type = "ArgMax"
        model.graph.node[4].input[:] = ["x"]

    def write_zeros(model: onnx.ModelProto) -> None:
        model.graph.node[4].op_type = "Gather"
        model.graph.node[4].input[:] = ["left.1.weight", "x"]
        model.graph.initializer[4].raw_data = bytes(len(model.graph.initializer[4].raw_data))

    assert f"{line}: nothing learned is in it" in judge(picture, tmp_path, make_mask)
    assert f"{line}: nothing learned is in it" in judge(picture, tmp_path, write_zeros)
    for change in (hand_on_what_is_made, choose):
        assert not any(line in one for one in judge(picture, tmp_path, change))


def test_a_box_named_after_a_module_that_holds_others_is_found(
    picture: Picture, tmp_path: Path
) -> None:
    def change(model: onnx.ModelProto) -> None:
        model.graph.node[6].name = "/left/left.1/Conv"
        model.graph.node[6].input[1] = model.graph.initializer[6].name = "left.2.weight"

    assert judge(picture, tmp_path, change) == ["main/right/: right holds 1 of 2: left.2"]


def test_false_counts_are_found(picture: Picture, tmp_path: Path) -> None:
    def change(model: onnx.ModelProto) -> None:
        model.graph.node[1].op_type = "Mul"

    (line,) = [line for line in judge(picture, tmp_path, change) if " told, " in line]
    assert line == "main/stem/: Conv ×3: 3 to 3 of Conv told, 2 to 2 there"


def test_chains_and_titles_are_read() -> None:
    assert read_chain("(Conv · ReLU) ×3 · Linear") == {"Conv": 3, "ReLU": 3, "Linear": 1}
    assert read_chain("Self-attention, Linear ×12") == {"Self-attention": 1, "Linear": 12}
    assert read_title("h.2–3 … 4–5") == {("h", str(number)) for number in range(2, 6)}
    assert read_title("a / b.0, c") == {("a", "b", "0"), ("c",)}


def test_what_a_function_returns_is_followed_to_what_it_takes(tmp_path: Path) -> None:
    text = """<ir_version: 10, opset_import: ["" : 21, "own" : 1]>
        g (float[4] x) => (float[4] y) { a, i = own.f (x)  y = Gather (a, i) }
        <domain: "own", opset_import: ["" : 21]>
        f (v) => (w, index) { w = Neg (v)  index = Constant <value_ints: ints = [0, 1, 2, 3]> () }
    """
    path = tmp_path / "model.onnx"
    onnx.save(onnx.parser.parse_model(text), path)
    nodes = RawGraph(path).nodes
    assert {key: node.is_constant for key, node in nodes.items()} == {
        ("a", "w"): False,
        ("a", "index"): True,
        ("y",): False,
    }
    assert {node.key for node in nodes[("y",)].before} == {("a", "w"), ("a", "index")}
