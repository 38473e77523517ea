"""Stages whose blocks are a residual block of convolutions and transformer blocks behind it."""

from __future__ import annotations

import numpy as np
import pytest

from netloupe.explorer.architecture import Architecture

from .networks import Network
from .test_modules import Named


class Mixed(Network):
    """Writes blocks of convolutions and attention over an image, side by side in one stream."""

    side = 64

    def convolve(self, x: str, taken: int, given: int, stride: int) -> str:
        """Write an inverted residual, with a projection where it makes the image smaller."""
        inner = self.add("Relu", self.conv(x, taken, 4 * taken, 1))
        kernel = self.weight(4 * taken, 1, 3, 3)
        how = {"kernel_shape": [3, 3], "pads": [1] * 4, "strides": [stride] * 2}
        inner = self.add("Relu", self.add("Conv", inner, kernel, group=4 * taken, **how))
        inner = self.conv(inner, 4 * taken, given, 1)
        self.side //= stride
        if stride > 1:
            x = self.add("AveragePool", x, kernel_shape=[2, 2], strides=[stride] * 2)
            x = self.conv(x, taken, given, 1)
        return self.add("Add", inner, x)

    def attend_to_places(self, x: str, width: int, layers: int) -> str:
        flat = self.add("Reshape", x, self.numbers(0, width, -1))
        tokens = self.add("Transpose", flat, perm=[0, 2, 1])
        for _ in range(layers):
            normed = self.norm(tokens, width)
            tokens = self.add("Add", tokens, self.attend(normed, normed, width))
            tokens = self.add("Add", tokens, self.feed(self.norm(tokens, width), width, 4 * width))
        back = self.add("Transpose", tokens, perm=[0, 2, 1])
        return self.add("Reshape", back, self.numbers(0, width, self.side, self.side))


def tell(depths: tuple[int, ...], layers: tuple[int, ...]) -> Architecture:
    """Return what is said of stages; ``layers`` are those of each block in turn."""
    net = Mixed()
    x = net.add("Relu", net.conv(net.take("x", (1, 3, 64, 64)), 3, 8))
    width, number = 8, 0
    for depth in depths:
        for place in range(depth):
            given = width if place else 2 * width
            x = net.convolve(x, width, given, 1 if place else 2)
            width = given
            x = net.attend_to_places(x, width, layers[number % len(layers)])
            number += 1
    pooled = net.add("Flatten", net.add("GlobalAveragePool", x))
    return net.finish(net.linear(pooled, width, 10)).architecture


@pytest.mark.parametrize("depths", [(1, 2, 3, 1), (2, 2), (1, 1, 2), (3, 1)])
@pytest.mark.parametrize("layers", [1, 2, 3])
def test_blocks_of_both_kinds_are_counted_together(depths: tuple[int, ...], layers: int) -> None:
    told = tell(depths, (layers,))
    each = "1 transformer block" if layers == 1 else f"{layers} transformer blocks"
    assert told.family == "hierarchical vision transformer"
    assert told.facts["stage_blocks"] == depths
    assert [block.count for block in told.blocks] == [*depths]
    row = ", ".join(map(str, depths))
    assert f"stages of {row} blocks (inverted residual and {each} each; " in told.summary


def test_layers_between_which_are_blocks_of_another_kind_are_no_blocks_of_a_stage() -> None:
    told = tell((1, 2, 1), (1, 2))
    assert told.family == ""
    assert "stages of 1, 3, 2" not in told.summary
    assert "stage_blocks" not in told.facts


def tell_decoded(given: tuple[int, ...]) -> str:
    """Return what is said of stages whose results are decoded to so many features each."""
    net = Mixed()
    x, width, decoded = net.take("x", (1, 3, 64, 64)), 3, []
    ends = []
    for wider in (8, 16, 32):
        kernel = net.weight(wider, width, 2, 2)
        x = net.add("Conv", x, kernel, kernel_shape=[2, 2], strides=[2, 2])
        net.side, width = net.side // 2, wider
        x = net.attend_to_places(x, width, 2)
        ends.append((x, width))
    for (end, taken), count in zip(ends, given, strict=False):
        tokens = net.add("Reshape", end, net.numbers(0, taken, -1))
        tokens = net.add("Transpose", tokens, perm=[0, 2, 1])
        tokens = net.add("Transpose", net.linear(tokens, taken, count), perm=[0, 2, 1])
        places = net.add("Reshape", tokens, net.numbers(0, count, 64 // taken * 4, -1))
        scales = net.store(np.array([1, 1, taken / 8, taken / 8], np.float32))
        decoded.append(net.add("Resize", places, "", scales, mode="linear"))
    joined = net.add("Concat", *decoded, axis=1)
    mixed = net.add("Relu", net.conv(joined, sum(given), 24, 1))
    shape = (1, 5, 32, 32)
    return net.finish(net.conv(mixed, 24, 5, 1), shape=shape).architecture.sentence


def test_a_head_that_takes_what_all_stages_give_is_told() -> None:
    said = "decode head (a linear layer from each stage to 24 features), 5 channels out."
    assert tell_decoded((24, 24, 24)).endswith(said)


@pytest.mark.parametrize("given", [(24, 24, 12), (24, 24)])
def test_a_head_of_other_layers_is_none(given: tuple[int, ...]) -> None:
    assert "decode head" not in tell_decoded(given)


@pytest.mark.parametrize("layers", [(2, 4, 3), (3, 4, 2), (1, 2)])
@pytest.mark.parametrize("is_wider", [False, True])
def test_stages_of_layers_between_pools_are_told_together(
    layers: tuple[int, ...], *, is_wider: bool
) -> None:
    net = Named()
    width, side = 8, 16
    x = net.take("x", (1, side * side, width))
    for stage, count in enumerate(layers):
        start = len(net.nodes)
        for layer in range(count):
            first = len(net.nodes)
            normed = net.norm(x, width)
            x = net.add("Add", x, net.attend(normed, normed, width, width // 4))
            x = net.add("Add", x, net.feed(net.norm(x, width), width, 4 * width))
            net.within(first, f"layers.{layer}")
        net.within(start, f"stages.{2 * stage}")
        if stage == len(layers) - 1:
            break
        start = len(net.nodes)
        given = 2 * width if is_wider else width
        y = net.add("Transpose", x, perm=[0, 2, 1])
        y = net.add("Reshape", y, net.numbers(0, width, side, side))
        how = {"group": width, "strides": [2, 2]}
        y = net.conv(net.conv(y, width, width, 3, **how), width, given, 1)
        side, width = side // 2, given
        y = net.add("Reshape", y, net.numbers(0, width, side * side))
        x = net.add("Transpose", y, perm=[0, 2, 1])
        net.within(start, f"stages.{2 * stage + 1}")
    told = net.finish(x).architecture.sentence
    each = "(pre-norm LayerNorm; self-attention"
    assert f"stages of {', '.join(map(str, layers))} transformer blocks {each}" in told
    assert told.count("transformer block") == 1
    heads = " → ".join(str(2 * 2**stage) for stage in range(len(layers)))
    assert (f", heads {heads}" in told) == is_wider
