"""Blocks of convolutions and attention, each beside what resembles it."""

from __future__ import annotations

import numpy as np

from tests.architecture.networks import Network

from .resembling import Resembling

BLOCKS = Resembling()
_TOKENS, _IMAGE = (1, 6, 8), (1, 8, 16, 16)


def _norm(net: Network, x: str, width: int) -> str:
    values = (net.weight(width) for _ in range(4))
    return net.add("BatchNormalization", x, *values)


def _stem(net: Network) -> str:
    return net.add("Relu", net.conv(net.take("x", (1, 3, 16, 16)), 3, 8))


@BLOCKS.add("residual block")
def convolutions_that_multiply_what_they_take(net: Network, is_one: bool) -> str:
    x = _stem(net)
    y = net.conv(net.add("Relu", net.conv(x, 8, 8)), 8, 8)
    return net.conv(net.add("Relu", net.add("Add" if is_one else "Mul", x, y)), 8, 4)


@BLOCKS.add("residual block")
def convolutions_of_another_map(net: Network, is_one: bool) -> str:
    x = _stem(net)
    other = x if is_one else net.take("map", _IMAGE)
    y = net.conv(net.add("Relu", net.conv(other, 8, 8)), 8, 8)
    return net.conv(net.add("Relu", net.add("Add", x, y)), 8, 4)


@BLOCKS.add("residual block")
def convolutions_that_another_map_modulates(net: Network, is_one: bool) -> str:
    x = _stem(net)
    other = net.take("map", _IMAGE)
    y = net.add("Relu", net.conv(x, 8, 8))
    if not is_one:
        deep = net.add("Relu", net.conv(other, 8, 16))
        y = net.add("Mul", y, net.conv(deep, 16, 8))
        y = net.add("Add", y, net.conv(deep, 16, 8))
    return net.conv(net.add("Relu", net.add("Add", x, net.conv(y, 8, 8))), 8, 4)


@BLOCKS.add("bottleneck block")
def a_bottleneck_that_is_wider_inside(net: Network, is_one: bool) -> str:
    x, inner = net.conv(_stem(net), 8, 16), 4 if is_one else 64
    y = net.add("Relu", net.conv(x, 16, inner, 1))
    y = net.conv(net.add("Relu", net.conv(y, inner, inner)), inner, 16, 1)
    return net.conv(net.add("Relu", net.add("Add", x, y)), 16, 4)


@BLOCKS.add("inverted residual")
def an_inverted_residual_that_ends_in_an_activation(net: Network, is_one: bool) -> str:
    x = net.conv(_stem(net), 8, 8)
    y = net.add("Relu", net.conv(x, 8, 32, 1))
    y = net.conv(net.add("Relu", net.conv(y, 32, 32, group=32)), 32, 8, 1)
    x = net.add("Add", x, y)
    return net.conv(x if is_one else net.add("Relu", x), 8, 4)


@BLOCKS.add("inverted residual")
def a_wide_block_of_whole_convolutions(net: Network, is_one: bool) -> str:
    x = net.conv(_stem(net), 8, 8)
    y = net.add("Relu", net.conv(x, 8, 32, 1))
    y = net.conv(net.add("Relu", net.conv(y, 32, 32, group=32 if is_one else 1)), 32, 8, 1)
    return net.conv(net.add("Add", x, y), 8, 4)


@BLOCKS.add("depthwise-separable")
def a_convolution_of_groups(net: Network, is_one: bool) -> str:
    x = net.add("Relu", net.conv(_stem(net), 8, 8, group=8 if is_one else 2))
    return net.conv(net.add("Relu", net.conv(x, 8, 16, 1)), 16, 4)


@BLOCKS.add("squeeze-and-excitation")
def weights_of_channels_that_another_map_gives(net: Network, is_one: bool) -> str:
    x = _stem(net)
    y = x if is_one else net.take("map", _IMAGE)
    y = net.add("Relu", net.conv(net.add("GlobalAveragePool", y), 8, 2, 1))
    y = net.add("Sigmoid", net.conv(y, 2, 8, 1))
    return net.conv(net.add("Mul", x, y), 8, 4)


@BLOCKS.add("squeeze-and-excitation")
def weights_of_places(net: Network, is_one: bool) -> str:
    x = _stem(net)
    y = net.add("GlobalAveragePool", x) if is_one else x
    y = net.add("Sigmoid", net.conv(net.add("Relu", net.conv(y, 8, 2, 1)), 2, 8, 1))
    return net.conv(net.add("Mul", x, y), 8, 4)


@BLOCKS.add("squeeze-and-excitation")
def means_in_space_and_time(net: Network, is_one: bool) -> str:
    x = net.take("x", (1, 8, 4, 8, 8))
    y = net.add("ReduceMean", x, net.numbers(*((-1, -2, -3) if is_one else (-1, -2, -4))))

    def conv(value: str, taken: int, given: int) -> str:
        return net.add("Conv", value, net.weight(given, taken, 1, 1, 1))

    y = net.add("Sigmoid", conv(net.add("Relu", conv(y, 8, 2)), 2, 8))
    return conv(net.add("Mul", x, y), 8, 4)


