"""Stored masks of attention are no attention biases; tables of relative positions are."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pytest
from onnx import helper, numpy_helper

from netloupe.explorer.costs.masks import is_mask
from netloupe.explorer.model import Model
from netloupe.explorer.readers.load import load

Array = npt.NDArray[np.floating]


def write_attention(bias: Array, *, with_elements: bool = True) -> Model:
    """Return attention to whose scores numbers are added; all of them, or only their shape."""
    heads, length = 4, bias.shape[-1]
    dtype = helper.np_dtype_to_tensor_dtype(bias.dtype)
    shape = [1, heads, length, 8]
    nodes = [
        helper.make_node("Transpose", ["k"], ["turned"], perm=[0, 1, 3, 2]),
        helper.make_node("MatMul", ["q", "turned"], ["scores"]),
        helper.make_node("Add", ["scores", "bias"], ["biased"]),
        helper.make_node("Softmax", ["biased"], ["weights"], axis=-1),
        helper.make_node("MatMul", ["weights", "v"], ["y"]),
    ]
    inputs = [helper.make_tensor_value_info(name, dtype, shape) for name in "qkv"]
    outputs = [helper.make_tensor_value_info("y", dtype, shape)]
    tensor = numpy_helper.from_array(bias, "bias")
    if not with_elements:
        tensor.ClearField("raw_data")
    graph = helper.make_graph(nodes, "", inputs, outputs, [tensor])
    return load(helper.make_model(graph).SerializeToString())


def make_causal(length: int, hidden: float, dtype: type = np.float32) -> Array:
    rows: Array = np.triu(np.full((1, 1, length, length), hidden, dtype), 1)
    return np.where(np.tri(length, dtype=bool), dtype(0), rows).astype(dtype)


@pytest.mark.parametrize("length", [2, 12, 40])
@pytest.mark.parametrize(
    ("hidden", "dtype"),
    [
        (0.0, np.float32),
        (-100.0, np.float32),
        (-1e4, np.float16),
        (float(np.finfo(np.float32).min), np.float32),
        (-np.inf, np.float32),
    ],
)
def test_a_mask_is_no_attention_bias(length: int, hidden: float, dtype: type) -> None:
    mask = make_causal(length, hidden, dtype)
    for bias in (mask, mask[0, 0], *([np.repeat(mask, 4, axis=1)] if hidden else [])):
        totals = write_attention(bias).totals
        assert (totals.attention_biases, totals.parameters) == (0, 0)


@pytest.mark.parametrize("length", [2, 12, 40])
@pytest.mark.parametrize("heads", [1, 4])
def test_a_table_of_relative_positions_is_one(length: int, heads: int) -> None:
    table = np.random.default_rng(0).normal(size=(1, heads, length, length)).astype(np.float32)
    assert write_attention(table).totals.attention_biases == table.size
    slopes = -np.abs(np.arange(length)[:, None] - np.arange(length)) * 0.5
    alibi = np.broadcast_to(slopes, table.shape).astype(np.float32)
    assert write_attention(alibi).totals.attention_biases == table.size
    begun = np.zeros((1, 4, length, length), np.float32)  # not learned yet
    assert write_attention(begun).totals.attention_biases == begun.size


@pytest.mark.parametrize("length", [3, 40])
def test_without_elements_a_mask_is_the_same_for_all_heads(length: int) -> None:
    for shape, is_one in (((1, 1), True), ((1, 4), False), ((), True)):
        bias = np.zeros((*shape, length, length), np.float32)
        model = write_attention(bias, with_elements=False)
        assert model.totals.attention_biases == (0 if is_one else bias.size)
        assert is_mask(model.graph.initializers[0]) == is_one


def test_a_table_in_another_layout_is_no_mask() -> None:
    for shape in ((16, 4), (64,), (4, 4, 4)):
        model = write_attention(np.zeros(shape, np.float32), with_elements=False)
        assert not is_mask(model.graph.initializers[0])
