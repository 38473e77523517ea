"""A sentence names the ideas that a network has in most of its blocks."""

from __future__ import annotations

import numpy as np
import pytest

from netloupe.explorer.architecture.left_out import add_left_out
from netloupe.explorer.architecture.outline import Outline
from netloupe.explorer.architecture.sketch import Sketch

from .networks import Network


def _squeeze(network: Network, x: str) -> str:
    pooled = network.add("GlobalAveragePool", x)
    inner = network.add("Relu", network.conv(pooled, 16, 4, 1))
    share = network.add("Sigmoid", network.conv(inner, 4, 16, 1))
    return network.add("Mul", x, share)


def _tell(squeezed: int, blocks: int = 6, *, beside: bool = False) -> str:
    """Return the sentence of residual blocks, the first of which squeeze and excite."""
    network = Network()
    x = network.add("Relu", network.conv(network.take("image", (1, 3, 32, 32)), 3, 16))
    for number in range(blocks):
        y = network.conv(network.add("Relu", network.conv(x, 16, 16)), 16, 16)
        y = _squeeze(network, y) if number < squeezed else y
        x = network.add("Relu", network.add("Add", x, y))
    if beside:
        x = _squeeze(network, network.add("Relu", network.conv(x, 16, 16)))
    flat = network.add("Flatten", network.add("GlobalAveragePool", x))
    return network.finish(network.linear(flat, 16, 10)).architecture.sentence


@pytest.mark.parametrize(
    ("squeezed", "said"),
    [
        (6, "squeeze-and-excitation in all 6 residual blocks"),
        (4, "squeeze-and-excitation in 4 of 6 residual blocks"),
    ],
)
def test_what_most_blocks_have_is_told(squeezed: int, said: str) -> None:
    sentence = _tell(squeezed)
    assert f"{said}, " in sentence
    assert sentence.index(said) < sentence.index("10 outputs")


def test_what_weighs_channels_is_told_of_somewhat_fewer_blocks_than_half() -> None:
    assert "squeeze-and-excitation in 3 of 7 residual blocks" in _tell(3, 7)


@pytest.mark.parametrize("squeezed", [0, 1, 2])
def test_what_few_blocks_have_is_no_idea_of_the_network(squeezed: int) -> None:
    assert "squeeze" not in _tell(squeezed)


def test_what_is_beside_blocks_too_is_only_counted() -> None:
    sentence = _tell(6, beside=True)
    assert "in all" not in sentence
    assert sentence.lower().count("squeeze-and-excitation") == 1


@pytest.mark.parametrize("deviates", [True, False])
def test_statistics_between_layers_are_told(deviates: bool) -> None:
    """D. Snyder and others, X-vectors, 2018, section 2.1."""
    network = Network()
    x = network.take("frames", (1, 40, 24))
    x = network.add("Relu", network.linear(x, 24, 16))
    axes = network.numbers(1)
    mean = network.add("ReduceMean", x, axes, keepdims=1)
    apart = network.add("Sub", x, mean)
    square = network.add("Mul", apart, apart)
    spread = network.add("Sqrt", network.add("ReduceMean", square, axes, keepdims=1))
    flat = network.add("Concat", mean, spread if deviates else mean, axis=2)
    sentence = network.finish(network.linear(flat, 32, 10)).architecture.sentence
    assert ("mean and deviation" in sentence) == deviates


@pytest.mark.parametrize("turned", [True, False])
def test_couplings_are_told_however_large_their_networks_are(turned: bool) -> None:
    """L. Dinh and others, Density Estimation Using Real NVP, 2017, equations 8 and 9."""
    network = Network()
    x = network.take("image", (1, 4, 8, 8))
    for number in range(4):
        mask = np.indices((8, 8)).sum(0) % 2 == number % 2
        kept = network.add("Mul", x, network.store(mask.astype(np.float32)))
        rest = network.store((~mask).astype(np.float32))
        y = network.add("Relu", network.conv(kept, 4, 16))
        for _ in range(2):
            inner = network.conv(network.add("Relu", network.conv(y, 16, 16)), 16, 16)
            y = network.add("Relu", network.add("Add", y, inner))
        made = network.conv(y, 16, 8)
        scale, shift = (
            network.add("Slice", made, *map(network.numbers, (start, start + 4, 1)))
            for start in (0, 4)
        )
        bound = network.add("Mul", network.add("Tanh", scale), rest)
        factor = network.add("Exp", bound) if turned else network.add("Sigmoid", bound)
        moved = network.add("Add", x, network.add("Mul", shift, rest))
        x = network.add("Mul", moved, factor)
    sentence = network.finish(x).architecture.sentence
    assert sentence.startswith("Normalizing flow: 4 affine couplings (2 residual blocks each)") == (
        turned
    )


@pytest.mark.parametrize(
    ("clause", "said"),
    [
        ("7 residual blocks of 16 channels", "in 4 of 7 residual blocks"),
        ("stages of 3, 2, 2 residual blocks", "in 4 of 7 residual blocks"),
        ("encoder (8 residual blocks)", "in 4 of 8 residual blocks"),
        ("5 residual blocks, 2 residual blocks", "in 4 of 7 residual blocks"),
        ("residual blocks, 7 residual blocks", "in 4 of 6 residual blocks"),
        ("blocks", "in 4 of 6 residual blocks"),
    ],
)
def test_an_idea_is_in_as_many_blocks_as_are_counted(clause: str, said: str) -> None:
    """The first block of a stage has no shortcut, but its name where classes are told."""
    network = Network()
    x = network.add("Relu", network.conv(network.take("image", (1, 3, 32, 32)), 3, 16))
    for number in range(6):
        y = network.conv(network.add("Relu", network.conv(x, 16, 16)), 16, 16)
        y = _squeeze(network, y) if number < 4 else y
        x = network.add("Relu", network.add("Add", x, y))
    model = network.finish(x)
    told = add_left_out(Outline(model.graph, model.graph.nodes), Sketch("", "Network", (clause,)))
    assert said in told.text
