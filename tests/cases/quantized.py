"""Quantization that is annotated: as the specification has it, as FINN and as QONNX write it."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import onnx
from onnx import numpy_helper

from tests.cases.models import make_model, node, value

_QONNX = "qonnx.custom_op.general"


def _weight(name: str, *dims: int) -> onnx.TensorProto:
    count = int(np.prod(dims))
    return numpy_helper.from_array(np.linspace(-1, 1, count, dtype=np.float32).reshape(dims), name)


def _annotate(model: onnx.ModelProto, target: str, **entries: str) -> None:
    annotation = model.graph.quantization_annotation.add(tensor_name=target)
    for key, text in entries.items():
        annotation.quant_parameter_tensor_names.add(key=key, value=text)


def _specified() -> bytes:
    """Return scales and zero points in tensors that annotations name."""
    weights = [_weight("w1", 8, 4), _weight("w2", 4, 2)]
    for name in ("w1", "w2", "h"):
        weights.append(numpy_helper.from_array(np.float32([0.1]), f"{name}_scale"))
        weights.append(numpy_helper.from_array(np.int8([3]), f"{name}_zero"))
    nodes = [node("MatMul", "x w1", "h", "first"), node("MatMul", "h w2", "y", "second")]
    model = make_model(nodes, weights, [value("x", ("N", 8))], [value("y", ("N", 2))])
    for name in ("w1", "w2", "h"):
        _annotate(model, name, SCALE_TENSOR=f"{name}_scale", ZERO_POINT_TENSOR=f"{name}_zero")
    return model.SerializeToString()


def _finn() -> bytes:
    """Return thresholds and types as annotations without tensors."""
    nodes = [
        node("MatMul", "x w", "h", "MatMul_0"),
        node("MultiThreshold", "h t", "y", "MultiThreshold_0", domain=_QONNX, out_dtype="UINT2"),
    ]
    weights = [_weight("w", 8, 4), _weight("t", 4, 3)]
    model = make_model(
        nodes, weights, [value("x", (1, 8))], [value("y", (1, 4))], opsets={"": 11, _QONNX: 1}
    )
    for name, kind in (("x", "UINT8"), ("w", "BIPOLAR"), ("t", "INT9"), ("y", "UINT2")):
        _annotate(model, name, finn_datatype=kind)
    return model.SerializeToString()


def _qonnx() -> bytes:
    """Return a convolutional net with Quant nodes of several widths, and bipolar ones."""
    constants = {"scale": [0.25], "zero": [0.0], "bits2": [2.0], "bits4": [4.0], "bits8": [8.0]}
    weights = [numpy_helper.from_array(np.float32(v), name) for name, v in constants.items()]
    weights += [_weight("w0", 8, 3, 3, 3), _weight("w1", 8, 8, 3, 3), _weight("w2", 8, 10)]

    def quant(source: str, target: str, bits: str, signed: int = 1) -> onnx.NodeProto:
        return node(
            "Quant",
            f"{source} scale zero {bits}",
            target,
            f"Quant_{target}",
            domain=_QONNX,
            signed=signed,
            narrow=0,
            rounding_mode="ROUND",
        )

    nodes = [quant("image", "q", "bits8", 0)]
    before = "q"
    for number in range(2):
        nodes += [
            quant(f"w{number}", f"wq{number}", "bits2"),
            node("Conv", f"{before} wq{number}", f"c{number}", f"Conv_{number}", pads=[1] * 4),
            node("Relu", f"c{number}", f"r{number}", f"Relu_{number}"),
            quant(f"r{number}", f"a{number}", "bits4", 0),
        ]
        before = f"a{number}"
    nodes += [
        node("GlobalAveragePool", before, "p", "Pool"),
        node("Flatten", "p", "f", "Flatten"),
        node("BipolarQuant", "w2 scale", "wq2", "BipolarQuant", domain=_QONNX),
        node("MatMul", "f wq2", "m", "MatMul"),
        node("Trunc", "m scale zero bits8 bits4", "y", "Trunc", domain=_QONNX),
    ]
    image, out = value("image", (1, 3, 16, 16)), value("y", (1, 10))
    model = make_model(nodes, weights, [image], [out], opsets={"": 11, _QONNX: 1})
    return model.SerializeToString()


CASES: dict[str, Callable[[], bytes]] = {
    "quant_annot/specified.onnx": _specified,
    "quant_annot/finn.onnx": _finn,
    "quant_annot/qonnx.onnx": _qonnx,
}
