"""What an audit must not get wrong: biases of integer operators, experts, small floats, factors."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

from netloupe import audit, load
from netloupe.explorer.checks import check
from netloupe.explorer.describe.audits import format_audit
from netloupe.explorer.quantization import find_quantization
from netloupe.explorer.quantization.saturation import measure_saturation
from netloupe.explorer.tensors import open_elements
from tests.audit.networks import (
    Quantizer,
    make_cnn,
    make_model,
    normal,
    quantize_blocks,
    quantize_symmetric,
)
from tests.audit.test_audit import audit_protos, find_weight, pack_nibbles

_NODE = helper.make_node
_MS = "com.microsoft"
Array = np.ndarray[Any, Any]


# biases of operators on integers


def convolve(weight: Array, bias: Array) -> onnx.ModelProto:
    node = _NODE("Conv", ["x", "w", "b"], ["y"], "conv")
    return make_model([node], {"w": weight, "b": bias}, (1, 4, 8, 8))


def convolve_integers(weight: Array, bias: Array, wrong: int = 0) -> onnx.ModelProto:
    """Return a QLinearConv, of which one code of the bias is off by so many steps."""
    codes, scale = quantize_symmetric(weight, 0)
    whole = np.rint(bias / (np.float32(0.02) * scale)).astype(np.int32)
    whole[3] += wrong
    zero = np.zeros(len(scale), np.int8)
    arrays = {"sx": np.array(0.02, np.float32), "zx": np.array(0, np.int8), "w_quantized": codes}
    arrays |= {"ws": scale, "wz": zero, "b_quantized": whole}
    operands = ["q", "sx", "zx", "w_quantized", "ws", "wz", "sx", "zx", "b_quantized"]
    nodes = [
        _NODE("QuantizeLinear", ["x", "sx", "zx"], ["q"]),
        _NODE("QLinearConv", operands, ["c"], "conv"),
        _NODE("DequantizeLinear", ["c", "sx", "zx"], ["y"]),
    ]
    return make_model(nodes, arrays, (1, 4, 8, 8))


@pytest.mark.parametrize("channels", [6, 16])
def test_a_wrong_code_of_a_bias_of_integers_is_told(channels: int) -> None:
    weight, bias = normal(channels, 4, 3, 3), normal(channels, seed=1)
    twin = convolve(weight, bias)
    clean = audit_protos(convolve_integers(weight, bias), twin)
    one = find_weight(clean, "b_quantized")
    assert (one.is_bias, one.state, one.scheme) == (True, "paired", "QOperator")
    assert "bias" not in clean.verdict
    spoiled = audit_protos(convolve_integers(weight, bias, 5_000), twin)
    assert "1 bias off by more than rounding, the most by 5,000 steps" in spoiled.verdict
    one = find_weight(spoiled, "b_quantized")
    assert one.fidelity is not None
    assert one.fidelity.worst_channel == 3
    barely = audit_protos(convolve_integers(weight, bias, 2), twin)
    assert barely.verdict.count("bias off") == 1


def test_a_wrong_bias_between_a_pair_is_told_too() -> None:
    maker = Quantizer()
    assert "bias" not in audit_protos(maker.make(), make_cnn()).verdict
    maker.weights["body.bias"] = maker.weights["body.bias"].copy()
    maker.weights["body.bias"][2] += 1.0
    assert "1 bias off by more than rounding" in audit_protos(maker.make(), make_cnn()).verdict


# experts


def mix(*, block: int | None, has_zero_points: bool = False, **settings: object) -> onnx.ModelProto:
    """Return a QMoE of two experts, [64, 32] and [32, 32] codes of 4 bits each."""
    arrays: dict[str, Array] = {"r": normal(4, 2, seed=9)}
    operands = ["x", "r"]
    for place, (rows, width) in enumerate(((64, 32), (32, 32)), 1):
        weight = normal(2 * rows, width, seed=place)
        codes, scale, zero = quantize_blocks(
            weight, block or width, is_symmetric=not has_zero_points
        )
        packed = pack_nibbles(codes if has_zero_points else codes + 8)
        arrays[f"w{place}"] = packed.reshape(2, rows, width // 2)
        shape = (2, rows) if block is None else (2, rows, width // block)
        arrays[f"s{place}"] = scale.astype(np.float32).reshape(shape)
        if has_zero_points:
            arrays[f"z{place}"] = pack_nibbles(zero).reshape(2, rows, -1)
        operands += [f"w{place}", f"s{place}", ""]
    if has_zero_points:
        operands += ["", "", "", "z1", "z2"]
    settings = {"k": 1, **settings} | ({} if block is None else {"block_size": block})
    return make_model([_NODE("QMoE", operands, ["y"], domain=_MS, **settings)], arrays, (4, 32))


@pytest.mark.parametrize(
    ("block", "has_zero_points"), [(16, False), (16, True), (32, False), (None, False)]
)
def test_experts_are_weights_of_four_bits(block: int | None, has_zero_points: bool) -> None:
    proto = mix(block=block, has_zero_points=has_zero_points and block == 16)
    found = audit_protos(proto)
    assert [(one.storage, one.size) for one in found.weights] == [("uint4", 4096), ("uint4", 2048)]
    assert "Nothing in this model is quantized" not in found.verdict
    assert found.coverage.quantized_weights == 2
    model = load(proto)
    assert model.totals.parameters == 4096 + 2048 + 8  # and the routing's
    twin = make_model(
        [_NODE("MatMul", ["x", "w"], ["y"])], {"w": normal(128, 32, seed=1).T.copy()}, (4, 32)
    )
    one = next(one for one in audit_protos(proto, twin).weights if one.size == 4096)
    if one.fidelity is not None:
        assert one.fidelity.sqnr_db > 18


def test_experts_of_other_kinds_are_not_taken_for_integers() -> None:
    found = audit_protos(mix(block=16, quant_type="fp4"))
    assert [one.storage for one in found.weights] == ["float4_e2m1fn"] * 2
    wide = audit_protos(mix(block=16, fc2_expert_weight_bits=8))
    assert [one.storage for one in wide.weights] == ["uint4", "uint8"]


# small floats


def pair_in_float8(kind: int) -> onnx.ModelProto:
    codes, scale = quantize_symmetric(normal(64, 32), None)
    arrays = {"w": codes, "s": scale, "t": np.array(0.1, np.float32), "z": np.zeros((), np.int8)}
    nodes = [
        _NODE("QuantizeLinear", ["x", "t", "z"], ["q"]),
        _NODE("DequantizeLinear", ["q", "t", "z"], ["a"]),
        _NODE("DequantizeLinear", ["w", "s"], ["d"]),
        _NODE("MatMul", ["a", "d"], ["y"]),
    ]
    return make_model(nodes, arrays, (4, 64), types={"w": kind, "z": kind})


def test_floats_of_eight_bits_are_no_integers() -> None:
    found = audit_protos(pair_in_float8(TensorProto.FLOAT8E4M3FN))
    assert [share.kind for share in found.coverage.precisions] == ["small-float"]
    assert found.coverage.integer_share == 0.0
    assert "100 % floats of 8 bits or fewer" in found.verdict
    assert "0 % of the MACs multiply integers" in found.verdict
    whole = audit_protos(pair_in_float8(TensorProto.INT8))
    assert whole.coverage.integer_share == 1.0


# factors


@pytest.mark.parametrize("axis", [0, None])
def test_scales_that_are_doubled_as_a_whole_explain_nothing(axis: int | None) -> None:
    maker = Quantizer()
    maker.axis = axis
    _, scale = quantize_symmetric(maker.weights["body.weight"], axis)
    codes, _ = quantize_symmetric(maker.weights["body.weight"], axis)
    maker.codes["body"], maker.scales["body"] = codes, scale * np.float32(2)
    found = audit_protos(maker.make(), make_cnn())
    one = find_weight(found, "body.weight_quantized")
    assert one.fidelity is not None
    assert one.state == "multiplied"
    assert one.rescaled_by == pytest.approx((2, 2), rel=0.01)
    assert one.fidelity.sqnr_db == pytest.approx(0.0, abs=0.1)
    assert "multiplied as a whole" in found.verdict
    assert "rescaled" not in found.verdict
    assert "times the twin as a whole" in format_audit(found)


# codes at the ends


@pytest.mark.parametrize(("kind", "zero"), [(np.int8, 0), (np.uint8, 128), (np.uint8, 100)])
def test_the_ends_are_the_same_in_a_finding_and_in_a_histogram(kind: type, zero: int) -> None:
    codes = np.clip(np.rint(normal(64, 32) * 80), -127, 127).astype(np.int16)
    codes[0, :3] = -128
    arrays: dict[str, Array] = {
        "w": (codes + (128 if kind is np.uint8 else 0)).astype(kind),
        "s": np.array(0.1, np.float32),
        "z": np.array(zero, kind),
    }
    nodes = [
        _NODE("DequantizeLinear", ["w", "s", "z"], ["d"]),
        _NODE("MatMul", ["x", "d"], ["y"]),
    ]
    model = load(make_model(nodes, arrays, (4, 64)))
    (weight,) = audit_protos(make_model(nodes, arrays, (4, 64))).weights
    value = model.graph.values["w"]
    quantization = find_quantization(value)
    assert quantization is not None
    tensor = model.graph.initializers[0]
    ends = measure_saturation(open_elements(tensor), quantization, tensor.dims)
    assert ends is not None
    assert weight.codes is not None
    assert ends.share == pytest.approx(weight.codes.ended)
    told = [finding.evidence["ended"] for finding in check(model, select=["NL-Q17"])]
    assert told == ([pytest.approx(ends.share)] if zero != 100 else [])  # fewer are at its ends


# what was not looked at


def keep_outside(proto: onnx.ModelProto, name: str, folder: Path) -> Path:
    """Write a model one of whose tensors is in a file that is not there."""
    tensor = next(each for each in proto.graph.initializer if each.name == name)
    tensor.ClearField("raw_data")
    tensor.data_location = TensorProto.EXTERNAL
    tensor.external_data.add(key="location", value="not_there.bin")
    path = folder / "model.onnx"
    path.write_bytes(proto.SerializeToString())
    return path


@pytest.mark.parametrize("has_twin", [False, True])
@pytest.mark.parametrize("part", ["weight_quantized", "weight_scale"])
def test_a_weight_that_was_not_read_is_told_first(
    part: str, has_twin: bool, tmp_path: Path
) -> None:
    proto = Quantizer().make()
    name = next(t.name for t in proto.graph.initializer if t.name.endswith(part))
    twin = load(make_cnn()) if has_twin else None
    clean = audit(load(proto), twin)
    assert "cannot be judged" not in clean.verdict
    assert "The rules of quantization find nothing." in clean.verdict
    spoiled = audit(load(keep_outside(proto, name, tmp_path)), twin)
    assert "The codes of 1 of them cannot be judged: " in spoiled.verdict
    assert "The rules of quantization find nothing." not in spoiled.verdict


@pytest.mark.parametrize("number", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize(("name", "count"), [("body.weight", 3), ("body.bias", 1)])
def test_numbers_that_no_measure_has_in_it_are_told(name: str, count: int, number: float) -> None:
    maker = Quantizer()
    proto, twin = maker.make(), make_cnn()
    assert "NaN" not in audit_protos(proto, twin).verdict
    tensor = next(each for each in twin.graph.initializer if each.name == name)
    array = numpy_helper.to_array(tensor).copy()
    array.reshape(-1)[:count] = number
    tensor.CopyFrom(numpy_helper.from_array(array, name))
    found = audit_protos(proto, twin)
    many = f"{count} number{'s' * (count > 1)} of 1 weight"
    assert f"{many} {'is' if count == 1 else 'are'} NaN or infinite" in found.verdict
    one = find_weight(found, f"{name}_quantized")
    assert one.fidelity is not None
    assert (one.fidelity.nonfinite, one.fidelity.count) == (count, one.size - count)
