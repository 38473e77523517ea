"""The models that faults are planted in: networks as exporters write them, and small ones with
functions and control flow."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import numpy as np
import onnx
from onnx import numpy_helper

from netloupe.explorer.checks import Findings, check
from netloupe.explorer.readers.load import load
from tests.corpus import corpus_file, light_file

_DEMO = Path(__file__).parents[3] / "demo_notebooks" / "models"

#: what each is, and its file
MODELS = {
    "bert": corpus_file("exported/bert.legacy.onnx"),
    "gpt2": corpus_file("exported/gpt2.legacy.onnx"),
    "vit": corpus_file("exported/vit.dynamo.onnx"),
    "yolo": corpus_file("exported/yolov8.legacy.onnx"),
    "cnn": _DEMO / "digits_cnn.onnx",
    "qdq": _DEMO / "digits_cnn.qdq.onnx",
    "int4": corpus_file("quantized/bert.matmulnbits_int4.onnx"),
    "old": light_file("light_vgg19.onnx"),
    "functions": corpus_file("features/functions_nested_transformer.onnx"),
    "control": corpus_file("features/control_flow_3deep.onnx"),
}


#: asks onnx, which a busy machine may not let answer in time
SECOND_OPINION = "NL-T20"

#: the demonstration's int8 network has two faults already: the scale of this bias is 1.7 times its
#: own, and this channel of this layer is clipped
_SPOILED, _FACTOR = "head.classify.bias_quantized_scale", np.float32(1.7)
_CLIPPED, _CHANNEL = "blocks.1.first.conv", 5


@cache
def read_bytes(name: str) -> bytes:
    """Return the bytes of a model, of the int8 network with its own faults mended."""
    data = MODELS[name].read_bytes()
    if name != "qdq":
        return data
    proto = onnx.ModelProto.FromString(data)
    (scale,) = (tensor for tensor in proto.graph.initializer if tensor.name == _SPOILED)
    scale.CopyFrom(numpy_helper.from_array(numpy_helper.to_array(scale) / _FACTOR, _SPOILED))
    _quantize_channel(proto, onnx.ModelProto.FromString(MODELS["cnn"].read_bytes()))
    return proto.SerializeToString()


def _quantize_channel(quantized: onnx.ModelProto, floats: onnx.ModelProto) -> None:
    """Quantize the clipped channel anew, and its bias with it."""
    stored = {tensor.name: tensor for tensor in quantized.graph.initializer}
    weights = {tensor.name: tensor for tensor in floats.graph.initializer}
    weight = numpy_helper.to_array(weights[f"{_CLIPPED}.weight"])[_CHANNEL]
    scale = np.float32(np.abs(weight).max() / 127)

    def change(name: str, number: object) -> float:
        array = numpy_helper.to_array(stored[f"{_CLIPPED}.{name}"]).copy()
        before = array[_CHANNEL].copy()
        array[_CHANNEL] = number
        stored[f"{_CLIPPED}.{name}"].CopyFrom(numpy_helper.from_array(array, f"{_CLIPPED}.{name}"))
        return float(before.flat[0])

    change("weight_quantized", np.rint(weight / scale))
    ratio = float(scale) / change("weight_scale", scale)
    bias_scale = change("bias_quantized_scale", 1.0)
    bias = change("bias_quantized", 0)
    change("bias_quantized_scale", bias_scale * ratio)
    change("bias_quantized", np.rint(bias / ratio))


def copy_model(name: str) -> onnx.ModelProto:
    """Return a model that may be changed."""
    return onnx.ModelProto.FromString(read_bytes(name))


@cache
def check_original(name: str, target: str | None, select: str = "") -> Findings:
    model = load(read_bytes(name))
    selected = [select] if select else []
    return check(model, target=target, select=selected, ignore=[SECOND_OPINION])
