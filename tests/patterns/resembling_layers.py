"""Layers, activations and norms, each beside what resembles it."""

from __future__ import annotations

import numpy as np

from tests.architecture.networks import Network

from .resembling import Resembling

LAYERS = Resembling()
_TOKENS, _IMAGE = (1, 6, 8), (1, 8, 16, 16)


def _make_random(*dims: int) -> np.ndarray:
    return np.random.default_rng(3).normal(size=dims).astype(np.float32)


@LAYERS.add("linear")
def a_product_with_coordinates(net: Network, is_one: bool) -> str:
    table = _make_random(3, 64)
    if not is_one:
        table[2] = 1
    return net.add("Cos", net.add("MatMul", net.take("x", (1, 3, 3)), net.store(table)))


@LAYERS.add("linear")
def a_product_with_an_adjacency(net: Network, is_one: bool) -> str:
    table = _make_random(12, 12)
    if not is_one:
        table = np.abs(table) / np.abs(table).sum(axis=1, keepdims=True)
    return net.add("Cos", net.add("MatMul", net.store(table), net.take("x", (12, 8))))


@LAYERS.add("linear")
def a_product_with_neighbours(net: Network, is_one: bool) -> str:
    table = _make_random(12, 12)
    if not is_one:
        table = np.eye(12, dtype=np.float32) + np.eye(12, k=1, dtype=np.float32)
    return net.add("Cos", net.add("MatMul", net.take("x", (4, 12)), net.store(table)))


@LAYERS.add("linear")
def a_product_with_shares_of_stored_vectors(net: Network, is_one: bool) -> str:
    square = net.add("MatMul", net.store(_make_random(12, 3)), net.store(_make_random(3, 12)))
    square = net.store(_make_random(12, 12)) if is_one else net.add("Softmax", square)
    return net.add("Cos", net.add("MatMul", net.take("x", (4, 12)), square))


@LAYERS.add("MLP")
def layers_without_an_activation(net: Network, is_one: bool) -> str:
    x = net.linear(net.take("x", _TOKENS), 8, 32)
    x = net.linear(net.add("Relu", x) if is_one else x, 32, 8)
    return net.add("Cos", x)


@LAYERS.add("MLP")
def layers_of_which_two_take_what_one_gives(net: Network, is_one: bool) -> str:
    x = net.add("Relu", net.linear(net.take("x", _TOKENS), 8, 32))
    y = net.linear(x, 32, 8)
    return net.add("Cos", y if is_one else net.add("Sub", net.linear(x, 32, 8), y))


@LAYERS.add("SwiGLU")
def halves_of_which_none_is_activated(net: Network, is_one: bool) -> str:
    x = net.take("x", _TOKENS)
    gate, hidden = net.linear(x, 8, 32), net.linear(x, 8, 32)
    if is_one:
        gate = net.add("Mul", gate, net.add("Sigmoid", gate))
    return net.linear(net.add("Mul", gate, hidden), 32, 8)


@LAYERS.add("SwiGLU")
def a_gate_of_something_else(net: Network, is_one: bool) -> str:
    x = net.take("x", _TOKENS)
    gate, hidden = net.linear(x if is_one else net.take("y", _TOKENS), 8, 32), net.linear(x, 8, 32)
    gate = net.add("Mul", gate, net.add("Sigmoid", gate))
    return net.linear(net.add("Mul", gate, hidden), 32, 8)


@LAYERS.add("GEGLU")
def a_gate_by_tanh(net: Network, is_one: bool) -> str:
    x = net.take("x", _TOKENS)
    gate, hidden = net.linear(x, 8, 32), net.linear(x, 8, 32)
    gate = net.add("Gelu" if is_one else "Tanh", gate)
    return net.linear(net.add("Mul", gate, hidden), 32, 8)


@LAYERS.add("8 → 32 → 8, ReLU")
def a_relu_that_is_squared(net: Network, is_one: bool) -> str:
    x = net.add("Relu", net.linear(net.take("x", _TOKENS), 8, 32))
    return net.linear(x if is_one else net.add("Mul", x, x), 32, 8)


@LAYERS.add("squared ReLU")
def a_relu_that_is_cubed(net: Network, is_one: bool) -> str:
    x = net.add("Relu", net.linear(net.take("x", _TOKENS), 8, 32))
    power = net.add("Pow", x, net.store(np.float32(2 if is_one else 3)))
    return net.linear(power, 32, 8)


