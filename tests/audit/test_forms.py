"""Every form in which a file holds quantized weights is compared with the floats."""

from __future__ import annotations

from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper

from netloupe import QuantizationAudit, WeightAudit, audit, load
from netloupe.proto import caffe2_pb2
from tests.audit.networks import make_model, normal, quantize_blocks, quantize_symmetric
from tests.audit.test_audit import pack_nibbles

_NODE = helper.make_node
_MS = "com.microsoft"
Array = np.ndarray[Any, Any]
_SCALE = {"sx": np.array(0.02, np.float32), "zx": np.array(0, np.int8)}


def look(
    nodes: list[onnx.NodeProto],
    arrays: dict[str, Array],
    twin: onnx.ModelProto,
    shape: tuple[int, ...],
) -> tuple[QuantizationAudit, WeightAudit]:
    """Return an audit, and what is said of the largest weight."""
    found = audit(load(make_model(nodes, arrays, shape)), load(twin))
    return found, max(found.weights, key=lambda one: one.size)


def product(weight: Array, shape: tuple[int, ...], op_type: str = "MatMul") -> onnx.ModelProto:
    return make_model([_NODE(op_type, ["x", "w"], ["y"])], {"w": weight}, shape)


def test_operators_on_integers_are_compared() -> None:
    weight = normal(8, 4, 3, 3)
    codes, scale = quantize_symmetric(weight, 0)
    arrays = _SCALE | {"wq": codes, "ws": scale, "wz": np.zeros(8, np.int8)}
    nodes = [
        _NODE("QuantizeLinear", ["x", "sx", "zx"], ["q"]),
        _NODE("QLinearConv", ["q", "sx", "zx", "wq", "ws", "wz", "sx", "zx"], ["c"]),
        _NODE("DequantizeLinear", ["c", "sx", "zx"], ["y"]),
    ]
    found, one = look(nodes, arrays, product(weight, (1, 4, 8, 8), "Conv"), (1, 4, 8, 8))
    assert (one.scheme, one.state, one.granularity) == ("QOperator", "paired", "per channel")
    assert one.output_axis == 0
    assert found.coverage.signs == "S8S8"
    assert found.coverage.integer_share == 1.0
    assert found.islands == ()
    assert found.defects == ()


@pytest.mark.parametrize("turned", [False, True])
def test_a_gemm_on_integers_is_compared_either_way_round(turned: bool) -> None:
    weight = normal(32, 16)  # [K, N]
    codes, scale = quantize_symmetric(weight, 1)
    arrays = _SCALE | {"ws": scale, "wz": np.zeros(16, np.int8)}
    arrays["wq"] = codes.T.copy() if turned else codes
    nodes = [
        _NODE("QuantizeLinear", ["x", "sx", "zx"], ["q"]),
        _NODE(
            "QGemm",
            ["q", "sx", "zx", "wq", "ws", "wz", "", "sx", "zx"],
            ["c"],
            domain=_MS,
            transB=int(turned),
        ),
        _NODE("DequantizeLinear", ["c", "sx", "zx"], ["y"]),
    ]
    _, one = look(nodes, arrays, product(weight, (1, 32)), (1, 32))
    assert one.state == "paired"
    assert one.order == ("transposed" if turned else "as stored")
    assert one.output_axis == (0 if turned else 1)
    assert one.fidelity is not None
    assert one.fidelity.channels == 16


def test_products_that_quantize_their_input_themselves_are_compared() -> None:
    weight = normal(32, 16)
    codes, scale = quantize_symmetric(weight, None)
    arrays = {"wq": codes, "ws": scale, "wz": np.array(0, np.int8)}
    node = _NODE("DynamicQuantizeMatMul", ["x", "wq", "ws", "wz"], ["y"], domain=_MS)
    found, one = look([node], arrays, product(weight, (1, 32)), (1, 32))
    assert (one.scheme, one.state) == ("dynamic", "paired")
    assert found.coverage.precisions[0].name == "u8xi8"
    assert found.coverage.float_results == 1


def test_a_table_in_blocks_is_compared() -> None:
    table = normal(40, 64)
    codes, scale, _ = quantize_blocks(table, 32, is_symmetric=True)
    arrays = {
        "wq": pack_nibbles(codes + 8),
        "ws": scale.astype(np.float32),
        "i": np.array([1, 2]),
    }
    settings = {"bits": 4, "block_size": 32, "quantize_axis": 1, "gather_axis": 0}
    node = _NODE("GatherBlockQuantized", ["wq", "i", "ws"], ["y"], domain=_MS, **settings)
    twin = make_model([_NODE("Gather", ["w", "i"], ["y"])], {"w": table, "i": arrays["i"]}, (1,))
    _, one = look([node], arrays, twin, (1,))
    assert (one.scheme, one.granularity, one.state) == ("weight-only", "per block", "paired")
    assert one.fidelity is not None
    assert one.fidelity.sqnr_db == pytest.approx(20.3, abs=0.5)


def test_a_table_whose_rows_are_taken_as_codes_is_compared() -> None:
    table = normal(40, 64)
    scale = np.float32(np.abs(table).max() / 127)
    codes = (np.rint(table / scale) + 128).astype(np.uint8)
    arrays = {
        "wq": codes,
        "ws": np.asarray(scale),
        "wz": np.array(128, np.uint8),
        "i": np.array([1, 2]),
    }
    nodes = [
        _NODE("Gather", ["wq", "i"], ["q"]),
        _NODE("DequantizeLinear", ["q", "ws", "wz"], ["y"]),
    ]
    twin = make_model([_NODE("Gather", ["w", "i"], ["y"])], {"w": table, "i": arrays["i"]}, (1,))
    _, one = look(nodes, arrays, twin, (1,))
    assert (one.path, one.state, one.op_type) == ("main/%wq", "paired", "Gather")
    assert one.fidelity is not None
    assert one.fidelity.excess_error == pytest.approx(1.0, abs=0.05)


