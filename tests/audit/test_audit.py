"""Audits of whole models, with and without a float twin."""

from __future__ import annotations

import json
import pickle
import sys
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

import netloupe
from netloupe import NetloupeError, QuantizationAudit, WeightAudit, audit, load
from netloupe.explorer.describe.audits import encode_audit, format_audit
from tests.audit.networks import (
    LAYERS,
    Quantizer,
    list_weights,
    make_cnn,
    make_model,
    normal,
    quantize_blocks,
    quantize_symmetric,
)
from tests.corpus import MADE, corpus_file

_NODE = helper.make_node


def audit_protos(
    quantized: onnx.ModelProto, reference: onnx.ModelProto | None = None, **options: Any
) -> QuantizationAudit:
    twin = None if reference is None else load(reference)
    return audit(load(quantized), twin, **options)


def find_weight(found: QuantizationAudit, name: str) -> WeightAudit:
    return next(one for one in found.weights if one.path.endswith(name))


# a clean twin


def test_a_clean_twin_is_paired_whole_and_nothing_is_found() -> None:
    found = audit_protos(Quantizer().make(), make_cnn())
    assert found.defects == ()
    weights = [one for one in found.weights if not one.is_bias]
    assert [one.state for one in weights] == ["paired"] * len(LAYERS)
    for one in weights:
        assert one.fidelity is not None
        assert 40 < one.fidelity.sqnr_db < 46
        assert one.fidelity.excess_error == pytest.approx(1.0, abs=0.05)
        assert one.granularity == "per channel"
        assert one.found_by == "node"
    biases = [one for one in found.weights if one.is_bias]
    assert [one.state for one in biases] == ["paired"] * len(LAYERS)
    assert found.coverage.integer_share == 1.0
    assert found.coverage.signs == "U8S8"
    assert found.coverage.schemes == {"QDQ": 3}
    assert found.islands == ()
    assert "SQNR" in found.verdict
    assert "dB ↑" in found.verdict


def test_macs_are_those_of_the_float_twin() -> None:
    found = audit_protos(Quantizer().make())
    costs = load(make_cnn()).costs()
    assert found.coverage.macs == costs.macs
    assert [share.name for share in found.coverage.precisions] == ["u8xi8"]


def test_bits_per_weight_have_their_scales_in_them() -> None:
    found = audit_protos(Quantizer().make())
    sizes = [after * before * 9 for _, before, after in LAYERS]
    scales = sum(after for _, _, after in LAYERS) * 5  # float32 and an int8 zero point
    assert found.coverage.bits_per_weight == pytest.approx(8 * (sum(sizes) + scales) / sum(sizes))


# islands


def test_a_layer_that_stays_in_floats_is_an_island_with_its_cost() -> None:
    maker = Quantizer()
    maker.floats = {"body"}
    found = audit_protos(maker.make(), make_cnn())
    (island,) = found.islands
    assert island.operators == {"Conv": 1, "Relu": 1}
    assert island.macs == 32 * 16 * 9 * 16 * 16
    assert island.border_bytes == 4 * (16 + 32) * 16 * 16
    assert island.borders == 2
    share = found.coverage.integer_share
    assert share is not None
    assert share == pytest.approx(1 - island.macs / (found.coverage.macs or 1))
    assert found.coverage.float_weights == 1
    assert "floats" in found.verdict


# pairs


def test_the_clipped_channel_is_told_with_its_place() -> None:
    maker = Quantizer()
    codes, scale = quantize_symmetric(maker.weights["body.weight"], 0)
    scale[5] /= 4
    spread = scale.reshape(-1, 1, 1, 1)
    codes = np.clip(np.rint(maker.weights["body.weight"] / spread), -127, 127).astype(np.int8)
    maker.codes["body"], maker.scales["body"] = codes, scale
    found = audit_protos(maker.make(), make_cnn())
    one = find_weight(found, "body.weight_quantized")
    assert one.state == "paired"
    assert one.fidelity is not None
    assert one.fidelity.worst_channel == 5
    assert one.fidelity.clipped > 0
    assert "off by more than rounding" in format_audit(found)
    assert "channel 5 the worst" in format_audit(found)


