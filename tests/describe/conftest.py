from __future__ import annotations

import numpy as np
import pytest

import netloupe
from netloupe.explorer.model import Model

onnx = pytest.importorskip("onnx")


@pytest.fixture
def model() -> Model:
    """Return a model of a convolution, a quantized weight, a branch and a function call."""
    from onnx import TensorProto, helper, numpy_helper

    weight = numpy_helper.from_array(
        np.arange(-108, 108, dtype=np.float32).reshape(8, 3, 3, 3) / 64, "W"
    )
    weight.doc_string = "weights from training"
    weight.metadata_props.add(key="tensor key", value="tensor text")
    branches = {
        name: helper.make_graph(
            [helper.make_node(op, ["y"], ["r"], name=f"in_{name}")],
            f"{name} body",
            [],
            [helper.make_tensor_value_info("r", TensorProto.FLOAT, None)],
        )
        for name, op in (("then_branch", "Relu"), ("else_branch", "Neg"))
    }
    conv = helper.make_node("Conv", ["x", "W"], ["c"], name="conv", pads=[1, 1, 1, 1], group=1)
    conv.doc_string = "first layer"
    conv.metadata_props.add(key="trace", value="File a.py\n    y = conv(x)")
    nodes = [
        conv,
        helper.make_node("QuantizeLinear", ["c", "s", "z"], ["q"], name="quantize"),
        helper.make_node("DequantizeLinear", ["q", "s", "z"], ["y"], name="dequantize"),
        helper.make_node("If", ["cond"], ["r"], name="if", **branches),
        helper.make_node("Twice", ["r"], ["o"], name="call", domain="local", factor=2.5),
    ]
    scaled = helper.make_node("LeakyRelu", ["a"], ["b"], name="leaky")
    scaled.attribute.add(name="alpha", ref_attr_name="factor", type=onnx.AttributeProto.FLOAT)
    function = helper.make_function(
        "local", "Twice", ["a"], ["b"], [scaled], [helper.make_opsetid("", 18)], ["factor"]
    )
    image = helper.make_tensor_value_info("x", TensorProto.FLOAT, ["batch", 3, 8, 8])
    image.type.denotation = "IMAGE"
    axes = ("DATA_BATCH", "DATA_CHANNEL", "DATA_FEATURE", "DATA_FEATURE")
    for dim, denotation in zip(image.type.tensor_type.shape.dim, axes, strict=True):
        dim.denotation = denotation
    graph = helper.make_graph(
        nodes,
        "net",
        [image, helper.make_tensor_value_info("cond", TensorProto.BOOL, [])],
        [helper.make_tensor_value_info("o", TensorProto.FLOAT, None)],
        [
            weight,
            numpy_helper.from_array(np.float32(0.5), "s"),
            numpy_helper.from_array(np.int8(3), "z"),
        ],
    )
    proto = helper.make_model(
        graph,
        functions=[function],
        opset_imports=[helper.make_opsetid("", 18), helper.make_opsetid("local", 1)],
        producer_name="hand",
    )
    proto.metadata_props.add(key="Image.BitmapPixelFormat", value="BGR8")
    proto.metadata_props.add(key="image.nominalPixelRange", value="NominalRange_0_255")
    return netloupe.load(proto)
