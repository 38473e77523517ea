"""An error of reading names the file, the element that cannot be read, and what to do."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from google.protobuf import json_format, text_format
from onnx import TensorProto, helper, numpy_helper

from netloupe.explorer.errors import ModelFormatError, ReadingError, TensorDataError
from netloupe.explorer.model import Model
from netloupe.explorer.model.node_keys import key_attributes
from netloupe.explorer.progress import Cancelled, watched
from netloupe.explorer.readers.caffe2 import arguments, net
from netloupe.explorer.readers.load import load
from netloupe.explorer.readers.onnx import devices, graph, nodes, tensors, value_infos
from netloupe.explorer.readers.onnx import model as onnx_model
from netloupe.explorer.readers.onnx.scope import Scope
from netloupe.explorer.readers.onnx.tensors import TensorReader
from netloupe.explorer.readers.protobuf import parts
from netloupe.proto import caffe2_pb2, onnx_data_pb2

MARK = "MARK"


def make_branch(name: str, **marks: str) -> onnx.GraphProto:
    conv = helper.make_node("Conv", ["x", "w"], ["c"], "Conv_12", kernel_shape=[3, 3])
    conv.attribute[0].doc_string = marks.get("attribute", "")
    relu = helper.make_node("Relu", ["c"], ["y"], doc_string=marks.get("unnamed", ""))
    return helper.make_graph([conv, relu], name, [], [helper.make_tensor_value_info("y", 1, [1])])


def make_model(**marks: str) -> onnx.ModelProto:
    """Return a model in which a text stands at the elements that are named."""
    branch = helper.make_node(
        "If",
        ["x"],
        ["y"],
        "If_3",
        marks.get("node"),
        then_branch=make_branch("then", **marks),
        else_branch=make_branch("else"),
    )
    weights = numpy_helper.from_array(np.ones((2, 3), np.float32), "weights")
    weights.doc_string = marks.get("initializer", "")
    info = helper.make_tensor_value_info
    main = helper.make_graph(
        [branch],
        "g",
        [info("x", TensorProto.FLOAT, [1], marks.get("input", ""))],
        [info("y", TensorProto.FLOAT, [1], marks.get("output", ""))],
        [weights],
        value_info=[info("between", TensorProto.FLOAT, ["N", 2], marks.get("value", ""))],
    )
    main.quantization_annotation.add(tensor_name="x").quant_parameter_tensor_names.add(
        key="SCALE_TENSOR", value=marks.get("annotation", "")
    )
    twice = helper.make_node("Add", ["a", "a"], ["b"], "double", marks.get("in function"))
    function = helper.make_function(
        "own", "Twice", ["a"], ["b"], [twice], [helper.make_opsetid("", 20)]
    )
    model = helper.make_model(main, functions=[function])
    training = model.training_info.add()
    training.algorithm.CopyFrom(helper.make_graph([], "t", [], []))
    training.algorithm.initializer.add(name="rate", doc_string=marks.get("in training", ""))
    model.metadata_props.add(key="author", value=marks.get("metadata", ""))
    return model


def damage(message: Any) -> bytes:
    """Return a message whose field with the mark is of a kind that there is not."""
    data: bytes = message.SerializeToString()
    at = data.index(MARK.encode()) - 2
    assert data[at] & 7 == 2
    assert data[at + 1] == len(MARK)
    return data[:at] + bytes([data[at] | 7]) + data[at + 1 :]


def cut(message: Any) -> bytes:
    """Return a message as far as a download got that ended at the mark."""
    data: bytes = message.SerializeToString()
    return data[: data.index(MARK.encode())]


ELEMENTS = {
    "attribute": "attribute 'kernel_shape' of node 'Conv_12' in main/If_3.then_branch",
    "unnamed": "node '#1:Relu' in main/If_3.then_branch",
    "node": "node 'If_3' in main",
    "initializer": "initializer 'weights' in main",
    "input": "input 'x' in main",
    "output": "output 'y' in main",
    "value": "value info 'between' in main",
    "annotation": "entry 'SCALE_TENSOR' of quantization annotation 'x' in main",
    "in function": "node 'double' in functions/own::Twice",
    "in training": "initializer 'rate' in training_0.algorithm",
    "metadata": "metadata entry 'author'",
}


@pytest.mark.parametrize("whole", [True, False], ids=["parsed whole", "scanned"])
@pytest.mark.parametrize(("place", "element"), ELEMENTS.items(), ids=ELEMENTS)
def test_damage_names_the_element(
    place: str, element: str, whole: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not whole:
        monkeypatch.setattr(parts, "WHOLE_BYTES", 0)
    path = tmp_path / "model.onnx"
    path.write_bytes(damage(make_model(**{place: MARK})))
    with pytest.raises(ModelFormatError) as caught:
        load(path)
    said = f" that is damaged or cut short in {element}. Export or download it again."
    assert str(caught.value) == f"{path}: is an ONNX model{said}"


@pytest.mark.parametrize("place", ["attribute", "node", "initializer", "value"])
def test_a_file_that_ends_too_early_names_where(place: str) -> None:
    with pytest.raises(ModelFormatError) as caught:
        load(cut(make_model(**{place: MARK})))
    assert f"is cut short in {ELEMENTS[place]}. Export" in str(caught.value)


def test_elements_without_a_name_are_told_by_their_place() -> None:
    model = make_model(initializer=MARK)
    model.graph.initializer[0].name = ""
    with pytest.raises(ModelFormatError, match=r"in initializer #0 in main\. "):
        load(damage(model))


def test_a_name_is_shown_in_one_line_and_not_whole() -> None:
    model = make_model(node=MARK)
    model.graph.node[0].name = "a\nb" + "x" * 10_000
    with pytest.raises(ModelFormatError, match=r"in node 'a\\nbx+…' in main\. ") as caught:
        load(damage(model))
    assert len(str(caught.value)) < 300


def test_graphs_that_stand_alone_are_called_as_in_the_model() -> None:
    with pytest.raises(ModelFormatError, match=r"attribute 'kernel_shape' of node 'Conv_12' in"):
        load(damage(make_branch("then", attribute=MARK)))


def test_an_inner_value_of_a_data_set_is_named() -> None:
    sequence = onnx_data_pb2.SequenceProto(name="inputs", elem_type=1)
    for name in ("first", "second"):
        sequence.tensor_values.add(name=name, dims=[1], data_type=1, raw_data=b"\0\0\0\0")
    sequence.tensor_values[1].external_data.add(key="location", value=MARK)
    with pytest.raises(ModelFormatError) as caught:
        load(damage(sequence))
    assert "is an ONNX SequenceProto" in str(caught.value)
    assert "in external data entry 'location' of tensor 'second'. Export" in str(caught.value)


def test_graphs_nested_too_deep_are_told_by_their_path() -> None:
    inner = helper.make_graph([], "leaf", [], []).SerializeToString()
    for level in range(501):
        # written by hand: the runtime writes no message that is nested so deep
        attribute = b"\x0a\x0bthen_branch" + delimit(6, inner)
        inner = delimit(1, delimit(3, f"If_{level}".encode()) + delimit(5, attribute))
    with pytest.raises(ModelFormatError) as caught:
        load(b"\x08\x08" + delimit(7, inner))
    where = "attribute 'then_branch' of node 'If_1' in main/If_500.then_branch/If_499.then_branch/"
    assert f"nested deeper than 500 levels in {where}" in str(caught.value)
    assert "Export the model with fewer levels" in str(caught.value)
    assert len(str(caught.value)) < 400


def delimit(number: int, content: bytes) -> bytes:
    """Return a length-delimited field."""
    length, size = len(content), []
    while length > 127:
        size.append(length & 127 | 128)
        length >>= 7
    return bytes([number << 3 | 2, *size, length]) + content


def make_net(**marks: str) -> caffe2_pb2.NetDef:
    message = caffe2_pb2.NetDef(name="n", external_input=["x"])
    conv = message.op.add(name="conv1", type="Conv", input=["x"], output=["y"])
    conv.arg.add(name="order", s=marks.get("argument", "NCHW").encode())
    message.op.add(type="Relu", input=["y"], output=["z"], engine=marks.get("operator", ""))
    loop = message.op.add(name="loop", type="While", input=["z"])
    body = loop.arg.add(name="body").n
    body.name = "inner"
    body.op.add(name="step", type="Copy", input=["z"], output=["z"]).engine = marks.get("net", "")
    return message


@pytest.mark.parametrize(
    ("place", "element"),
    {
        "argument": "argument 'order' of operator 'conv1' in main",
        "operator": "operator '#1:Relu' in main",
        "net": "operator 'step' in main/loop.body",
    }.items(),
)
def test_damage_of_a_caffe2_net_names_the_operator(place: str, element: str) -> None:
    with pytest.raises(ModelFormatError) as caught:
        load(damage(make_net(**{place: MARK})))
    said = f"Caffe2 NetDef that is damaged or cut short in {element}. Export or download it again."
    assert said in str(caught.value)


def test_damage_of_a_caffe2_plan_names_net_or_step() -> None:
    for place in ("net", "step"):
        plan = caffe2_pb2.PlanDef(name="p")
        step = plan.execution_step.add(name="train").substep.add(name="epoch", network=["n"])
        plan.network.add().CopyFrom(make_net(operator=MARK if place == "net" else ""))
        step.report_net = MARK if place == "step" else ""
        said = {"net": "operator '#1:Relu' in nets/n", "step": "step 'epoch' in main/train.body"}
        with pytest.raises(ModelFormatError) as caught:
            load(damage(plan))
        assert f"PlanDef that is damaged or cut short in {said[place]}. Export" in str(caught.value)


def write_text(message: Any) -> bytes:
    return text_format.MessageToString(message).encode()


def write_json(message: Any) -> bytes:
    return json_format.MessageToJson(message, preserving_proto_field_name=True).encode()


@pytest.mark.parametrize("write", [write_text, write_json])
def test_an_error_in_text_names_the_element(write: Callable[[Any], bytes]) -> None:
    text = write(make_model(attribute=MARK)).replace(b'"MARK"', b"4.7")
    with pytest.raises(ModelFormatError) as caught:
        load(text)
    assert "doc_string" in str(caught.value)
    assert f" in {ELEMENTS['attribute']}. Correct it." in str(caught.value)

    text = write(make_net(operator=MARK)).replace(b'"MARK"', b"4.7")
    with pytest.raises(ModelFormatError, match=r"in operator '#1:Relu' in main\. Correct it\."):
        load(text)


def test_bytes_that_may_be_anything_name_no_element() -> None:
    with pytest.raises(ModelFormatError, match="no ONNX model") as caught:
        load(b"\x0a\x03abc\x12\xff")
    assert " in " not in str(caught.value).split("Export")[0]


# what no reader foresaw


def stumble(*_: Any, **__: Any) -> Any:
    """Fail as a reader does that has a mistake."""
    raise KeyError("stumbled")


def say(element: str, source: str = "<bytes>: ") -> str:
    reason = "(KeyError: 'stumbled'). This is a mistake in netloupe: please report it"
    return f"{source}{element} cannot be read {reason} with the file."


def stumble_at(name: str, do: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function that fails at what has a name, and else does what it should."""

    def try_to(*given: Any) -> Any:
        names = [getattr(entry, "name", entry) for entry in given]
        return stumble() if name in names else do(*given)

    return try_to


