"""Faults of quantized weights and activations."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from onnx import TensorProto, helper

from tests.checks.planted.editing import Editor, Fault

Array = np.ndarray[Any, Any]
_LAYER = "stem.1.conv"
_LAYER_INPUT = "relu"


def _codes(rule: str, what: str, change: Callable[[Array], Array]) -> Fault:
    """Return the fault of a weight's codes, scales left as they are."""

    def plant(editor: Editor) -> None:
        codes = editor.read(f"{_LAYER}.weight_quantized")
        editor.write(f"{_LAYER}.weight_quantized", change(codes.astype(np.int64)).astype(np.int8))

    return Fault(rule, what, "qdq", plant)


def _clip_channel(codes: Array) -> Array:
    codes[3] *= 3
    return np.clip(codes, -127, 127)


def _share_scale(editor: Editor, factors: Array) -> Array:
    """Give a weight one scale, each channel multiplied by a factor; return its float numbers."""
    scale = editor.read(f"{_LAYER}.weight_scale")
    codes = editor.read(f"{_LAYER}.weight_quantized").astype(np.float64)
    floats = codes * (scale * factors).reshape(-1, 1, 1, 1)
    one = np.float32(np.abs(floats).max() / 127)
    editor.write(f"{_LAYER}.weight_scale", np.array(one))
    editor.write(f"{_LAYER}.weight_zero_point", np.array(0, np.int8))
    editor.write(f"{_LAYER}.weight_quantized", np.rint(floats / one).astype(np.int8))
    before = editor.read(f"{_LAYER}.bias_quantized_scale")
    wanted = np.full_like(before, editor.read(f"{_LAYER_INPUT}_scale") * one)
    bias = editor.read(f"{_LAYER}.bias_quantized") * before.astype(np.float64) / wanted
    editor.write(f"{_LAYER}.bias_quantized_scale", wanted)
    editor.write(f"{_LAYER}.bias_quantized", np.rint(bias).astype(np.int32))
    return floats


def _shrink_channel(editor: Editor) -> None:
    factors = np.ones(24)
    factors[3] = 1 / 64
    _share_scale(editor, factors)


def _round_twice(editor: Editor) -> None:
    _share_scale(editor, np.ones(24))
    codes = editor.read(f"{_LAYER}.weight_quantized").astype(np.float64)
    editor.write(f"{_LAYER}.weight_quantized", (np.rint(codes / 9) * 9).astype(np.int8))


def _shift_zero_points(editor: Editor) -> None:
    name = f"{_LAYER}.weight_zero_point"
    editor.write(name, editor.read(name) + np.int8(5))


def _multiply(editor: Editor, name: str, factor: float) -> None:
    editor.write(name, editor.read(name) * np.float32(factor))


def _insert_norm(editor: Editor) -> None:
    one = editor.add_weight("norm.ones", np.ones(24, np.float32))
    editor.insert("node_conv2d_1", "BatchNormalization", [one] * 4)


def _quantize_with_two_scales(editor: Editor) -> None:
    """Quantize anew, with another scale, what the sum behind a block takes."""
    scale = editor.read("relu_1_scale") * np.float32(1.5)
    operands = [editor.add_weight("other_scale", scale), "relu_1_zero_point"]
    node = editor.node("node_add_65")
    node.input[0] = "relu_1_other"
    editor.add_nodes(
        helper.make_node("QuantizeLinear", ["relu_1", *operands], ["other_codes"], "other_Q"),
        helper.make_node("DequantizeLinear", ["other_codes", *operands], ["relu_1_other"], "o_DQ"),
        before="node_add_65",
    )


def _lose_scales(editor: Editor) -> None:
    name = "onnx::MatMul_1699_scales"
    editor.write(name, editor.read(name)[:, :1])


def _take_codes_as_numbers(editor: Editor) -> None:
    node = editor.node("mul_24_DequantizeLinear")
    node.CopyFrom(
        helper.make_node("Cast", node.input[:1], list(node.output), node.name, to=TensorProto.FLOAT)
    )


def _round_again(editor: Editor) -> None:
    """Put a transposition and a pair of another scale behind a value that is quantized."""
    scale = editor.read("conv2d_3_scale") * np.float32(1.1)
    operands = [editor.add_weight("again_scale", scale), "conv2d_3_zero_point"]
    editor.insert("conv2d_3_DequantizeLinear", "Transpose", perm=[0, 1, 3, 2])
    editor.insert("conv2d_3_DequantizeLinear.Transpose", "QuantizeLinear", operands)
    name = "conv2d_3_DequantizeLinear.Transpose.QuantizeLinear"
    editor.insert(name, "DequantizeLinear", operands)


FAULTS = (
    Fault("NL-Q04", "zero points of a weight are not 0", "qdq", _shift_zero_points),
    Fault(
        "NL-Q12",
        "one branch of a sum has a tiny scale",
        "qdq",
        lambda editor: _multiply(editor, "mul_24_scale", 1 / 64),
    ),
    Fault(
        "NL-Q13",
        "activations are unsigned beside weights of 8 bits",
        "qdq",
        lambda editor: editor.write("relu_zero_point", np.array(0, np.uint8)),
    ),
    _codes("NL-Q16", "half of the codes are not used", lambda codes: np.rint(codes / 3)),
    _codes("NL-Q17", "a weight is clipped", lambda codes: np.clip(codes * 3, -127, 127)),
    _codes("NL-Q17", "a channel is clipped", _clip_channel),
    Fault("NL-Q18", "a channel is far smaller than the others", "qdq", _shrink_channel),
    Fault("NL-Q21", "a norm was not folded", "qdq", _insert_norm),
    Fault(
        "NL-Q24",
        "a value is quantized with two scales",
        "qdq",
        _quantize_with_two_scales,
    ),
    Fault("NL-Q26", "scales of a packed weight are missing", "int4", _lose_scales),
    Fault(
        "NL-Q29",
        "the range of a Sigmoid is too wide",
        "qdq",
        lambda editor: _multiply(editor, "sigmoid_scale", 4),
    ),
    Fault("NL-Q31", "codes are taken as numbers", "qdq", _take_codes_as_numbers),
    Fault(
        "NL-Q32",
        "a transposition has another scale behind it",
        "qdq",
        _round_again,
    ),
    Fault(
        "NL-Q33",
        "half of the codes behind a Relu are for negative numbers",
        "qdq",
        lambda editor: editor.write("relu_1_zero_point", np.array(0, np.int8)),
    ),
    Fault("NL-Q34", "a weight was rounded twice", "qdq", _round_twice),
)
