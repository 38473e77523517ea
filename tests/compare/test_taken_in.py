"""What another model has inside of one operator is no node that was removed."""

from __future__ import annotations

import numpy as np
import pytest
from onnx import ModelProto, numpy_helper, parser

from netloupe.explorer.compare import Diff, diff
from netloupe.explorer.describe.differences import format_diff
from netloupe.explorer.readers.load import load

_HEADER = '<ir_version: 10, opset_import: ["" : 21, "com.microsoft" : 1]>\n'
_CHANCE = np.random.default_rng(5)
WEIGHTS = {
    f"w{number}": _CHANCE.standard_normal((4, 4, 3, 3)).astype(np.float32) for number in range(4)
}
VECTORS = {name: _CHANCE.standard_normal(4).astype(np.float32) for name in "abcd"}


def make(body: str, **arrays: object) -> ModelProto:
    model = parser.parse_model(
        f"{_HEADER}g (float[1, 4, 8, 8] x) => (float[1, 4, 8, 8] y) {{{body}}}"
    )
    used = {name for node in model.graph.node for name in node.input}
    for name, array in {**WEIGHTS, **VECTORS, **arrays}.items():
        if name in used:
            model.graph.initializer.append(numpy_helper.from_array(np.asarray(array), name))
    return model


def compare(left: ModelProto, right: ModelProto) -> Diff:
    return diff(*(load(model.SerializeToString()) for model in (left, right)))


def list_pairs(found: Diff) -> set[tuple[str, str]]:
    return {
        ("+".join(node.name for node in pair.left), "+".join(node.name for node in pair.right))
        for pair in found.matching.pairs
    }


def list_alone(found: Diff) -> list[str]:
    return [node.name for node in (*found.left_alone, *found.right_alone)]


PADS = "<pads = [1, 1, 1, 1]>"


def make_chain(activation: str, *, changes: float = 0.0) -> ModelProto:
    """Return four convolutions, with an activation behind each."""
    lines, value = [], "x"
    for number in range(4):
        result = f"c{number}" if activation or number < 3 else "y"
        lines.append(f'["block.{number}.conv"] {result} = Conv {PADS} ({value}, w{number})')
        value = result
        if activation:
            value = f"r{number}" if number < 3 else "y"
            lines.append(f'["block.{number}.act"] {value} = {activation} ({result})')
    noise = np.random.default_rng(1)
    weights = {
        name: (array + changes * noise.standard_normal(array.shape)).astype(np.float32)
        for name, array in WEIGHTS.items()
    }
    return make("\n".join(lines), **weights)


@pytest.mark.parametrize("changes", [0.0, 0.02])
@pytest.mark.parametrize("activation", ["Relu", "Elu", "Softplus"])
@pytest.mark.parametrize("is_backwards", [False, True])
def test_nodes_between_which_activations_are_gone_keep_their_partners(
    changes: float, activation: str, is_backwards: bool
) -> None:
    sides = [make_chain(activation), make_chain("", changes=changes)]
    found = compare(*sides[:: -1 if is_backwards else 1])
    assert list_pairs(found) == {(f"block.{number}.conv",) * 2 for number in range(4)}
    assert list_alone(found) == [f"block.{number}.act" for number in range(4)]


FUSED = """
    [conv0] r0 = com.microsoft.FusedConv <pads = [1, 1, 1, 1], activation = "{0}"{1}> (x, w0)
    [conv1] y = com.microsoft.FusedConv <pads = [1, 1, 1, 1], activation = "{0}"{1}> (r0, w1)
"""
PLAIN = f"""
    [conv0] c0 = Conv {PADS} (x, w0) [act0] r0 = {{0}} (c0)
    [conv1] c1 = Conv {PADS} (r0, w1) [act1] y = {{0}} (c1)
"""


@pytest.mark.parametrize(
    ("plain", "fused", "numbers"),
    [
        ("Relu", "Relu", ""),
        ("Tanh", "Tanh", ""),
        ("LeakyRelu <alpha = 0.2>", "LeakyRelu", ", activation_params = [0.2]"),
        ("LeakyRelu", "LeakyRelu", ", activation_params = [0.01]"),
    ],
)
def test_an_activation_that_a_convolution_applies_is_part_of_it(
    plain: str, fused: str, numbers: str
) -> None:
    found = compare(make(PLAIN.format(plain)), make(FUSED.format(fused, numbers)))
    assert list_pairs(found) == {("conv0+act0", "conv0"), ("conv1+act1", "conv1")}
    assert not list_alone(found)
    assert not found.tensors
    assert f"Conv + {fused} → FusedConv" in format_diff(found)


