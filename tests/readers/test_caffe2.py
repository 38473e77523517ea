"""Caffe2 nets, plans and tensors, from small messages."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from google.protobuf import text_format

from netloupe.explorer.describe import describe_element, format_text
from netloupe.explorer.errors import ModelFormatError, SourceError, TensorDataError
from netloupe.explorer.model import Graph, Model, Node, Tensor, is_constant
from netloupe.explorer.readers.caffe2.init_net import find_init_net
from netloupe.explorer.readers.caffe2.recognition import recognize_caffe2
from netloupe.explorer.readers.load import load
from netloupe.explorer.readers.source import Source
from netloupe.proto import caffe2_pb2
from tests.thresholds import threshold
from tests.wire_writer import field


def net(text: str) -> Any:
    return text_format.Parse(text, caffe2_pb2.NetDef())


def read(text: str, init: str | None = None) -> Model:
    return load(net(text) if init is None else (net(text), net(init)))


CHAIN = """
name: "chain" external_input: "x" external_output: "x"
op { type: "Relu" input: "x" output: "x" }
op { type: "Tanh" input: "x" output: "x" }
"""


def test_a_blob_written_in_place_has_a_value_for_each_writing() -> None:
    graph = read(CHAIN).graph
    first, second = graph.nodes
    assert [value.path for value in graph.values.values()] == [
        "main/%x",
        "main/%x#2",
        "main/%x#3",
    ]
    assert {value.name for value in graph.values.values()} == {"x"}
    assert first.inputs == (graph.values["x"],)
    assert first.outputs == second.inputs == (graph.values["x#2"],)
    assert graph.outputs == [graph.values["x#3"]]
    assert load(net(CHAIN))["main/%x#2"].path == "main/%x#2"


FILLS = """
op { type: "GivenTensorFill" output: "w" arg { name: "shape" ints: 2 ints: 2 }
     arg { name: "values" floats: 1 floats: 2 floats: 3 floats: 4 } }
op { type: "ConstantFill" output: "b" arg { name: "shape" ints: 3 }
     arg { name: "value" f: 0.5 } }
op { type: "XavierFill" output: "r" arg { name: "shape" ints: 64 ints: 2 } }
op { type: "Int8GivenTensorFill" output: "q" arg { name: "shape" ints: 4 }
     arg { name: "values" s: "\\000\\200\\310\\377" } arg { name: "Y_scale" f: 0.5 }
     arg { name: "Y_zero_point" i: 128 } }
op { type: "GivenTensorBoolFill" output: "t" arg { name: "shape" ints: 2 }
     arg { name: "values" ints: 0 ints: 256 } }
op { type: "LoadNet" output: "l" }
"""
USES = """
external_input: "x" external_input: "w" external_input: "b" external_input: "r"
external_input: "q" external_input: "t" external_input: "l" external_output: "y"
op { type: "Sum" input: "x" input: "w" input: "b" input: "r" input: "q" input: "t" input: "l"
     output: "y" }
