"""Whole networks, each beside one that resembles it."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from tests.architecture.networks import Network

from .resembling import Resembling

WHOLES = Resembling()


def _scale(net: Network, x: str, factor: int) -> str:
    scales = net.store(np.array([1, 1, factor, factor], np.float32))
    return net.add("Resize", x, "", scales, mode="nearest")


def _deep(net: Network, x: str, taken: int, given: int, **attributes: object) -> str:
    return net.add("Relu", net.conv(x, taken, given, **attributes))


@WHOLES.add("UNet")
def a_way_up_that_maps_of_the_input_modulate(net: Network, is_one: bool) -> str:
    x = net.take("map", (1, 3, 64, 64))
    if is_one:
        kept, width = [], 3
        for given in (8, 16, 32):
            x = _deep(net, x, width, given)
            kept.append((x, given))
            x, width = net.add("MaxPool", x, kernel_shape=[2, 2], strides=[2, 2]), given
        x = _deep(net, x, 32, 32)
        width = 32
        for beside, given in kept[::-1]:
            x = net.add("Concat", _scale(net, x, 2), beside, axis=1)
            x, width = _deep(net, x, width + given, given), given
        return net.conv(x, 8, 3)
    noise = net.take("noise", (1, 32, 8, 8))
    x = noise
    for level in range(4):
        pooled = net.take(f"map{level}", (1, 3, 8 << level, 8 << level))
        if level < 3:
            size = 8 >> level
            pooled = net.add("MaxPool", "map", kernel_shape=[size, size], strides=[size, size])
        deep = _deep(net, pooled, 3, 16)
        x = net.add("Mul", _deep(net, x, 32, 32), net.conv(deep, 16, 32))
        x = net.add("Add", x, net.conv(deep, 16, 32))
        if level < 3:
            x = _scale(net, x, 2)
    return net.conv(x, 32, 3)


@WHOLES.add("encoder-decoder")
def a_generator_without_an_encoder(net: Network, is_one: bool) -> str:
    x = net.take("x", (1, 3, 64, 64) if is_one else (1, 32, 8, 8))
    widths = (3, 8, 16, 32)
    if is_one:
        for taken, given in pairwise(widths):
            x = _deep(net, x, taken, given, strides=[2, 2])
    for given, taken in zip(widths[-2::-1], widths[::-1], strict=False):
        x = _deep(net, _scale(net, x, 2), taken, given)
    return net.conv(x, 3, 3)


@WHOLES.add("encoder-decoder")
def branches_of_three_resolutions(net: Network, is_one: bool) -> str:
    x = net.take("x", (1, 3, 64, 64))
    if is_one:
        widths = (3, 8, 16, 32)
        for taken, given in pairwise(widths):
            x = _deep(net, x, taken, given, strides=[2, 2])
        for given, taken in zip(widths[-2::-1], widths[::-1], strict=False):
            x = _deep(net, _scale(net, x, 2), taken, given)
        return net.conv(x, 3, 3)
    x = _deep(net, x, 3, 8)
    branches = []
    for factor in (1, 2, 4):
        y = x
        for _ in range(factor.bit_length() - 1):
            y = _deep(net, y, 8, 8, strides=[2, 2])
        y = _deep(net, _deep(net, y, 8, 8), 8, 8)
        branches.append(_scale(net, y, factor) if factor > 1 else y)
    return net.conv(net.add("Sum", *branches), 8, 3)


@WHOLES.add("UNet")
def a_way_down_and_up_without_skips(net: Network, is_one: bool) -> str:
    x, kept, width = net.take("x", (1, 3, 64, 64)), [], 3
    for given in (8, 16, 32):
        x = _deep(net, x, width, given)
        kept.append((x, given))
        x, width = net.add("MaxPool", x, kernel_shape=[2, 2], strides=[2, 2]), given
    x = _deep(net, x, 32, 32)
    for beside, given in kept[::-1]:
        x = _scale(net, x, 2)
        if is_one:
            x, width = net.add("Concat", x, beside, axis=1), width + given
        x, width = _deep(net, x, width, given), given
    return net.conv(x, 8, 3)


@WHOLES.add("decoder-only")
def a_stack_that_sees_what_is_later(net: Network, is_one: bool) -> str:
    x = net.embed()
    mask = net.triangle("ids") if is_one else None
    for _ in range(6):
        x = net.block(x, mask=mask)
    return net.linear(net.norm(x, 8), 8, 100)


@WHOLES.add("encoder-decoder transformer")
def two_stacks_that_do_not_see_one_another(net: Network, is_one: bool) -> str:
    x, y = net.embed("ids"), net.embed("others")
    for _ in range(4):
        x = net.block(x)
    x = net.norm(x, 8)
    for _ in range(4):
        y = net.block(y, context=x if is_one else None)
    if not is_one:
        return net.linear(net.add("Concat", x, y, axis=1), 8, 100)
    return net.linear(net.norm(y, 8), 8, 100)


@WHOLES.add("siamese")
def two_towers_with_weights_of_their_own(net: Network, is_one: bool) -> str:
    given = []
    kernels: list[str] = []
    for name in ("one", "two"):
        x, width = net.take(name, (1, 3, 32, 32)), 3
        for number, out in enumerate((8, 16, 32)):
            if not is_one or name == "one":
                kernels.append(net.weight(out, width, 3, 3))
            kernel = kernels[number if is_one else -1]
            x = net.add("Relu", net.add("Conv", x, kernel, strides=[2, 2], pads=[1] * 4))
            width = out
        given.append(net.add("Flatten", net.add("GlobalAveragePool", x)))
    x = net.add("Abs", net.add("Sub", *given))
    return net.add("Sigmoid", net.linear(x, 32, 1))


@WHOLES.add("densely connected")
def layers_of_which_each_takes_the_last_one_alone(net: Network, is_one: bool) -> str:
    x, width = _deep(net, net.take("x", (1, 3, 32, 32)), 3, 8), 8
    for block in range(2):
        for _ in range(4):
            y = net.conv(_deep(net, x, width, 16, size=1), 16, 4)
            if is_one:
                x, width = net.add("Concat", x, y, axis=1), width + 4
            else:
                x, width = y, 4
        if not block:
            x = net.conv(net.add("Relu", x), width, 8, 1)
            x, width = net.add("AveragePool", x, kernel_shape=[2, 2], strides=[2, 2]), 8
    x = net.add("Flatten", net.add("GlobalAveragePool", x))
    return net.linear(x, width, 10)
