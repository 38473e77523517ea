"""Stored numbers that are infinite, none, or huge are no given matrices, kernels or bases."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from onnx import helper, numpy_helper

from netloupe.explorer.readers.load import load

_LAYERS = {
    "square": ("MatMul", (8, 8), (1, 8, 8), {}),
    "layer": ("Gemm", (8, 8), (2, 8), {}),
    "narrow": ("MatMul", (4, 64), (1, 7, 4), {}),
    "tall": ("MatMul", (64, 4), (1, 7, 64), {}),
    "blurring": ("Conv", (8, 1, 3, 3), (1, 8, 9, 9), {"group": 8}),
    "zero": ("Conv", (8, 8, 1, 1), (1, 8, 9, 9), {}),
    "steps": ("Conv", (8, 1, 5), (1, 8, 9), {"group": 8}),
}


@pytest.mark.parametrize("name", _LAYERS)
@pytest.mark.parametrize("number", [np.inf, -np.inf, np.nan, 3e38], ids=str)
def test_odd_numbers_are_read_without_a_warning(name: str, number: float) -> None:
    op_type, dims, shape, attributes = _LAYERS[name]
    for step in (1, 2, int(np.prod(dims))):
        weight = np.linspace(0, 1, int(np.prod(dims)), dtype=np.float32).reshape(dims)
        weight.flat[::step] = number
        graph = helper.make_graph(
            [
                helper.make_node(op_type, ["x", "w"], ["a"], **attributes),
                helper.make_node("Relu", ["a"], ["y"]),
            ],
            "g",
            [helper.make_tensor_value_info("x", 1, shape)],
            [helper.make_tensor_value_info("y", 1, None)],
            [numpy_helper.from_array(weight, "w")],
        )
        proto = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)])
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            model = load(proto.SerializeToString())
            assert model.architecture.sentence is not None
            assert model.to_svg()
