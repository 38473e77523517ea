"""A channel that is off by more than rounding is found, whichever its place and its SQNR.

Channels of small numbers have the lowest SQNR by rounding alone; there are more of them than are
told one by one.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

import netloupe
from netloupe.explorer.audit import QuantizationAudit
from netloupe.explorer.audit.fidelity import _MOST_CHANNELS
from netloupe.explorer.audit.verdict import is_changed
from netloupe.explorer.describe.audits import format_audit
from netloupe.explorer.review import make_review

_CHANNELS, _EACH, _STEP = 3 * _MOST_CHANNELS, 16, 0.01
_CHANCE = np.random.default_rng(11)


def make_model(
    weight: np.ndarray, bias: np.ndarray, codes: dict[str, np.ndarray] | None
) -> onnx.ModelProto:
    """Make a convolution; of names in ``codes`` the codes stand there, to be dequantized."""
    nodes, names, arrays = [], {}, {"w": weight, "b": bias}
    for name, array in arrays.copy().items():
        names[name] = name
        if codes and name in codes:
            arrays |= {name: codes[name], f"{name}_scale": np.float32(_STEP)}
            inputs = [name, f"{name}_scale"]
            nodes.append(helper.make_node("DequantizeLinear", inputs, [f"{name}_float"]))
            names[name] = f"{name}_float"
        else:
            arrays[name] = array
    nodes.append(helper.make_node("Conv", ["x", names["w"], names["b"]], ["y"], "conv"))
    graph = helper.make_graph(
        nodes,
        "g",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, _EACH, 8, 8])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, [1, _CHANNELS, 8, 8])],
        [numpy_helper.from_array(np.asarray(array), name) for name, array in arrays.items()],
    )
    return helper.make_model(graph, ir_version=10, opset_imports=[helper.make_opsetid("", 19)])


def audit(weight: np.ndarray, bias: np.ndarray, codes: dict[str, Any]) -> QuantizationAudit:
    coded, plain = make_model(weight, bias, codes), make_model(weight, bias, None)
    models = [netloupe.load(model.SerializeToString()) for model in (coded, plain)]
    return netloupe.audit(models[0], reference=models[1])


def round_to_codes(numbers: np.ndarray, kind: type) -> np.ndarray:
    return np.rint(numbers / _STEP).astype(kind)


def make_numbers(large: int) -> np.ndarray:
    """Return a weight whose channels are small, of about a step, but one."""
    weight = _CHANCE.uniform(-1.4, 1.4, (_CHANNELS, _EACH, 1, 1)) * _STEP
    weight[large] = _CHANCE.choice([-1, 1], (_EACH, 1, 1)) * _CHANCE.uniform(
        0.9, 1.2, (_EACH, 1, 1)
    )
    return weight.astype(np.float32)


@pytest.mark.parametrize("place", [0, _CHANNELS // 2, _CHANNELS - 1])
@pytest.mark.parametrize("steps", [0, 3])
def test_a_channel_of_a_weight_that_is_off_is_found(place: int, steps: int) -> None:
    weight, bias = make_numbers(place), np.ones(_CHANNELS, np.float32)
    codes = round_to_codes(weight, np.int8)
    codes[place] += np.int8(steps) * _CHANCE.choice(np.array([-1, 1], np.int8), (_EACH, 1, 1))
    found = audit(weight, bias, {"w": codes})
    (one,) = found.weights
    assert one.fidelity is not None
    assert one.fidelity.channels == _CHANNELS
    assert is_changed(one) is bool(steps)
    # one of its kind: its SQNR is high
    lowest = [each.channel for each in one.fidelity.worst[:_MOST_CHANNELS]]
    assert place not in lowest
    assert (f"off by more than rounding, channel {place} the worst" in format_audit(found)) is bool(
        steps
    )
    assert any("by more than rounding" in item.title for item in make_review(audit=found)) is bool(
        steps
    )


@pytest.mark.parametrize("place", [0, _CHANNELS // 2, _CHANNELS - 1])
@pytest.mark.parametrize("steps", [0, 5])
def test_a_number_of_a_bias_that_is_off_is_found(place: int, steps: int) -> None:
    weight = make_numbers(1)
    bias = (_CHANCE.uniform(0.6, 1.4, _CHANNELS) * _STEP).astype(np.float32)
    bias[place] = 2.0
    bias[place - 1] = 2.0**17  # beside which five steps are next to nothing
    codes = round_to_codes(bias, np.int32)
    bias[place - 1] = np.float32(codes[place - 1] * np.float64(np.float32(_STEP)))
    codes[place] += steps
    found = audit(weight, bias, {"w": round_to_codes(weight, np.int8), "b": codes})
    one = next(each for each in found.weights if each.is_bias)
    assert one.fidelity is not None
    assert is_changed(one) is bool(steps)
    assert any("A bias off" in item.title for item in make_review(audit=found)) is bool(steps)
    assert one.fidelity.channels == _CHANNELS
    assert one.fidelity.per_channel_gain_db is None


@pytest.mark.parametrize("place", [0, _CHANNELS // 2, _CHANNELS - 1])
@pytest.mark.parametrize("factor", [1, 1.25])
def test_a_channel_of_narrow_floats_that_is_multiplied_is_found(place: int, factor: float) -> None:
    """The others have lower SQNR, though nothing is multiplied: they hold other numbers."""
    dtype = TensorProto.FLOAT8E4M3FN
    weight = _CHANCE.standard_normal((_CHANNELS, _EACH, 1, 1)).astype(np.float32)
    other = weight.copy()
    noise = _CHANCE.standard_normal(weight.shape)
    flat, wide = weight.reshape(_CHANNELS, -1), noise.reshape(_CHANNELS, -1)
    along = (flat * wide).sum(axis=1) / (flat * flat).sum(axis=1)
    noise -= along[:, None, None, None] * weight
    noise *= 0.4
    noise[place] = 0
    other = (other + noise).astype(np.float32)
    other[place] *= factor
    model = make_model(weight, np.ones(_CHANNELS, np.float32), {"w": other / _STEP})
    for tensor in model.graph.initializer:
        if tensor.name == "w":
            values = (numpy_helper.to_array(tensor) * 1.0).clip(-440, 440)
            made = helper.make_tensor("w", dtype, tensor.dims, values.reshape(-1))
            tensor.CopyFrom(made)
    plain = make_model(weight, np.ones(_CHANNELS, np.float32), None)
    sides = [netloupe.load(each.SerializeToString()) for each in (model, plain)]
    (one,) = netloupe.audit(sides[0], reference=sides[1]).weights
    assert one.fidelity is not None
    assert one.fidelity.excess_error is None
    assert is_changed(one) is (factor != 1)


def test_of_more_channels_than_are_looked_at_it_is_said() -> None:
    rows = 2**20 + 1
    table = _CHANCE.uniform(-1, 1, (rows, 2)).astype(np.float32)
    sides = []
    for is_coded in (True, False):
        arrays: dict[str, Any] = {"w": round_to_codes(table, np.int8) if is_coded else table}
        nodes = [helper.make_node("Gather", ["d" if is_coded else "w", "x"], ["y"])]
        if is_coded:
            arrays["s"] = np.float32(_STEP)
            nodes.insert(0, helper.make_node("DequantizeLinear", ["w", "s"], ["d"]))
        graph = helper.make_graph(
            nodes,
            "g",
            [helper.make_tensor_value_info("x", TensorProto.INT64, [1])],
            [helper.make_tensor_value_info("y", TensorProto.FLOAT, [1, 2])],
            [numpy_helper.from_array(np.asarray(array), name) for name, array in arrays.items()],
        )
        model = helper.make_model(graph, ir_version=10, opset_imports=[helper.make_opsetid("", 19)])
        sides.append(netloupe.load(model.SerializeToString()))
    found = netloupe.audit(sides[0], reference=sides[1])
    assert found.weights[0].fidelity is not None
    told = [each for each in found.unchecked if each.what == "channels of weights"]
    assert [each.count for each in told] == [1]
    assert "channels of weights: there are over a million" in format_audit(found)


@pytest.mark.parametrize("passed", [0, 1, 20])
def test_a_turned_weight_is_found_behind_any_number_of_nodes(passed: int) -> None:
    size = 24
    weight = _CHANCE.uniform(-1, 1, (size, size)).astype(np.float32)
    sides = []
    for is_coded in (True, False):
        arrays: dict[str, Any] = {"w": round_to_codes(weight, np.int8) if is_coded else weight}
        nodes, value = [], "w"
        if is_coded:
            arrays["s"] = np.float32(_STEP)
            nodes.append(helper.make_node("DequantizeLinear", ["w", "s"], ["d"]))
            value = "d"
            for number in range(passed):
                nodes.append(helper.make_node("Identity", [value], [f"i{number}"]))
                value = f"i{number}"
        nodes.append(helper.make_node("Gemm", ["x", value], ["y"], "gemm", transB=int(is_coded)))
        graph = helper.make_graph(
            nodes,
            "g",
            [helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, size])],
            [helper.make_tensor_value_info("y", TensorProto.FLOAT, [1, size])],
            [numpy_helper.from_array(np.asarray(array), name) for name, array in arrays.items()],
        )
        model = helper.make_model(graph, ir_version=10, opset_imports=[helper.make_opsetid("", 19)])
        sides.append(netloupe.load(model.SerializeToString()))
    (one,) = netloupe.audit(sides[0], reference=sides[1]).weights
    assert one.is_turned
