"""Exporters' leavings, numbers, quantization, siblings, waste: a trigger and a near miss each."""

from __future__ import annotations

import numpy as np
import pytest
from onnx import TensorProto, helper

from netloupe.explorer.checks import RULES
from tests.checks.ruling import Made, build, find, parse

_NODE = helper.make_node
_FLOAT = np.float32


def normal(*shape: int, seed: int = 0, scale: float = 1.0) -> np.ndarray:
    return (np.random.default_rng(seed).standard_normal(shape) * scale).astype(_FLOAT)


def matmul(weight: np.ndarray) -> Made:
    return build([_NODE("MatMul", ["x", "w"], ["y"])], {"w": weight})


def changed(array: np.ndarray, place: tuple[int, ...], number: float) -> np.ndarray:
    array = array.copy()
    array[place] = number
    return array


def norm(variance: float, epsilon: float = 1e-5, **settings: int) -> Made:
    ones = np.ones(4, _FLOAT)
    names = ["x", "s", "b", "m", "v"]
    node = _NODE("BatchNormalization", names, ["y"], epsilon=epsilon, **settings)
    arrays = {"s": ones, "b": ones, "m": ones, "v": ones * _FLOAT(variance)}
    return build([node], arrays)


def half_epsilon(epsilon: float) -> Made:
    arrays = {"e": np.array([epsilon], np.float16)}
    nodes = [_NODE("Add", ["x", "e"], ["a"]), _NODE("Sqrt", ["a"], ["y"])]
    return build(nodes, arrays, code=TensorProto.FLOAT16)


def twice(turned: np.ndarray) -> Made:
    nodes = [_NODE("MatMul", ["x", "w"], ["a"]), _NODE("MatMul", ["a", "v"], ["y"])]
    return build(nodes, {"w": normal(40, 50), "v": turned}, inputs={"x": ("N", 40)})


def reshape(shape: list[int]) -> Made:
    return build([_NODE("Reshape", ["x", "s"], ["y"])], {"s": np.array(shape, np.int64)})


def dropout(mode: bool) -> Made:
    arrays = {"r": np.array(0.5, _FLOAT), "t": np.array(mode)}
    return build([_NODE("Dropout", ["x", "r", "t"], ["y"])], arrays)


def pair(
    scale: float = 0.1, other: float = 0.1, *, dtype: type = np.uint8, back: type | None = None
) -> Made:
    """A QuantizeLinear and what takes its result."""
    nodes = [
        _NODE("QuantizeLinear", ["x", "s", "z"], ["q"]),
        _NODE("DequantizeLinear", ["q", "t", "u"], ["y"]),
    ]
    arrays = {
        "s": np.array(scale, _FLOAT),
        "t": np.array(other, _FLOAT),
        "z": np.array(3, dtype),
        "u": np.array(3, back or dtype),
    }

    def make() -> object:
        proto = build(nodes, arrays)()
        code = helper.np_dtype_to_tensor_dtype(np.dtype(dtype))
        proto.graph.value_info.append(helper.make_tensor_value_info("q", code, ["N", 4]))
        return proto

    return make  # type: ignore[return-value]


def again(scale: float) -> Made:
    nodes = [
        _NODE("DequantizeLinear", ["x", "s"], ["a"]),
        _NODE("QuantizeLinear", ["a", "t"], ["y"]),
    ]
    return build(
        nodes,
        {"s": np.array(0.1, _FLOAT), "t": np.array(scale, _FLOAT)},
        code=TensorProto.UINT8,
    )


def weight(axis: int, count: int = 3, *, opset: int = 21, op_type: str = "Conv") -> Made:
    """A weight [3, 4, 1, 1] with scales along an axis."""
    nodes = [
        _NODE("DequantizeLinear", ["w", "s"], ["d"], axis=axis),
        _NODE(op_type, ["x", "d"], ["y"]),
    ]
    arrays = {
        "w": np.ones((3, 4, 1, 1), np.int8),
        "s": np.full(count, 0.1, _FLOAT),
    }
    return build(nodes, arrays, inputs={"x": (1, 4, 8, 8)}, opset=opset)


