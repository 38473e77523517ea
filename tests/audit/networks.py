"""Float networks and what is made of them in integers, for audits."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

_NODE = helper.make_node
Array = np.ndarray[Any, Any]


def normal(*shape: int, seed: int = 0, scale: float = 1.0) -> Array:
    return (np.random.default_rng(seed).standard_normal(shape) * scale).astype(np.float32)


def make_model(
    nodes: Sequence[onnx.NodeProto],
    arrays: Mapping[str, Array],
    shape: Sequence[int | str],
    *,
    opset: int = 21,
    types: Mapping[str, int] | None = None,
) -> onnx.ModelProto:
    """Return a model from x to y; ``types`` are element types of initializers numpy lacks."""
    tensors = [
        numpy_helper.from_array(array, name)
        if name not in (types or {})
        else helper.make_tensor(name, (types or {})[name], array.shape, array.reshape(-1).tolist())
        for name, array in arrays.items()
    ]
    graph = helper.make_graph(
        list(nodes),
        "g",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, list(shape))],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)],
        tensors,
    )
    opsets = [helper.make_opsetid("", opset), helper.make_opsetid("com.microsoft", 1)]
    return helper.make_model(graph, opset_imports=opsets, ir_version=10)


def quantize_symmetric(weight: Array, axis: int | None, *, top: int = 127) -> tuple[Array, Array]:
    """Return int8 codes and scales: from the largest magnitude, of each channel or of all."""
    others = tuple(each for each in range(weight.ndim) if each != axis)
    largest = np.abs(weight).max(axis=others if axis is not None else None)
    scale = np.asarray(largest / top, np.float32)
    shape = [-1 if each == axis else 1 for each in range(weight.ndim)] if axis is not None else []
    spread = scale.reshape(shape)
    return np.clip(np.rint(weight / spread), -top - 1, top).astype(np.int8), scale


def quantize_blocks(weight: Array, block: int, *, is_symmetric: bool) -> tuple[Array, Array, Array]:
    """Return codes of 4 bits [N, K], scales and zero points [N, K / block], blocks along K.

    Symmetric codes are -8 … 7 around 0, the others 0 … 15.
    """
    blocks = weight.reshape(len(weight), -1, block).astype(np.float64)
    if is_symmetric:
        scale = np.abs(blocks).max(axis=2) / 7
        zero = np.zeros(scale.shape)
        ends = -8, 7
    else:
        low, high = blocks.min(axis=2), blocks.max(axis=2)
        scale = (high - low) / 15
        zero = np.rint(-low / scale)
        ends = 0, 15
    codes = np.clip(np.rint(blocks / scale[..., None]) + zero[..., None], *ends)
    return codes.reshape(weight.shape).astype(np.int8), scale, zero


#: names of the convolutions of :func:`make_cnn`, with channels in and out
LAYERS = (("stem", 8, 16), ("body", 16, 32), ("head", 32, 64))


def list_weights(seed: int = 0) -> dict[str, Array]:
    """Return weights and biases of the convolutions, alike for both precisions."""
    arrays = {}
    for place, (name, before, after) in enumerate(LAYERS):
        arrays[f"{name}.weight"] = normal(after, before, 3, 3, seed=seed + place, scale=0.1)
        arrays[f"{name}.bias"] = normal(after, seed=seed + 50 + place, scale=0.05)
    return arrays


def make_cnn(arrays: Mapping[str, Array] | None = None) -> onnx.ModelProto:
    """Return three convolutions with Relu between them, in float32."""
    arrays = list_weights() if arrays is None else arrays
    nodes, last = [], "x"
    for name, _, _ in LAYERS:
        end = "y" if name == LAYERS[-1][0] else f"{name}.relu"
        inputs = [last, f"{name}.weight", f"{name}.bias"]
        nodes.append(_NODE("Conv", inputs, [f"{name}.conv"], f"/{name}/Conv", pads=[1] * 4))
        nodes.append(_NODE("Relu", [f"{name}.conv"], [end], f"/{name}/Relu"))
        last = end
    return make_model(nodes, dict(arrays), (1, 8, 16, 16))


class Quantizer:
    """Makes the int8 twin of :func:`make_cnn`; what is set before is planted.

    Attributes
    ----------
    weights
        Float weights and biases.
    axis
        0 for a scale for each channel, None for one.
    codes, scales
        What stands in place of the codes and scales that rounding gives, by layer.
    bias_factors
        What the right scale of a bias is multiplied by, by layer.
    activation_scales
        By value; 0.02 where nothing is said.
    activation_zero, activation_type
        Zero point and type of all activations.
    dangling
        Values that are quantized and not dequantized again.
    floats
        Layers that stay in floats.
    """

    def __init__(self) -> None:
        self.weights = list_weights()
        self.axis: int | None = 0
        self.codes: dict[str, Array] = {}
        self.scales: dict[str, Array] = {}
        self.bias_factors: dict[str, float] = {}
        self.activation_scales: dict[str, float] = {}
        self.activation_zero = 0
        self.activation_type: type[np.generic] = np.uint8
        self.floats: set[str] = set()
        self._nodes: list[onnx.NodeProto] = []
        self._arrays: dict[str, Array] = {}

    def make(self) -> onnx.ModelProto:
        """Return the twin."""
        self._nodes, self._arrays = [], {}
        last = self._add_pair("x", 0.04)
        for place, (name, _, _) in enumerate(LAYERS):
            is_last = place == len(LAYERS) - 1
            inputs = self._add_operands(name, last, 0.04 if not place else 0.02 + 0.01 * place)
            self._nodes.append(
                _NODE("Conv", inputs, [f"{name}.conv"], f"/{name}/Conv", pads=[1] * 4)
            )
            end = f"{name}.relu"
            self._nodes.append(_NODE("Relu", [f"{name}.conv"], [end], f"/{name}/Relu"))
            last = self._add_pair(end, 0.03 + 0.01 * place, "y" if is_last else "")
        return make_model(self._nodes, self._arrays, (1, 8, 16, 16))

    def _add_operands(self, name: str, source: str, _: float) -> list[str]:
        weight, bias = self.weights[f"{name}.weight"], self.weights[f"{name}.bias"]
        if name in self.floats:
            self._arrays |= {f"{name}.weight": weight, f"{name}.bias": bias}
            return [source, f"{name}.weight", f"{name}.bias"]
        codes, scale = quantize_symmetric(weight, self.axis)
        codes, scale = self.codes.get(name, codes), self.scales.get(name, scale)
        result = self._dequantize(f"{name}.weight", codes, scale, np.int8)
        wanted = self._arrays[f"{source.removesuffix('_dequantized')}_scale"] * scale
        wanted = np.asarray(wanted * self.bias_factors.get(name, 1.0), np.float32)
        whole = np.clip(np.rint(bias.astype(np.float64) / wanted), -(2**31), 2**31 - 1)
        told = self._dequantize(f"{name}.bias", whole.astype(np.int32), wanted, np.int32)
        return [source, result, told]

    def _dequantize(self, name: str, codes: Array, scale: Array, dtype: type) -> str:
        self._arrays |= {
            f"{name}_quantized": codes,
            f"{name}_scale": np.asarray(scale, np.float32),
            f"{name}_zero_point": np.zeros(np.shape(scale), dtype),
        }
        inputs = [f"{name}_quantized", f"{name}_scale", f"{name}_zero_point"]
        extra = {"axis": 0} if np.ndim(scale) else {}
        self._nodes.append(
            _NODE("DequantizeLinear", inputs, [f"{name}_dequantized"], f"/{name}/DQ", **extra)
        )
        return f"{name}_dequantized"

    def _add_pair(self, name: str, scale: float, result: str = "") -> str:
        scale = self.activation_scales.get(name, scale)
        self._arrays[f"{name}_scale"] = np.array(scale, np.float32)
        self._arrays[f"{name}_zero"] = np.array(self.activation_zero, self.activation_type)
        operands = [f"{name}_scale", f"{name}_zero"]
        result = result or f"{name}_dequantized"
        self._nodes += [
            _NODE("QuantizeLinear", [name, *operands], [f"{name}_codes"], f"/{name}/Q"),
            _NODE("DequantizeLinear", [f"{name}_codes", *operands], [result], f"/{name}/DQ"),
        ]
        return result