"""


def test_fills_of_the_init_net_are_initializers_and_the_rest_a_graph() -> None:
    model = read(USES, FILLS)
    graph = model.graph
    assert [value.name for value in graph.inputs] == ["x", "l"]
    assert [tensor.name for tensor in graph.initializers] == ["w", "b", "r", "q", "t"]
    assert [inner.kind for inner in model.nets] == ["init"]
    assert [node.op_type for node in model.nets[0].nodes] == ["LoadNet"]
    assert graph.values["l"].metadata == {"given by": "init/#0:LoadNet"}


def test_elements_of_fills() -> None:
    tensors = {tensor.name: tensor for tensor in read(USES, FILLS).graph.initializers}
    np.testing.assert_array_equal(tensors["w"].numpy(), np.array([[1, 2], [3, 4]], np.float32))
    np.testing.assert_array_equal(tensors["b"].numpy(), np.full(3, 0.5, np.float32))
    np.testing.assert_array_equal(tensors["q"].numpy(), np.array([0, 128, 200, 255], np.uint8))
    np.testing.assert_array_equal(tensors["t"].numpy(), [False, True])
    assert tensors["r"].storage == "none"
    with pytest.raises(TensorDataError, match="filled at random"):
        tensors["r"].numpy()


def test_quantization_of_int8_fills_and_operators() -> None:
    model = read(
        'op { type: "Int8Relu" input: "q" output: "y" arg { name: "Y_scale" f: 0.25 } '
        'arg { name: "Y_zero_point" i: 3 } } external_input: "q"',
        FILLS,
    )
    stored = model.quantization("main/%q")
    assert stored is not None
    assert stored.source == "arguments of Int8GivenTensorFill"
    assert stored.real_range == (-64.0, 63.5)
    result = model.quantization("main/%y")
    assert result is not None
    assert (result.scale, result.zero_point, str(result.storage)) == (0.25, 3, "uint8")


def test_a_fill_in_a_net_is_a_constant_node() -> None:
    model = read(
        FILLS.split('op { type: "ConstantFill')[0] + 'op { type: "Relu" input: "w" output: "y" }'
    )
    value = model.graph.values["w"]
    assert is_constant(value)
    assert model.quantization("main/%w") is None
    tensor = model.graph.nodes[0].details.constant
    assert tensor is not None
    assert tensor.numpy().shape == (2, 2)


def test_without_an_init_net_weights_are_inputs() -> None:
    graph = read(
        'external_input: "x" external_input: "w" op { type: "Conv" input: "x" input: "w" '
        'output: "y" }'
    ).graph
    assert [(v.name, v.is_parameter) for v in graph.inputs] == [("x", False), ("w", True)]


def test_everything_that_an_operator_says() -> None:
    text = """
    type: "dag" num_workers: 7 device_option { device_type: 1 device_id: 3 }
    external_input: "x"
    op { type: "Relu" input: "x" output: "y" engine: "CUDNN" is_gradient_op: true
         debug_info: "line 3" domain: "aten" op_version: 9 control_input: "x"
         device_option { device_type: 6 random_seed: 5 } }
    op { type: "Tanh" input: "y" output: "z" }
    """
    graph = read(text).graph
    first, second = graph.nodes
    details = first.details
    assert (details.engine, details.is_gradient, details.debug_info) == ("CUDNN", True, "line 3")
    assert (first.domain, details.op_version) == ("aten", 9)
    assert first.control_inputs == (graph.values["x"],)
    assert str(details.device) == "HIP"
    assert second.domain == "caffe2"
    assert second.details.device is not None
    assert second.details.device.is_inherited
    assert str(second.details.device) == "CUDA 3"
    assert graph.net is not None
    assert (graph.net.net_type, graph.net.num_workers) == ("dag", 7)
    shown = format_text(describe_element(graph.model, first))
    for word in ("CUDNN", "line 3", "HIP", "version 9"):
        assert word in shown


def test_nested_nets_see_the_blobs_around() -> None:
    model = read("""
    external_input: "c" external_input: "x"
    op { type: "Relu" input: "x" output: "x" }
    op { type: "If" input: "c" output: "y"
         arg { name: "then_net" n { op { type: "Tanh" input: "x" output: "y" } } }
         arg { name: "nets" nets { name: "a" } nets { name: "b" } } }
    op { type: "Relu" input: "x" output: "x" }
    """)
    branch = model.graphs_by_path["main/#1:If.then_net"]
    assert branch.nodes[0].inputs == (model.graph.values["x#2"],)
    assert model.graph.nodes[1].captures == (model.graph.values["x#2"],)
    assert branch.outputs == [branch.values["y"]]
    assert [g.path for g in model.graphs if ".nets[" in g.path] == [
        "main/#1:If.nets[0]",
        "main/#1:If.nets[1]",
    ]


def test_do_connects_blobs_by_their_numbers() -> None:
    model = read("""
    external_input: "a"
    op { type: "Do" input: "a" output: "b"
         arg { name: "net" n { op { type: "Relu" input: "i" output: "o" } } }
         arg { name: "inner_blobs" strings: "i" strings: "o" }
         arg { name: "outer_blobs_idx" ints: 0 ints: 1 } }
    """)
    body = model.graphs_by_path["main/#0:Do.net"]
    assert body.nodes[0].inputs == (model.graph.values["a"],)
    assert body.outputs == [body.values["o"]]


def nest(depth: int) -> bytes:
    message = net('op { type: "Relu" input: "x" output: "x" }').SerializeToString()
    for _ in range(depth):
        # written by hand: a message nested so deep cannot be parsed in one piece
        argument = field(1, b"then_net") + field(8, message)
        message = field(2, field(1, b"x") + field(4, b"If") + field(5, argument))
    return message


def test_nets_nested_200_deep_open() -> None:
    model = load(nest(200))
    assert len(model.graphs) == 201
    assert sum(len(graph.nodes) for graph in model.graphs) == 201


def test_nets_nested_beyond_the_limit_are_refused() -> None:
    with pytest.raises(ModelFormatError, match="nested deeper than 500 levels"):
        load(nest(600))


def test_a_plan_is_a_tree_of_steps_that_run_nets() -> None:
    plan = text_format.Parse(
        """
        name: "p" network { name: "n" op { type: "Relu" input: "x" output: "y" } }
        execution_step { name: "train" num_iter: 5
            substep { name: "epoch" network: "n" network: "missing" concurrent_substeps: true } }
        """,
        caffe2_pb2.PlanDef(),
    )
    model = load(plan)
    assert model.header.message == "PlanDef"
    step = model.graph.nodes[0]
    assert (step.name, step.attributes["num_iter"].value) == ("train", 5)
    epoch = step.subgraphs[0].nodes[0]
    run = epoch.subgraphs[0].nodes[0]
    assert run.function is model.functions[0]
    assert run.function.path == "nets/n"
    assert any("'missing'" in warning.message for warning in model.all_warnings())
    model.to_svg(expand="all")


def test_tensors_of_all_storage_types() -> None:
    protos = text_format.Parse(
        """
        protos { name: "f" dims: 2 float_data: 1.5 float_data: 2.5 }
        protos { name: "h" dims: 1 data_type: FLOAT16 int32_data: 15360 }
        protos { name: "r" dims: 2 data_type: INT16 storage_type: RAW
                 raw_data: "\\001\\000\\002\\000" }
        protos { name: "b" dims: 2 data_type: BYTE byte_data: "\\001\\002" }
        protos { name: "s" dims: 1 data_type: STRING string_data: "a" }
        protos { name: "n" dims: 9 storage_type: NO_CONTENT }
        protos { name: "e" dims: 9 storage_type: EXTERNAL external_data { record_id: "k" } }
        """,
        caffe2_pb2.TensorProtos(),
    )
    model = load(protos)
    tensors = {tensor.name: tensor for tensor in model.graph.initializers}
    assert tensors["f"].numpy().tolist() == [1.5, 2.5]
    assert tensors["h"].numpy().tolist() == [1.0]
    assert tensors["r"].numpy().tolist() == [1, 2]
    assert tensors["b"].numpy().tolist() == [1, 2]
    assert tensors["s"].numpy().tolist() == ["a"]
    assert tensors["n"].storage == "no content"
    with pytest.raises(TensorDataError, match="of an archive"):
        tensors["e"].numpy()


def test_a_qtensor_has_its_scale_and_zero_point() -> None:
    message = caffe2_pb2.QTensorProto(
        dims=[3], precision=8, scale=0.5, bias=-64.0, is_signed=False, data=[0, 128, 255]
    )
    model = load(message)
    found = model.quantization("main/%tensor")
    assert found is not None
    assert (found.scale, found.zero_point) == (0.5, 128)
    assert found.real_range == (-64.0, 63.5)


def test_blobs_and_readers() -> None:
    blob = load(caffe2_pb2.BlobProto(name="b", type="Reader", content=b"\xff\x01"))
    assert blob.metadata == {"name": "b", "type": "Reader"}
    assert blob.graph.initializers[0].numpy().tolist() == [255, 1]
    reader = load(caffe2_pb2.DBReaderProto(name="r", source="/db", db_type="lmdb", key="k"))
    assert reader.metadata == {"name": "r", "source": "/db", "db_type": "lmdb", "key": "k"}


def test_odd_fills_open_with_warnings() -> None:
    model = read(
        'op { type: "Relu" input: "w" output: "y" }',
        'op { type: "GivenTensorFill" output: "w" arg { name: "shape" ints: -5 } '
        'arg { name: "values" floats: 1 } } op { type: "GivenTensorFill" output: "v" }',
    )
    messages = [str(warning) for warning in model.all_warnings()]
    assert any("are negative" in message for message in messages)
    assert any("main/%v: the fill has no values" in message for message in messages)


@pytest.mark.parametrize(
    ("name", "init"),
    [
        ("predict_net.pb", "init_net.pb"),
        ("X_predict_net.pb", "X_init_net.pb"),
        ("X_pred_net.pbtxt", "X_init_net.pbtxt"),
        ("X.pb", "X_init.pb"),
        ("X.pbtxt", "X_init.pbtxt"),
        ("predict_net.pbtxt", "init_net.pb"),
    ],
)
def test_the_init_net_is_found_by_its_name(tmp_path: Path, name: str, init: str) -> None:
    predict = tmp_path / name
    predict.write_bytes(net(USES).SerializeToString())
    assert find_init_net(predict) is None
    (tmp_path / init).write_bytes(net(FILLS).SerializeToString())
    assert find_init_net(predict) == tmp_path / init
    assert find_init_net(tmp_path / init) is None
    assert len(load(predict).graph.initializers) == 5


def test_an_init_net_that_is_none(tmp_path: Path) -> None:
    (tmp_path / "predict_net.pb").write_bytes(net(USES).SerializeToString())
    (tmp_path / "init_net.pb").write_bytes(b"junk")
    model = load(tmp_path / "predict_net.pb")
    assert "init net is not used" in model.warnings[0].message
    with pytest.raises(ModelFormatError, match=r"init_net\.pb"):
        load(tmp_path / "predict_net.pb", tmp_path / "init_net.pb")
    with pytest.raises(SourceError, match="tuple of 3"):
        load((b"", b"", b""))


def test_an_init_net_that_is_a_link_out_of_the_folder_is_not_followed(tmp_path: Path) -> None:
    folder = tmp_path / "downloaded"
    folder.mkdir()
    (tmp_path / "elsewhere.pb").write_bytes(net(FILLS).SerializeToString())
    (folder / "predict_net.pb").write_bytes(net(USES).SerializeToString())
    init = folder / "init_net.pb"
    init.symlink_to(tmp_path / "elsewhere.pb")
    model = load(folder / "predict_net.pb")
    assert not model.graph.initializers
    assert "is a link out of its folder" in model.warnings[0].message
    # who names it wants it
    assert len(load(folder / "predict_net.pb", init).graph.initializers) == 5


def test_links_to_one_store_of_files_belong_together(tmp_path: Path) -> None:
    store, folder = tmp_path / "blobs", tmp_path / "snapshot"
    store.mkdir()
    folder.mkdir()
    (store / "aa").write_bytes(net(USES).SerializeToString())
    (store / "bb").write_bytes(net(FILLS).SerializeToString())
    (folder / "predict_net.pb").symlink_to(store / "aa")
    (folder / "init_net.pb").symlink_to(store / "bb")
    assert len(load(folder / "predict_net.pb").graph.initializers) == 5


def test_what_is_no_caffe2_is_not_taken_for_it() -> None:
    import onnx
    from onnx import helper, numpy_helper

    graph = helper.make_graph([helper.make_node("Relu", ["x"], ["y"])], "g", [], [])
    bare = onnx.ModelProto(graph=graph)
    tensor = numpy_helper.from_array(np.ones(3, np.float32), "input")
    for message in (helper.make_model(graph), bare, tensor):
        assert recognize_caffe2(Source("<test>", message.SerializeToString())) is None
    for data in (b"", b"\x00", b"PK\x03\x04", b"<html>", b"\xff" * 100):
        assert recognize_caffe2(Source("<test>", data)) is None


def test_elements_have_the_types_of_the_view_model() -> None:
    model = read(USES, FILLS)
    assert isinstance(model["main"], Graph)
    assert isinstance(model["main/#0:Sum"], Node)
    assert isinstance(model["w"], Tensor)


@pytest.mark.parametrize(
    ("value", "dtype", "elements"),
    [
        ("i: 7", "int64", [7, 7]),
        ("f: 1.5", "float32", [1.5, 1.5]),
        ("f: 1.5 i: 7", "float32", [1.5, 1.5]),
        ("", "float32", [0, 0]),
    ],
)
def test_a_constant_fill_without_a_type_has_that_of_its_value(
    value: str, dtype: str, elements: list[float]
) -> None:
    text = (
        'op { type: "ConstantFill" output: "w" arg { name: "shape" ints: 2 } '
        f'arg {{ name: "value" {value} }} }} op {{ type: "Relu" input: "w" output: "y" }}'
    )
    (tensor,) = (node.details.constant for node in load(text.encode()).find("ConstantFill"))
    assert tensor is not None
    assert (tensor.dtype.name, tensor.numpy().tolist()) == (dtype, elements)


def test_a_constant_fill_with_a_string_and_no_type_is_said() -> None:
    text = 'op { type: "ConstantFill" output: "w" arg { name: "shape" } '
    text += 'arg { name: "value" s: "x" } }'
    (node,) = load(text.encode()).find("ConstantFill")
    tensor = node.details.constant
    assert tensor is not None
    assert "wants a dtype" in tensor.warnings[0].message
    with pytest.raises(TensorDataError, match="without the dtype"):
        tensor.numpy()


def test_a_net_whose_op_types_are_all_unusual() -> None:
    net = caffe2_pb2.NetDef(name="n", external_input=["x"])
    for kind in ("Conv 2d", "<lambda>", "Größe!", "a@b", ""):
        net.op.add(type=kind, input=["x"], output=["y"])
    model = load(net.SerializeToString())
    assert model.format == "Caffe2"
    assert [node.op_type for node in model.graph.nodes] == [op.type for op in net.op]
    plan = caffe2_pb2.PlanDef(name="p", network=[net])
    assert load(plan.SerializeToString()).functions[0].name == "n"


def test_a_blob_with_a_database_reader_shows_its_state() -> None:
    reader = caffe2_pb2.DBReaderProto(name="r", source="/data/train", db_type="lmdb", key="k9")
    blob = caffe2_pb2.BlobProto(name="b", type="DBReader", content=reader.SerializeToString())
    for size in (2**20, 10):
        with threshold(size):
            model = load(blob.SerializeToString())
        told = {key.removeprefix("reader."): text for key, text in model.metadata.items()}
        del told["type"]
        assert told == {"name": "r", "source": "/data/train", "db_type": "lmdb", "key": "k9"}
        assert not model.graph.initializers
    blob.content = b"\xff\xff"
    assert load(blob.SerializeToString()).graph.initializers[0].numpy().tolist() == [255, 255]


def test_steps_nested_too_deep_are_said_also_without_nets() -> None:
    step = b""
    for _ in range(20_000):
        step = b"\x12" + write_varint(len(step)) + step
    data = b"\x0a\x01p\x1a" + write_varint(len(step)) + step
    with pytest.raises(ModelFormatError, match="steps are nested deeper than 500 levels"):
        load(data)


def test_shapes_alone() -> None:
    shapes = caffe2_pb2.TensorShapes()
    shapes.shapes.add(name="x", dims=[2, 3], data_type=caffe2_pb2.TensorProto.INT8)
    shapes.shapes.add(name="y", dims=[4, 0], unknown_dims=[1])
    shapes.shapes.add(name="z", unknown_shape=True)
    for size in (2**20, 10):
        with threshold(size):
            model = load(shapes.SerializeToString())
        assert model.header.message == "TensorShapes"
        types = {name: str(value.type) for name, value in model.graph.values.items()}
        assert types == {"x": "int8[2, 3]", "y": "float32[4, ?]", "z": "float32"}
        assert not list(model.all_warnings())


def write_varint(number: int) -> bytes:
    result = bytearray()
    while number > 127:
        result.append(number & 127 | 128)
        number >>= 7
    return bytes([*result, number])
