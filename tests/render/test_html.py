"""HTML of reprs and pages: well-formed, escaped, bounded."""

import re
from html.parser import HTMLParser

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

from netloupe.explorer.layout import Scene
from netloupe.explorer.model import Model, SparseTensor, Tensor
from netloupe.explorer.readers.load import load
from netloupe.explorer.render.faces import FaceBook
from netloupe.explorer.render.html import (
    write_graph_html,
    write_model_html,
    write_node_html,
    write_tensor_html,
)
from netloupe.explorer.render.page import draw_html_page
from netloupe.explorer.render.svg import draw_svg
from netloupe.explorer.tensors import compute_statistics

VOID = {"meta", "br", "hr", "link"}
HOSTILE = ["<script>alert(1)</script>", '" onclick="x', "&lt;", "\x00\ud800\u202e", "y" * 100_000]


class Checker(HTMLParser):
    """Fails on tags that do not nest; gathers the text, the tags and the attributes."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: set[str] = set()
        self.attributes: set[str] = set()
        self.text = ""
        self.feed(html)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.attributes.update(name for name, _ in attrs)
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.open and self.open[-1] != "style":
            self.text += data + "\n"


def tensor_of(array: np.ndarray) -> Tensor | SparseTensor:
    proto = numpy_helper.from_array(array, "w")
    graph = helper.make_graph([], "g", [], [], [proto])
    initializer = load(helper.make_model(graph)).graph.values["w"].initializer
    assert initializer is not None
    return initializer


def test_a_models_summary(model: Model) -> None:
    text = Checker(write_model_html(model)).text
    for word in (
        "ONNX, protobuf",
        "ai.onnx 17",
        "14 in 3 graphs",
        "10, 17.0 kB",
        "4,356",
        "input_ids",
    ):
        assert word in text
    assert "int64[batch, seq]" in text


def test_a_graphs_summary(model: Model) -> None:
    text = Checker(write_graph_html(model.graph)).text
    assert "main graph" in text
    assert "small" in text


def test_a_nodes_attributes_and_operands(model: Model) -> None:
    node = next(node for node in model.graph.nodes if node.op_type == "Conv")
    text = Checker(write_node_html(node)).text
    for word in ("main/Conv", "kernel_shape", "[3, 3]", "ints", "float32[4, 4, 3, 3] initializer"):
        assert word in text
    assert "\nW\n" in text
    choose = next(node for node in model.graph.nodes if node.op_type == "If")
    assert "then: 1 node" in Checker(write_node_html(choose)).text


def test_a_tensor_has_statistics_and_a_histogram() -> None:
    checked = Checker(write_tensor_html(tensor_of(np.linspace(-1, 3, 1000, dtype=np.float32))))
    assert "svg" in checked.tags
    for word in ("float32", "1,000", "-1", "4.0 kB", "mean"):
        assert word in checked.text


@pytest.mark.parametrize(
    "array",
    [
        np.array(1.5, np.float32),
        np.zeros((0, 3), np.float32),
        np.full(10, np.nan, np.float32),
        np.array([np.inf, 1, 2], np.float32),
        np.zeros(5, np.int8),
        np.array([True, False]),
        np.array(["a", "<b>"], object),
        np.array([1 + 2j, 3], np.complex64),
    ],
)
def test_odd_tensors_have_a_repr(array: np.ndarray) -> None:
    checked = Checker(write_tensor_html(tensor_of(array)))
    assert "b" not in checked.tags


def test_a_broken_tensor_says_what_is_wrong() -> None:
    proto = TensorProto(name="w", data_type=1, dims=[5], raw_data=b"abc")
    graph = helper.make_graph([], "g", [], [], [proto])
    tensor = load(helper.make_model(graph)).graph.values["w"].initializer
    assert isinstance(tensor, Tensor)
    assert "nl-warning" in write_tensor_html(tensor)


def test_an_enormous_claim_is_not_read() -> None:
    proto = TensorProto(name="w", data_type=1, dims=[1 << 40], raw_data=b"abc")
    graph = helper.make_graph([], "g", [], [], [proto])
    tensor = load(helper.make_model(graph)).graph.values["w"].initializer
    assert isinstance(tensor, Tensor)
    assert "not computed here" in write_tensor_html(tensor)


@pytest.mark.parametrize("name", HOSTILE, ids=range(len(HOSTILE)))
def test_hostile_names_stay_text(name: str) -> None:
    plain = name.encode("utf-8", "replace").decode()
    node = helper.make_node("Op", ["x"], ["y"], name=plain, domain=plain, doc_string=plain)
    node.attribute.append(onnx.helper.make_attribute("a", plain))
    node.attribute[0].name = plain
    graph = helper.make_graph(
        [node],
        plain,
        [helper.make_tensor_value_info("x", 1, [plain])],
        [helper.make_tensor_value_info("y", 1, None)],
        doc_string=plain,
    )
    proto = helper.make_model(graph, producer_name=plain)
    proto.metadata_props.add(key=plain, value=plain)
    model = load(proto)
    model.source = name
    model.graph.inputs[0].name = name
    for html in (
        write_model_html(model),
        write_graph_html(model.graph),
        write_node_html(model.graph.nodes[0]),
        draw_html_page("<svg></svg>", name, model),
    ):
        checked = Checker(html)
        assert "script" not in checked.tags
        assert not any(attribute.startswith("on") for attribute in checked.attributes)
        assert len(html) < 40_000
        html.encode()


def test_long_lists_are_bounded() -> None:
    values = [helper.make_tensor_value_info(f"x{i}", 1, []) for i in range(5000)]
    node = helper.make_node("Sum", [value.name for value in values], ["y"])
    graph = helper.make_graph([node], "g", values, [values[0]])
    model = load(helper.make_model(graph))
    for html in (write_model_html(model), write_node_html(model.graph.nodes[0])):
        assert "… 4,980 more" in html
        assert len(html) < 20_000


def test_the_page_holds_the_picture_and_no_script(
    scene: Scene, faces: FaceBook, model: Model
) -> None:
    page = draw_html_page(draw_svg(scene, faces.face, "dark"), "a <title>", model, "dark")
    checked = Checker(page)
    assert "a <title>" in checked.text
    assert {"svg", "table", "main"} <= checked.tags
    assert not {"script", "link", "img", "iframe"} & checked.tags


def test_the_classes_call_these(model: Model, weight: Tensor) -> None:
    for thing in (model, model.graph, model.graph.nodes[0], weight):
        assert thing._repr_html_().startswith('<div class="nl-repr">')


def drop_styles(html: str) -> str:
    """Return what is left of HTML where a notebook is not trusted, or on a code host."""
    html = re.sub(r"<style>.*?</style>", "", html, flags=re.DOTALL)
    html = re.sub(r"<svg.*?</svg>", "", html, flags=re.DOTALL)
    return re.sub(r' (class|style)="[^"]*"', "", html)


def test_it_reads_well_without_styles(model: Model, weight: Tensor) -> None:
    node = next(node for node in model.graph.nodes if node.op_type == "Conv")
    texts = []
    for thing in (model, model.graph, node, weight):
        plain = drop_styles(thing._repr_html_())
        assert "<strong>" in plain
        texts.append(re.sub(r"<[^>]*>", "", plain))
    assert " · ONNX model\n" in texts[0]
    assert "\nformat ONNX, protobuf\n" in texts[0]
    assert "Conv · ai.onnx 17\n" in texts[2]
    assert "kernel_shape [3, 3] · ints\n" in texts[2]
    assert "float32[4, 4, 3, 3] initializer\n" in texts[2]
    assert " · tensor\n" in texts[3]


def test_statistics_are_a_small_table() -> None:
    array = np.array([0, 1, np.nan, -3, np.inf], np.float32)
    html = compute_statistics(array)._repr_html_()
    text = Checker(html).text
    for words in ("5 elements", "min\n", "-3", "NaN", "+Inf", "median"):
        assert words in text
    assert len(drop_styles(html)) < 2000
    Checker(compute_statistics(np.array(["a"], object))._repr_html_())
    assert "of magnitudes" in compute_statistics(np.array([1j]))._repr_html_()
