"""What optimizers and quantizers of others do to nodes, one by one, and that these are found."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from onnx import parser

from netloupe.explorer.compare import Diff, Matching, diff, match_models
from netloupe.explorer.describe.difference_summary import write_verdict
from netloupe.explorer.describe.differences import format_diff
from netloupe.explorer.model import Model
from netloupe.explorer.readers.load import load
from tests.compare.networks import store

_MICROSOFT, _BLOCKED = "com.microsoft", "com.microsoft.nchwc"
_CHANCE = np.random.default_rng(7)


def draw(*dims: int) -> np.ndarray:
    """Return numbers that are no others' again."""
    return (0.4 * _CHANCE.standard_normal(dims)).astype(np.float32)


def read(body: str, arrays: dict[str, np.ndarray], ends: str = "(float[n, 4, 6, 6] x)") -> Model:
    """Return a model of some nodes that take ``x`` and give ``y``."""
    opsets = f'"" : 21, "{_MICROSOFT}" : 1, "{_BLOCKED}" : 1'
    text = f"<ir_version: 10, opset_import: [{opsets}]> g {ends} => (float y) {{ {body} }}"
    model = parser.parse_model(text)
    for place, node in enumerate(model.graph.node):
        node.name = node.name or f"n{place}"
    del model.graph.output[0].type.tensor_type.shape.dim[:]
    return load(store(model, arrays).SerializeToString())


def list_pairs(found: Matching) -> set[tuple[tuple[str, ...], tuple[str, ...]]]:
    """Return pairs by the names of nodes, those of several in alphabetical order."""
    return {
        (tuple(sorted(n.name for n in pair.left)), tuple(sorted(n.name for n in pair.right)))
        for pair in found.pairs
    }


def pair(left: Model, right: Model) -> set[tuple[tuple[str, ...], tuple[str, ...]]]:
    """Return the pairs that are found, and that none is another one from right to left."""
    found = list_pairs(match_models(left, right))
    back = list_pairs(match_models(right, left))
    assert {(one, other) for other, one in back} == found
    return found


