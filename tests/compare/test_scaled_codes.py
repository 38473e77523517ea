"""What scales and shifts behind a convolution, as floats and as codes; the last one clamps."""

from __future__ import annotations

import onnx
import pytest

import netloupe

_HEAD = '<ir_version: 8, opset_import: ["" : 17, "com.microsoft" : 1]> g (float[1,2,4,4] x) => '
_FLOATS = """(float[1,2,4,4] y)
<float[2,2,1,1] w = {1, -0.5, 0.25, 2}, float[2,1,1] c = {1.5, 0.5}, float[2,1,1] b = {0.5, -1}> {
    v0 = Conv(x, w)
    v1 = Mul(v0, c)
    v2 = Add(v1, b)
    y = Relu(v2)
}"""
_NUMBERS = {
    "sw": "0.0625",
    "sc": "0.0625",
    "sb": "0.0625",
    "s0": "0.125",
    "s1": "0.125",
    "s2": "0.125",
    "z2": "0",
}
#: the same as codes: of w 16, -8, 4, 32; of c 24, 8; of b 8, -16
_CODES = """(float[1,2,4,4] y)
<float sx = {{0.03}}, uint8 zx = {{128}}, float sw = {{{sw}}}, int8 zw = {{0}},
int8[2,2,1,1] w_q = {{16, -8, 4, 32}}, float s0 = {{{s0}}}, uint8 z0 = {{0}},
float sc = {{{sc}}}, uint8 zc = {{100}}, uint8[2,1,1] c_q = {{124, 108}}, float s1 = {{{s1}}},
uint8 z1 = {{128}}, float sb = {{{sb}}}, uint8 zb = {{100}}, uint8[2,1,1] b_q = {{108, 84}},
float s2 = {{{s2}}}, uint8 z2 = {{{z2}}}> {{
    x_q = QuantizeLinear(x, sx, zx)
    v0_q = QLinearConv(x_q, sx, zx, w_q, sw, zw, s0, z0)
    v1_q = com.microsoft.QLinearMul(v0_q, s0, z0, c_q, sc, zc, s1, z1)
    v2_q = com.microsoft.QLinearAdd(v1_q, s1, z1, b_q, sb, zb, s2, z2)
    y = DequantizeLinear(v2_q, s2, z2)
}}"""


def load(text: str) -> netloupe.Model:
    return netloupe.load(onnx.parser.parse_model(_HEAD + text).SerializeToString())


def compare(**numbers: str) -> netloupe.Diff:
    return netloupe.diff(load(_FLOATS), load(_CODES.format(**{**_NUMBERS, **numbers})))


def list_pairs(found: netloupe.Diff) -> set[tuple[tuple[str, ...], tuple[str, ...]]]:
    return {
        (tuple(n.op_type for n in pair.left), tuple(n.op_type for n in pair.right))
        for pair in found.matching.pairs
    }


def test_a_clamp_belongs_to_the_last_operator() -> None:
    found = compare()
    assert list_pairs(found) == {
        (("Conv",), ("QLinearConv",)),
        (("Mul",), ("QLinearMul",)),
        (("Add", "Relu"), ("QLinearAdd",)),
    }
    assert not found.left_alone


def test_a_clamp_before_the_last_operator_is_none_of_the_activation() -> None:
    found = compare(z2="128")  # only the convolution's codes stand for nothing below zero
    assert [node.op_type for node in found.left_alone] == ["Relu"]
    assert found.verdict == "structure"


