"""Small sound inputs of every reader, which mutants are made of."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnx.parser
import onnx.printer
from google.protobuf import json_format, text_format
from google.protobuf.descriptor import FieldDescriptor
from onnx import TensorProto, helper, numpy_helper

from netloupe.proto import caffe2_pb2, onnx_pb2

_CORPUS = Path(__file__).resolve().parents[3] / "shared" / "corpus"
_LARGEST_SEED = 20_000

#: what a reader is given: names and contents of files, the model first
Files = dict[str, bytes]

CAFFE2_ROOTS = (
    "NetDef",
    "PlanDef",
    "TensorProtos",
    "TensorProto",
    "QTensorProto",
    "BlobProto",
    "DBReaderProto",
)

_TYPED_FIELDS = {
    1: "float_data", 7: "int64_data", 8: "string_data", 11: "double_data", 12: "uint64_data",
    13: "uint64_data", 14: "float_data", 15: "double_data",
}  # fmt: skip

_TEXTS = (
    """<ir_version: 10, opset_import: ["": 21, "local": 1]>
    main (float[N, 3, 8, 8] x) => (float[N, M] y) <float[4, 3, 3, 3] w> {
      c = Conv <kernel_shape = [3, 3], pads = [1, 1, 1, 1]> (x, w)
      r = local.act <alpha = 0.5> (c)
      f = Flatten (r)
      y = Identity (f)
    }
    <domain: "local", opset_import: ["": 21]>
    act <alpha> (x) => (y) { y = LeakyRelu <alpha: float = @alpha> (x) }
    """,
    """<ir_version: 9, opset_import: ["": 18]>
    choose (bool c, float[2] a, int64 n) => (float[2] y, seq(float) s)
    <float[2] k = {1, -2.5}, int64 zero = {0}, string[2] words = {"one", "two"}> {
      t = If (c) <
        then_branch = yes () => (float[2] p) { p = Add (a, k) },
        else_branch = no () => (float[2] q) { q = Loop (n, c, a) <body = step
          (int64 i, bool go, float[2] v) => (bool on, float[2] u)
          { on = Identity (go) u = Mul (v, k) }> }
      >
      y = Relu (t)
      s = SequenceConstruct (y)
    }
    """,
    """<ir_version: 10, opset_import: ["": 21]>
    quantized (float[1, 4] x) => (float[1, 2] y)
    <float s = {0.25}, uint8 z = {128}, int8[4, 2] w = {1, 2, 3, 4, 5, 6, 7, 8},
     float[2] ws = {0.5, 0.125}> {
      q = QuantizeLinear (x, s, z)
      d = DequantizeLinear (q, s, z)
      e = DequantizeLinear <axis = 1> (w, ws)
      y = MatMul (d, e)
    }
    """,
)


@cache
def onnx_models() -> tuple[bytes, ...]:
    """Return serialized ModelProtos, each showing other parts of the schema."""
    models = [onnx.parser.parse_model(text) for text in _TEXTS]
    models += [_storages(), _sparse_and_annotated(), _trained(), _repeated_layers()]
    models.append(_quantized())
    seeds = [model.SerializeToString() for model in models]
    seeds += [_filled(onnx_pb2.ModelProto, depth).SerializeToString() for depth in (2, 4)]
    return tuple(seeds)


def _storages() -> Any:
    """Tensors of many element types, as raw data and as lists."""
    tensors = [
        numpy_helper.from_array(np.arange(6).astype(kind).reshape(2, 3), f"raw_{kind}")
        for kind in ("float32", "float64", "int8", "uint16", "int64", "float16", "bool")
    ]
    for number in range(1, 29):
        tensor = TensorProto(name=f"typed_{number}", data_type=number, dims=[2])
        field = _TYPED_FIELDS.get(number, "int32_data")
        getattr(tensor, field).extend([b"a", b"bc"] if number == TensorProto.STRING else [1, 0])
        tensors.append(tensor)
    nodes = [
        helper.make_node("Constant", [], ["c"], value=tensors[0]),
        helper.make_node("Constant", [], ["i"], value_ints=[1, -2, 2**62]),
        helper.make_node("Sum", ["c", *(tensor.name for tensor in tensors)], ["y"], name="all"),
    ]
    outputs = [helper.make_tensor_value_info("y", 1, None)]
    graph = helper.make_graph(nodes, "storages", [], outputs, tensors)
    return helper.make_model(graph)


def _sparse_and_annotated() -> Any:
    values = helper.make_tensor("s", 1, [2], [1.5, -2.0])
    indices = helper.make_tensor("s_indices", 7, [2], [1, 5])
    sparse = helper.make_sparse_tensor(values, indices, [3, 4])
    scale = helper.make_tensor("scale", 1, [], [0.5])
    node = helper.make_node("Conv", ["x", "s"], ["y"], auto_pad="SAME_UPPER", group=2)
    node.metadata_props.add(key="namespace", value=": Root/model: pkg.Model/layer: pkg.Layer")
    graph = helper.make_graph(
        [node],
        "sparse",
        [helper.make_tensor_value_info("x", 1, ["N", 3, None])],
        [helper.make_tensor_sequence_value_info("y", 1, [2])],
        [scale],
    )
    graph.sparse_initializer.append(sparse)
    annotation = graph.quantization_annotation.add(tensor_name="x")
    annotation.quant_parameter_tensor_names.add(key="SCALE_TENSOR", value="scale")
    model = helper.make_model(graph)
    helper.set_model_props(model, {"author": "someone"})
    return model


def _quantized() -> Any:
    """Weights of several forms: between operators, as operands, packed, and rounded as it runs."""
    codes = np.arange(-32, 32).reshape(8, 8).astype(np.int8)
    arrays = {
        "one": np.array(0.1, np.float32),
        "zero": np.array(3, np.uint8),
        "none": np.array(0, np.int8),
        "many": np.linspace(0.1, 0.8, 8, dtype=np.float32),
        "codes": codes,
        "packed": np.arange(64, dtype=np.uint8).reshape(8, 1, 8),
        "floats": codes.astype(np.float32),
        "bits": np.array(4, np.float32),
    }
    pair = ["one", "zero"]
    rounding = {"signed": 1, "narrow": 0, "rounding_mode": "ROUND"}
    nodes = [
        helper.make_node("QuantizeLinear", ["x", *pair], ["q"]),
        helper.make_node("DequantizeLinear", ["q", *pair], ["a"]),
        helper.make_node("DequantizeLinear", ["codes", "many"], ["w"], axis=1),
        helper.make_node("MatMul", ["a", "w"], ["b"]),
        helper.make_node(
            "QLinearMatMul", ["q", *pair, "codes", "one", "none", *pair], ["p"], name="product"
        ),
        helper.make_node("DequantizeLinear", ["p", *pair], ["c"]),
        helper.make_node(
            "MatMulNBits",
            ["b", "packed", "many"],
            ["d"],
            domain="com.microsoft",
            K=8,
            N=8,
            bits=4,
            block_size=16,
        ),
        helper.make_node(
            "Quant",
            ["floats", "one", "none", "bits"],
            ["v"],
            domain="qonnx.custom_op.general",
            **rounding,
        ),
        helper.make_node("MatMul", ["d", "v"], ["e"]),
        helper.make_node("Sum", ["c", "e"], ["y"]),
    ]
    graph = helper.make_graph(
        nodes,
        "quantized",
        [helper.make_tensor_value_info("x", 1, ["N", 8])],
        [helper.make_tensor_value_info("y", 1, None)],
        [numpy_helper.from_array(array, name) for name, array in arrays.items()],
    )
    domains = (("", 21), ("com.microsoft", 1), ("qonnx.custom_op.general", 1))
    return helper.make_model(graph, opset_imports=[helper.make_opsetid(*each) for each in domains])


def _trained() -> Any:
    model = onnx.parser.parse_model(_TEXTS[2])
    training = model.training_info.add()
    training.algorithm.CopyFrom(model.graph)
    training.initialization.CopyFrom(model.graph)
    training.update_binding.add(key="s", value="y")
    return model


def _repeated_layers() -> Any:
    nodes, before = [], "x"
    for number in range(6):
        scope = f"/model/layers.{number}"
        weight = f"w{number % 2}"
        nodes.append(
            helper.make_node("MatMul", [before, weight], [f"m{number}"], f"{scope}/MatMul")
        )
        nodes.append(
            helper.make_node("Add", [f"m{number}", before], [f"a{number}"], f"{scope}/Add")
        )
        nodes.append(helper.make_node("Relu", [f"a{number}"], [f"r{number}"], f"{scope}/act/Relu"))
        before = f"r{number}"
    weights = [helper.make_tensor(f"w{n}", 1, [2, 2], [1, 2, 3, 4]) for n in range(2)]
    inputs = [helper.make_tensor_value_info("x", 1, ["N", 2])]
    outputs = [helper.make_tensor_value_info(before, 1, ["N", 2])]
    return helper.make_model(helper.make_graph(nodes, "layers", inputs, outputs, weights))


@cache
def external_models() -> tuple[Files, ...]:
    """Return models with a data file beside each."""
    seeds = []
    for entries in (
        {"location": "w.bin", "offset": "16", "length": "16", "checksum": "0" * 40},
        {"location": "w.bin"},
        {"location": "./sub/../w.bin", "offset": "0", "length": "64"},
    ):
        tensor = TensorProto(name="w", data_type=1, dims=[4] if "length" in entries else [16])
        tensor.data_location = TensorProto.EXTERNAL
        for key, value in entries.items():
            tensor.external_data.add(key=key, value=value)
        node = helper.make_node("Relu", ["w"], ["y"])
        outputs = [helper.make_tensor_value_info("y", 1, [4])]
        model = helper.make_model(helper.make_graph([node], "external", [], outputs, [tensor]))
        seeds.append({"model.onnx": model.SerializeToString(), "w.bin": bytes(range(64))})
    return tuple(seeds)


@cache
def caffe2_messages(root: str) -> tuple[Any, ...]:
    """Return messages of one of the kinds that a Caffe2 file may be."""
    kind = getattr(caffe2_pb2, root)
    messages = [_CAFFE2_SEEDS[root]()] if root in _CAFFE2_SEEDS else []
    messages += [_filled(kind, depth) for depth in (1, 2, 4)]
    if root == "TensorProto":
        messages += [_caffe2_tensor("w", number) for number in (1, 2, 3, 4, 6, 7, 10, 12, 13)]
    return tuple(messages)


def _net() -> Any:
    net = caffe2_pb2.NetDef(name="net", type="dag", num_workers=4)
    net.external_input.extend(["data", "conv1_w", "conv1_b"])
    net.external_output.append("softmax")
    conv = net.op.add(type="Conv", name="conv1", input=["data", "conv1_w", "conv1_b"])
    conv.output.append("conv1")
    conv.arg.add(name="kernel", i=3)
    conv.arg.add(name="order", s=b"NCHW")
    conv.arg.add(name="scales", floats=[0.5, 1.5])
    conv.device_option.device_type = 1
    conv.engine = "CUDNN"
    quantized = net.op.add(type="Int8Relu", input=["conv1"], output=["conv1"])
    quantized.arg.add(name="Y_scale", f=0.25)
    quantized.arg.add(name="Y_zero_point", i=128)
    net.op.add(type="Softmax", input=["conv1"], output=["softmax"], control_input=["conv1"])
    branch = net.op.add(type="If", input=["softmax"], output=["softmax"])
    inner = branch.arg.add(name="then_net").n
    inner.name = "then"
    inner.op.add(type="Relu", input=["softmax"], output=["softmax"])
    inner.external_input.append("softmax")
    return net


def init_net() -> Any:
    """Return the init net of the net among the messages."""
    net = caffe2_pb2.NetDef(name="init")
    weight = net.op.add(type="GivenTensorFill", output=["conv1_w"])
    weight.arg.add(name="shape", ints=[2, 3])
    weight.arg.add(name="values", floats=[1, 2, 3, 4, 5, 6])
    bias = net.op.add(type="ConstantFill", output=["conv1_b"])
    bias.arg.add(name="shape", ints=[4])
    bias.arg.add(name="value", f=0.5)
    fill = net.op.add(type="Int8GivenTensorFill", output=["q"])
    fill.arg.add(name="shape", ints=[2, 2])
    fill.arg.add(name="values", s=b"\x01\x02\x83\x04")
    fill.arg.add(name="Y_scale", f=0.1)
    fill.arg.add(name="Y_zero_point", i=3)
    net.op.add(type="XavierFill", output=["x"]).arg.add(name="shape", ints=[5, 5])
    return net


def _plan() -> Any:
    plan = caffe2_pb2.PlanDef(name="plan")
    plan.network.add().CopyFrom(_net())
    step = plan.execution_step.add(name="train", num_iter=10)
    step.network.append("net")
    step.substep.add(name="report", report_net="net", report_interval=3)
    return plan


def _caffe2_tensor(name: str, number: int) -> Any:
    tensor = caffe2_pb2.TensorProto(name=name, data_type=number, dims=[2])
    if number == 1:
        tensor.float_data.extend([1.5, -2.5])
    elif number == 3:
        tensor.byte_data = b"\x01\x02"
    elif number == 4:
        tensor.string_data.extend([b"one", b"two"])
    elif number == 10:
        tensor.int64_data.extend([2**40, -1])
    elif number == 13:
        tensor.double_data.extend([0.5, 1e300])
    else:
        tensor.int32_data.extend([1, 0])
    return tensor


def _qtensor() -> Any:
    return caffe2_pb2.QTensorProto(
        dims=[2, 2], precision=8, scale=0.5, bias=-1.0, is_signed=True, data=[1, 2, 3, -4], name="q"
    )


def _tensors() -> Any:
    return caffe2_pb2.TensorProtos(protos=[_caffe2_tensor("a", 1), _caffe2_tensor("a", 10)])


def _blob() -> Any:
    return caffe2_pb2.BlobProto(name="blob", type="Tensor", tensor=_caffe2_tensor("b", 13))


def _reader() -> Any:
    return caffe2_pb2.DBReaderProto(name="reader", source="train.db", db_type="leveldb", key="k")


_CAFFE2_SEEDS: dict[str, Callable[[], Any]] = {
    "NetDef": _net,
    "PlanDef": _plan,
    "TensorProtos": _tensors,
    "QTensorProto": _qtensor,
    "BlobProto": _blob,
    "DBReaderProto": _reader,
}


def _filled(kind: Any, depth: int) -> Any:
    """Return a message with every field set, messages within it down to a depth."""
    message = kind()
    _fill(message, depth, iter(range(1, 10**6)))
    return message


def _fill(message: Any, depth: int, numbers: Iterator[int]) -> None:
    for field in message.DESCRIPTOR.fields:
        target = getattr(message, field.name)
        if field.message_type is None:
            value = _choose(field, next(numbers))
            if hasattr(target, "append"):
                target.append(value)
            else:
                setattr(message, field.name, value)
        elif depth > 0:
            inner = target.add() if hasattr(target, "add") else target
            inner.SetInParent()
            _fill(inner, depth - 1, numbers)


def _choose(field: FieldDescriptor, number: int) -> Any:
    if field.enum_type is not None:
        return field.enum_type.values[-1].number
    if field.cpp_type == FieldDescriptor.CPPTYPE_STRING:
        text = f"{field.name}_{number}"
        return text.encode() if field.type == FieldDescriptor.TYPE_BYTES else text
    if field.cpp_type == FieldDescriptor.CPPTYPE_BOOL:
        return True
    return number % 30 or 1


def write_text(message: Any) -> bytes:
    """Return a message as protobuf text."""
    return text_format.MessageToString(message).encode()


def write_json(message: Any) -> bytes:
    """Return a message as protobuf JSON."""
    return json_format.MessageToJson(message, indent=None).encode()


@cache
def onnx_texts() -> tuple[bytes, ...]:
    """Return models in ONNX's own text syntax."""
    printed = [onnx.printer.to_text(_sparse_and_annotated()), onnx.printer.to_text(_storages())]
    return tuple(text.encode() for text in (*_TEXTS, *printed))


@cache
def corpus_files(folder: str) -> tuple[bytes, ...]:
    """Return the small files of a folder of the corpus beside the repository, if it is there."""
    paths = sorted((_CORPUS / folder).rglob("*"))
    return tuple(
        path.read_bytes()
        for path in paths
        if path.is_file() and 0 < path.stat().st_size <= _LARGEST_SEED
    )
