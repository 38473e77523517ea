"""Models that are legal and run, of which no fault may be told, and the fault beside each."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

from netloupe.explorer.checks import Finding, check
from netloupe.explorer.readers.load import load
from tests.audit.networks import make_model, normal
from tests.checks.ruling import Made, find

_NODE = helper.make_node
_FLOAT = np.float32


def run(model: onnx.ModelProto | Path, **given: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Return the first result of a model as ONNX Runtime computes it."""
    runtime = pytest.importorskip("onnxruntime")
    content = str(model) if isinstance(model, Path) else model.SerializeToString()
    session = runtime.InferenceSession(content, providers=["CPUExecutionProvider"])
    found: np.ndarray[Any, Any] = session.run(None, given)[0]
    return found


def blocks(scale: np.ndarray[Any, Any], codes: np.ndarray[Any, Any], kind: int) -> Made:
    """A weight [64, 8] with scales [2, 8] for blocks of 32 rows."""
    nodes = [
        _NODE("DequantizeLinear", ["w", "s"], ["d"], axis=0, block_size=32),
        _NODE("MatMul", ["x", "d"], ["y"]),
    ]
    arrays = {"w": codes, "s": scale}
    return lambda: make_model(nodes, arrays, ("N", 64), types={"w": kind})


_CODES = np.clip(np.rint(normal(64, 8) * 3), -8, 7).astype(np.int8)
_SCALES = np.abs(normal(2, 8, seed=1)) + _FLOAT(0.1)
_ZEROS = np.where(np.arange(64)[:, None] < 32, 0, _CODES)  # the first block of each column
_SIGNED = _SCALES * np.where(normal(2, 8, seed=2) < 0, -1, 1).astype(_FLOAT)


def with_zero(place: int) -> np.ndarray[Any, Any]:
    scales = _SCALES.copy()
    scales[place] = 0
    return scales


def test_the_runtimes_quantizer_writes_negative_scales() -> None:
    """Symmetric blocks of 4 bits: the largest magnitude has the code -8, whichever its sign."""
    quantizer = pytest.importorskip("onnxruntime.quantization.matmul_nbits_quantizer")
    weight = normal(64, 8)
    proto = make_model([_NODE("MatMul", ["x", "w"], ["y"], "mm")], {"w": weight}, ("N", 64))
    config = quantizer.DefaultWeightOnlyQuantConfig(
        block_size=32, is_symmetric=True, quant_format=quantizer.QuantFormat.QDQ
    )
    made = quantizer.MatMulNBitsQuantizer(proto, algo_config=config)
    made.process()
    quantized = made.model.model
    scales = [numpy_helper.to_array(t) for t in quantized.graph.initializer if "scale" in t.name]
    assert min(float(scale.min()) for scale in scales) < 0
    x = normal(3, 64, seed=3)
    error = np.abs(run(quantized, x=x) - x @ weight)
    assert error.max() < 0.2 * np.abs(x @ weight).max()
    assert find(lambda: quantized, "NL-Q") == []


@pytest.mark.parametrize("kind", [TensorProto.INT4, TensorProto.INT8])
def test_negative_scales_of_blocks(kind: int) -> None:
    made = blocks(_SIGNED, _CODES, kind)
    assert not isinstance(made, str)
    x = normal(2, 64, seed=3)
    wanted = x @ (_CODES * np.repeat(_SIGNED, 32, axis=0))
    assert np.abs(run(made(), x=x) - wanted).max() < 0.1 * np.abs(wanted).max()  # in 8 bits
    assert find(made, "NL-Q01") == []


@pytest.mark.parametrize("kind", [TensorProto.INT4, TensorProto.INT8])
def test_a_block_of_zeros_may_have_a_scale_of_zero(kind: int) -> None:
    assert find(blocks(with_zero(0), _ZEROS, kind), "NL-Q01") == []
    (found,) = find(blocks(with_zero(1), _ZEROS, kind), "NL-Q01")
    assert found.severity == "error"
    assert found.evidence["bad"] == 8


