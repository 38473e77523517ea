"""Models as runtimes and their optimizers write them, odd and small."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from tests.cases.models import make_model, node, parse, relu, value

_MICROSOFT = "com.microsoft"


def _fused() -> bytes:
    """Return nodes of onnxruntime's own domain."""
    nodes = [
        node("FusedMatMul", "x w", "h", "fused", domain=_MICROSOFT, alpha=0.5, transB=1),
        node("SkipLayerNormalization", "h x g", "s", "skip", domain=_MICROSOFT, epsilon=1e-5),
        node("BiasGelu", "s g", "y", "gelu", domain=_MICROSOFT),
    ]
    weights = [
        numpy_helper.from_array(np.ones((8, 8), np.float32), "w"),
        numpy_helper.from_array(np.ones(8, np.float32), "g"),
    ]
    model = make_model(
        nodes,
        weights,
        [value("x", ("N", 8))],
        [value("y", ("N", 8))],
        opsets={"": 18, _MICROSOFT: 1},
    )
    return model.SerializeToString()


def _old() -> bytes:
    """Return a model of IR version 3: initializers are inputs, too, and no opset is imported."""
    weight = numpy_helper.from_array(np.ones((2, 2), np.float32), "w")
    inputs = [value("x", (1, 2)), value("w", (2, 2))]
    nodes = [node("Gemm", "x w", "h"), node("Upsample", "h", "y", scales=[1.0, 2.0])]
    return make_model(nodes, [weight], inputs, ir_version=3, opsets={}).SerializeToString()


def _types() -> bytes:
    """Return values that are sequences, maps, optional or sparse."""
    tensor = helper.make_tensor_type_proto(TensorProto.FLOAT, ["N", 3])
    sequence = helper.make_sequence_type_proto(tensor)
    kinds = {
        "sequence": sequence,
        "optional": helper.make_optional_type_proto(sequence),
        "map": helper.make_map_type_proto(TensorProto.STRING, tensor),
        "sparse": helper.make_sparse_tensor_type_proto(TensorProto.FLOAT, [10, 10]),
        "scalar": helper.make_tensor_type_proto(TensorProto.FLOAT, []),
        "unranked": helper.make_tensor_type_proto(TensorProto.FLOAT, None),
        "nothing": onnx.TypeProto(),
    }
    inputs = [helper.make_value_info(f"x_{name}", kind) for name, kind in kinds.items()]
    outputs = [helper.make_value_info(f"y_{name}", kind) for name, kind in kinds.items()]
    nodes = [node("Identity", f"x_{name}", f"y_{name}", name) for name in kinds]
    return make_model(nodes, (), inputs, outputs).SerializeToString()


def _unused() -> bytes:
    weights = [numpy_helper.from_array(np.ones(3, np.float32), name) for name in ("used", "unused")]
    nodes = [node("Add", "x used", "y"), node("Neg", "x", "dangling")]
    return make_model(nodes, weights).SerializeToString()


def _weights_inside() -> bytes:
    text = """
    main (float[2] x, bool c) => (float[2] y) <float[2] w = {1, 2}>
    {
        y = If (c) <
            then_branch: graph = t () => (float[2] a) <float[2] v = {3, 4}> { a = Add (x, v) },
            else_branch: graph = e () => (float[2] b) <float[2] w2 = {5, 6}> { b = Mul (w, w2) }
        >
    }"""
    return parse(text).SerializeToString()


def _strings() -> bytes:
    words = TensorProto(name="words", data_type=TensorProto.STRING, dims=[3])
    words.string_data.extend([b"one", "zw\u00f6lf".encode(), b"\xff\xfe"])
    return make_model([relu()], [words]).SerializeToString()


def _missing_inputs() -> bytes:
    clip = helper.make_node("Clip", ["x", "", "most"], ["y"], name="clip")
    return make_model([clip], outputs=[value("y", ())]).SerializeToString()


CASES: dict[str, Callable[[], bytes]] = {
    "runtimes/fused.onnx": _fused,
    "runtimes/ir_version_3.onnx": _old,
    "runtimes/types.onnx": _types,
    "runtimes/unused.onnx": _unused,
    "runtimes/weights_in_branches.onnx": _weights_inside,
    "runtimes/strings.onnx": _strings,
    "runtimes/missing_inputs.onnx": _missing_inputs,
    "runtimes/custom_domain.onnx": lambda: make_model(
        [node("Plugin", "x", "y", "p", domain="com.example", level=3)],
        opsets={"": 18, "com.example": 2},
    ).SerializeToString(),
}
