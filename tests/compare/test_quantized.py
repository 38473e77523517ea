"""A weight that one model holds as floats and the other as codes is told as quantized."""

from __future__ import annotations

import numpy as np
import onnx
import pytest
from onnx import numpy_helper

from netloupe.commands.diff import read_fail_on
from netloupe.explorer.compare import Diff, diff
from netloupe.explorer.describe.difference_json import encode_diff
from netloupe.explorer.describe.differences import format_diff
from netloupe.explorer.readers.load import load
from tests.audit.networks import LAYERS, Quantizer, list_weights, make_cnn, make_model, normal
from tests.audit.test_audit import make_nbits


def compare(left: onnx.ModelProto, right: onnx.ModelProto) -> Diff:
    return diff(load(left), load(right))


def list_quantized(found: Diff) -> dict[str, tuple[object, object]]:
    return {
        one.left.path: (change.left, change.right)
        for one in found.tensors
        for change in one.changes
        if change.what == "quantized"
    }


def test_weights_and_biases_are_quantized_and_not_removed_and_added() -> None:
    found = compare(make_cnn(), Quantizer().make())
    told = list_quantized(found)
    assert told == {
        **{f"main/%{name}.weight": ("float32", "int8 per channel") for name, _, _ in LAYERS},
        **{f"main/%{name}.bias": ("float32", "int32 per channel") for name, _, _ in LAYERS},
    }
    assert found.left_tensors == []
    left = {tensor.name for tensor in found.right_tensors}
    assert not any("weight" in name or "bias" in name for name in left)
    assert "x_scale" in left
    for one in found.tensors:
        assert one.numbers is not None
        assert one.numbers.relative < 0.01
        assert one.numbers.cosine is not None
        assert one.numbers.cosine > 0.9999
    assert "quantized float32 → int8 per channel" in format_diff(found)
    assert any(
        change["what"] == "quantized"
        for one in encode_diff(found)["tensors"]["changed"]
        for change in one["what"]
    )


@pytest.mark.parametrize("is_turned", [False, True])
@pytest.mark.parametrize("unread", [{"float"}, {"codes"}, {"float", "codes"}])
def test_weights_that_cannot_be_read_are_paired_by_what_takes_them(
    unread: set[str], is_turned: bool
) -> None:
    left, right = make_cnn(), Quantizer().make()
    for tensor in left.graph.initializer if "float" in unread else ():
        if tensor.name.endswith((".weight", ".bias")):
            empty(tensor)
    for tensor in right.graph.initializer if "codes" in unread else ():
        if tensor.name.endswith(("weight_quantized", "bias_quantized")):
            empty(tensor)
    found = compare(*((right, left) if is_turned else (left, right)))
    count = 2 * len(LAYERS)
    assert len(list_quantized(found)) == count
    assert [(one.numbers, one.are_unread) for one in found.tensors] == [(None, True)] * count
    lone = {tensor.name for tensor in (*found.left_tensors, *found.right_tensors)}
    assert not any("weight" in name or "bias" in name for name in lone)
    told = format_diff(found)
    assert f"{count} weights could not be read" in told
    assert "int8 per channel" in told
    assert "numbers that could not be read" in told
    assert read_fail_on("weights:1e9")[0].applies(found)


def empty(tensor: onnx.TensorProto) -> None:
    """Let a tensor claim its elements and hold none of them."""
    for field in ("raw_data", "float_data", "int32_data"):
        tensor.ClearField(field)


def test_the_other_way_round_they_are_floats_again() -> None:
    told = list_quantized(compare(Quantizer().make(), make_cnn()))
    assert told["main/%body.weight_quantized"] == ("int8 per channel", "float32")


def test_other_numbers_are_removed_and_added_as_before() -> None:
    found = compare(make_cnn(list_weights(seed=99)), Quantizer().make())
    assert list_quantized(found) == {}
    assert "body.weight" in {tensor.name for tensor in found.left_tensors}
    assert "body.weight_quantized" in {tensor.name for tensor in found.right_tensors}


def test_two_quantized_models_are_compared_by_their_codes() -> None:
    changed = Quantizer().make()
    for tensor in changed.graph.initializer:
        if tensor.name == "body.weight_quantized":
            codes = numpy_helper.to_array(tensor).copy()
            codes[0, 0, 0, 0] += 1
            tensor.CopyFrom(numpy_helper.from_array(codes, tensor.name))
    found = compare(Quantizer().make(), changed)
    assert list_quantized(found) == {}
    (one,) = found.tensors
    assert one.numbers is not None
    assert (one.numbers.changed, one.numbers.largest) == (1, 1.0)


def test_packed_weights_are_quantized_though_their_shape_is_another() -> None:
    weight = normal(128, 64)
    node = onnx.helper.make_node("MatMul", ["x", "w"], ["y"])
    twin = make_model([node], {"w": weight}, (1, 128))
    found = compare(twin, make_nbits(weight, 32, is_symmetric=True))
    assert list_quantized(found) == {"main/%w": ("float32", "uint4 per block")}
    (one,) = found.tensors
    assert one.numbers is not None
    assert 0.05 < one.numbers.relative < 0.15
    assert found.right_tensors == []


def test_few_elements_are_paired_by_name_where_they_are_nearly_equal() -> None:
    arrays = {"b": np.array([0.5, -0.25, 0.125], np.float32)}
    twin = make_model([onnx.helper.make_node("Add", ["x", "b"], ["y"])], arrays, (1, 3))
    for codes, is_pair in (([100, -50, 25], True), ([100, 50, 25], False)):
        stored = {
            "b_quantized": np.array(codes, np.int8),
            "s": np.array(0.005, np.float32),
        }
        nodes = [
            onnx.helper.make_node("DequantizeLinear", ["b_quantized", "s"], ["d"]),
            onnx.helper.make_node("Add", ["x", "d"], ["y"]),
        ]
        found = compare(twin, make_model(nodes, stored, (1, 3)))
        assert bool(list_quantized(found)) == is_pair