def find_branch(model: Model) -> Any:
    return model.graph.nodes[0].subgraphs[1]


ONNX_MISTAKES: dict[str, tuple[Any, str, str, str]] = {
    "node": (graph, "Node", "Conv_12", "node 'Conv_12' in main/If_3.else_branch"),
    "wiring": (Scope, "use", "Conv_12", "node 'Conv_12' in main/If_3.else_branch"),
    "in function": (Scope, "use", "double", "node 'double' in functions/own::Twice"),
    "input": (graph, "Value", "x", "input 'x' in main"),
    "output": (graph, "read_later", "y", "output 'y' in main/If_3.else_branch"),
    "initializer": (TensorReader, "read_initializer", "weights", "initializer 'weights' in main"),
    "sparse": (TensorReader, "read_sparse", "main/%few", "sparse initializer 'few' in main"),
    "annotation": (
        graph,
        "QuantizationAnnotation",
        "x",
        "the quantization annotation of 'x' in main",
    ),
    "graph": (graph, "read_entries", "", "the graph functions/own::Twice"),
    "function": (onnx_model, "Function", "Twice", "function 'Twice'"),
    "default": (onnx_model, "read_attribute", "k", "attribute 'k' of functions/own::Twice"),
    "header": (devices, "DeviceConfiguration", "d", "the model"),
}