def test_float8_weights_have_no_steps() -> None:
    import ml_dtypes

    weight = normal(32, 16)
    scale = np.float32(np.abs(weight).max() / 448)
    held = (weight / scale).astype(ml_dtypes.float8_e4m3fn)
    nodes = [_NODE("DequantizeLinear", ["wq", "ws"], ["d"]), _NODE("MatMul", ["x", "d"], ["y"])]
    arrays = {"wq": held.astype(np.float32), "ws": np.asarray(scale)}
    proto = make_model(nodes, arrays, (1, 32), types={"wq": TensorProto.FLOAT8E4M3FN})
    (one,) = audit(load(proto), load(product(weight, (1, 32)))).weights
    assert (one.storage, one.state) == ("float8_e4m3fn", "paired")
    assert one.codes is None
    assert one.fidelity is not None
    assert one.fidelity.excess_error is None
    assert 28 < one.fidelity.sqnr_db < 36


def _fill(net: Any, kind: str, name: str, dims: list[int], **arguments: Any) -> None:
    operator = net.op.add(type=kind, output=[name])
    operator.arg.add(name="shape").ints.extend(dims)
    for key, value in arguments.items():
        argument = operator.arg.add(name=key)
        if isinstance(value, bytes):
            argument.s = value
        elif isinstance(value, list):
            argument.floats.extend(value)
        elif isinstance(value, float):
            argument.f = value
        else:
            argument.i = value


def test_a_caffe2_net_in_int8_is_compared_with_its_floats() -> None:
    weight = normal(8, 4, 3, 3)
    scale = float(np.abs(weight).max() / 127)
    codes = (np.rint(weight.transpose(0, 2, 3, 1) / scale) + 128).astype(np.uint8)
    nets = []
    for kind, order in (("Conv", "NCHW"), ("Int8Conv", "NHWC")):
        net = caffe2_pb2.NetDef(name="n", external_input=["data", "w"], external_output=["y"])
        operator = net.op.add(type=kind, input=["data", "w"], output=["y"])
        operator.arg.add(name="kernel").i = 3
        operator.arg.add(name="order").s = order.encode()
        if kind == "Int8Conv":
            operator.arg.add(name="Y_scale").f = 0.02
            operator.arg.add(name="Y_zero_point").i = 128
        init = caffe2_pb2.NetDef(name="n_init")
        if kind == "Conv":
            values = weight.reshape(-1).tolist()
            _fill(init, "GivenTensorFill", "w", [8, 4, 3, 3], values=values)
        else:
            _fill(
                init,
                "Int8GivenTensorFill",
                "w",
                [8, 3, 3, 4],
                values=codes.tobytes(),
                Y_scale=scale,
                Y_zero_point=128,
            )
        nets.append(load((net, init)))
    found = audit(nets[1], nets[0])
    (one,) = found.weights
    assert (one.scheme, one.state, one.order) == ("Caffe2 int8", "paired", "channels last")
    assert one.fidelity is not None
    assert one.fidelity.excess_error == pytest.approx(1.0, abs=0.05)
    assert one.fidelity.channels == 8


def test_a_qtensor_is_audited() -> None:
    codes = bytes(range(64, 192))
    message = caffe2_pb2.QTensorProto(
        dims=[128], precision=8, scale=0.5, bias=-64.0, is_signed=False, data=list(codes)
    )
    (one,) = audit(load(message)).weights
    assert (one.scheme, one.storage, one.state) == ("Caffe2 int8", "uint8", "no twin")
    assert one.codes is not None
    assert (one.codes.least, one.codes.most) == (64, 191)
    assert one.codes.used_span == 0.5
    assert one.codes.is_symmetric


def test_signed_rounding_to_two_levels_is_compared() -> None:
    weight = normal(16, 16)
    arrays = {"w": weight, "s": np.array(0.8, np.float32)}
    proto = make_model(
        [
            _NODE("BipolarQuant", ["w", "s"], ["d"], domain="qonnx.custom_op.general"),
            _NODE("MatMul", ["x", "d"], ["y"]),
        ],
        arrays,
        (1, 16),
    )
    (one,) = audit(load(proto)).weights
    assert (one.storage, one.bits, one.found_by) == ("bipolar", 1, "own")
    assert one.fidelity is not None
    assert one.fidelity.cosine == pytest.approx(0.8, abs=0.05)


def test_what_cannot_be_opened_says_why() -> None:
    weight = normal(32, 16)
    codes, scale = quantize_symmetric(weight, 1)
    nodes = [
        _NODE("Relu", ["s"], ["t"]),
        _NODE("DequantizeLinear", ["wq", "t"], ["d"], axis=1),
        _NODE("MatMul", ["x", "d"], ["y"]),
    ]
    found, one = look(nodes, {"wq": codes, "s": scale}, product(weight, (1, 32)), (1, 32))
    assert one.state == "not comparable"
    assert "not a constant" in one.reason
    assert any("not a constant" in entry.reason for entry in found.unchecked)
    nodes = [_NODE("DequantizeLinear", ["wq", "s"], ["d"], axis=0), nodes[-1]]
    _, one = look(nodes, {"wq": codes, "s": scale}, product(weight, (1, 32)), (1, 32))
    assert "do not fit" in one.reason
