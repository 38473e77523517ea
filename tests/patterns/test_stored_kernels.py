"""Kernels whose stored numbers tell what they are: masked, zero, blurring."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from onnx import TensorProto, helper, numpy_helper

from netloupe.explorer.model import Graph
from netloupe.explorer.patterns import recognise
from netloupe.explorer.readers.load import load

_RANDOM = np.random.default_rng(0)
_BLUR = np.outer([1, 2, 1], [1, 2, 1]) / 16


def _make(*kernels: np.ndarray[Any, Any], groups: int = 1) -> Graph:
    nodes, weights, value = [], [], "x"
    for place, kernel in enumerate(kernels):
        weights.append(numpy_helper.from_array(kernel.astype(np.float32), f"w{place}"))
        size = [kernel.shape[-1] // 2] * 4
        nodes.append(helper.make_node("Conv", [value, f"w{place}"], [f"v{place}"], pads=size))
        value = f"v{place}"
    nodes[0].attribute.append(helper.make_attribute("group", groups))
    info = helper.make_tensor_value_info
    graph = helper.make_graph(
        nodes,
        "kernels",
        [info("x", TensorProto.FLOAT, [1, 4, 8, 8])],
        [info(value, TensorProto.FLOAT, None)],
        weights,
    )
    return load(helper.make_model(graph)).graph


def _tell(graph: Graph) -> str:
    found = recognise(graph.nodes[:1])
    return found.text if found is not None else ""


def _mask(kernel: np.ndarray[Any, Any], *, is_whole: bool) -> np.ndarray[Any, Any]:
    kernel = kernel.copy()
    kernel.reshape(*kernel.shape[:2], -1)[..., kernel.shape[-1] ** 2 // 2 + 1 :] = 0
    if not is_whole:
        kernel[0, 0, -1, -1] = 1
    return kernel


@pytest.mark.parametrize("is_whole", [True, False])
def test_nothing_behind_the_middle_of_a_masked_kernel_counts(*, is_whole: bool) -> None:
    kernel = _mask(_RANDOM.normal(size=(4, 4, 3, 3)), is_whole=is_whole)
    assert ("masked" in _tell(_make(kernel))) == is_whole


@pytest.mark.parametrize("has_others", [True, False])
def test_a_zero_kernel_is_told_where_a_file_has_numbers(*, has_others: bool) -> None:
    zero = np.zeros((4, 4, 1, 1))
    other = _RANDOM.normal(size=(4, 4, 3, 3)) * has_others
    assert ("zero" in _tell(_make(zero, other))) == has_others


@pytest.mark.parametrize("is_same", [True, False])
def test_one_kernel_for_all_channels_blurs(*, is_same: bool) -> None:
    kernel = np.tile(_BLUR, (4, 1, 1, 1))
    if not is_same:
        kernel[1] = kernel[1] ** 2
    assert ("blurring" in _tell(_make(kernel, groups=4))) == is_same