def test_an_activation_behind_a_normalization_is_not_in_the_convolution() -> None:
    """The convolution's codes are of zero and above, and the normalization stands behind it."""
    norm = "float[2] s = {1, 2}, float[2] m = {0, 1}, float[2] v = {1, 1}, float[2] d = {0.5, -1}"
    left = load(
        "(float[1,2,4,4] y) <float[2,2,1,1] w = {1, -0.5, 0.25, 2}, "
        + norm
        + "> { v0 = Conv(x, w) v1 = BatchNormalization(v0, s, d, m, v) y = Relu(v1) }"
    )
    right = load(
        "(float[1,2,4,4] y) <float sx = {0.03}, uint8 zx = {128}, float sw = {0.0625}, "
        "int8 zw = {0}, int8[2,2,1,1] w_q = {16, -8, 4, 32}, float s0 = {0.125}, uint8 z0 = {0}, "
        + norm
        + "> { x_q = QuantizeLinear(x, sx, zx) v0_q = QLinearConv(x_q, sx, zx, w_q, sw, zw, s0, z0)"
        " v0 = DequantizeLinear(v0_q, s0, z0) y = BatchNormalization(v0, s, d, m, v) }"
    )
    found = netloupe.diff(left, right)
    assert [node.op_type for node in found.left_alone] == ["Relu"]


@pytest.mark.parametrize("name", ["w", "c", "b"])
def test_another_scale_of_what_is_stored_is_told(name: str) -> None:
    same, other = (
        {each.left.name: each.numbers for each in compare(**numbers).tensors}
        for numbers in ({}, {f"s{name}": "0.125"})
    )
    assert set(same) == set(other) == {"w", "c", "b"}
    for each in same:
        one, two = same[each], other[each]
        assert one is not None
        assert two is not None
        assert one.relative == 0
        assert two.relative == pytest.approx(float(each == name))


#: of no scale of norms that a search by value could mistake for another
_SCALES = [(place * 37) % 101 - 50 for place in range(64)]
_NORM = """(float[1,2,64] y)
<float[64] w = {WEIGHTS}, float two = {2}, float e = {0.00001}, int64[1] last = {-1}> {
    h = Relu(x)
    squares = Pow(h, two)
    means = ReduceMean<axes = [-1]>(squares)
    safe = Add(means, e)
    root = Sqrt(safe)
    factor = Reciprocal(root)
    norm = Mul(h, factor)
    y = Mul(w, norm)
}"""
#: the same with products of codes
_NORM_OF_CODES = """(float[1,2,64] y)
<float two = {2}, float e = {0.00001}, float s = {0.0625}, int8 z = {0},
int8[64] w_quantized = {CODES}> {
    h = Relu(x)
    squares = Pow(h, two)
    means = ReduceMean<axes = [-1]>(squares)
    means_q = QuantizeLinear(means, s, z)
    e_q = QuantizeLinear(e, s, z)
    safe_q = com.microsoft.QLinearAdd(means_q, s, z, e_q, s, z, s, z)
    safe = DequantizeLinear(safe_q, s, z)
    root = Sqrt(safe)
    factor = Reciprocal(root)
    h_q = QuantizeLinear(h, s, z)
    factor_q = QuantizeLinear(factor, s, z)
    norm_q = com.microsoft.QLinearMul(h_q, s, z, factor_q, s, z, s, z)
    y_q = com.microsoft.QLinearMul(w_quantized, s, z, norm_q, s, z, s, z)
    y = DequantizeLinear(y_q, s, z)
}"""


def test_a_norm_whose_products_are_of_codes_is_compared_node_by_node() -> None:
    head = _HEAD.replace("[1,2,4,4]", "[1,2,64]")
    left, right = (
        netloupe.load(onnx.parser.parse_model(head + text).SerializeToString())
        for text in (
            _NORM.replace("WEIGHTS", ", ".join(str(code / 16) for code in _SCALES)),
            _NORM_OF_CODES.replace("CODES", ", ".join(map(str, _SCALES))),
        )
    )
    for found in (netloupe.diff(left, right), netloupe.diff(right, left)):
        assert all(len(p.left) == len(p.right) == 1 for p in found.matching.pairs)
        assert len(found.matching.pairs) == 8
        assert {node.op_type for node in (*found.left_alone, *found.right_alone)} == {
            "DequantizeLinear",
            "QuantizeLinear",
        }
        assert [each.left.dims for each in found.tensors] == [(64,)]
