"""What an audit says as items of a review."""

from __future__ import annotations

import dataclasses

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

import netloupe
from netloupe.explorer.checks import check
from netloupe.explorer.model import Model
from netloupe.explorer.review import make_review

_WEIGHT = np.random.default_rng(3).normal(0, 0.1, (16, 8)).astype(np.float32)


def make_float(weight: np.ndarray = _WEIGHT) -> Model:
    nodes = [helper.make_node("MatMul", ["x", "w"], ["y"], "fc")]
    return _make(nodes, {"w": weight})


def make_quantized(*, clipped: bool = False, bias_scale: float = 1.0) -> Model:
    """Return the twin in 8 bits; one channel clipped to half, or the scale of the bias off."""
    scale = np.float32(np.abs(_WEIGHT).max() / 127)
    codes = np.clip(np.round(_WEIGHT / scale), -127, 127).astype(np.int8)
    if clipped:
        most = int(np.abs(codes[:, 3]).max() // 2)
        codes[:, 3] = np.clip(codes[:, 3], -most, most)
    input_scale = np.float32(0.05)
    product = np.float32(input_scale * scale * bias_scale)
    nodes = [
        helper.make_node("QuantizeLinear", ["x", "xs", "xz"], ["xq"], "qx"),
        helper.make_node("DequantizeLinear", ["xq", "xs", "xz"], ["xd"], "dx"),
        helper.make_node("DequantizeLinear", ["w", "ws", "wz"], ["wd"], "dw"),
        helper.make_node("DequantizeLinear", ["b", "bs", "bz"], ["bd"], "db"),
        helper.make_node("Gemm", ["xd", "wd", "bd"], ["y"], "fc"),
    ]
    arrays = {
        "xs": input_scale,
        "xz": np.int8(0),
        "w": codes,
        "ws": scale,
        "wz": np.int8(0),
        "b": np.full(8, 100, np.int32),
        "bs": product,
        "bz": np.int32(0),
    }
    return _make(nodes, arrays)


def _make(nodes: list[onnx.NodeProto], arrays: dict[str, object]) -> Model:
    graph = helper.make_graph(
        nodes,
        "g",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["n", 16])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, ["n", 8])],
        [numpy_helper.from_array(np.asarray(array), name) for name, array in arrays.items()],
    )
    opsets = [helper.make_opsetid("", 21)]
    return netloupe.load(helper.make_model(graph, opset_imports=opsets, ir_version=10))


def test_a_defect_is_told_once_and_as_of_the_audit() -> None:
    model = make_quantized(bias_scale=1.7)
    review = make_review(check(model), None, netloupe.audit(model))
    (item,) = [item for item in review if item.id == "NL-Q09"]
    assert (item.kind, item.level) == ("audit", "error")
    assert item.why
    assert review.summary == netloupe.audit(model).verdict


def test_a_clipped_weight_is_told_with_units_and_directions() -> None:
    found = netloupe.audit(make_quantized(clipped=True), make_float())
    review = make_review(None, None, found)
    (item,) = [item for item in review if item.title.startswith("A weight off")]
    told = dict(item.evidence)
    assert item.level == "warning"
    assert item.paths == ("main/%w",)
    assert told["SQNR ↑"].endswith(" dB")
    assert told["excess error ↓"].endswith("(1 for rounding alone)")
    assert told["worst channel"].startswith("3: ")
    clean = make_review(None, None, netloupe.audit(make_quantized(), make_float()))
    assert [item for item in clean if item.title.startswith("A weight off")] == []


def test_what_an_audit_did_not_look_at_is_told() -> None:
    found = netloupe.audit(make_quantized())
    review = make_review(None, None, found)
    for unchecked in found.unchecked:
        assert any(unchecked.what in what for _, what in review.unchecked)


def test_parts_in_floats_are_told_with_what_they_cost() -> None:
    found = netloupe.audit(make_quantized())
    island = netloupe.explorer.audit.FloatIsland(
        ("main/a", "main/b"), 2, {"Softmax": 1, "Mul": 1}, None, 640, 4_096, 2, 3
    )
    (item,) = [
        item
        for item in make_review(None, None, dataclasses.replace(found, islands=(island,)))
        if item.title.startswith("A part")
    ]
    told = dict(item.evidence)
    assert told["operators"] == "1 Softmax, 1 Mul"
    assert told["on its border"] == "2 values, 4.1 kB of floats"
    assert told["other operations"] == "640"
    assert "multiplications" not in told


@pytest.mark.parametrize("bad", [1, "audit"])
def test_other_things_make_no_review(bad: object) -> None:
    with pytest.raises(netloupe.NetloupeError):
        make_float().to_html(review=bad)  # type: ignore[arg-type]
