"""Caffe2 nets that nest, write in place, fill wrongly or are no nets."""

from __future__ import annotations

from collections.abc import Callable

from google.protobuf import text_format
from onnx import TensorProto

from netloupe.proto import caffe2_pb2
from tests.cases.models import make_model, relu

_FOLDER = "hostile/caffe2"


def _net(text: str) -> bytes:
    return text_format.Parse(text, caffe2_pb2.NetDef()).SerializeToString()


def _in_place() -> bytes:
    net = caffe2_pb2.NetDef(name="net")
    net.op.add(type="Conv", input=["data", "w", "b"], output=["t"])
    for number in range(100):
        net.op.add(type="Relu", name=f"r{number}", input=["t"], output=["t"])
    return net.SerializeToString()


def _nested() -> bytes:
    net = caffe2_pb2.NetDef(name="leaf")
    net.op.add(type="Relu", input=["x"], output=["y"])
    for level in range(200):
        outer = caffe2_pb2.NetDef(name=f"n{level}")
        branch = outer.op.add(type="If", name=f"if{level}", input=["c"], output=["y"])
        branch.arg.add(name="then_net").n.CopyFrom(net)
        net = outer
    return net.SerializeToString()


_BAD_FILLS = """
    name: "net"
    op { type: "GivenTensorFill" output: "w"
         arg { name: "shape" ints: 4611686018427387904 ints: 3 }
         arg { name: "values" floats: [1.5, 1.5, 1.5] } }
    op { type: "GivenTensorFill" output: "w2" }
    op { type: "GivenTensorFill" output: "w3" arg { name: "shape" ints: -5 } }
    op { type: "Int8GivenTensorFill" output: "w4"
         arg { name: "shape" ints: 4 } arg { name: "values" s: "ab" } }
"""

_CONTROL = """
    name: "net"
    op { type: "Relu" input: "x" output: "y" name: "a" }
    op { type: "Relu" input: "y" output: "z" name: "b" control_input: "y" engine: "CUDNN"
         is_gradient_op: true debug_info: "debug <b>info</b>" }
    external_input: "x" external_output: "z"
"""

CASES: dict[str, Callable[[], bytes]] = {
    f"{_FOLDER}/inplace_chain_predict_net.pb": _in_place,
    f"{_FOLDER}/nested_200_predict_net.pb": _nested,
    f"{_FOLDER}/bad_fill_init_net.pb": lambda: _net(_BAD_FILLS),
    f"{_FOLDER}/onnx_as_predict_net.pb": lambda: make_model([relu()]).SerializeToString(),
    f"{_FOLDER}/tensorproto_input_0.pb": lambda: TensorProto(
        name="input", dims=[2, 3], data_type=1, raw_data=bytes(24)
    ).SerializeToString(),
    f"{_FOLDER}/text_as_predict_net.pb": lambda: (
        b'name: "net"\nop { input: "x" output: "y" type: "Relu" }\n'
    ),
    f"{_FOLDER}/control_input_predict_net.pb": lambda: _net(_CONTROL),
}
