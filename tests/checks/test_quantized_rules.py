"""Rules of quantized weights and activations: a trigger and a near miss each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import onnx
import pytest
from onnx import helper

from tests.audit.networks import make_model, normal, quantize_symmetric
from tests.checks.ruling import Made, find

_NODE = helper.make_node
_FLOAT = np.float32


def made(
    nodes: Sequence[onnx.NodeProto],
    arrays: Mapping[str, np.ndarray],
    shape: Sequence[int | str] = ("N", 64),
) -> Made:
    return lambda: make_model(nodes, arrays, shape)


def weight(codes: np.ndarray, scale: np.ndarray | float = 0.1, zero: int = 0) -> Made:
    """A MatMul with a dequantized weight [K, N]."""
    scale = np.asarray(scale, _FLOAT)
    arrays = {"w": codes, "s": scale, "z": np.full(scale.shape, zero, codes.dtype)}
    extra = {"axis": 1} if scale.ndim else {}
    nodes = [
        _NODE("DequantizeLinear", ["w", "s", "z"], ["d"], **extra),
        _NODE("MatMul", ["x", "d"], ["y"]),
    ]
    return made(nodes, arrays, ("N", len(codes)))


_GOOD = quantize_symmetric(normal(64, 32), 1)[0]


def clipped(factor: float) -> Made:
    """A weight of which one channel has a scale that is too small."""
    floats = normal(256, 32)
    _, scale = quantize_symmetric(floats, 1)
    scale[3] /= factor
    codes = np.clip(np.rint(floats / scale), -127, 127).astype(np.int8)
    return weight(codes, scale)


def channels(factor: float) -> Made:
    """A weight with one scale and a channel that is so many times smaller."""
    floats = normal(64, 32)
    floats[:, 5] *= np.abs(floats).max() / np.abs(floats[:, 5]).max() / factor
    return weight(quantize_symmetric(floats, None)[0])


def twice(factor: float) -> Made:
    """Weights that were rounded to another step before."""
    floats = normal(256, 128)
    return weight(quantize_symmetric(np.rint(floats * factor) / factor, None)[0], 0.02)


def packed(scales: int, *, bytes_of_block: int = 16, zeros: int | None = None) -> Made:
    arrays = {
        "w": np.zeros((8, 2, bytes_of_block), np.uint8),
        "s": np.ones(scales, _FLOAT),
        "z": np.zeros(zeros or 8, np.uint8),
    }
    sizes = {"K": 64, "N": 8, "bits": 4, "block_size": 32}
    inputs = ["x", "w", "s", "z"][: 3 if zeros is None else 4]
    return made([_NODE("MatMulNBits", inputs, ["y"], domain="com.microsoft", **sizes)], arrays)


def deep(depth: int) -> Made:
    """A product of codes, so many deep."""
    arrays = {
        "w": np.ones((depth, 1), np.int8),
        "s": np.array(0.1, _FLOAT),
        "z": np.array(0, np.uint8),
    }
    nodes = [
        _NODE("QuantizeLinear", ["x", "s", "z"], ["q"]),
        _NODE("DequantizeLinear", ["q", "s", "z"], ["a"]),
        _NODE("DequantizeLinear", ["w", "s"], ["d"]),
        _NODE("MatMul", ["a", "d"], ["y"]),
    ]

    def make() -> onnx.ModelProto:
        proto = make_model(nodes, arrays, ("N", depth))
        proto.graph.value_info.append(helper.make_tensor_value_info("q", 2, ["N", depth]))
        return proto

    return make


def quantized(
    name: str, scale: float, zero: int, kind: type, arrays: dict[str, np.ndarray], end: str = ""
) -> list[onnx.NodeProto]:
    """Return a pair that quantizes a value and dequantizes it again."""
    arrays[f"{name}_s"], arrays[f"{name}_z"] = np.array(scale, _FLOAT), np.array(zero, kind)
    operands = [f"{name}_s", f"{name}_z"]
    return [
        _NODE("QuantizeLinear", [name, *operands], [f"{name}_q"]),
        _NODE("DequantizeLinear", [f"{name}_q", *operands], [end or f"{name}_d"]),
    ]


def joined(ratio: float, op_type: str = "Concat") -> Made:
    arrays: dict[str, np.ndarray] = {}
    nodes = [
        *quantized("x", 0.01, 128, np.uint8, arrays),
        _NODE("Tanh", ["x"], ["t"]),
        *quantized("t", 0.01 / ratio, 128, np.uint8, arrays),
        _NODE(op_type, ["x_d", "t_d"], ["y"], **({"axis": 0} if op_type == "Concat" else {})),
    ]
    return made(nodes, arrays)


def joined_operator(ratio: float) -> Made:
    arrays = {
        "a": np.array(0.01, _FLOAT),
        "b": np.array(0.01 / ratio, _FLOAT),
        "z": np.array(0, np.uint8),
    }
    nodes = [
        _NODE("QuantizeLinear", ["x", "a", "z"], ["p"]),
        _NODE("QuantizeLinear", ["x", "b", "z"], ["q"]),
        _NODE(
            "QLinearAdd",
            ["p", "a", "z", "q", "b", "z", "a", "z"],
            ["r"],
            domain="com.microsoft",
        ),
        _NODE("DequantizeLinear", ["r", "a", "z"], ["y"]),
    ]
    return made(nodes, arrays)


def behind(op_type: str, scale: float, zero: int, kind: type = np.uint8) -> Made:
    """An operator whose result is quantized."""
    arrays: dict[str, np.ndarray] = {
        "low": np.array(0, _FLOAT),
        "high": np.array(6, _FLOAT),
    }
    inputs = ["x", "low", "high"] if op_type == "Clip" else ["x"]
    nodes = [_NODE(op_type, inputs, ["a"]), *quantized("a", scale, zero, kind, arrays, "y")]
    return made(nodes, arrays)


def normed(op_type: str) -> Made:
    arrays = {
        "w": np.ones((4, 4, 1, 1), np.int8),
        "s": np.array(0.1, _FLOAT),
        "one": np.ones(4, _FLOAT),
    }
    last = _NODE("BatchNormalization", ["c", "one", "one", "one", "one"], ["y"])
    if op_type != "BatchNormalization":
        last = _NODE(op_type, ["c"], ["y"])
    nodes = [
        _NODE("DequantizeLinear", ["w", "s"], ["d"]),
        _NODE("Conv", ["x", "d"], ["c"]),
        last,
    ]
    return made(nodes, arrays, (1, 4, 8, 8))


def two_quantizers(other: float) -> Made:
    arrays: dict[str, np.ndarray] = {}
    nodes = [_NODE("Tanh", ["x"], ["t"]), *quantized("t", 0.01, 128, np.uint8, arrays)]
    arrays["u"] = np.array(other, _FLOAT)
    nodes += [
        _NODE("QuantizeLinear", ["t", "u", "t_z"], ["v"]),
        _NODE("DequantizeLinear", ["v", "u", "t_z"], ["w"]),
        _NODE("Add", ["t_d", "w"], ["y"]),
    ]
    return made(nodes, arrays)


def lone(user: str) -> Made:
    arrays = {"s": np.array(0.1, _FLOAT), "z": np.array(0, np.uint8)}
    nodes = [_NODE("QuantizeLinear", ["x", "s", "z"], ["q"])]
    if user == "Cast":
        nodes.append(_NODE("Cast", ["q"], ["y"], to=1))
    else:
        nodes += [_NODE(user, ["q"], ["r"]), _NODE("DequantizeLinear", ["r", "s", "z"], ["y"])]
    return made(nodes, arrays)


def passed(after: float, op_type: str = "Flatten") -> Made:
    arrays: dict[str, np.ndarray] = {}
    nodes = [
        *quantized("x", 0.1, 0, np.uint8, arrays),
        _NODE(op_type, ["x_d"], ["a"]),
        *quantized("a", after, 0, np.uint8, arrays, "y"),
    ]
    return made(nodes, arrays)


def beside_unsigned(neighbour: int, kind: type = np.uint8) -> Made:
    """A product of activations and a weight with two neighbours along its sum."""
    codes = np.zeros((64, 4), np.int8)
    codes[::7] = 1
    codes[10, 2], codes[11, 2] = 100, neighbour
    arrays: dict[str, np.ndarray] = {"w": codes, "s": np.array(0.1, _FLOAT)}
    nodes = [
        *quantized("x", 0.1, 0, kind, arrays),
        _NODE("DequantizeLinear", ["w", "s"], ["d"]),
        _NODE("MatMul", ["x_d", "d"], ["y"]),
    ]
    return made(nodes, arrays)


_UNSIGNED = (_GOOD.astype(np.int16) + 128).astype(np.uint8)
CASES: list[tuple[str, Made, Made]] = [
    ("NL-Q04", weight(_GOOD, zero=3), weight(_GOOD)),
    ("NL-Q04", weight(_UNSIGNED, zero=127), weight(_UNSIGNED, zero=128)),
    ("NL-Q13", beside_unsigned(29), beside_unsigned(28)),
    ("NL-Q13", beside_unsigned(29), beside_unsigned(-100)),
    ("NL-Q13", beside_unsigned(29), beside_unsigned(29, np.int8)),
    ("NL-Q16", weight(_GOOD // 3), weight(_GOOD)),
    ("NL-Q17", clipped(2.0), clipped(1.05)),
    ("NL-Q17", weight(np.clip(_GOOD.astype(int) * 2, -127, 127).astype(np.int8)), weight(_GOOD)),
    ("NL-Q17", clipped(2.0), weight(np.where(_GOOD > 0, 127, 126).astype(np.int8))),
    ("NL-Q18", channels(20), channels(12)),
    ("NL-Q26", packed(15), packed(16)),
    ("NL-Q26", packed(16, bytes_of_block=15), packed(16)),
    ("NL-Q26", packed(16, zeros=9), packed(16, zeros=8)),
    ("NL-Q27", deep(66_312), deep(66_311)),
    ("NL-Q34", twice(20), twice(2000)),
    ("NL-Q12", joined(4.1), joined(3.9)),
    ("NL-Q12", joined(4.1, "Add"), joined(3.9, "Add")),
    ("NL-Q12", joined(4.1), joined(4.1, "Mul")),
    ("NL-Q12", joined_operator(8.0), joined_operator(2.0)),
    ("NL-Q21", normed("BatchNormalization"), normed("Relu")),
    ("NL-Q24", two_quantizers(0.02), two_quantizers(0.01)),
    ("NL-Q29", behind("Sigmoid", 3 / 255, 0), behind("Sigmoid", 1 / 255, 0)),
    ("NL-Q29", behind("Softmax", 1 / 100, 0), behind("Softmax", 1 / 256, 0)),
    ("NL-Q29", behind("Tanh", 5 / 255, 128), behind("Tanh", 2 / 255, 128)),
    ("NL-Q29", behind("Clip", 13 / 255, 0), behind("Clip", 6 / 255, 0)),
    ("NL-Q31", lone("Cast"), lone("Identity")),
    ("NL-Q32", passed(0.11), passed(0.1)),
    ("NL-Q32", passed(0.11), passed(0.11, "Tanh")),
    ("NL-Q33", behind("Relu", 0.1, 0, np.int8), behind("Relu", 0.1, -128, np.int8)),
    ("NL-Q33", behind("Relu", 0.1, 128), behind("Relu", 0.1, 10)),
]


@pytest.mark.parametrize(("rule", "broken", "near"), CASES)
def test_what_breaks_a_rule_and_what_nearly_does(rule: str, broken: Made, near: Made) -> None:
    found = find(broken, rule)
    assert {finding.id for finding in found} == {rule}
    assert all(finding.message and finding.remedy and finding.paths for finding in found)
    assert find(near, rule) == []


def test_the_clipped_channel_is_named() -> None:
    (found,) = find(clipped(2.0), "NL-Q17")
    assert found.evidence["channel"] == 3
    assert "of channel 3" in found.message


def test_bits_that_are_lost_are_told() -> None:
    (found,) = find(weight(_GOOD // 3), "NL-Q16")
    assert found.evidence["bits_lost"] == pytest.approx(1.6, abs=0.1)
    assert found.severity == "note"
    (worse,) = find(weight(_GOOD // 6), "NL-Q16")
    assert worse.severity == "warning"


def test_far_scales_are_a_warning() -> None:
    assert [f.severity for f in find(joined(8.0), "NL-Q12")] == ["note"]
    assert [f.severity for f in find(joined(17.0), "NL-Q12")] == ["warning"]
