"""Weights of QMoE are counted as numbers, not as the bytes that hold several of them."""

from __future__ import annotations

import numpy as np
import pytest
from onnx import helper, numpy_helper

from netloupe.explorer.model import Model
from netloupe.explorer.readers.load import load


def make_experts(bits: int, **attributes: int) -> Model:
    arrays = {
        "w1": np.zeros((4, 64, 64 * bits // 8), np.uint8),
        "s1": np.ones((4, 64), np.float32),
        "b1": np.ones((4, 64), np.float32),
        "w2": np.zeros((4, 64, 32), np.uint8),
        "s2": np.ones((4, 64), np.float32),
        "z1": np.zeros((4, 32), np.uint8),
    }
    inputs = ["x", "router", "w1", "s1", "b1", "w2", "s2", "", "", "", "", "z1"]
    node = helper.make_node("QMoE", inputs, ["y"], domain="com.microsoft", k=2, **attributes)
    graph = helper.make_graph(
        [node],
        "g",
        [helper.make_tensor_value_info(name, 1, ["T", 64]) for name in ("x", "router")],
        [helper.make_tensor_value_info("y", 1, ["T", 64])],
        [numpy_helper.from_array(array, name) for name, array in arrays.items()],
    )
    domains = [helper.make_opsetid("", 21), helper.make_opsetid("com.microsoft", 1)]
    return load(helper.make_model(graph, opset_imports=domains))


@pytest.mark.parametrize(
    ("bits", "attributes"),
    [
        (4, {}),
        (4, {"expert_weight_bits": 4}),
        (8, {"fc1_expert_weight_bits": 8}),
        (2, {"fc1_expert_weight_bits": 2, "fc2_expert_weight_bits": 4, "expert_weight_bits": 8}),
    ],
)
def test_packed_weights_count_as_numbers(bits: int, attributes: dict[str, int]) -> None:
    model = make_experts(bits, **attributes)
    # 4 experts of 64 x 64, twice, and the bias: neither scales nor zero points
    assert model.totals.parameters == 2 * 4 * 64 * 64 + 4 * 64


def test_bits_that_are_not_documented_are_not_unpacked() -> None:
    model = make_experts(4, expert_weight_bits=5)
    assert model.totals.parameters == 2 * 4 * 64 * 32 + 4 * 64
