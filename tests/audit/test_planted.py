"""Faults planted in a clean int8 network: each is found by its id, and nothing new besides."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

from netloupe import audit, load
from tests.audit.networks import Quantizer, make_cnn, quantize_symmetric

Planted = Callable[[Quantizer], "onnx.ModelProto | None"]


def _edit(model: onnx.ModelProto, name: str, edit: Callable[[np.ndarray], np.ndarray]) -> None:
    for tensor in model.graph.initializer:
        if tensor.name == name:
            array = edit(numpy_helper.to_array(tensor).copy())
            tensor.CopyFrom(numpy_helper.from_array(array, name))
            return
    raise AssertionError(f"no {name}")


def plant_bias_scale(maker: Quantizer) -> None:
    maker.bias_factors = {"body": 1.5}


def plant_bias_scale_of_half_a_percent(maker: Quantizer) -> None:
    maker.bias_factors = {"head": 1.005}


def plant_clipped_channel(maker: Quantizer) -> None:
    weight = maker.weights["body.weight"]
    _, scale = quantize_symmetric(weight, 0)
    scale[5] /= 2.5
    codes = np.clip(np.rint(weight / scale.reshape(-1, 1, 1, 1)), -127, 127).astype(np.int8)
    maker.codes["body"], maker.scales["body"] = codes, scale


def plant_clipped_tensor(maker: Quantizer) -> None:
    maker.axis = None
    weight = maker.weights["body.weight"]
    scale = np.float32(np.abs(weight).max() / 127 / 3)
    codes = np.clip(np.rint(weight / scale), -127, 127).astype(np.int8)
    maker.codes["body"], maker.scales["body"] = codes, np.asarray(scale)


def plant_unused_range(maker: Quantizer) -> None:
    weight = maker.weights["head.weight"]
    codes, scale = quantize_symmetric(weight, 0, top=40)
    maker.codes["head"], maker.scales["head"] = codes, scale


def plant_unequal_channels(maker: Quantizer) -> None:
    maker.axis = None
    maker.weights["body.weight"][3] /= 64


def plant_scale_of_zero(maker: Quantizer) -> onnx.ModelProto:
    model = maker.make()

    def clear(scale: np.ndarray) -> np.ndarray:
        scale[2] = 0
        return scale

    _edit(model, "body.weight_scale", clear)
    _edit(model, "body.bias_scale", clear)
    return model


def plant_subnormal_scale(maker: Quantizer) -> onnx.ModelProto:
    model = maker.make()
    _edit(model, "stem.relu_scale", lambda scale: np.full_like(scale, 1e-40))
    for name in ("body.bias_scale",):
        _edit(model, name, lambda scale: scale * np.float32(0) + np.float32(1e-40))
    return model


def plant_saturated_bias(maker: Quantizer) -> None:
    weight = maker.weights["body.weight"]
    weight[7] *= np.float32(1e-9)
    maker.weights["body.bias"][7] = 5.0


def plant_zero_point_of_weights(maker: Quantizer) -> onnx.ModelProto:
    model = maker.make()
    _edit(model, "body.weight_zero_point", lambda zero: zero + 4)
    return model


def plant_negative_range(maker: Quantizer) -> None:
    maker.activation_zero, maker.activation_type = 128, np.uint8


def plant_unequal_pair(maker: Quantizer) -> onnx.ModelProto:
    model = maker.make()
    model.graph.initializer.append(numpy_helper.from_array(np.array(3, np.uint8), "other_zero"))
    for node in model.graph.node:
        if node.name == "/body.relu/DQ":
            node.input[2] = "other_zero"
    return model


def plant_lone_quantizer(maker: Quantizer) -> onnx.ModelProto:
    model = maker.make()
    for node in model.graph.node:
        if node.name == "/stem.relu/DQ":
            node.CopyFrom(
                helper.make_node(
                    "Cast", [node.input[0]], [node.output[0]], node.name, to=TensorProto.FLOAT
                )
            )
    return model


def plant_scales_of_the_wrong_axis(maker: Quantizer) -> onnx.ModelProto:
    model = maker.make()
    for node in model.graph.node:
        if node.name == "/body.weight/DQ":
            node.attribute[0].i = 1
    _edit(model, "body.weight_scale", lambda scale: scale[:16])
    _edit(model, "body.weight_zero_point", lambda zero: zero[:16])
    return model


_PLANTED: list[tuple[Planted, set[str]]] = [
    (plant_bias_scale, {"NL-Q09"}),
    (plant_bias_scale_of_half_a_percent, {"NL-Q09"}),
    (plant_clipped_channel, {"NL-Q17"}),
    (plant_clipped_tensor, {"NL-Q17"}),
    (plant_unused_range, {"NL-Q16"}),
    (plant_unequal_channels, {"NL-Q18"}),
    (plant_scale_of_zero, {"NL-Q01"}),
    (plant_subnormal_scale, {"NL-Q01", "NL-Q09"}),
    (plant_saturated_bias, {"NL-Q10"}),
    (plant_zero_point_of_weights, {"NL-Q04"}),
    (plant_negative_range, {"NL-Q33"}),
    (plant_unequal_pair, {"NL-Q07"}),
    (plant_lone_quantizer, {"NL-Q31"}),
    (plant_scales_of_the_wrong_axis, {"NL-Q06"}),
]


@pytest.mark.parametrize(("plant", "ids"), _PLANTED, ids=[plant.__name__ for plant, _ in _PLANTED])
def test_what_is_planted_is_found_and_nothing_else(plant: Planted, ids: set[str]) -> None:
    maker = Quantizer()
    made = plant(maker)
    found = audit(load(made if made is not None else maker.make()), load(make_cnn()))
    assert {finding.id for finding in found.defects} == ids


def test_nothing_is_found_in_the_clean_network() -> None:
    for axis in (0, None):
        maker = Quantizer()
        maker.axis = axis
        assert audit(load(maker.make())).defects == ()