@LAYERS.add("StarReLU")
def a_squared_relu_that_is_not_shifted(net: Network, is_one: bool) -> str:
    x = net.add("Relu", net.linear(net.take("x", _TOKENS), 8, 32))
    x = net.add("Mul", net.add("Mul", x, x), net.store(np.float32(0.9)))
    return net.linear(net.add("Add", x, net.store(np.float32(-0.4))) if is_one else x, 32, 8)


@LAYERS.add("SiLU")
def a_product_with_the_sigmoid_of_something_else(net: Network, is_one: bool) -> str:
    x = net.linear(net.take("x", _TOKENS), 8, 32)
    gate = x if is_one else net.linear(net.take("y", _TOKENS), 8, 32)
    return net.linear(net.add("Mul", x, net.add("Sigmoid", gate)), 32, 8)


@LAYERS.add("Mish")
def a_product_with_the_tanh_of_something_else(net: Network, is_one: bool) -> str:
    x = net.linear(net.take("x", _TOKENS), 8, 32)
    y = x if is_one else net.add("Cos", x)
    return net.linear(net.add("Mul", x, net.add("Tanh", net.add("Softplus", y))), 32, 8)


def _divide(net: Network, x: str, square: str) -> str:
    mean = net.add("ReduceMean", square, net.numbers(-1))
    root = net.add("Sqrt", net.add("Add", mean, net.store(np.float32(1e-5))))
    return net.add("Mul", net.add("Div", x, root), net.weight(8))


@LAYERS.add("LayerNorm")
def a_norm_without_a_mean(net: Network, is_one: bool) -> str:
    x = net.take("x", _TOKENS)
    if is_one:
        x = net.add("Sub", x, net.add("ReduceMean", x, net.numbers(-1)))
    x = _divide(net, x, net.add("Mul", x, x))
    return net.linear(net.add("Add", x, net.weight(8)), 8, 8)


@LAYERS.add("RMSNorm")
def a_division_by_the_length_of_something_else(net: Network, is_one: bool) -> str:
    x = net.take("x", _TOKENS)
    y = x if is_one else net.linear(x, 8, 8)
    return net.linear(_divide(net, x, net.add("Mul", y, y)), 8, 8)


@LAYERS.add("L2 norm")
def a_division_by_the_sum_of_lengths(net: Network, is_one: bool) -> str:
    x = net.linear(net.take("x", _TOKENS), 8, 8)
    kind = "ReduceL2" if is_one else "ReduceL1"
    return net.linear(net.add("Div", x, net.add(kind, x, net.numbers(-1))), 8, 8)


@LAYERS.add("GLU")
def halves_of_different_values(net: Network, is_one: bool) -> str:
    x = net.linear(net.take("x", _TOKENS), 8, 16)
    half = net.add("Slice", x, *map(net.numbers, (0, 8, -1)))
    other = net.add("Slice", x, *map(net.numbers, (8, 16, -1)))
    gate = net.add("Sigmoid" if is_one else "Softplus", other)
    return net.linear(net.add("Mul", half, gate), 8, 8)


@LAYERS.add("cosine similarity")
def products_of_features_of_any_length(net: Network, is_one: bool) -> str:
    rows = [net.linear(net.take(name, (6, 8)), 8, 8) for name in "xy"]
    if is_one:
        rows = [net.add("Div", x, net.add("ReduceL2", x, net.numbers(-1))) for x in rows]
    return net.add("MatMul", rows[0], net.add("Transpose", rows[1], perm=[1, 0]))


@LAYERS.add("embedding")
def rows_that_are_picked_of_what_is_computed(net: Network, is_one: bool) -> str:
    ids = net.take("ids", (1, 6), 7)
    table = net.weight(40, 8)
    if not is_one:
        table = net.add("Cos", net.linear(net.take("table", (40, 8)), 8, 8))
    return net.linear(net.add("Gather", table, ids), 8, 8)


@LAYERS.add("2 × (4 → 16)")
def a_product_of_groups_of_features(net: Network, is_one: bool) -> str:
    x = net.add("Reshape", net.take("x", _TOKENS), net.numbers(6, 2, 1, 4))
    x = net.add("MatMul", x, net.weight(*((2, 4, 16) if is_one else (4, 16))))
    return net.add("Cos", x)