@pytest.mark.parametrize(
    ("plain", "fused", "numbers"),
    [
        ("Relu", "Tanh", ""),
        ("LeakyRelu <alpha = 0.2>", "LeakyRelu", ", activation_params = [0.1]"),
    ],
)
def test_another_activation_than_that_is_not(plain: str, fused: str, numbers: str) -> None:
    found = compare(make(PLAIN.format(plain)), make(FUSED.format(fused, numbers)))
    assert list_pairs(found) == {("conv0", "conv0"), ("conv1", "conv1")}
    assert list_alone(found) == ["act0", "act1"]


def quantize(array: np.ndarray, scale: float) -> np.ndarray:
    return np.clip(np.rint(array / scale), -127, 127).astype(np.int8)


def make_quantized(zero_point: int) -> ModelProto:
    """Return what a quantizer makes of two convolutions with a ReLU behind each."""
    body = """
        [x_q] xq = QuantizeLinear (x, xs, xz)
        [conv0_quant] c0_quantized = QLinearConv <pads = [1, 1, 1, 1]>
            (xq, xs, xz, w0_quantized, ws, wz, ys, yz, b0_quantized)
        [conv1_quant] c1_quantized = QLinearConv <pads = [1, 1, 1, 1]>
            (c0_quantized, ys, yz, w1_quantized, ws, wz, ys, yz, b1_quantized)
        [y_dq] y = DequantizeLinear (c1_quantized, ys, yz)
    """
    data, weight = np.float32(0.05), np.float32(0.02)
    return make(
        body,
        xs=data,
        xz=np.uint8(120),
        ws=weight,
        wz=np.int8(0),
        ys=np.float32(0.05),
        yz=np.uint8(zero_point),
        **{f"w{number}_quantized": quantize(WEIGHTS[f"w{number}"], 0.02) for number in range(2)},
        **{
            f"b{number}_quantized": np.rint(VECTORS[name] / (0.05 * 0.02)).astype(np.int32)
            for number, name in enumerate("ab")
        },
    )


@pytest.mark.parametrize(("zero_point", "is_inside"), [(0, True), (7, False)])
def test_a_relu_that_is_the_end_of_a_range_is_part_of_it(zero_point: int, is_inside: bool) -> None:
    left = make(f"""
        [conv0] c0 = Conv {PADS} (x, w0, a) [act0] r0 = Relu (c0)
        [conv1] c1 = Conv {PADS} (r0, w1, b) [act1] y = Relu (c1)
    """)
    found = compare(left, make_quantized(zero_point))
    wanted = {
        (f"conv{number}" + f"+act{number}" * is_inside, f"conv{number}_quant")
        for number in range(2)
    }
    assert wanted <= list_pairs(found)
    assert ("act0" in list_alone(found)) is not is_inside
    errors = {one.left.name: one.numbers.relative for one in found.tensors if one.numbers}
    assert errors.keys() >= {"a", "b", "w0", "w1"}
    assert max(errors.values()) < 0.2  # biases are compared by what their codes stand for


def test_a_sum_that_is_gone_is_no_part_of_the_product_before_it() -> None:
    left = make(
        "[fc] p = MatMul (x, m) [add] s = Add (p, v) [act] y = Relu (s)",
        m=np.eye(8, dtype=np.float32),
        v=np.arange(8, dtype=np.float32),
    )
    right = make("[fc] p = MatMul (x, m) [act] y = Relu (p)", m=np.eye(8, dtype=np.float32))
    found = compare(left, right)
    assert list_pairs(found) == {("fc", "fc"), ("act", "act")}
    assert list_alone(found) == ["add"]


FOLDED = f"[conv] c = Conv {PADS} (x, w0, folded) [act] y = Elu (c)"
NORMED = f"""
    [conv] c = Conv {PADS} (x, w0{{0}})
    [norm] n = BatchNormalization <epsilon = {{1}}> (c, a, b, c_, d_) [act] y = Elu (n)
"""


@pytest.mark.parametrize("has_bias", [False, True])
@pytest.mark.parametrize("epsilon", [1e-5, 0.1])
@pytest.mark.parametrize("factor", [1.0, 1.5, -1.0])
@pytest.mark.parametrize("is_backwards", [False, True])
def test_a_normalization_that_was_folded_is_calculated(
    has_bias: bool, epsilon: float, factor: float, is_backwards: bool
) -> None:
    mean, variance = VECTORS["c"], np.abs(VECTORS["d"]) + np.float32(0.3)
    normed = make(NORMED.format(", d" * has_bias, epsilon), c_=mean, d_=variance)
    scale = VECTORS["a"] / np.sqrt(variance + epsilon)
    bias = VECTORS["d"] if has_bias else 0
    folded = make(
        FOLDED,
        w0=(factor * WEIGHTS["w0"] * scale.reshape(-1, 1, 1, 1)).astype(np.float32),
        folded=((bias - mean) * scale + VECTORS["b"]).astype(np.float32),
    )
    found = compare(*[normed, folded][:: -1 if is_backwards else 1])
    (fold,) = found.folds.values()
    assert fold.is_equal is (factor == 1)
    if fold.is_equal:
        assert fold.error < 1e-6
        assert not found.tensors + found.left_tensors + found.right_tensors  # type: ignore[operator]
        assert "BatchNormalization folded: equal to 1e-" in format_diff(found)
    else:
        assert fold.factor == pytest.approx(factor)
        assert found.has_other_weights
        assert f"not equal: weights are {factor:g} times" in format_diff(found)