def packed(scale: np.ndarray[Any, Any], codes: np.ndarray[Any, Any]) -> Made:
    """MatMulNBits of codes [N, K] of 4 bits around 8, without zero points."""
    flat = codes.reshape(8, 2, 16, 2).astype(np.uint8)
    arrays = {"w": flat[..., 0] | flat[..., 1] << 4, "s": scale}
    sizes = {"K": 64, "N": 8, "bits": 4, "block_size": 32}
    node = _NODE("MatMulNBits", ["x", "w", "s"], ["y"], domain="com.microsoft", **sizes)
    return lambda: make_model([node], arrays, ("N", 64))


def test_a_packed_block_with_a_scale_of_zero() -> None:
    scale = np.ones((8, 2), _FLOAT)
    scale[3, 1] = 0
    codes = _CODES.T + 8
    (found,) = find(packed(scale, codes), "NL-Q01")
    assert found.severity == "error"
    assert "scale[7] = 0" in found.message
    codes = codes.copy()
    codes[3, 32:] = 8
    assert find(packed(scale, codes), "NL-Q01") == []
    assert find(packed(-np.ones((8, 2), _FLOAT), codes), "NL-Q01") == []
    (found,) = find(packed(scale * _FLOAT(np.nan), codes), "NL-Q01")
    assert found.evidence["bad"] == 16


def test_negative_scales_of_channels_and_activations() -> None:
    codes, scale = np.ones((64, 8), np.int8), np.full(8, 0.1, _FLOAT)
    scale[2] = -0.1
    nodes = [_NODE("DequantizeLinear", ["w", "s"], ["d"]), _NODE("MatMul", ["x", "d"], ["y"])]
    (found,) = find(lambda: make_model(nodes, {"w": codes, "s": scale}, ("N", 64)), "NL-Q01")
    assert found.severity == "warning"
    pair = [
        _NODE("QuantizeLinear", ["x", "s"], ["q"]),
        _NODE("DequantizeLinear", ["q", "s"], ["y"]),
    ]
    arrays = {"s": np.array(-0.1, _FLOAT)}
    (found,) = find(lambda: make_model(pair, arrays, ("N", 64)), "NL-Q01")
    assert found.severity == "error"


def listed(*kinds: int) -> onnx.ModelProto:
    outputs = [helper.make_tensor_value_info("y", kind, ["N", 4]) for kind in kinds]
    inputs = [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["N", 4])]
    graph = helper.make_graph([_NODE("Relu", ["x"], ["y"])], "g", inputs, outputs)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10)


def test_one_value_may_be_two_outputs() -> None:
    twice = listed(TensorProto.FLOAT, TensorProto.FLOAT)
    onnx.checker.check_model(twice, full_check=True)
    assert run(twice, x=np.ones((1, 4), _FLOAT)).tolist() == [[1, 1, 1, 1]]
    assert find(lambda: twice, "NL-L03") == []
    assert len(find(lambda: listed(TensorProto.FLOAT, TensorProto.INT64), "NL-L03")) == 1


def save_outside(folder: Path, length: str) -> Path:
    """Write a model whose weight is in a file of its own, with a stated length."""
    weight = normal(4, 4)
    proto = make_model([_NODE("MatMul", ["x", "w"], ["y"])], {"w": weight}, ("N", 4))
    tensor = proto.graph.initializer[0]
    tensor.ClearField("raw_data")
    tensor.data_location = TensorProto.EXTERNAL
    for key, text in (("location", "w.bin"), ("offset", "64"), ("length", length)):
        tensor.external_data.add(key=key, value=text)
    (folder / "w.bin").write_bytes(bytes(64) + weight.tobytes() + bytes(64))
    path = folder / "model.onnx"
    path.write_bytes(proto.SerializeToString())
    return path


def test_a_length_of_zero_is_none(tmp_path: Path) -> None:
    path = save_outside(tmp_path, "0")
    x = np.eye(4, dtype=_FLOAT)
    assert np.array_equal(run(path, x=x), normal(4, 4))
    model = load(path)
    weight = model.graph.initializers[0]
    assert np.array_equal(weight.numpy(), normal(4, 4))
    assert list(check(model, select=["NL-L", "NL-S"])) == []
    found = check(load(save_outside(tmp_path, "60")), select=["NL-L", "NL-S"])
    assert [finding.id for finding in found] == ["NL-S01"]


