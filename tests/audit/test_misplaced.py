"""Weights that are not what their float twin is: told in the verdict, and nothing of clean ones."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import helper, numpy_helper

from netloupe import QuantizationAudit, audit, load
from netloupe.explorer.audit.verdict import is_changed
from netloupe.explorer.describe.audits import format_audit
from netloupe.explorer.notation import write_bytes, write_number
from netloupe.explorer.review.audits import list_audit_items
from tests.audit.networks import (
    LAYERS,
    Array,
    Quantizer,
    list_weights,
    make_cnn,
    make_model,
    normal,
    quantize_symmetric,
)

_NODE = helper.make_node
#: matrices of one shape, one after the other
_NAMES = ("first", "second", "third")
_SIZE = 32


def _audit(quantized: onnx.ModelProto, floats: onnx.ModelProto) -> QuantizationAudit:
    return audit(load(quantized.SerializeToString()), load(floats.SerializeToString()))


def _make_chain(*, trans: bool = False) -> onnx.ModelProto:
    """Return three products with square matrices, as MatMul or as Gemm with transB."""
    arrays = {f"{name}.weight": normal(_SIZE, _SIZE, seed=n) for n, name in enumerate(_NAMES)}
    nodes, last = [], "x"
    for name in _NAMES:
        end = "y" if name == _NAMES[-1] else f"{name}.out"
        taken = [last, f"{name}.weight"]
        extra = {"transB": 1} if trans else {}
        nodes.append(_NODE("Gemm" if trans else "MatMul", taken, [end], f"/{name}", **extra))
        last = end
    if trans:
        arrays = {name: np.ascontiguousarray(array.T) for name, array in arrays.items()}
    return make_model(nodes, arrays, (4, _SIZE))


def _quantize_chain(edit: Callable[[dict[str, Array]], None] | None = None) -> onnx.ModelProto:
    """Return the chain with weights of int8 behind DequantizeLinear, a scale for each matrix."""
    weights = {f"{name}.weight": normal(_SIZE, _SIZE, seed=n) for n, name in enumerate(_NAMES)}
    if edit is not None:
        edit(weights)
    nodes, arrays, last = [], {}, "x"
    for name in _NAMES:
        end = "y" if name == _NAMES[-1] else f"{name}.out"
        stored = f"{name}.weight"
        codes, scale = quantize_symmetric(weights[stored], None)
        arrays |= {f"{stored}_quantized": codes, f"{stored}_scale": scale}
        inputs = [f"{stored}_quantized", f"{stored}_scale"]
        nodes.append(_NODE("DequantizeLinear", inputs, [stored], f"/{name}/DQ"))
        nodes.append(_NODE("MatMul", [last, stored], [end], f"/{name}"))
        last = end
    return make_model(nodes, arrays, (4, _SIZE))


def _exchange(weights: dict[str, Array]) -> None:
    first, second = (f"{name}.weight" for name in _NAMES[:2])
    weights[first], weights[second] = weights[second], weights[first]


def _turn(weights: dict[str, Array]) -> None:
    weights["second.weight"] = np.ascontiguousarray(weights["second.weight"].T)


def _replace(weights: dict[str, Array]) -> None:
    weights["third.weight"] = normal(_SIZE, _SIZE, seed=77)


def test_of_clean_weights_none_is_told_to_be_elsewhere() -> None:
    found = _audit(_quantize_chain(), _make_chain())
    assert [one.state for one in found.weights] == ["paired"] * 3
    assert not any(one.expected or one.is_turned for one in found.weights)
    for word in ("None of", "the name says", "transposed", "no weight of the float model"):
        assert word not in found.verdict
    assert not [*list_audit_items(found, {})]


def test_exchanged_weights_are_told() -> None:
    found = _audit(_quantize_chain(_exchange), _make_chain())
    told = {one.path: (one.reference, one.expected) for one in found.weights}
    assert told == {
        "main/%first.weight_quantized": ("main/%second.weight", "main/%first.weight"),
        "main/%second.weight_quantized": ("main/%first.weight", "main/%second.weight"),
        "main/%third.weight_quantized": ("main/%third.weight", ""),
    }
    assert "2 weights have the numbers of another one of the float model" in found.verdict
    titles = [item.title for item in list_audit_items(found, {})]
    assert titles == ["A weight with the numbers of another one of the float model"] * 2


def test_equal_weights_under_each_others_name_are_not_exchanged() -> None:
    floats = _make_chain()
    for tensor in floats.graph.initializer:
        tensor.CopyFrom(numpy_helper.from_array(normal(_SIZE, _SIZE), tensor.name))

    def alike(weights: dict[str, Array]) -> None:
        for name in weights:
            weights[name] = normal(_SIZE, _SIZE)

    assert not any(one.expected for one in _audit(_quantize_chain(alike), floats).weights)


@pytest.mark.parametrize("is_transposed", [False, True], ids=["MatMul", "Gemm with transB"])
def test_a_square_weight_that_lies_transposed_is_told(is_transposed: bool) -> None:
    floats = _make_chain(trans=is_transposed)
    found = _audit(_quantize_chain(), floats)
    assert not any(one.is_turned for one in found.weights)
    found = _audit(_quantize_chain(_turn), floats)
    assert [one.is_turned for one in found.weights] == [False, True, False]
    assert "1 weight lies transposed against the float model" in found.verdict


def test_a_symmetric_weight_lies_right_either_way() -> None:
    floats = _make_chain(trans=True)
    for tensor in floats.graph.initializer:
        array = numpy_helper.to_array(tensor)
        tensor.CopyFrom(numpy_helper.from_array(array + array.T, tensor.name))

    def mirror(weights: dict[str, Array]) -> None:
        for name, array in weights.items():
            weights[name] = array + array.T

    assert not any(one.is_turned for one in _audit(_quantize_chain(mirror), floats).weights)


def test_a_weight_of_other_numbers_is_told_in_the_verdict() -> None:
    found = _audit(_quantize_chain(_replace), _make_chain())
    assert [one.state for one in found.weights] == ["paired", "paired", "other numbers"]
    assert (
        "1 weight has the numbers of no weight of the float model with as many elements: "
        "main/%third.weight_quantized."
    ) in found.verdict
    (item,) = list_audit_items(found, {})
    assert item.title == "A weight with other numbers than all of the float model"


def test_a_twin_of_another_training_is_told() -> None:
    found = _audit(Quantizer().make(), make_cnn(list_weights(seed=500)))
    assert "None of 3 weights was compared with floats." in found.verdict
    assert "3 weights and 3 biases have the numbers of no weight" in found.verdict


def test_a_twin_without_such_weights_is_told() -> None:
    found = _audit(Quantizer().make(), _make_chain())
    assert "None of 3 weights was compared with floats: the float model has no" in found.verdict


@pytest.mark.parametrize("factor", [2.0, 0.5, -1.0, 1.2])
def test_one_rescaled_channel_is_told_as_it_is(factor: float) -> None:
    maker = Quantizer()
    weight = maker.weights["body.weight"]
    codes, scale = quantize_symmetric(weight, 0)
    if factor < 0:
        codes[5] *= -1
    else:
        scale[5] *= factor
    maker.codes["body"], maker.scales["body"] = codes, scale
    found = _audit(maker.make(), make_cnn())
    one = next(one for one in found.weights if "body.weight" in one.path)
    assert (one.state, one.rescaled_by) == ("paired", None)
    decoded = codes * scale.astype(np.float64).reshape(-1, 1, 1, 1)
    error = np.linalg.norm(weight - decoded)
    sqnr = 20 * np.log10(np.linalg.norm(weight.astype(np.float64)) / error)
    assert one.fidelity is not None
    assert one.fidelity.sqnr_db == pytest.approx(sqnr, abs=1e-3)
    assert one.fidelity.worst_channel == 5
    assert one.fidelity.worst[0].ratio == pytest.approx(factor, rel=0.01)
    assert is_changed(one)
    assert "rescaled" not in found.verdict
    number = one.fidelity.worst[0].ratio
    assert f"channel 5 the worst, {write_number(number)} times its twin" in format_audit(found)


def test_a_clipped_channel_is_no_multiple_of_its_twin() -> None:
    maker = Quantizer()
    weight = maker.weights["body.weight"]
    _, scale = quantize_symmetric(weight, 0)
    scale[5] /= 2.5
    codes = np.clip(np.rint(weight / scale.reshape(-1, 1, 1, 1)), -127, 127)
    maker.codes["body"], maker.scales["body"] = codes.astype(np.int8), scale
    told = format_audit(_audit(maker.make(), make_cnn()))
    assert "channel 5 the worst" in told
    assert "times its twin" not in told


@pytest.mark.parametrize("dtype", [np.float16, np.float32], ids=["float16", "float32"])
def test_rounding_of_the_twin_is_no_error_of_a_bias(dtype: type[np.generic]) -> None:
    floats = make_cnn()
    for tensor in floats.graph.initializer:
        array = numpy_helper.to_array(tensor).astype(dtype)
        tensor.CopyFrom(numpy_helper.from_array(array, tensor.name))
    maker = Quantizer()
    maker.activation_scales = dict.fromkeys(("x", "stem.relu", "body.relu"), 1e-4)
    found = _audit(maker.make(), floats)
    biases = [one for one in found.weights if one.is_bias]
    assert {one.reference_dtype for one in biases} == {np.dtype(dtype).name}
    assert len(biases) == len(LAYERS)
    if dtype is np.float16:  # the rounding of the twin is many steps
        most = [one.fidelity.max_step_error for one in biases if one.fidelity is not None]
        assert max(number or 0.0 for number in most) > 2
    assert not any(is_changed(one) for one in found.weights)
    assert "off by" not in found.verdict


def test_a_bias_beyond_the_rounding_of_the_twin_is_told() -> None:
    floats = make_cnn()
    for tensor in floats.graph.initializer:
        array = numpy_helper.to_array(tensor).astype(np.float16)
        if tensor.name == "body.bias":
            array[3] += np.float16(0.01)
        tensor.CopyFrom(numpy_helper.from_array(array, tensor.name))
    found = _audit(Quantizer().make(), floats)
    changed = [one.path for one in found.weights if is_changed(one)]
    assert changed == ["main/%body.bias_quantized"]


def test_nothing_is_said_of_other_numbers_where_the_twin_is_partly_unread(tmp_path: Path) -> None:
    floats = make_cnn()
    extra = normal(32, seed=5)  # as many elements as the bias of the body
    floats.graph.initializer.append(numpy_helper.from_array(extra, "unused"))
    path = tmp_path / "floats.onnx"
    onnx.save(floats, path, save_as_external_data=True, location="floats.data", size_threshold=0)
    model = onnx.load(path, load_external_data=False)
    for tensor in model.graph.initializer:
        if tensor.name == "body.bias":
            for entry in tensor.external_data:
                if entry.key == "offset":
                    entry.value = str(2**30)
    path.write_bytes(model.SerializeToString())
    found = audit(load(Quantizer().make().SerializeToString()), load(path))
    one = next(one for one in found.weights if "body.bias" in one.path)
    assert one.state == "not comparable"
    assert "1 more could not be read" in one.reason
    assert "no weight of the float model" not in found.verdict


def test_a_bias_beside_a_weight_into_which_a_normalization_was_folded_is_no_fault() -> None:
    maker = Quantizer()
    factors = np.random.default_rng(1).uniform(0.5, 1.5, 32).astype(np.float32)
    maker.weights["body.weight"] *= factors.reshape(-1, 1, 1, 1)
    maker.weights["body.bias"] = maker.weights["body.bias"] * factors + normal(32, seed=3)
    found = _audit(maker.make(), make_cnn())
    states = {one.path: one.state for one in found.weights}
    assert states["main/%body.weight_quantized"] == "rescaled"
    assert states["main/%body.bias_quantized"] == "not comparable"
    assert "no weight of the float model" not in found.verdict
    assert not [*list_audit_items(found, {})]


def test_sizes_are_of_all_that_is_stored_also_by_constant_nodes() -> None:
    floats = _make_chain()
    shift = normal(_SIZE, seed=9)  # no weight of a product: an operand of Add
    floats.graph.initializer.append(numpy_helper.from_array(shift, "shift"))
    floats.graph.node[-1].output[0] = "third.out"
    floats.graph.node.append(_NODE("Add", ["third.out", "shift"], ["y"], "/shift"))
    held = onnx.ModelProto()
    held.CopyFrom(floats)
    for tensor in floats.graph.initializer:
        constant = _NODE("Constant", [], [tensor.name], f"/{tensor.name}", value=tensor)
        held.graph.node.insert(0, constant)
    del held.graph.initializer[:]
    verdicts = [_audit(_quantize_chain(), each).verdict for each in (floats, held)]
    stored = sum(numpy_helper.to_array(tensor).nbytes for tensor in floats.graph.initializer)
    for verdict in verdicts:
        assert f"instead of {write_bytes(stored)}" in verdict


def _quantize_to_float8(edit: Callable[[Array], None]) -> onnx.ModelProto:
    """Return the chain with weights of float8 behind DequantizeLinear, a scale for each channel."""
    nodes, tensors, last = [], [], "x"
    for number, name in enumerate(_NAMES):
        end = "y" if name == _NAMES[-1] else f"{name}.out"
        weight = normal(_SIZE, _SIZE, seed=number)
        scale = np.abs(weight).max(axis=0) / np.float32(448)
        codes = (weight / scale).reshape(-1).tolist()
        if number == 1:
            edit(scale)
        stored = f"{name}.weight"
        kind = onnx.TensorProto.FLOAT8E4M3FN
        tensors.append(helper.make_tensor(f"{stored}_quantized", kind, weight.shape, codes))
        tensors.append(numpy_helper.from_array(scale, f"{stored}_scale"))
        inputs = [f"{stored}_quantized", f"{stored}_scale"]
        nodes.append(_NODE("DequantizeLinear", inputs, [stored], f"/{name}/DQ", axis=1))
        nodes.append(_NODE("MatMul", [last, stored], [end], f"/{name}"))
        last = end
    model = make_model(nodes, {}, (4, _SIZE))
    model.graph.initializer.extend(tensors)
    return model


def test_a_channel_of_float8_with_a_wrong_scale_is_told() -> None:
    clean = _audit(_quantize_to_float8(lambda _: None), _make_chain())
    assert not any(is_changed(one) for one in clean.weights)
    assert [one.state for one in clean.weights] == ["paired"] * 3

    def double(scale: Array) -> None:
        scale[7] *= 2

    found = _audit(_quantize_to_float8(double), _make_chain())
    assert [one.path for one in found.weights if is_changed(one)] == [
        "main/%second.weight_quantized"
    ]
    assert "1 weight off by more than rounding." in found.verdict
    assert "channel 7 the worst, 2.0" in format_audit(found).replace("1.99", "2.0")


def test_one_factor_of_float8_is_no_rescaling_of_channels() -> None:
    def triple(scale: Array) -> None:
        scale *= 3

    found = _audit(_quantize_to_float8(triple), _make_chain())
    assert [one.state for one in found.weights] == ["paired", "multiplied", "paired"]
    assert "1 weight multiplied as a whole against the twin" in found.verdict