def bias(scale: float, code: int = 100) -> Made:
    """A Conv with input scale 0.5 and weight scales 0.1 and 0.2, and a bias."""
    nodes = [
        _NODE("DequantizeLinear", ["x", "sx"], ["dx"]),
        _NODE("DequantizeLinear", ["w", "sw"], ["dw"], axis=0),
        _NODE("DequantizeLinear", ["b", "sb"], ["db"], axis=0),
        _NODE("Conv", ["dx", "dw", "db"], ["y"]),
    ]
    arrays = {
        "sx": np.array(0.5, _FLOAT),
        "w": np.ones((2, 4, 1, 1), np.int8),
        "sw": np.array([0.1, 0.2], _FLOAT),
        "b": np.array([code, 5], np.int32),
        "sb": np.array([0.05, scale], _FLOAT),
    }
    return build(nodes, arrays, inputs={"x": (1, 4, 8, 8)}, code=TensorProto.UINT8)


def calibrated(scales: list[float]) -> Made:
    nodes, arrays, last = [], {}, "x"
    for place, scale in enumerate(scales):
        arrays[f"s{place}"] = np.array(scale, _FLOAT)
        end = "y" if place == len(scales) - 1 else f"d{place}"
        nodes += [
            _NODE("QuantizeLinear", [last, f"s{place}"], [f"q{place}"]),
            _NODE("DequantizeLinear", [f"q{place}", f"s{place}"], [end]),
        ]
        last = end
    return build(nodes, arrays)


def layers(odd: int | None, count: int = 8, *, factor: float = 1.0) -> Made:
    """Layers of which one has another activation, or weights that are larger."""
    nodes, arrays, last = [], {}, "x"
    for place in range(count):
        name, end = f"/layers.{place}", "y" if place == count - 1 else f"h{place}"
        arrays[f"layers.{place}.fc.weight"] = normal(
            16, 16, seed=place, scale=factor if place == odd else 1.0
        )
        kind = "Tanh" if place == odd and factor == 1.0 else "Relu"
        nodes += [
            _NODE(
                "MatMul", [last, f"layers.{place}.fc.weight"], [f"m{place}"], f"{name}/fc/MatMul"
            ),
            _NODE(kind, [f"m{place}"], [f"a{place}"], f"{name}/act/{kind}"),
            _NODE("Add", [f"a{place}", last], [end], f"{name}/Add"),
        ]
        last = end
    return build(nodes, arrays, inputs={"x": ("N", 16)})


_WEIGHT = normal(32, 40)
_LARGE = normal(40, 50)
_IF = """g (float[N] x) => (float[N] y) <bool c = {1}> {
    y = If (%s) <then_branch = t () => (a) { a = Relu(x) },
                 else_branch = e () => (b) { b = Abs(x) }>
}"""
_ADD = "g (float[N] x) => (float[N] y) { %s }"
_TURN = "g (float[A,B,C] x) => (float[A,B,C] y) { a = Transpose<perm = [1, 2, 0]>(x) y = %s }"

