"""What a page says of repetitions that are alike is what it would say of each by itself."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

from netloupe.explorer.compare import diff
from netloupe.explorer.model import Model
from netloupe.explorer.readers.load import load
from netloupe.explorer.standalone.page import make_page
from netloupe.explorer.standalone.renamed_repetitions import RepetitionComparer
from netloupe.explorer.view import View, ViewOptions
from tests.corpus import corpus_file

LAYERS = 8
CHANGED = 5
WIDTH = 32


@pytest.mark.parametrize(
    "name", ["exported/gpt2.legacy.onnx", "exported/bert.legacy.onnx", "exported/llama.legacy.onnx"]
)
def test_a_page_is_the_same_with_each_repetition_described_by_itself(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = load(corpus_file(name))
    assert find_in_all_repeats(model) > 0
    page, _ = make_page(model, ViewOptions())
    monkeypatch.setattr(RepetitionComparer, "find", lambda *_: None)
    expected, _ = make_page(model, ViewOptions())
    assert page == expected


@pytest.mark.parametrize(
    "name",
    [
        "exported/densenet.legacy.onnx",
        "exported/vit.dynamo.onnx",
        "exported/mobilenetv3.legacy.onnx",
        "exported/swin.legacy.onnx",
        "quantized/bert.qdq.onnx",
        "features/functions_nested_transformer.onnx",
    ],
)
def test_no_repetition_is_like_another_where_more_than_names_differ(name: str) -> None:
    """Each is described by itself then; where one is found, its page belongs to the test above."""
    assert find_in_all_repeats(load(corpus_file(name))) == 0


def find_in_all_repeats(model: Model) -> int:
    """Return how many repetitions of a graph are like another one."""
    tree = View(model).borders(model.graph).tree
    repeats = [group for group in tree.groups.values() if group.kind == "repeat"]
    assert repeats
    repetitions = RepetitionComparer()
    found = [repetitions.find(each, at) for each in repeats for at in range(len(each.children))]
    return sum(renamed is not None for renamed in found)


def test_repetitions_that_differ_in_names_alone_are_found() -> None:
    model = load(corpus_file("exported/gpt2.legacy.onnx"))
    assert find_alike(model) == [*range(1, 11)]  # like the first; the last gives to the head


def make_stack() -> onnx.ModelProto:
    """Return a model of equal layers: x + relu(x * w + b) with names of their own."""
    nodes, weights, infos = [], [], []
    for layer in range(LAYERS):
        scope, named = f"layers.{layer}", f"/layers.{layer}"
        taken = f"h{layer}"
        rng = np.random.default_rng(layer)
        for weight in ("weight", "bias"):
            shape = (WIDTH, WIDTH) if weight == "weight" else (WIDTH,)
            array = rng.standard_normal(shape).astype(np.float32)
            weights.append(numpy_helper.from_array(array, f"{scope}.{weight}"))
        weights.append(numpy_helper.from_array(np.float32([0.5]), f"{scope}.factor"))
        product, sum_, active, scaled = (f"{scope}/{end}" for end in ("xw", "xwb", "relu", "half"))
        nodes += [
            helper.make_node("MatMul", [taken, f"{scope}.weight"], [product], f"{named}/fc/MatMul"),
            helper.make_node("Add", [product, f"{scope}.bias"], [sum_], f"{named}/fc/Add"),
            helper.make_node("LeakyRelu", [sum_], [active], f"{named}/act/Relu", alpha=0.25),
            helper.make_node("Mul", [active, f"{scope}.factor"], [scaled], f"{named}/Mul"),
            helper.make_node("Add", [taken, scaled], [f"h{layer + 1}"], f"{named}/Add"),
        ]
        infos += [
            helper.make_tensor_value_info(name, TensorProto.FLOAT, ["batch", WIDTH])
            for name in (product, sum_, active, scaled, f"h{layer + 1}")
            if name != f"h{LAYERS}"
        ]
    graph = helper.make_graph(
        nodes,
        "stack",
        [helper.make_tensor_value_info("h0", TensorProto.FLOAT, ["batch", WIDTH])],
        [helper.make_tensor_value_info(f"h{LAYERS}", TensorProto.FLOAT, ["batch", WIDTH])],
        weights,
        value_info=infos,
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)])


def find_alike(model: Model) -> list[int]:
    """Return the numbers of the repetitions of the only stack that are like another one."""
    view = View(model, model.graph)
    (repeat,) = (item.repeat for item in view.root.children if item.repeat is not None)
    repetitions = RepetitionComparer()
    numbers = range(len(repeat.children))
    return [number for number in numbers if repetitions.find(repeat, number) is not None]


def test_layers_that_differ_in_names_alone_are_alike(tmp_path: Path) -> None:
    onnx.save(make_stack(), tmp_path / "stack.onnx")
    found = find_alike(load(tmp_path / "stack.onnx"))
    # the first takes the graph's input, the last gives its output; the others are like the second
    assert found == [2, 3, 4, 5, 6]


def node_of(model: onnx.ModelProto, end: str) -> onnx.NodeProto:
    name = f"/layers.{CHANGED}/{end}"
    return next(node for node in model.graph.node if node.name == name)


def weight_of(model: onnx.ModelProto, end: str) -> onnx.TensorProto:
    name = f"layers.{CHANGED}.{end}"
    return next(weight for weight in model.graph.initializer if weight.name == name)


def info_of(model: onnx.ModelProto, end: str) -> onnx.ValueInfoProto:
    name = f"layers.{CHANGED}/{end}"
    return next(info for info in model.graph.value_info if info.name == name)


def change_attribute(model: onnx.ModelProto) -> None:
    node_of(model, "act/Relu").attribute[0].f = 0.5


def change_doc(model: onnx.ModelProto) -> None:
    node_of(model, "fc/Add").doc_string = "Look here."


def change_metadata(model: onnx.ModelProto) -> None:
    node_of(model, "fc/Add").metadata_props.add(key="origin", value="another one")


def add_unknown_field(model: onnx.ModelProto) -> None:
    node = node_of(model, "fc/Add")
    node.ParseFromString(node.SerializeToString() + b"\xf8\x7f\x01")


def add_unknown_field_to_value(model: onnx.ModelProto) -> None:
    info = info_of(model, "relu")
    info.ParseFromString(info.SerializeToString() + b"\xf8\x7f\x01")


def change_type(model: onnx.ModelProto) -> None:
    info_of(model, "relu").type.tensor_type.shape.dim[0].dim_param = "rows"


def change_value_doc(model: onnx.ModelProto) -> None:
    info_of(model, "relu").doc_string = "Look here."


def change_value_metadata(model: onnx.ModelProto) -> None:
    info_of(model, "relu").metadata_props.add(key="origin", value="another one")


def change_small_weight(model: onnx.ModelProto) -> None:
    weight_of(model, "factor").CopyFrom(
        numpy_helper.from_array(np.float32([0.75]), f"layers.{CHANGED}.factor")
    )


def change_weight_type(model: onnx.ModelProto) -> None:
    weight = weight_of(model, "bias")
    weight.CopyFrom(numpy_helper.from_array(np.float64([0.5] * WIDTH), weight.name))


def share_weight(model: onnx.ModelProto) -> None:
    node_of(model, "fc/Add").input[1] = f"layers.{CHANGED - 1}.bias"


def use_elsewhere(model: onnx.ModelProto) -> None:
    model.graph.node.append(
        helper.make_node("Identity", [f"layers.{CHANGED}/xw"], ["more"], "more")
    )
    model.graph.output.append(
        helper.make_tensor_value_info("more", TensorProto.FLOAT, ["batch", WIDTH])
    )


def give_out(model: onnx.ModelProto) -> None:
    model.graph.output.append(
        helper.make_tensor_value_info(f"layers.{CHANGED}/xw", TensorProto.FLOAT, ["batch", WIDTH])
    )


def annotate(model: onnx.ModelProto) -> None:
    annotation = model.graph.quantization_annotation.add(tensor_name=f"layers.{CHANGED}/xw")
    annotation.quant_parameter_tensor_names.add(key="SCALE_TENSOR", value="layers.0.factor")


def swap_operands(model: onnx.ModelProto) -> None:
    node = node_of(model, "Add")
    node.input[:] = [node.input[1], node.input[0]]


def use_long_name(model: onnx.ModelProto) -> None:
    node_of(model, "fc/Add").name = f"/layers.{CHANGED}/fc/{'Add' * 50}"


def use_markup(model: onnx.ModelProto) -> None:
    node_of(model, "fc/Add").name = f"/layers.{CHANGED}/fc/<b>Add</b>&amp;"


CHANGES = (
    *(change_attribute, change_doc, change_metadata, add_unknown_field),
    *(add_unknown_field_to_value, change_type, change_value_doc, change_value_metadata),
    *(change_small_weight, change_weight_type, share_weight, use_elsewhere, give_out),
    *(annotate, swap_operands, use_long_name, use_markup),
)


@pytest.mark.parametrize("change", CHANGES)
def test_what_differs_in_more_than_names_is_described_by_itself(
    change: Callable[[onnx.ModelProto], None], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "stack.onnx"
    proto = make_stack()
    change(proto)
    onnx.save(proto, path)
    assert CHANGED not in find_alike(load(path))
    page, _ = make_page(load(path), ViewOptions())
    monkeypatch.setattr(RepetitionComparer, "find", lambda *_: None)
    expected, _ = make_page(load(path), ViewOptions())
    assert page == expected


def make_tanh(model: onnx.ModelProto) -> None:
    node = node_of(model, "act/Relu")
    node.op_type = "Tanh"
    del node.attribute[:]


def take_from_before(model: onnx.ModelProto) -> None:
    node_of(model, "fc/MatMul").input[0] = f"h{CHANGED - 1}"


def take_from_inside(model: onnx.ModelProto) -> None:
    node_of(model, "Add").input[0] = f"layers.{CHANGED}/xw"


def train_again(model: onnx.ModelProto) -> None:
    weight = weight_of(model, "weight")
    weight.CopyFrom(numpy_helper.from_array(np.full((WIDTH, WIDTH), 0.25, np.float32), weight.name))


@pytest.mark.parametrize(
    "change",
    [make_tanh, change_attribute, change_doc, train_again, take_from_before, take_from_inside],
)
def test_a_layer_that_was_another_one_before_is_told_so(
    change: Callable[[onnx.ModelProto], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of two compared models the newer one may have layers that are all alike."""
    newer, older = make_stack(), make_stack()
    change(older)

    def write_pages() -> tuple[bytes, str]:
        found = diff(load(older.SerializeToString()), load(newer.SerializeToString()))
        return make_page(found.merged, ViewOptions())[0], found.to_panes()

    pages = write_pages()
    monkeypatch.setattr(RepetitionComparer, "find", lambda *_: None)
    assert pages == write_pages()


def test_names_that_are_numbers_are_no_counts(tmp_path: Path) -> None:
    """A value called ``2`` is told from the second of something."""
    proto = make_stack()
    for layer in range(LAYERS):
        for number, end in enumerate(("xw", "xwb", "relu", "half")):
            rename_value(proto, f"layers.{layer}/{end}", str(4 * layer + number))
    path = tmp_path / "stack.onnx"
    onnx.save(proto, path)
    page, _ = make_page(load(path), ViewOptions())
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(RepetitionComparer, "find", lambda *_: None)
        expected, _ = make_page(load(path), ViewOptions())
    assert page == expected


def rename_value(model: onnx.ModelProto, name: str, new: str) -> None:
    for node in model.graph.node:
        node.input[:] = [new if each == name else each for each in node.input]
        node.output[:] = [new if each == name else each for each in node.output]
    for info in model.graph.value_info:
        info.name = new if info.name == name else info.name
