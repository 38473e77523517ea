"""Where no family is sure the sentence is composed from the blocks of a graph."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

import numpy as np
import pytest
from onnx import TensorProto, helper

from netloupe.explorer.architecture import Architecture
from tests.architecture.networks import Network


def mixer(blocks: int = 3) -> Architecture:
    """Return what is said of MLPs over tokens and over features in turn."""
    net = Network()
    patches = net.conv(net.take("image", (1, 3, 32, 32)), 3, 8, 8, strides=[8, 8])
    net.nodes[-1].ClearField("attribute")
    net.nodes[-1].attribute.extend(
        [helper.make_attribute("kernel_shape", [8, 8]), helper.make_attribute("strides", [8, 8])]
    )
    x = net.add("Reshape", patches, net.numbers(1, 8, 16))
    x = net.add("Transpose", x, perm=[0, 2, 1])
    for _ in range(blocks):
        turned = net.add("Transpose", net.norm(x, 8), perm=[0, 2, 1])
        mixed = net.add("Transpose", net.feed(turned, 16, 24), perm=[0, 2, 1])
        x = net.add("Add", x, mixed)
        x = net.add("Add", x, net.feed(net.norm(x, 8), 8, 40))
    pooled = net.add("ReduceMean", x, net.numbers(1), keepdims=0)
    return net.finish(net.linear(pooled, 8, 10), shape=(1, 10)).architecture


def test_blocks_of_several_things_are_told_with_all_of_them() -> None:
    told = mixer()
    assert told.sentence == (
        "Feed-forward network: patches of 8 × 8, 3 blocks of MLP over tokens (16 → 24, GELU) and "
        "MLP (8 → 40, GELU), LayerNorm, 10 outputs."
    )
    assert [block.count for block in told.blocks] == [3]
    assert (told.facts["patch"], told.facts["outputs"]) == (8, 10)
    assert told.family == ""


def generator() -> Architecture:
    net = Network()
    x = net.take("noise", (1, 16, 1, 1))
    widths = (16, 32, 16, 8, 3)
    for taken, given in pairwise(widths):
        kernel = net.weight(taken, given, 4, 4)
        x = net.add("ConvTranspose", x, kernel, kernel_shape=[4, 4], strides=[2, 2])
        x = net.add("Tanh" if given == 3 else "Relu", x)
    return net.finish(x).architecture


def test_widths_of_a_chain_are_told_in_order() -> None:
    assert generator().sentence == (
        "Convolutional network: 4 transposed 4×4 convolutions 16 → 32 → 16 → 8 → 3 channels, "
        "3 channels out."
    )


def wavenet(dilations: tuple[int, ...]) -> Architecture:
    """Return what is said of gated convolutions with two ways out, of which the last has one."""
    net = Network()
    x = net.add("Conv", net.take("wave", (1, 4, 32)), net.weight(8, 4, 1), kernel_shape=[1])
    total = ""
    for number, dilation in enumerate(dilations):
        both = []
        for squash in ("Tanh", "Sigmoid"):
            form = {"kernel_shape": [2], "dilations": [dilation], "pads": [dilation, 0]}
            both.append(net.add(squash, net.add("Conv", x, net.weight(8, 8, 2), **form)))
        gated = net.add("Mul", *both)
        if number < len(dilations) - 1:
            kept = net.add("Conv", gated, net.weight(8, 8, 1), kernel_shape=[1])
            x = net.add("Add", x, kept)
        skip = net.add("Conv", gated, net.weight(16, 8, 1), kernel_shape=[1])
        total = net.add("Add", total, skip) if total else skip
    x = net.add("Conv", net.add("Relu", total), net.weight(16, 16, 1), kernel_shape=[1])
    x = net.add("Conv", net.add("Relu", x), net.weight(4, 16, 1), kernel_shape=[1])
    return net.finish(x).architecture


def test_a_last_block_may_lack_what_nothing_takes() -> None:
    assert wavenet((1, 2, 4, 8, 1, 2, 4, 8)).sentence == (
        "Convolutional network: pointwise convolution 4 → 8 channels, 8 blocks of gated "
        "convolution of 8 channels (kernel 2, dilation 1 … 8) and 2 pointwise convolutions "
        "(the last lacks 1 of these), 2 pointwise convolutions 16 → 4 channels, 4 outputs."
    )


def decoder(steps: int, is_shared: bool) -> Architecture:
    """Return what is said of linear layers and a product, said several times."""
    net = Network()
    x = net.take("x", (1, 8))
    weights = [net.weight(8, 8) for _ in range(2)]
    for _ in range(steps):
        used = weights if is_shared else [net.weight(8, 8) for _ in range(2)]
        left, right = (net.add("MatMul", x, weight) for weight in used)
        x = net.add("Mul", net.add("Sin", left), right)
    return net.finish(x).architecture


def test_what_shares_weights_is_told_once() -> None:
    assert decoder(5, is_shared=True).sentence == (
        "Feed-forward network: 5 times with shared weights (2 linear layers of 8)."
    )
    assert decoder(5, is_shared=False).sentence == "Feed-forward network: 10 linear layers of 8."


def tables(shape: tuple[int | str, ...]) -> Architecture:
    net = Network()
    x = net.take("x", (1, 12, 8))
    net.take("numbers", shape, TensorProto.INT64)
    y = net.add("Add", x, net.add("Gather", net.weight(40, 8), "numbers"))
    for _ in range(2):
        y = net.block(y)
    return net.finish(net.linear(y, 8, 5)).architecture


def test_a_table_of_steps_is_no_vocabulary() -> None:
    assert "vocabulary" not in tables(("batch",)).sentence
    assert "embedding of 40 × 8" in tables(("batch",)).sentence
    assert tables(("batch", "sequence")).facts["vocabulary"] == 40


def fourier(net: Network, x: str) -> str:
    wave = net.add("Unsqueeze", x, net.numbers(-1))
    for axis in (2, 1):
        wave = net.add("DFT", wave, "", net.store(np.int64(axis)))
    real = net.add("Gather", wave, net.store(np.int64(0)), axis=-1)
    return net.add("Add", x, real)


def test_fourier_mixing_is_named() -> None:
    net = Network()
    x = net.embed()
    for _ in range(4):
        x = net.norm(fourier(net, x), 8)
        x = net.norm(net.add("Add", x, net.feed(x)), 8)
    told = net.finish(net.linear(x, 8, 100)).architecture
    assert told.sentence == (
        "Network of Fourier transforms: vocabulary 100, 4 blocks of Fourier mixing and MLP "
        "(8 → 32, GELU), LayerNorm, output over the vocabulary."
    )


def autoencoder(noise: Callable[[Network], str], width: int = 4) -> Architecture:
    net = Network()
    hidden = net.add("Relu", net.linear(net.take("x", (1, 32)), 32, 16))
    mean, spread = net.linear(hidden, 16, width), net.linear(hidden, 16, 4)
    scale = net.add("Exp", net.add("Mul", spread, net.store(np.float32(0.5))))
    drawn = net.add("Add", mean, net.add("Mul", noise(net), scale))
    return net.finish(net.linear(drawn, 4, 32)).architecture


def test_reparametrisation_takes_noise() -> None:
    given = autoencoder(lambda net: net.take("noise", (1, 4))).sentence
    drawn = autoencoder(lambda net: net.add("RandomNormal", shape=[1, 4])).sentence
    learned = autoencoder(lambda net: net.linear("x", 32, 4)).sentence
    assert "reparametrisation of 4 features" in given
    assert "reparametrisation of 4 features" in drawn
    assert "reparametrisation" not in learned


def encoded(frequencies: int, is_same: bool = True) -> Architecture:
    net = Network()
    places = [net.take("places", (8, 3)), net.take("others", (8, 3))]
    waves = []
    for number in range(frequencies):
        taken = places[0 if is_same else number % 2]
        scaled = net.add("Mul", taken, net.store(np.float32(2**number)))
        waves += [net.add("Sin", scaled), net.add("Cos", scaled)]
    x = net.add("Concat", *waves, axis=-1)
    return net.finish(net.feed(x, 6 * frequencies, 16)).architecture


def test_sines_of_several_multiples_of_a_value_are_a_positional_encoding() -> None:
    assert "positional encoding of 4 frequencies" in encoded(4).sentence
    assert "positional encoding" not in encoded(2).sentence
    assert "positional encoding" not in encoded(4, is_same=False).sentence


@pytest.mark.parametrize("count", [2, 6])
def test_tables_of_features_are_counted(count: int) -> None:
    net = Network()
    ids = net.take("ids", (4, count), TensorProto.INT64)
    columns = [net.add("Gather", ids, net.store(np.int64(n)), axis=1) for n in range(count)]
    rows = [net.add("Gather", net.weight(50, 8), column) for column in columns]
    deep = net.feed(net.add("Concat", *rows, axis=1), 8 * count, 16)
    told = net.finish(deep).architecture
    assert told.sentence.startswith(f"Feed-forward network: {count} embeddings of 50 × 8, MLP (")
