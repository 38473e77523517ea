"""Networks of :mod:`zoo.text` and :mod:`zoo.convolutional`, quantized by onnxruntime."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import onnx

from .convolutional import mobilenet_v3, resnet50
from .text import bert, llama


def quantize(work: Callable[[str, str], None]) -> onnx.ModelProto:
    """Return what ``work`` writes into its second path, given the bert of the legacy exporter."""
    with tempfile.TemporaryDirectory() as folder:
        source, target = f"{folder}/source.onnx", f"{folder}/target.onnx"
        onnx.save(bert(dynamo=False), source)
        work(source, target)
        return onnx.load(target)


def prepare(source: str) -> str:
    """Return the path of a model made ready to be quantized."""
    from onnxruntime.quantization.shape_inference import quant_pre_process

    ready = source.replace(".onnx", ".ready.onnx")
    quant_pre_process(source, ready, skip_symbolic_shape=True)
    return ready


def batches() -> Any:
    from onnxruntime.quantization import CalibrationDataReader

    class Batches(CalibrationDataReader):
        def __init__(self) -> None:
            ids = np.ones((1, 8), np.int64)
            self.left = [{"input_ids": ids * number, "attention_mask": ids} for number in (3, 7)]

        def get_next(self) -> Any:
            return self.left.pop() if self.left else None

    return Batches()


def bert_dynamic() -> onnx.ModelProto:
    from onnxruntime.quantization import QuantType, quantize_dynamic

    return quantize(
        lambda source, target: quantize_dynamic(
            prepare(source), target, weight_type=QuantType.QInt8
        )
    )


def bert_static(operators: bool) -> onnx.ModelProto:
    """Return bert with QLinear operators, per channel, or with Q and DQ pairs."""
    from onnxruntime.quantization import QuantFormat, quantize_static

    return quantize(
        lambda source, target: quantize_static(
            prepare(source),
            target,
            batches(),
            quant_format=QuantFormat.QOperator if operators else QuantFormat.QDQ,
            per_channel=operators,
        )
    )


def bert_int4() -> onnx.ModelProto:
    from onnxruntime.quantization.matmul_nbits_quantizer import MatMulNBitsQuantizer

    def work(source: str, target: str) -> None:
        quantizer = MatMulNBitsQuantizer(onnx.load(source), block_size=32)
        quantizer.process()
        quantizer.model.save_model_to_file(target)

    return quantize(work)


def quantize_images(model: onnx.ModelProto, operators: bool) -> onnx.ModelProto:
    """Return a network of images with QLinear operators, or with Q and DQ pairs."""
    from onnxruntime.quantization import CalibrationDataReader, QuantFormat, quantize_static

    class Images(CalibrationDataReader):
        def __init__(self) -> None:
            chance = np.random.default_rng(0)
            self.left = [chance.random((1, 3, 224, 224), np.float32)]

        def get_next(self) -> Any:
            return {"pixel_values": self.left.pop()} if self.left else None

    with tempfile.TemporaryDirectory() as folder:
        source, target = f"{folder}/source.onnx", f"{folder}/target.onnx"
        onnx.save(model, source)
        quantize_static(
            prepare(source),
            target,
            Images(),
            quant_format=QuantFormat.QOperator if operators else QuantFormat.QDQ,
            per_channel=True,
        )
        return onnx.load(target)


def mobilenet_v3_static() -> onnx.ModelProto:
    return quantize_images(mobilenet_v3(dynamo=False), operators=True)


def resnet50_static() -> onnx.ModelProto:
    return quantize_images(resnet50(dynamo=False), operators=False)


def llama_int4() -> onnx.ModelProto:
    from onnxruntime.quantization.matmul_nbits_quantizer import MatMulNBitsQuantizer

    quantizer = MatMulNBitsQuantizer(llama(dynamo=False), block_size=32)
    quantizer.process()
    return quantizer.model.model


MODELS: dict[str, Callable[[], onnx.ModelProto]] = {
    "quantized/bert.dynamic": bert_dynamic,
    "quantized/bert.qdq": partial(bert_static, operators=False),
    "quantized/bert.qoperator_perchannel": partial(bert_static, operators=True),
    "quantized/bert.matmulnbits_int4": bert_int4,
    "quantized/llama.matmulnbits_int4": llama_int4,
    "quantized/mobilenetv3.qoperator": mobilenet_v3_static,
    "quantized/resnet50.qdq": resnet50_static,
}