@pytest.mark.parametrize("mistake", ONNX_MISTAKES.values(), ids=ONNX_MISTAKES)
def test_a_mistake_in_reading_a_graph_names_the_element(
    mistake: tuple[Any, str, str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    module, function, name, element = mistake
    proto = make_model()
    proto.configuration.add(name="d")
    proto.functions[0].attribute_proto.add(name="k", i=1)
    proto.graph.sparse_initializer.add().values.CopyFrom(numpy_helper.from_array(np.ones(1), "few"))
    do = stumble_at(name, getattr(module, function)) if name else stumble
    monkeypatch.setattr(module, function, do)
    with pytest.raises(ReadingError) as caught:
        load(proto)
    assert str(caught.value) == say(element, "<ModelProto>: ")
    assert isinstance(caught.value.__cause__, KeyError)


LATER: dict[str, tuple[Any, str, Callable[[Model], Any], str]] = {
    "attribute": (
        nodes,
        "read_attribute",
        lambda model: find_branch(model).nodes[0].attributes,
        "attribute 'kernel_shape' of node 'Conv_12' in main/If_3.then_branch",
    ),
    "node": (
        nodes,
        "_find_constant",
        lambda model: find_branch(model).nodes[1].doc,
        "node '#1:Relu' in main/If_3.then_branch",
    ),
    "warnings": (
        nodes,
        "_judge_wiring",
        lambda model: find_branch(model).nodes[1].warnings,
        "node '#1:Relu' in main/If_3.then_branch",
    ),
    "metadata": (
        nodes,
        "read_entries",
        lambda model: model.graph.nodes[0].metadata,
        "node 'If_3' in main",
    ),
    "grouping": (
        nodes.OnnxNodeLoader,
        "attribute_key",
        lambda model: key_attributes(model.graph.nodes[0]),
        "node 'If_3' in main",
    ),
    "unknown fields of a node": (
        parts,
        "find_unknown_fields",
        lambda model: model.graph.nodes[0].unknown_fields,
        "node 'If_3' in main",
    ),
    "unknown fields of a graph": (
        parts,
        "find_unknown_fields",
        lambda model: find_branch(model).unknown_fields,
        "the graph main/If_3.then_branch",
    ),
    "unknown fields of a value": (
        value_infos,
        "may_have_unknown",
        lambda model: model.graph.values["between"].unknown_fields,
        "value 'between' in main",
    ),
    "value": (
        value_infos,
        "read_type",
        lambda model: model.graph.values["between"].type,
        "value 'between' in main",
    ),
    "tensor": (
        tensors,
        "_judge_storage",
        lambda model: model.graph.initializers[0].storage,
        "tensor main/%weights",
    ),
}


@pytest.mark.parametrize("mistake", LATER.values(), ids=LATER)
def test_a_mistake_in_reading_later_names_the_element(
    mistake: tuple[Any, str, Callable[[Model], Any], str], monkeypatch: pytest.MonkeyPatch
) -> None:
    module, function, ask, element = mistake
    model = load(make_model())
    monkeypatch.setattr(module, function, stumble)
    with pytest.raises(ReadingError) as caught:
        ask(model)
    assert str(caught.value) == say(element, "<ModelProto>: ")


def test_a_mistake_in_reading_elements_names_the_tensor() -> None:
    tensor = load(make_model()).graph.initializers[0]
    assert tensor.storage == "raw_data"
    tensor._fetch = tensor._stored_bytes = tensor._find_unknown = stumble
    for ask in (tensor.numpy, lambda: tensor.stored_bytes, lambda: tensor.unknown_fields):
        with pytest.raises(TensorDataError) as caught:
            ask()
        assert str(caught.value) == say("the tensor main/%weights", "")


CAFFE2_MISTAKES: dict[str, tuple[Any, str, str, Callable[[Model], Any], str]] = {
    "operator": (net, "_write", "y", lambda model: model, "node 'conv1' in main"),
    "inner operator": (net, "connect_node", "step", lambda m: m, "node 'step' in main/loop.body"),
    "argument": (
        arguments.ArgumentReader,
        "_read_value",
        "main/conv1.order",
        lambda model: model.graph.nodes[0].attributes,
        "argument 'order' of main/conv1",
    ),
    "fill": (net, "read_fill", "w", lambda model: model, "the fill of 'w'"),
}


@pytest.mark.parametrize("mistake", CAFFE2_MISTAKES.values(), ids=CAFFE2_MISTAKES)
def test_a_mistake_in_reading_caffe2_names_the_element(
    mistake: tuple[Any, str, str, Callable[[Model], Any], str], monkeypatch: pytest.MonkeyPatch
) -> None:
    module, function, name, ask, element = mistake
    fills = caffe2_pb2.NetDef(name="init")
    fill = fills.op.add(type="GivenTensorFill", output=["w"])
    fill.arg.add(name="shape", ints=[1])
    fill.arg.add(name="values", floats=[1.0])
    monkeypatch.setattr(module, function, stumble_at(name, getattr(module, function)))
    with pytest.raises(ReadingError) as caught:
        ask(load(make_net().SerializeToString(), fills.SerializeToString()))
    assert str(caught.value) == say(element)


@pytest.mark.parametrize("error", [Cancelled(), ValueError("enough"), MemoryError()], ids=repr)
def test_who_ends_the_work_gets_what_he_raised(error: Exception) -> None:
    def end(what: str, share: float | None) -> None:
        if what == "reading nodes":
            raise error

    with pytest.raises(type(error)) as caught, watched(end):
        load(make_model())
    assert caught.value is error


def test_errors_that_name_their_element_are_not_wrapped(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: Any) -> Any:
        raise TensorDataError("main/%weights: is too large.")

    monkeypatch.setattr(TensorReader, "read_initializer", refuse)
    with pytest.raises(TensorDataError, match=r"^main/%weights: is too large\.$") as caught:
        load(make_model())
    assert not isinstance(caught.value, ReadingError)