ROOTS = ["[root] s = Sqrt (v1)", "[root] s = Pow (v1, half)"]
SQUARES = ["Pow (d, two)", "Mul (d, d)"]


@pytest.mark.parametrize("root", ROOTS)
@pytest.mark.parametrize("square", SQUARES)
@pytest.mark.parametrize("is_centred", [True, False])
def test_norms_are_compared_by_role_however_they_are_written(
    root: str, square: str, is_centred: bool
) -> None:
    begin = "[mean] m = ReduceMean <keepdims = 1> (h, last) [sub] d = Sub (h, m)"
    written = f"""
        [first] h = Conv {PADS} (x, w0)
        {begin if is_centred else ""}
        [square] q = {square} [var] v0 = ReduceMean <keepdims = 1> (q, last)
        [eps] v1 = Add (v0, tiny) {root} [div] n = Div (d, s) [scale] t = Mul (n, gain)
        {"[shift] u = Add (t, offset)" if is_centred else ""}
        [last] y = Conv {PADS} (u, w1)
    """
    if not is_centred:
        written = written.replace("(d, d)", "(h, h)").replace("(d,", "(h,").replace("(u,", "(t,")
    operator = "LayerNormalization" if is_centred else "com.microsoft.SimplifiedLayerNormalization"
    fused = f"""
        [first] h = Conv {PADS} (x, w0)
        [norm] u = {operator} <epsilon = 0.00001> (h, gain{", offset" * is_centred})
        [last] y = Conv {PADS} (u, w1)
    """
    given = {
        "gain": np.arange(1, 9, dtype=np.float32),
        "offset": np.arange(8, dtype=np.float32) - 3,
        "half": np.float32(0.5),
        "two": np.float32(2),
        "tiny": np.float32(1e-5),
        "last": np.array([-1]),
    }
    found = compare(make(written, **given), make(fused, **given))
    assert not list_alone(found)
    assert [pair.right[0].name for pair in found.fused] == ["norm"]
    assert not [one for one in found.tensors if one.numbers]
    assert not found.right_tensors


def test_mish_is_one_activation_however_it_is_written() -> None:
    begin, end = f"[first] h = Conv {PADS} (x, w0)", f"[last] y = Conv {PADS} (u, w1)"
    written = "[soft] s = Softplus (h) [tanh] t = Tanh (s) [mul] u = Mul (h, t)"
    found = compare(make(f"{begin} {written} {end}"), make(f"{begin} [mish] u = Mish (h) {end}"))
    assert ("mul+soft+tanh", "mish") in list_pairs(found)
    assert not list_alone(found)


def test_a_node_whose_path_is_the_same_has_not_moved_there() -> None:
    left = make(
        "[a] p = Relu (x) [b] q = Tanh (x) [c] r = Exp (p) [d] s = Neg (q) [e] y = Sub (r, s)"
    )
    right = make(
        "[a] p = Relu (x) [b] q = Tanh (x) [c] r = Exp (q) [d] s = Neg (p) [e] y = Sub (r, s)"
    )
    text = format_diff(compare(left, right))
    assert "main/c: input 0 main/a → main/b" in text
    assert "main/c: now main/c" not in text


BEHIND = {
    "norm": "[behind] u = BatchNormalization (r, a, b, c, positive)",
    "product": "[behind] u = Mul (r, scale)",
    "sum": "[behind] u = Add (r, scale)",
}


@pytest.mark.parametrize("behind", [*BEHIND.values()], ids=[*BEHIND])
@pytest.mark.parametrize("domain", ["FusedConv", "nchwc.Conv"])
def test_what_stands_behind_an_activation_is_no_part_of_the_convolution_before_it(
    behind: str, domain: str
) -> None:
    pads = "pads = [1, 1, 1, 1]"
    begin = f"[first] h = Conv <{pads}> (x, w0) [act] r = Relu (h)"
    end = f"[last] y = Conv <{pads}> (u, w1)"
    given = {
        "positive": np.arange(1, 5, dtype=np.float32),
        "scale": np.arange(1, 5, dtype=np.float32).reshape(4, 1, 1),
    }
    fused = f'[first] r = com.microsoft.{domain} <{pads}, activation = "Relu"> (x, w0)'
    models = [make(f"{one} {behind} {end}", **given) for one in (begin, fused)]
    if domain != "FusedConv":
        models[1].opset_import.add(domain="com.microsoft.nchwc", version=1)
    found = compare(*models)
    assert list_pairs(found) == {("first+act", "first"), ("behind", "behind"), ("last", "last")}
    assert not list_alone(found)
    assert not found.folds