@BLOCKS.add("atrous pyramid")
def branches_of_one_rate(net: Network, is_one: bool) -> str:
    x = _stem(net)
    rates = (1, 2, 4) if is_one else (2, 2, 2)
    branches = []
    for rate in rates:
        kernel = net.weight(8, 8, 3, 3)
        names = {"dilations": [rate] * 2, "pads": [rate] * 4, "kernel_shape": [3, 3]}
        branches.append(net.add("Relu", net.add("Conv", x, kernel, **names)))
    return net.conv(net.add("Relu", net.conv(net.add("Concat", *branches, axis=1), 24, 8, 1)), 8, 4)


@BLOCKS.add("attention")
def shares_that_one_projection_gives(net: Network, is_one: bool) -> str:
    x = net.norm(net.take("x", _TOKENS), 8)
    if is_one:
        return net.linear(net.attend(x, x), 8, 8)
    shares = net.add("Softmax", net.linear(x, 8, 16), axis=-1)
    return net.linear(net.linear(shares, 16, 8), 8, 8)


@BLOCKS.add("attention")
def shares_of_stored_vectors(net: Network, is_one: bool) -> str:
    x = net.linear(net.take("x", (1, 12, 8)), 8, 8)
    if is_one:
        return net.linear(net.attend(x, x), 8, 8)
    table = np.random.default_rng(1).normal(size=(12, 12)).astype(np.float32)
    shares = net.add("Softmax", net.add("Relu", net.store(table)), axis=-1)
    return net.linear(net.add("MatMul", shares, x), 8, 8)


@BLOCKS.add("cross-attention")
def attention_of_one_value(net: Network, is_one: bool) -> str:
    x = net.norm(net.take("x", _TOKENS), 8)
    return net.linear(net.attend(x, net.take("y", _TOKENS) if is_one else x), 8, 8)


@BLOCKS.add("self-attention")
def attention_to_another_value(net: Network, is_one: bool) -> str:
    x = net.norm(net.take("x", _TOKENS), 8)
    return net.linear(net.attend(x, x if is_one else net.take("y", _TOKENS)), 8, 8)


@BLOCKS.add("causal")
def a_mask_of_what_is_earlier(net: Network, is_one: bool) -> str:
    x = net.norm(net.take("x", _TOKENS), 8)
    mask = np.triu(np.full((6, 6), -1e9, np.float32), 1)
    mask = net.store(mask if is_one else mask.T)
    return net.linear(net.attend(x, x, mask=mask), 8, 8)


@BLOCKS.add("causal")
def a_mask_that_hides_nothing(net: Network, is_one: bool) -> str:
    x = net.norm(net.take("x", _TOKENS), 8)
    mask = np.triu(np.full((6, 6), -1e9 if is_one else 0, np.float32), 1)
    return net.linear(net.attend(x, x, mask=net.store(mask)), 8, 8)


@BLOCKS.add("transformer block")
def attention_and_an_mlp_without_sums(net: Network, is_one: bool) -> str:
    x = net.take("x", _TOKENS)
    for _ in range(4):
        if is_one:
            x = net.block(x)
        else:
            normed = net.norm(x, 8)
            x = net.add("Cos", net.add("Mul", x, net.attend(normed, normed)))
            x = net.add("Mul", x, net.linear(x, 8, 8))
    return net.conv(net.add("Unsqueeze", x, net.numbers(0)), 1, 3)


@BLOCKS.add("mixture of experts")
def the_largest_of_some_scores(net: Network, is_one: bool) -> str:
    x = net.linear(net.take("x", (6, 8)), 8, 8)
    shares = net.add("Softmax", net.linear(x, 8, 4), axis=-1)
    net.add("TopK", shares, net.numbers(2))
    if not is_one:
        values = net.nodes[-1].output[0]
        return net.linear(net.add("Concat", x, values, axis=1), 10, 8)
    given = []
    for number in range(4):
        share = net.add("Slice", shares, *map(net.numbers, (number, number + 1, -1)))
        given.append(net.add("Mul", net.feed(x), share))
    return net.linear(net.add("Sum", *given), 8, 8)


@BLOCKS.add("LSTM")
def gates_of_a_gru(net: Network, is_one: bool) -> str:
    x = net.take("x", (6, 1, 8))
    count = 4 if is_one else 3
    operands = net.weight(1, 8 * count, 8), net.weight(1, 8 * count, 8)
    return net.linear(net.add("LSTM" if is_one else "GRU", x, *operands, hidden_size=8), 8, 4)


@BLOCKS.add("message passing")
def features_that_are_gathered_and_kept(net: Network, is_one: bool) -> str:
    nodes, ends = net.take("nodes", (12, 8)), net.take("ends", (30,), 7)
    x = net.linear(net.add("Gather", net.linear(nodes, 8, 8), ends), 8, 8)
    if is_one:
        index = net.take("to", (30, 8), 7)
        zeros = net.store(np.zeros((12, 8), np.float32))
        x = net.add("ScatterElements", zeros, index, x, axis=0, reduction="add")
    return net.linear(x, 8, 4)


@BLOCKS.add("graph convolution")
def a_matrix_that_is_fed_and_is_no_square(net: Network, is_one: bool) -> str:
    joined = net.take("joined", (12, 12) if is_one else (5, 12))
    x = net.linear(net.take("x", (12, 8)), 8, 8)
    return net.linear(net.add("Relu", net.add("MatMul", joined, x)), 8, 4)