_CASES: list[tuple[str, Made, Made]] = [
    ("NL-X01", norm(1, training_mode=1), norm(1)),
    ("NL-X01", dropout(True), dropout(False)),
    ("NL-X02", _IF % "c", _IF.replace("(float[N] x)", "(float[N] x, bool d)") % "d"),
    ("NL-X03", reshape([2, 8]), reshape([-1, 8])),
    ("NL-X04", twice(_LARGE.T.copy().T.T.copy()), twice(normal(50, 40, seed=7))),
    ("NL-N01", matmul(changed(_WEIGHT, (1, 2), np.nan)), matmul(_WEIGHT)),
    ("NL-N02", matmul(changed(_WEIGHT, (1, 2), np.inf)), matmul(changed(_WEIGHT, (1, 2), 3e38))),
    ("NL-N03", matmul(changed(_WEIGHT, (1, 2), 65536)), matmul(changed(_WEIGHT, (1, 2), 65504))),
    ("NL-N04", matmul(changed(_WEIGHT, (1, 2), 1e-40)), matmul(changed(_WEIGHT, (1, 2), 1e-37))),
    (
        "NL-N04",
        matmul((_WEIGHT * 1e-5).astype(np.float16)),
        matmul((_WEIGHT * 0.02).astype(np.float16)),
    ),
    (
        "NL-N05",
        matmul(np.where(np.arange(40) == 7, 0, _WEIGHT).astype(_FLOAT)),
        matmul(np.where(np.arange(32)[:, None] == 7, 0, _WEIGHT).astype(_FLOAT)),
    ),
    ("NL-N06", matmul(np.full((4, 4), 0.5, _FLOAT)), matmul(normal(4, 4))),
    ("NL-N07", norm(-0.1), norm(0.0)),
    ("NL-N08", half_epsilon(1e-12), half_epsilon(1e-5)),
    ("NL-N09", matmul(_WEIGHT.astype(np.float64)), matmul(_WEIGHT)),
    (
        "NL-N10",
        build([_NODE("Reshape", ["x", "s"], ["y"])], {"s": np.array([-1, 2**31])}),
        build([_NODE("Reshape", ["x", "s"], ["y"])], {"s": np.array([-1, 2**31 - 1])}),
    ),
    (
        "NL-N11",
        matmul(np.where(_WEIGHT > 0.1, _WEIGHT, 0).astype(_FLOAT)),
        matmul(np.where(_WEIGHT > -0.1, _WEIGHT, 0).astype(_FLOAT)),
    ),
    ("NL-Q01", pair(0.0), pair(1e-30)),
    ("NL-Q01", pair(-0.5), pair(0.5)),
    ("NL-Q01", pair(1e-40), pair(1e-37)),
    ("NL-Q02", pair(dtype=np.uint8, back=np.int8), pair(dtype=np.int8)),
    ("NL-Q05", weight(0, 4), weight(0)),
    ("NL-Q06", weight(1, 4), weight(0)),
    ("NL-Q07", pair(0.1, 0.2), pair(0.1, 0.1)),
    ("NL-Q08", again(0.2), pair()),
    ("NL-Q09", bias(0.11), bias(0.1)),
    ("NL-Q10", bias(0.1, 2**31 - 1), bias(0.1, 2**31 - 2)),
    ("NL-Q25", weight(0, opset=12), weight(0, opset=13)),
    ("NL-Q30", calibrated([1.0] * 5), calibrated([1.0] * 4 + [0.9])),
    ("NL-R01", layers(3), layers(None)),
    ("NL-R02", layers(3, factor=20.0), layers(3, factor=5.0)),
    ("NL-G01", _ADD % "a = Abs(x) y = Relu(x)", _ADD % "a = Abs(x) y = Relu(a)"),
    (
        "NL-G02",
        build([_NODE("Relu", ["x"], ["y"])], {"w": _WEIGHT}),
        build([_NODE("Add", ["x", "w"], ["y"])], {"w": _WEIGHT}),
    ),
    (
        "NL-G03",
        build([_NODE("Sum", ["x", "w", "v"], ["y"])], {"w": _WEIGHT[:, :8], "v": _WEIGHT[:, :8]}),
        build([_NODE("Sum", ["x", "w", "v"], ["y"])], {"w": _WEIGHT[:, :8], "v": _WEIGHT[:, 8:16]}),
    ),
    ("NL-G04", _ADD % "a = Relu(x) y = Identity(a)", _ADD % "y = Identity(x)"),
    ("NL-G04", _ADD % "a = Cast<to = 1>(x) y = Relu(a)", _ADD % "a = Cast<to = 10>(x) y = Relu(a)"),
    ("NL-G04", _TURN % "Transpose<perm = [0, 1, 2]>(a)", _TURN % "Transpose<perm = [0, 2, 1]>(a)"),
    ("NL-G05", _TURN % "Transpose<perm = [2, 0, 1]>(a)", _TURN % "Relu(a)"),
    (
        "NL-G06",
        _ADD % "a = Cast<to = 10>(x) y = Cast<to = 1>(a)",
        _ADD % "a = Cast<to = 10>(x) y = Cast<to = 11>(a)",
    ),
    (
        "NL-G07",
        _ADD % "a = Relu(x) b = Relu(x) y = Add(a, b)",
        _ADD % "a = Elu<alpha = 1.0>(x) b = Elu<alpha = 2.0>(x) y = Add(a, b)",
    ),
    (
        "NL-G08",
        build([_NODE("Neg", ["w"], ["v"]), _NODE("Add", ["x", "v"], ["y"])], {"w": _WEIGHT}),
        build([_NODE("Neg", ["x"], ["v"]), _NODE("Add", ["w", "v"], ["y"])], {"w": _WEIGHT}),
    ),
    (
        "NL-G10",
        parse(
            """g (float[1,2,8,8] x) => (float[1,3,8,8] y) <float[3] s = {1.0,1.0,1.0}> {
            a = Conv(x, w) y = BatchNormalization(a, s, s, s, s) }""",
            w=np.ones((3, 2, 1, 1), _FLOAT),
        ),
        parse(
            """g (float[1,2,8,8] x) => (float[1,3,8,8] y) <float[3] s = {1.0,1.0,1.0}> {
            a = Conv(x, w) b = Relu(a) y = BatchNormalization(b, s, s, s, s) }""",
            w=np.ones((3, 2, 1, 1), _FLOAT),
        ),
    ),
    ("NL-G15", _ADD % "a = Relu(x) y = Relu(a)", _ADD % "a = Sigmoid(x) y = Sigmoid(a)"),
    (
        "NL-G16",
        build(
            [
                _NODE("Constant", [], ["w"], value=helper.make_tensor("", 1, [300], [0.5] * 300)),
                _NODE("Add", ["x", "w"], ["y"]),
            ]
        ),
        build(
            [
                _NODE("Constant", [], ["w"], value=helper.make_tensor("", 1, [200], [0.5] * 200)),
                _NODE("Add", ["x", "w"], ["y"]),
            ]
        ),
    ),
    (
        "NL-G17",
        '<ir_version: 10, opset_import: ["": 21, "d": 1]> ' + _ADD % "y = Relu(x)",
        '<ir_version: 10, opset_import: ["": 21, "d": 1]> ' + _ADD % "y = d.Relu(x)",
    ),
    (
        "NL-G18",
        """<ir_version: 10, opset_import: ["": 21, "local": 1]>
        g (float[N] x) => (float[N] y) { y = Relu(x) }
        <domain: "local", opset_import: ["": 21]> F (x) => (y) { y = Abs(x) }""",
        """<ir_version: 10, opset_import: ["": 21, "local": 1]>
        g (float[N] x) => (float[N] y) { y = local.F(x) }
        <domain: "local", opset_import: ["": 21]> F (x) => (y) { y = Abs(x) }""",
    ),
]


