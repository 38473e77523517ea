"""The models that faults are planted in: networks as exporters write them, and small ones with
functions and control flow."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import onnx

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


@cache
def read_bytes(name: str) -> bytes:
    return MODELS[name].read_bytes()


def copy_model(name: str) -> onnx.ModelProto:
    """Return a model that may be changed."""
    return onnx.ModelProto.FromString(read_bytes(name))


@cache
def check_original(name: str, target: str | None, select: str = "") -> Findings:
    return check(load(MODELS[name]), target=target, select=[select] if select else [])