def test_names_may_all_have_changed() -> None:
    quantized = Quantizer().make()
    names: dict[str, str] = {}
    for node in quantized.graph.node:
        node.name = ""
        for names_of in (node.input, node.output):
            for place, name in enumerate(names_of):
                if name not in ("x", "y", ""):
                    names_of[place] = names.setdefault(name, f"v{len(names)}")
    for tensor in quantized.graph.initializer:
        tensor.name = names[tensor.name]
    found = audit_protos(quantized, make_cnn())
    states = [one.state for one in found.weights if not one.is_bias]
    assert states == ["paired"] * 3


def test_other_weights_of_the_same_name_have_other_numbers() -> None:
    other = make_cnn(list_weights(seed=99))
    found = audit_protos(Quantizer().make(), other)
    for one in found.weights:
        if not one.is_bias:
            assert one.state == "other numbers"
            assert "correlation" in one.reason
            assert one.fidelity is None
    assert any("correlation" in entry.reason for entry in found.unchecked)


def test_weights_are_found_by_value_where_names_and_nodes_mislead() -> None:
    weights = {"a": normal(8, 8, seed=1), "b": normal(8, 8, seed=2)}
    nodes = [_NODE("MatMul", ["x", "a"], ["h"]), _NODE("MatMul", ["h", "b"], ["y"])]
    twin = make_model(nodes, weights, (1, 8))
    swapped, arrays = [], {}
    for name, other in (("a", "b"), ("b", "a")):
        codes, scale = quantize_symmetric(weights[other], 1)
        arrays |= {f"{name}_quantized": codes, f"{name}_scale": scale}
        operands = [f"{name}_quantized", f"{name}_scale"]
        swapped.append(_NODE("DequantizeLinear", operands, [f"{name}_d"], axis=1))
    swapped += [_NODE("MatMul", ["x", "a_d"], ["h"]), _NODE("MatMul", ["h", "b_d"], ["y"])]
    found = audit_protos(make_model(swapped, arrays, (1, 8)), twin)
    told = {one.path: (one.reference, one.found_by) for one in found.weights}
    assert told["main/%a_quantized"] == ("main/%b", "value")
    assert told["main/%b_quantized"][0] == "main/%a"


def test_a_folded_batch_normalization_is_rescaled_and_said_so() -> None:
    maker = Quantizer()
    factors = np.random.default_rng(3).uniform(0.5, 4.0, 32).astype(np.float32)
    maker.weights["body.weight"] = maker.weights["body.weight"] * factors.reshape(-1, 1, 1, 1)
    found = audit_protos(maker.make(), make_cnn())
    one = find_weight(found, "body.weight_quantized")
    assert one.state == "rescaled"
    assert one.rescaled_axis == 0
    assert one.rescaled_by == pytest.approx((factors.min(), factors.max()), rel=0.01)
    assert "1 weight rescaled" in found.verdict
    assert "after factors" in format_audit(found)


# forms in which weights are held


def pack_nibbles(codes: np.ndarray) -> np.ndarray:
    flat = codes.astype(np.uint8)
    return flat[..., 0::2] | (flat[..., 1::2] << 4)