@pytest.mark.parametrize(("rule", "broken", "near"), _CASES)
def test_what_breaks_a_rule_and_what_nearly_does(rule: str, broken: Made, near: Made) -> None:
    found = find(broken, rule)
    assert {finding.id for finding in found} == {rule}
    assert all(finding.message and finding.remedy and finding.paths for finding in found)
    assert find(near, rule) == []


def test_a_mask_of_infinities_is_a_note_and_a_weight_an_error() -> None:
    (found,) = find(matmul(changed(_WEIGHT, (3, 4), -np.inf)), "NL-N02")
    assert found.severity == "error"
    assert found.message.endswith("infinite, the first not finite at [3, 4]")
    mask = parse(
        "g (bool[N] c, float[N] x) => (float[N] y) { y = Where(c, x, w) }",
        w=np.array(-np.inf, _FLOAT),
    )
    assert [f.severity for f in find(mask, "NL-N02")] == ["note"]


def test_the_size_that_was_traced_is_told() -> None:
    (found,) = find(reshape([2, 8]), "NL-X03")
    assert found.message == "makes 4*N elements into [2, 8]: that is right for N = 4 alone"
    assert found.evidence == {"elements": "4*N", "target": [2, 8], "fits": "N = 4"}


def test_the_bias_that_is_wrong_is_told_with_its_channel() -> None:
    (found,) = find(bias(0.11), "NL-Q09")
    assert found.evidence["channel"] == 1
    assert found.evidence["ratio"] == pytest.approx(1.1, rel=1e-5)


def test_one_layer_unlike_the_others_is_named_with_what_differs() -> None:
    (found,) = find(layers(3), "NL-R01")
    assert found.paths == ("main/layers.3/",)
    assert found.severity == "warning"
    assert found.evidence["has"] == ["Tanh"]
    assert found.evidence["lacks"] == ["Relu"]
    assert [f.severity for f in find(layers(0), "NL-R01")] == ["note"]


def test_the_weight_that_stands_out_is_named() -> None:
    (found,) = find(layers(5, factor=20.0), "NL-R02")
    assert found.paths == ("main/%layers.5.fc.weight",)


def test_ids_and_names_are_each_of_one_rule() -> None:
    assert len({rule.id for rule in RULES}) == len({rule.name for rule in RULES}) == len(RULES)
    for rule in RULES:
        assert rule.why.endswith(".")
        assert rule.remedy.endswith(".")
        assert rule.title
        assert rule.source
        assert len(rule.why) <= 1024  # what GitHub shows