def block(weight: np.ndarray, outputs: int, inputs: int) -> np.ndarray:
    """Return a weight as MLAS stores it in blocks of channels, the last ones filled up with 0."""
    wide = [-(-size // by) * by for size, by in zip(weight.shape, (outputs, inputs), strict=False)]
    filled = np.zeros((*wide, *weight.shape[2:]), np.float32)
    filled[: weight.shape[0], : weight.shape[1]] = weight
    dims = wide[0] // outputs, outputs, wide[1] // inputs, inputs, *weight.shape[2:]
    return filled.reshape(dims).transpose(0, 2, 4, 5, 3, 1).reshape(filled.shape)


# weights in blocks of channels

BLOCKS = [(4, 1), (8, 1), (8, 8), (16, 1), (16, 16)]


def _make_blocked(
    outputs: int, inputs: int, channels: Sequence[int] = (16, 16), change: float = 0.0
) -> tuple[Model, Model]:
    """Return two convolutions side by side, and the same in blocks and in another order."""
    weights = [draw(*channels, 3, 3) for _ in range(2)]
    plain = read(
        "[a] p = Conv <pads = [1, 1, 1, 1]> (x, w) [b] q = Conv <pads = [1, 1, 1, 1]> (x, v)"
        " [sum] y = Add (p, q)",
        {"w": weights[0], "v": weights[1]},
        f"(float[n, {channels[1]}, 6, 6] x)",
    )
    stored = [block(weight, outputs, inputs) for weight in weights]
    stored[0].flat[0] += change
    blocked = read(
        f"[turn] r = {_BLOCKED}.ReorderInput (x)"
        f" [d] q = {_BLOCKED}.Conv <pads = [1, 1, 1, 1]> (r, other)"
        f" [c] p = {_BLOCKED}.Conv <pads = [1, 1, 1, 1]> (r, one)"
        f" [back] s = {_BLOCKED}.ReorderOutput (q) [more] t = {_BLOCKED}.ReorderOutput (p)"
        " [total] y = Add (s, t)",
        {"one": stored[0], "other": stored[1]},
        f"(float[n, {channels[1]}, 6, 6] x)",
    )
    return plain, blocked


@pytest.mark.parametrize("channels", [(16, 16), (13, 16), (5, 3), (20, 11)])
@pytest.mark.parametrize(("outputs", "inputs"), BLOCKS)
def test_weights_in_blocks_are_known_by_their_numbers(
    outputs: int, inputs: int, channels: tuple[int, int]
) -> None:
    plain, blocked = _make_blocked(outputs, inputs, channels)
    assert {(("a",), ("c",)), (("b",), ("d",)), (("sum",), ("total",))} <= pair(plain, blocked)


@pytest.mark.parametrize(("outputs", "inputs"), BLOCKS)
def test_weights_in_blocks_are_no_other_weights(outputs: int, inputs: int) -> None:
    for sides in (_make_blocked(outputs, inputs), _make_blocked(outputs, inputs)[::-1]):
        found = diff(*sides)
        assert not any(one.numbers or one.are_unread for one in found.tensors)
        told = {change.what for one in found.tensors for change in one.changes}
        assert told <= {"name", "order of channels"}
        assert "order of channels" in told
        assert not found.has_other_weights


def test_a_number_that_was_changed_in_a_weight_in_blocks_is_told() -> None:
    found = diff(*_make_blocked(8, 8, change=0.5))
    (one,) = [one for one in found.tensors if one.numbers is not None]
    assert one.left.name == "w"
    assert one.numbers is not None
    assert (one.numbers.changed, round(one.numbers.largest, 3)) == (1, 0.5)


def test_what_fills_up_a_block_is_looked_at() -> None:
    plain, blocked = _make_blocked(8, 8, (5, 3))
    whole = plain.graph.nodes[0].inputs[1], blocked.graph.nodes[2].inputs[1]
    assert [value.initializer.dims[:2] for value in whole if value is not None] == [(5, 3), (8, 8)]
    assert not diff(plain, blocked).has_other_weights
    plain, blocked = _make_blocked(8, 8, (5, 3), change=0.0)
    weight = draw(5, 3, 3, 3)
    stored = block(weight, 8, 8)
    stored.flat[-1] = 1.0  # the last output is none of the five
    left = read("[a] y = Conv (x, w)", {"w": weight}, "(float[n, 3, 6, 6] x)")
    right = read(f"[c] y = {_BLOCKED}.Conv (x, w)", {"w": stored}, "(float[n, 3, 6, 6] x)")
    assert diff(left, right).has_other_weights or diff(left, right).has_other_structure
    assert any(change.what == "dims" for one in diff(left, right).tensors for change in one.changes)


# transpositions that were moved

_WIDE = "(float[n, 6, 6, 4] x)"


def test_what_is_done_before_a_transposition_instead_of_behind_is_the_same() -> None:
    weights = {"w": draw(6), "v": draw(4)}
    left = read(
        "[l] h = Mul (x, v) [t] a = Transpose <perm = [0, 3, 1, 2]> (x)"
        " [u] b = Transpose <perm = [0, 3, 1, 2]> (h) [sum] s = Add (a, b) [end] y = Relu (s)",
        weights,
        _WIDE,
    )
    right = read(
        "[m] h = Mul (x, v) [total] s = Add (x, h)"
        " [r] t = Transpose <perm = [0, 3, 1, 2]> (s) [last] y = Relu (t)",
        weights,
        _WIDE,
    )
    found = pair(left, right)
    assert {(("l",), ("m",)), (("sum",), ("total",)), (("end",), ("last",))} <= found


def test_the_shape_of_what_is_transposed_is_one_with_its_sizes_in_another_order() -> None:
    order = {"order": np.array([0, 2, 1, 3]), "sizes": np.array([0, -1])}
    left = read(
        "[t] a = Transpose <perm = [0, 2, 1, 3]> (x) [s] b = Shape (a) [g] c = Neg (b)"
        " [r] y = Reshape (a, c)",
        {},
        _WIDE,
    )
    right = read(
        "[u] a = Transpose <perm = [0, 2, 1, 3]> (x) [v] s = Shape (x) [w] b = Gather (s, order)"
        " [h] c = Neg (b) [q] y = Reshape (a, c)",
        {"order": order["order"]},
        _WIDE,
    )
    assert (("s",), ("v", "w")) in pair(left, right)


def test_a_gather_that_takes_some_sizes_alone_is_part_of_no_shape() -> None:
    left = read("[s] b = Shape (x) [r] y = Reshape (x, b)", {}, _WIDE)
    right = read(
        "[v] s = Shape (x) [w] b = Gather (s, some) [q] y = Reshape (x, b)",
        {"some": np.array([0, 2, 1])},
        _WIDE,
    )
    assert (("s",), ("v",)) in pair(left, right)


# blocks that are quantized inside

_QDQ = "[q{0}] q{0} = QuantizeLinear ({0}, scale) [d{0}] d{0} = DequantizeLinear (q{0}, scale)"


@pytest.mark.parametrize("count", [1, 3])
def test_a_block_whose_inside_is_quantized_is_paired_node_by_node(count: int) -> None:
    weights = {f"w{place}": draw(4, 4, 1, 1) for place in range(count)}
    bodies = ["", ""]
    for place in range(count):
        x, out = f"x{place}" if place else "x", "y" if place == count - 1 else f"x{place + 1}"
        names = (
            f"[c{place}] c{place} = Conv ({x}, w{place}) [s{place}] s{place} = Sigmoid (c{place})"
        )
        bodies[0] += f"{names} [m{place}] {out} = Mul (c{place}, s{place}) "
        middle = _QDQ.format(f"s{place}")
        bodies[1] += f"{names} {middle} [m{place}] {out} = Mul (c{place}, ds{place}) "
    right = read(bodies[1], {**weights, "scale": np.float32(0.01)})
    found = pair(read(bodies[0], weights), right)
    expected = {((f"{k}{n}",), (f"{k}{n}",)) for k in "csm" for n in range(count)}
    assert expected <= found


def test_a_block_that_is_one_operator_in_the_other_model_stays_one() -> None:
    weights = {"w": draw(4, 4, 1, 1)}
    written = "[c] c = Conv (x, w) [s] s = Sigmoid (c) [m] y = Mul (c, s)"
    fused = f"[d] c = Conv (x, w) [q] y = {_MICROSOFT}.QuickGelu <alpha: float = {{}}> (c)"
    assert (("m", "s"), ("q",)) in pair(read(written, weights), read(fused.format("1.0"), weights))
    scaled = "[c] c = Conv (x, w) [t] t = Mul (c, a) [s] s = Sigmoid (t) [m] y = Mul (c, s)"
    left = read(scaled, {**weights, "a": np.float32(1.702)})
    assert (("m", "s", "t"), ("q",)) in pair(left, read(fused.format("1.702"), weights))


# what is put into convolutions

_SCALED = "[c] c = Conv (x, w) [m] m = Mul (c, a) [p] y = Add (m, b)"


def test_a_scale_that_was_put_into_a_convolution_is_part_of_it() -> None:
    weight, scale, shift = draw(4, 4, 1, 1), draw(4, 1, 1), draw(4, 1, 1)
    left = read(_SCALED, {"w": weight, "a": scale, "b": shift})
    folded = {"w": weight * scale[..., None], "b": shift.reshape(-1)}
    right = read("[d] y = Conv (x, w, b)", folded)
    assert pair(left, right) == {(("c", "m", "p"), ("d",))}


def test_a_scale_that_is_gone_is_part_of_no_convolution() -> None:
    weights = {"w": draw(4, 4, 1, 1), "a": draw(4, 1, 1), "b": draw(4, 1, 1)}
    found = match_models(read(_SCALED, weights), read("[c] y = Conv (x, w)", weights))
    assert list_pairs(found) == {(("c",), ("c",))}
    assert [node.name for node in found.list_left_alone()] == ["m", "p"]


def test_a_normalization_behind_a_convolution_of_integers_has_its_partner() -> None:
    weight, codes = draw(4, 4, 1, 1), _CHANCE.integers(0, 255, (4, 4, 1, 1)).astype(np.uint8)
    numbers = {name: np.abs(draw(4)) for name in ("s", "b", "m", "v")}
    left = read(
        "[c] c = Conv (x, w) [n] n = BatchNormalization (c, s, b, m, v) [r] y = Relu (n)",
        {"w": weight, **numbers},
    )
    right = read(
        "[q] q, qs, qz = DynamicQuantizeLinear (x) [k] k = ConvInteger (q, w, qz, wz)"
        " [f] f = Cast <to = 1> (k) [j] j = Mul (qs, ws) [h] h = Mul (f, j)"
        " [n] n = BatchNormalization (h, s, b, m, v) [r] y = Relu (n)",
        {"w": codes, "wz": np.uint8(3), "ws": np.float32(0.01), **numbers},
    )
    for sides in ((left, right), (right, left)):
        names = {tuple(sorted((*one, *other))) for one, other in pair(*sides)}
        assert names == {("c", "f", "h", "j", "k", "q"), ("n", "n"), ("r", "r")}


# products

_MATRIX = "(float[n, 3, 8] x)"


def test_a_product_that_a_gemm_of_matrices_stands_for_is_found() -> None:
    weights = {"w": draw(8, 8), "b": draw(8), "v": draw(8, 8), "c": draw(8)}
    left = read(
        "[p] p = MatMul (x, w) [a] a = Add (p, b) [s] s = Tanh (a) [q] q = MatMul (s, v)"
        " [z] y = Add (q, c)",
        weights,
        _MATRIX,
    )
    flat = "[{0}f] {0}f = Reshape ({1}, flat) [{0}g] {0}g = Gemm ({0}f, {2}, {3})"
    whole = " [{0}r] {4} = Reshape ({0}g, whole) "
    right = read(
        (flat + whole).format("k", "x", "w", "b", "a")
        + "[t] s = Tanh (a)"
        + (flat + whole).format("m", "s", "v", "c", "y"),
        {**weights, "flat": np.array([-1, 8]), "whole": np.array([-1, 3, 8])},
        _MATRIX,
    )
    expected = {(("s",), ("t",)), (("a", "p"), ("kf", "kg", "kr"))}
    assert pair(left, right) == {*expected, (("q", "z"), ("mf", "mg", "mr"))}


def test_projections_that_were_joined_leave_their_biases_behind() -> None:
    weights, biases = [draw(8, 8) for _ in range(3)], {f"b{n}": draw(8) for n in range(3)}
    ends = "[k] k = Mul (a0, a1) [l] y = Sub (k, a2)"
    apart = " ".join(
        f"[p{n}] p{n} = MatMul (x, w{n}) [a{n}] a{n} = Add (p{n}, b{n})" for n in range(3)
    )
    left = read(
        f"{apart} {ends}", {**biases, **{f"w{n}": w for n, w in enumerate(weights)}}, _MATRIX
    )
    sums = " ".join(f"[a{n}] a{n} = Add (p{n}, b{n})" for n in range(3))
    right = read(
        f"[j] j = MatMul (x, w) [s] p0, p1, p2 = Split <axis = -1> (j, sizes) {sums} {ends}",
        {**biases, "w": np.concatenate(weights, 1), "sizes": np.array([8, 8, 8])},
        _MATRIX,
    )
    expected = {((f"a{n}",), (f"a{n}",)) for n in range(3)}
    assert {*expected, (("p0", "p1", "p2"), ("j", "s"))} <= pair(left, right)
    assert not diff(left, right).has_other_weights


def test_a_bias_that_an_activation_adds_is_part_of_it() -> None:
    weights = {"w": draw(8, 8), "b": draw(8)}
    left = read("[p] p = MatMul (x, w) [a] a = Add (p, b) [g] y = Gelu (a)", weights, _MATRIX)
    right = read(f"[q] p = MatMul (x, w) [h] y = {_MICROSOFT}.BiasGelu (p, b)", weights, _MATRIX)
    assert pair(left, right) == {(("p",), ("q",)), (("a", "g"), ("h",))}


@pytest.mark.parametrize("count", [1, 3])
def test_products_of_integers_are_one_with_what_quantizes_their_data(count: int) -> None:
    """Nothing is told as added or removed where a product runs on integers."""
    weights = {f"w{n}": draw(8, 8) for n in range(count)}
    codes: dict[str, np.ndarray] = {}
    left, right = "", "[q] q, qs, qz = DynamicQuantizeLinear (x) "
    for n, (name, weight) in enumerate(weights.items()):
        scale = np.float32(np.abs(weight).max() / 127)
        codes |= {name: np.round(weight / scale).astype(np.int8), f"z{n}": np.int8(0)}
        codes |= {f"s{n}": scale}
        left += f"[p{n}] p{n} = MatMul (x, {name}) "
        right += (
            f"[k{n}] k{n} = MatMulInteger (q, w{n}, qz, z{n}) [f{n}] f{n} = Cast <to = 1> (k{n}) "
        )
        right += f"[j{n}] j{n} = Mul (qs, s{n}) [h{n}] p{n} = Mul (f{n}, j{n}) "
    end = f"[e] y = Concat <axis = -1> ({', '.join(f'p{n}' for n in range(count))})"
    found = diff(read(left + end, weights, _MATRIX), read(right + end, codes, _MATRIX))
    assert (found.left_alone, found.right_alone, len(found.fused)) == ([], [], count)
    if count > 1:
        assert f"MatMul became MatMulInteger in {count} places" in format_diff(found)
    assert _list_errors(found) <= {0, 1}


def _list_errors(found: Diff) -> set[int]:
    """Return by how many per cent weights differ, rounded."""
    return {round(100 * one.numbers.relative) for one in found.tensors if one.numbers is not None}


def test_a_node_that_was_put_before_a_product_of_integers_is_told() -> None:
    weight = draw(8, 8)
    codes = np.round(weight * 50).astype(np.int8)
    left = read("[p] y = MatMul (x, w)", {"w": weight}, _MATRIX)
    right = read(
        "[n] n = Relu (x) [q] q, qs, qz = DynamicQuantizeLinear (n)"
        " [k] k = MatMulInteger (q, w, qz, z) [f] f = Cast <to = 1> (k) [j] j = Mul (qs, s)"
        " [h] y = Mul (f, j)",
        {"w": codes, "z": np.int8(0), "s": np.float32(0.02)},
        _MATRIX,
    )
    found = diff(left, right)
    assert [node.name for node in found.right_alone] == ["n"]


def test_a_table_of_codes_is_read_and_dequantized_as_one() -> None:
    table = draw(9, 8)
    scale = np.float32(np.abs(table).max() / 127)
    codes = np.clip(np.round(table / scale) + 128, 0, 255).astype(np.uint8)
    ends = "(int64[n] x)"
    left = read("[g] g = Gather (t, x) [r] y = Tanh (g)", {"t": table}, ends)
    right = read(
        "[h] g = Gather (t, x) [d] d = DequantizeLinear (g, s, z) [r] y = Tanh (d)",
        {"t": codes, "s": scale, "z": np.uint8(128)},
        ends,
    )
    assert pair(left, right) == {(("g",), ("d", "h")), (("r",), ("r",))}
    assert pair(right, right) == {((name,), (name,)) for name in ("h", "d", "r")}


# weights that are filled as the model runs, and recurrent ones


def test_weights_that_are_filled_have_their_sizes() -> None:
    dims = {"a": (8, 4, 1, 1), "b": (16, 8, 1, 1), "c": (8, 16, 1, 1)}
    fills = "".join(f"{n}w = ConstantOfShape ({n}d) " for n in dims)
    body = "[p] p = Conv (x, aw) [q] q = Conv (p, bw) [r] y = Conv (q, cw)"
    left = read(fills + body, {f"{n}d": np.array(d) for n, d in dims.items()})
    other = body.replace("[p]", "[k]").replace("[q]", "[l]").replace("[r]", "[m]")
    zeros = {f"{n}w": np.zeros(d, np.float32) for n, d in dims.items()}
    assert {(("p",), ("k",)), (("q",), ("l",)), (("r",), ("m",))} <= pair(left, read(other, zeros))


def test_a_recurrence_whose_weights_are_stored_turned_is_found() -> None:
    left = read(
        "[l] a, b, c = LSTM <hidden_size = 5> (x, w, r) [t] y = Tanh (a)",
        {"w": draw(1, 20, 8), "r": draw(1, 20, 5)},
        "(float[n, 3, 8] x)",
    )
    codes = {"w": (1, 8, 20), "r": (1, 5, 20)}
    stored = {n: _CHANCE.integers(0, 255, d).astype(np.uint8) for n, d in codes.items()}
    scales = {f"{n}s": np.ones(1, np.float32) for n in codes}
    zeros = {f"{n}z": np.zeros(1, np.uint8) for n in codes}
    right = read(
        f"[k] a, b, c = {_MICROSOFT}.DynamicQuantizeLSTM <hidden_size = 5>"
        " (x, w, r, , , , , , ws, wz, rs, rz) [u] y = Tanh (a)",
        {**stored, **scales, **zeros},
        "(float[n, 3, 8] x)",
    )
    assert {(("l",), ("k",)), (("t",), ("u",))} <= pair(left, right)


def test_an_activation_that_is_written_out_here_and_inside_there_is_one() -> None:
    weights = {"w": draw(4, 4, 1, 1), "v": draw(4, 4, 1, 1)}
    left = read(
        "[c] c = Conv (x, w) [h] h = HardSwish (c) [d] d = Conv (h, v) [k] y = HardSwish (d)",
        weights,
    )
    right = read(
        f'[e] h = {_MICROSOFT}.FusedConv <activation = "HardSwish"> (x, w) [f] d = Conv (h, v)'
        " [s] s = HardSigmoid <alpha: float = 0.16666667> (d) [m] y = Mul (d, s)",
        weights,
    )
    assert pair(left, right) == {
        (("c", "h"), ("e",)),
        (("d",), ("f",)),
        (("k",), ("m", "s")),
    }


def test_helper_of_blocks_is_right() -> None:
    weight = np.arange(16 * 2, dtype=np.float32).reshape(16, 2, 1, 1)
    assert block(weight, 8, 1).reshape(-1)[:9].tolist() == [0, 2, 4, 6, 8, 10, 12, 14, 1]


# blocks that are left out


@pytest.mark.parametrize("gone", range(4))
def test_equal_weights_outweigh_names_that_were_given_anew(gone: int) -> None:
    """What a block takes has no partner where the one before it is left out."""
    names = ("w", "s", "b")
    weights = {f"{n}{k}": draw(8, 8) if n == "w" else draw(8) for k in range(4) for n in names}

    def write(kept: Sequence[int]) -> Model:
        body, value = "", "x"
        for place, k in enumerate(kept):
            body += f"[m{place}] m{place} = MatMul ({value}, w{k}) "
            body += f"[n{place}] n{place} = LayerNormalization (m{place}, s{k}, b{k}) "
            value = f"n{place}"
        return read(f"{body} [end] y = Relu ({value})", weights, _MATRIX)

    kept = [k for k in range(4) if k != gone]
    expected = {((f"{n}{k}",), (f"{n}{kept.index(k)}",)) for k in kept for n in "mn"}
    assert pair(write(range(4)), write(kept)) == {*expected, (("end",), ("end",))}


def test_an_activation_is_the_end_of_the_range_of_what_it_takes_alone() -> None:
    """A convolution before a norm may have a range that begins at 0 as well."""
    numbers = {"w": draw(4, 4, 1, 1), **{name: np.abs(draw(4)) for name in ("s", "b", "m", "v")}}
    norm = "BatchNormalization ({}, s, b, m, v)"
    left = read(f"[c] c = Conv (x, w) [n] n = {norm.format('c')} [r] y = Relu (n)", numbers)
    turn = "[q{0}] q{0} = QuantizeLinear ({0}, e, z) [d{0}] {1} = DequantizeLinear (q{0}, e, z)"
    right = read(
        f"[c] c = Conv (x, w) {turn.format('c', 'dc')} [n] n = {norm.format('dc')}"
        f" {turn.format('n', 'y')}",
        {**numbers, "e": np.float32(0.1), "z": np.uint8(0)},
    )
    found = {one for one in pair(left, right) if "r" in one[0]}
    assert found <= {(("r",), ("qn",)), (("n", "r"), ("n",))}
    assert found


def test_an_activation_that_a_range_stands_for_is_told_so() -> None:
    numbers = {"w": draw(4, 4, 1, 1)}
    left = read("[c] c = Conv (x, w) [r] y = Relu (c)", numbers)
    right = read(
        "[c] c = Conv (x, w) [q] q = QuantizeLinear (c, e, z) [d] y = DequantizeLinear (q, e, z)",
        {**numbers, "e": np.float32(0.1), "z": np.uint8(0)},
    )
    told = format_diff(diff(left, right))
    assert "Relu became the range of QuantizeLinear" in told
    assert "Relu became QuantizeLinear" not in told


# blocks that are alike, one behind the other

SHARED = draw(6, 6), draw(6, 6)


def _make_residual_blocks(count: int, *, is_fused: bool) -> Model:
    """Return blocks of two convolutions and a sum, which fused ones have inside; other numbers."""
    arrays, lines = {}, []
    prefix, taken, fused = "r" if is_fused else "b", "x", f"{_MICROSOFT}.FusedConv"
    act, pads = 'activation = "Relu"', "pads = [1, 1, 1, 1]"
    for place in range(count):
        one, other = f"{prefix}{place}a", f"{prefix}{place}c"
        arrays |= {one: draw(4, 4, 1, 1), other: draw(4, 4, 3, 3)}
        last = "y" if place == count - 1 else f"x{place}"
        if is_fused:
            lines.append(f"[{one}] h{place} = {fused} <{act}> ({taken}, {one})")
            inputs = f"(h{place}, {other}, , {taken})"
            lines.append(f"[{other}] {last} = {fused} <{act}, {pads}> {inputs}")
        else:
            lines.append(f"[{one}] h{place} = Conv ({taken}, {one}) i{place} = Relu (h{place})")
            lines.append(f"[{other}] s{place} = Conv <{pads}> (i{place}, {other})")
            lines.append(f"t{place} = Add (s{place}, {taken}) {last} = Relu (t{place})")
        taken = last
    return read(" ".join(lines), arrays)


@pytest.mark.parametrize("count", [2, 3, 5, 8])
def test_blocks_that_are_alike_are_paired_in_order(count: int) -> None:
    found = match_models(
        _make_residual_blocks(count, is_fused=False), _make_residual_blocks(count, is_fused=True)
    )
    pairs = {
        (node.name, other.name)
        for pair in found.pairs
        for node in pair.left
        for other in pair.right
        if node.op_type == "Conv"
    }
    places = [f"{place}{letter}" for place in range(count) for letter in "ac"]
    assert pairs == {(f"b{place}", f"r{place}") for place in places}


def _make_layers_that_share(count: int, *, is_fused: bool) -> Model:
    """Return layers of two products, the same in all; one is scaled, which fused ones do inside."""
    arrays = {"w": SHARED[0], "v": SHARED[1], "half": np.array(0.5, np.float32)}
    lines = []
    prefix, taken = ("r" if is_fused else "b"), "x"
    for place in range(count):
        one, other = f"{prefix}{place}w", f"{prefix}{place}v"
        last = "y" if place == count - 1 else f"x{place}"
        if is_fused:
            lines.append(f"[{one}] s{place} = {_MICROSOFT}.FusedMatMul <alpha = 0.5> ({taken}, w)")
        else:
            lines.append(f"[{one}] q{place} = MatMul ({taken}, w) s{place} = Mul (q{place}, half)")
        lines.append(f"[{other}] v{place} = MatMul ({taken}, v) {last} = Add (s{place}, v{place})")
        taken = last
    return read(" ".join(lines), arrays)


@pytest.mark.parametrize("count", [2, 4, 9])
def test_products_of_layers_that_share_weights_are_paired_layer_by_layer(count: int) -> None:
    models = [_make_layers_that_share(count, is_fused=is_fused) for is_fused in (False, True)]
    found = match_models(*models)
    pairs = {(p.left[0].name, p.right[0].name) for p in found.pairs if "Mat" in p.left[0].op_type}
    places = [f"{place}{letter}" for place in range(count) for letter in "wv"]
    assert pairs == {(f"b{place}", f"r{place}") for place in places}


# operators on integers


def test_what_an_operator_on_integers_has_inside_is_named_with_it() -> None:
    weights = {name: draw(4, 4, 1, 1) for name in "wv"}
    left = read("[a] h = Conv (x, w) [r] i = Relu (h) [b] j = Conv (i, v) y = Relu (j)", weights)
    stored: dict[str, np.ndarray] = {"s": np.array(0.02, np.float32), "z": np.array(-128, np.int8)}
    for name, weight in weights.items():
        scale = np.abs(weight).max() / np.float32(127)
        stored |= {f"{name}s": scale, f"{name}q": np.rint(weight / scale).astype(np.int8)}
    stored["wz"] = np.array(0, np.int8)
    right = read(
        "q = QuantizeLinear (x, s, z) [a] h = QLinearConv (q, s, z, wq, ws, wz, s, z)"
        " [b] j = QLinearConv (h, s, z, vq, vs, wz, s, z) y = DequantizeLinear (j, s, z)",
        stored,
    )
    found = diff(left, right)
    entries = {entry.operators: entry.count for entry in found.entries if entry.topic == "operator"}
    assert entries == {("Conv + Relu", "QLinearConv"): 2}
    assert "Conv + Relu became QLinearConv in 2 places" in write_verdict(found)


def test_a_layer_removed_and_another_inserted_do_not_shift_those_between() -> None:
    """As many layers are before and behind then, but what is around tells more."""
    models = []
    for prefix, kinds in (
        ("b", ["Relu", "Tanh", "Sigmoid", "Relu", "Relu", "Erf"]),
        ("r", ["Tanh", "Sigmoid", "Relu", "Relu", "Softplus", "Erf"]),
    ):
        lines, arrays, taken = [], {}, "x"
        for place, kind in enumerate(kinds):
            arrays[f"{prefix}{place}"] = draw(6, 6)
            last = "y" if place == len(kinds) - 1 else f"x{place}"
            lines.append(f"[{prefix}{place}m] h{place} = MatMul ({taken}, {prefix}{place})")
            lines.append(f"[{prefix}{place}a] {last} = {kind} (h{place})")
            taken = last
        models.append(read(" ".join(lines), arrays))
    found = {(p.left[0].name, p.right[0].name) for p in match_models(*models).pairs}
    assert {(f"b{n + 1}{part}", f"r{n}{part}") for n in range(4) for part in "ma"} <= found