def make_nbits(weight: np.ndarray, block: int, *, is_symmetric: bool) -> onnx.ModelProto:
    """Return a MatMulNBits with a weight [K, N]."""
    rows, columns = weight.shape
    codes, scale, zero = quantize_blocks(weight.T, block, is_symmetric=is_symmetric)
    unsigned = codes + 8 if is_symmetric else codes
    arrays = {
        "w_Q4": pack_nibbles(unsigned).reshape(columns, rows // block, block // 2),
        "w_scales": scale.astype(np.float32).reshape(-1),
    }
    inputs = ["x", "w_Q4", "w_scales"]
    if not is_symmetric:
        arrays["w_zero"] = pack_nibbles(zero).reshape(-1)
        inputs.append("w_zero")
    sizes = {"K": rows, "N": columns, "bits": 4, "block_size": block}
    node = _NODE("MatMulNBits", inputs, ["y"], domain="com.microsoft", **sizes)
    return make_model([node], arrays, (1, rows))


@pytest.mark.parametrize(
    ("block", "is_symmetric", "sqnr"),
    [(32, True, 20.3), (128, True, 18.6), (32, False, 21.9), (128, False, 20.0)],
)
def test_packed_blocks_are_compared_with_the_transposed_floats(
    block: int, is_symmetric: bool, sqnr: float
) -> None:
    weight = normal(512, 256)
    twin = make_model([_NODE("MatMul", ["x", "w"], ["y"])], {"w": weight}, (1, 512))
    found = audit_protos(make_nbits(weight, block, is_symmetric=is_symmetric), twin)
    (one,) = found.weights
    assert (one.state, one.order, one.scheme) == ("paired", "transposed", "weight-only")
    assert one.fidelity is not None
    assert one.fidelity.sqnr_db == pytest.approx(sqnr, abs=0.1)
    assert one.bits_per_weight == pytest.approx(4 + (32 + 4 * (not is_symmetric)) / block)
    assert found.coverage.share_of("weight-only") == 1.0
    assert found.islands == ()


def test_codes_of_a_code_book_are_compared() -> None:
    from netloupe.explorer.quantization.codebooks import find_codebook

    weight = normal(64, 48)  # [K, N]
    blocks = weight.T.reshape(-1, 32)
    node = _NODE(
        "MatMulBnb4",
        ["x", "w_Bnb4", "w_absmax"],
        ["y"],
        domain="com.microsoft",
        K=64,
        N=48,
        block_size=32,
        quant_type=1,
    )
    probe = load(make_model([node], {"w_Bnb4": np.zeros(1536, np.uint8)}, (1, 64)))
    book = find_codebook(probe.graph.nodes[0])
    assert book.size == 16
    assert (np.diff(book) > 0).all()
    largest = np.abs(blocks).max(axis=1)
    nearest = np.abs(blocks[..., None] / largest[:, None, None] - book).argmin(axis=2)
    flat = nearest.reshape(-1).astype(np.uint8)
    arrays = {"w_Bnb4": (flat[0::2] << 4) | flat[1::2], "w_absmax": largest}
    twin = make_model([_NODE("MatMul", ["x", "w"], ["y"])], {"w": weight}, (1, 64))
    (one,) = audit_protos(make_model([node], arrays, (1, 64)), twin).weights
    assert (one.storage, one.state, one.order) == ("nf4", "paired", "transposed")
    assert one.fidelity is not None
    assert 18 < one.fidelity.sqnr_db < 25
    assert one.fidelity.excess_error is None


def test_dynamic_quantization_is_compared_by_weights_only() -> None:
    weight = normal(64, 32)
    codes, scale = quantize_symmetric(weight, None)
    arrays = {"w_quantized": codes, "w_scale": scale, "w_zero": np.array(0, np.int8)}
    nodes = [
        _NODE("DynamicQuantizeLinear", ["x"], ["q", "s", "z"]),
        _NODE("MatMulInteger", ["q", "w_quantized", "z", "w_zero"], ["i"]),
        _NODE("Cast", ["i"], ["f"], to=TensorProto.FLOAT),
        _NODE("Mul", ["s", "w_scale"], ["m"]),
        _NODE("Mul", ["f", "m"], ["y"]),
    ]
    twin = make_model([_NODE("MatMul", ["x", "w"], ["y"])], {"w": weight}, (1, 64))
    found = audit_protos(make_model(nodes, arrays, (1, 64)), twin)
    (one,) = found.weights
    assert (one.scheme, one.state) == ("dynamic", "paired")
    assert one.fidelity is not None
    assert one.fidelity.sqnr_db == pytest.approx(39.5, abs=2)
    assert one.fidelity.per_channel_gain_db is not None
    assert found.coverage.precisions[0].name == "u8xi8"


def test_blocked_dequantizing_is_compared() -> None:
    weight = normal(128, 64)
    codes, scale, zero = quantize_blocks(weight.T.copy(), 32, is_symmetric=False)
    arrays = {"q": codes.T.copy(), "s": scale.T.astype(np.float32).copy(), "z": zero.T.copy()}
    nodes = [
        _NODE("DequantizeLinear", ["q", "s", "z"], ["w"], axis=0, block_size=32),
        _NODE("MatMul", ["x", "w"], ["y"]),
    ]
    quantized = make_model(
        nodes, arrays, (1, 128), types={"q": TensorProto.UINT4, "z": TensorProto.UINT4}
    )
    twin = make_model([_NODE("MatMul", ["x", "v"], ["y"])], {"v": weight}, (1, 128))
    (one,) = audit_protos(quantized, twin).weights
    assert (one.granularity, one.axis, one.block_size) == ("per block", 0, 32)
    assert one.state == "paired"
    assert one.fidelity is not None
    assert one.fidelity.sqnr_db == pytest.approx(21.9, abs=0.3)


def test_rounding_that_is_simulated_is_compared_with_its_own_floats() -> None:
    arrays = {
        "w": normal(16, 16),
        "s": np.array(0.02, np.float32),
        "z": np.array(0, np.float32),
        "b": np.array(8, np.float32),
    }
    settings = {"signed": 1, "narrow": 1, "rounding_mode": "ROUND"}
    quant = _NODE(
        "Quant", ["w", "s", "z", "b"], ["d"], domain="qonnx.custom_op.general", **settings
    )
    proto = make_model([quant, _NODE("MatMul", ["x", "d"], ["y"])], arrays, (1, 16))
    proto.opset_import.append(helper.make_opsetid("qonnx.custom_op.general", 1))
    found = audit_protos(proto)
    (one,) = found.weights
    assert (one.scheme, one.state, one.found_by) == ("simulated", "paired", "own")
    assert one.codes is not None
    assert (one.codes.lowest, one.codes.highest) == (-127, 127)
    assert found.coverage.share_of("simulated") == 1.0


def test_caffe2_weights_in_another_order_of_axes_are_compared() -> None:
    from netloupe.explorer.audit.twins import compare_with_twin
    from netloupe.explorer.compare.references import list_orders, open_reference
    from netloupe.explorer.quantization.quantized_elements import QuantizedElements
    from netloupe.explorer.tensors.elements import as_elements

    weight = normal(8, 4, 3, 5)
    scale = float(np.abs(weight).max() / 127)
    codes = np.rint(weight.transpose(0, 2, 3, 1) / scale).astype(np.int16) + 128
    proto = make_model([_NODE("Conv", ["x", "w"], ["y"])], {"w": weight}, (1, 4, 8, 8))
    tensor = load(proto).tensor("w")
    ((order, turned),) = list_orders(tensor, codes.shape)
    assert order == "channels last"
    quantized = QuantizedElements(
        as_elements(codes.astype(np.uint8)),
        codes.shape,
        np.array([scale]),
        np.array([128.0]),
        0,
        255,
        None,
        None,
    )
    found = compare_with_twin(quantized, open_reference(tensor, turned), 0)
    assert found.fidelity.excess_error == pytest.approx(1.0, abs=0.05)


# what is told


def test_json_has_the_keys_that_were_promised_and_pickles() -> None:
    found = audit_protos(Quantizer().make(), make_cnn())
    told = encode_audit(found)
    assert [*told][:2] == ["schema", "source"]
    assert {"verdict", "coverage", "defects", "islands", "tensors", "unchecked"} <= set(told)
    keys = {"path", "sqnr_db", "ideal_sqnr_db", "excess_error", "clipped", "codes", "state"}
    assert keys <= set(told["tensors"][0])
    assert told["coverage"]["integer_share"] == 1.0
    json.dumps(told, allow_nan=False)
    assert pickle.loads(pickle.dumps(found)) == found


def test_the_table_has_a_row_for_each_weight() -> None:
    table = audit_protos(Quantizer().make(), make_cnn()).to_dataframe()
    assert len(table) == 6
    assert {"path", "sqnr_db", "codes_entropy", "codes_used_span"} <= set(table.columns)
    assert table["sqnr_db"].notna().all()


def test_without_pandas_the_table_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(netloupe.MissingPackageError, match="pip install pandas"):
        audit_protos(Quantizer().make()).to_dataframe()


def test_formats_that_annotations_alone_state_are_told() -> None:
    """As FINN writes networks of few bits: numbers stay floats, their types stand beside them."""
    model = make_cnn()
    annotation = model.graph.quantization_annotation.add(tensor_name=model.graph.node[0].output[0])
    annotation.quant_parameter_tensor_names.add(key="finn_datatype", value="BIPOLAR")
    verdict = audit_protos(model).verdict
    assert "Annotations state formats of 1 value, which are not audited." in verdict
    assert "Nothing in this model is quantized" not in verdict


def test_a_float_model_is_said_to_be_one() -> None:
    found = audit_protos(make_cnn(), make_cnn())
    assert found.verdict == "Nothing in this model is quantized."
    assert found.weights == ()
    told = [one.what for one in found.unchecked]
    assert told == ["weights beside their floats"]
    assert "a diff of both compares floats with floats" in format_audit(found)
    assert audit_protos(make_cnn()).unchecked == ()
    assert told[0] not in [
        one.what for one in audit_protos(Quantizer().make(), make_cnn()).unchecked
    ]


def test_models_that_are_the_wrong_way_round_are_told() -> None:
    found = audit_protos(make_cnn(), Quantizer().make())
    assert found.verdict.endswith("has 6 quantized weights: perhaps they are the wrong way round.")


def test_sizes_that_are_assumed_are_said_and_can_be_given() -> None:
    nodes = [
        _NODE("MatMul", ["x", "w"], ["h"]),
        _NODE("Transpose", ["h"], ["t"], perm=[0, 2, 1]),
        _NODE("MatMul", ["h", "t"], ["y"]),
    ]
    proto = make_model(nodes, {"w": normal(16, 16)}, ("batch", "length", 16))
    codes, scale = quantize_symmetric(normal(16, 16), None)
    proto.graph.node.insert(0, _NODE("DequantizeLinear", ["q", "s"], ["w"]))
    del proto.graph.initializer[:]
    proto.graph.initializer.extend(
        [numpy_helper.from_array(codes, "q"), numpy_helper.from_array(scale, "s")]
    )
    found = audit_protos(proto)
    assert found.coverage.assumed == {"batch": 1, "length": 128}
    assert "length = 128" in found.verdict
    assert found.coverage.share_of("weight-only") == pytest.approx(16 / (16 + 128))
    given = audit_protos(proto, bind={"batch": 1, "length": 16})
    assert given.coverage.assumed == {}
    assert given.coverage.share_of("weight-only") == pytest.approx(0.5)
    with pytest.raises(netloupe.BindingError):
        audit_protos(proto, bind={"nothing": 3})


def test_names_from_models_are_escaped_in_text() -> None:
    proto = Quantizer().make()
    for tensor in proto.graph.initializer:
        if tensor.name == "body.weight_quantized":
            tensor.name = "a\x1b[31m\nb" + "c" * 5_000
    for node in proto.graph.node:
        for place, name in enumerate(node.input):
            if name == "body.weight_quantized":
                node.input[place] = "a\x1b[31m\nb" + "c" * 5_000
    text = format_audit(audit_protos(proto, make_cnn()))
    assert "\x1b" not in text
    assert max(map(len, text.splitlines())) < 2_500


# real, odd and large models


@pytest.mark.parametrize("name", [n for n in MADE if n.startswith(("quantized/", "quant_annot/"))])
def test_quantized_models_are_audited(name: str) -> None:
    found = audit(load(corpus_file(name)))
    json.dumps(encode_audit(found), allow_nan=False)
    assert format_audit(found)
    if name.startswith("quantized/"):
        assert found.coverage.quantized_weights > 50


_ODD = ("hostile/", "features/", "caffe2/", "sklearn/", "quant_annot/")


@pytest.mark.parametrize("name", [n for n in MADE if n.startswith(_ODD)])
def test_whatever_opens_can_be_audited(name: str) -> None:
    try:
        model = load(corpus_file(name))
    except NetloupeError:
        return
    found = audit(model, model)
    json.dumps(encode_audit(found), allow_nan=False)
    format_audit(found)
    pickle.dumps(found)


def test_bytes_that_weights_share_are_not_read_for_ever(tmp_path: Path) -> None:
    (tmp_path / "w.bin").write_bytes(bytes(4 * 2**20))
    nodes = []
    graph = helper.make_graph(nodes, "g", [], [])
    for number in range(1_000):
        tensor = graph.initializer.add(name=f"w{number}", data_type=3, dims=[2**22 - number])
        tensor.data_location = TensorProto.EXTERNAL
        tensor.external_data.add(key="location", value="w.bin")
        tensor.external_data.add(key="length", value=str(2**22 - number))
        graph.initializer.append(numpy_helper.from_array(np.array(0.1, np.float32), f"s{number}"))
        graph.node.append(_NODE("DequantizeLinear", [f"w{number}", f"s{number}"], [f"y{number}"]))
    path = tmp_path / "m.onnx"
    path.write_bytes(helper.make_model(graph).SerializeToString())
    found = audit(load(path))
    assert any("overlap" in entry.reason for entry in found.unchecked)