def attend(*, is_negated: bool) -> Made:
    """Softmax of the products of all channels with one another, or of their negative."""
    nodes = [
        _NODE("MatMul", ["x", "a"], ["q"]),
        _NODE("MatMul", ["x", "b"], ["k"]),
        _NODE("MatMul", ["x", "c"], ["v"]),
        _NODE("Transpose", ["k"], ["t"], perm=[0, 2, 1]),
        _NODE("MatMul", ["q", "t"], ["e"]),
        _NODE("ReduceMax", ["e", "last"], ["m"]),
        _NODE("Sub", ["m", "e"] if is_negated else ["e", "m"], ["s"]),
        _NODE("Softmax", ["s"], ["p"]),
        _NODE("MatMul", ["p", "v"], ["o"]),
        _NODE("MatMul", ["o", "d"], ["y"]),
    ]
    arrays = {name: normal(32, 32, seed=place) for place, name in enumerate("abcd")}
    arrays["last"] = np.array([-1], np.int64)
    return lambda: make_model(nodes, arrays, ("N", 16, 32), opset=23)


def test_negated_scores_are_no_attention() -> None:
    (found,) = find(attend(is_negated=False), "NL-G14")
    assert found.evidence["operator"] == "Attention"
    assert find(attend(is_negated=True), "NL-G14") == []


@pytest.mark.parametrize(
    ("op_type", "domain"), [("Attention", ""), ("GroupQueryAttention", "com.microsoft")]
)
def test_an_operator_for_attention_is_not_written_out(op_type: str, domain: str) -> None:
    sizes = {"q_num_heads": 4, "kv_num_heads": 2} if not domain else {}
    sizes |= {"num_heads": 4, "kv_num_heads": 2} if domain else {}
    nodes = [
        *(_NODE("MatMul", ["x", name], [name * 2]) for name in "abc"),
        _NODE(op_type, ["aa", "bb", "cc"], ["o"], domain=domain, **sizes),
        _NODE("MatMul", ["o", "d"], ["y"]),
    ]
    arrays = {"a": normal(32, 32), "b": normal(32, 16), "c": normal(32, 16), "d": normal(32, 32)}
    assert find(lambda: make_model(nodes, arrays, ("N", 16, 32), opset=23), "NL-G14") == []


def tied(*, has_table: bool, is_equal: bool = True) -> Made:
    """Two weights of the same numbers: a table and the layer behind, or two layers."""
    first = normal(64, 32)
    second = first.T.copy() if has_table else first.copy()
    if not is_equal:
        second = second[::-1].copy()
    nodes = [
        _NODE("Cast", ["x"], ["i"], to=TensorProto.INT64),
        _NODE("Gather", ["w", "i"], ["e"]) if has_table else _NODE("MatMul", ["x", "w"], ["e"]),
        _NODE("MatMul", ["e", "v"], ["y"] if has_table else ["z"]),
    ]
    if not has_table:
        nodes[2] = _NODE("MatMul", ["x", "v"], ["z"])
        nodes.append(_NODE("Add", ["e", "z"], ["y"]))
    return lambda: make_model(nodes[not has_table :], {"w": first, "v": second}, ("N", 64))


def severities(found: list[Finding]) -> list[str]:
    return [finding.severity for finding in found]


def test_what_may_be_copies_is_a_note() -> None:
    assert severities(find(tied(has_table=True), "NL-X04")) == ["warning"]
    (found,) = find(tied(has_table=False), "NL-X04")
    assert found.severity == "note"
    assert "perhaps" in found.message
    assert find(tied(has_table=False, is_equal=False), "NL-X04") == []


def test_operators_of_qonnx_are_a_note() -> None:
    domain = "qonnx.custom_op.general"
    arrays = {"s": np.array(0.1, _FLOAT), "z": np.array(0, _FLOAT), "b": np.array(4, _FLOAT)}
    for op_type, severity in (("Quant", "note"), ("Other", "warning")):
        proto = make_model(
            [_NODE(op_type, ["x", "s", "z", "b"], ["y"], domain=domain)], arrays, ("N", 4)
        )
        proto.opset_import.add(domain=domain, version=1)
        assert severities(find(lambda proto=proto: proto, "NL-P04")) == [severity]
