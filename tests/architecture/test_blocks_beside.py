"""What stands beside blocks, or is in them, and neither hides nor doubles their number."""

from __future__ import annotations

import numpy as np

from netloupe.explorer.architecture.claims import read_counts
from tests.architecture.networks import Network
from tests.architecture.test_agreed_counts import Authored

_GATED = "residual block with gated depthwise MLP"


def test_sizes_stand_between_a_block_and_what_it_has_in_it() -> None:
    kinds = ["residual block", _GATED, "MLP"]
    text = "4 blocks with 2 residual blocks of 48 channels with gated depthwise MLP"
    assert [*read_counts(text, kinds)] == [(_GATED, 8)]
    text = "residual block 8 → 16 channels with gated depthwise MLP and 3 MLPs"
    assert [*read_counts(text, kinds)] == [(_GATED, 1), ("MLP", 3)]


def test_a_projection_beside_the_list_makes_no_further_block() -> None:
    net = Authored()
    x, width = net.conv(net.take("x", (1, 3, 32, 32)), 3, 8), 8
    for number in range(2):
        start = len(net.nodes)
        y = net.add("Relu", net.call("one", x, "conv", width, 16))
        y = net.add("Relu", net.call("two", y, "conv", 16, 16))
        net.within(start, f"layers.{number}")
        if not number:
            x = net.call("downsample", x, "conv", 8, 16, 1)
        x, width = net.add("Relu", net.add("Add", y, x)), 16
    net.within(0, "chain")
    told = net.finish(net.conv(x, 16, 3)).architecture.sentence
    assert "2 residual blocks" in told
    assert "3 blocks" not in told


def test_a_small_network_beside_is_no_way_down_of_what_becomes_larger() -> None:
    net = Network()
    image = net.take("image", (1, 3, 64, 64))
    side, taken = image, 3
    for _ in range(3):
        side, taken = net.add("Relu", net.conv(side, taken, 8, strides=[2, 2])), 8
    vector = net.add("GlobalAveragePool", side)
    x = net.conv(image, 3, 8)
    for _ in range(2):
        x = net.add("Mul", net.add("Relu", net.conv(x, 8, 8)), vector)
    for _ in range(2):
        x = net.add("Resize", x, "", net.store(np.array([1, 1, 2, 2], np.float32)))
        x = net.add("Relu", net.conv(x, 8, 8))
    told = net.finish(net.conv(x, 8, 3), shape=(1, 3, 256, 256)).architecture.sentence
    assert "encoder-decoder" not in told
    assert "levels down" not in told
    assert "64 × 64 → 256 × 256" in told


def test_what_is_shuffled_into_places_is_told_by_its_blocks() -> None:
    net = Authored()
    image = net.take("image", (1, 3, 16, 16))
    x = net.conv(image, 3, 8)
    for number in range(5):
        start = len(net.nodes)
        y = net.add("Relu", net.call("mix/one", x, "conv", 8, 16))
        y = net.call("mix/two", y, "conv", 16, 8)
        begin = len(net.nodes)
        y = net.add("Mul", y, net.add("Sigmoid", net.conv(y, 8, 8)))
        net.within(begin, "attn")
        x = net.call("last", y, "conv", 8, 8, 1)
        net.within(start, f"blocks.{number}")
    x = net.add("Add", net.conv(x, 8, 12), net.add("Concat", *[image] * 4, axis=1))
    x = net.add("DepthToSpace", x, blocksize=2)
    told = net.finish(x, shape=(1, 3, 32, 32)).architecture
    assert told.family == "super-resolution CNN"
    assert told.sentence.startswith("Super-resolution CNN: ")
    assert "5 blocks (each convolutions and gate)" in told.sentence
    assert told.sentence.endswith("pixel shuffle ×2.")


def test_blocks_are_not_named_after_a_block_that_each_of_them_holds() -> None:
    net = Authored()
    x = net.conv(net.take("x", (1, 8, 16, 16)), 8, 8)
    for number in range(4):
        start = len(net.nodes)
        y = net.add("PRelu", net.conv(x, 8, 16), net.weight(16, 1, 1))
        y = net.add("PRelu", net.conv(y, 16, 8), net.weight(8, 1, 1))
        y = net.add("Add", x, y)
        y = net.add("Mul", y, net.add("Sigmoid", net.conv(y, 8, 8)))
        net.within(start, "shared_block")
        x = net.call("out", y, "conv", 8, 8, 1)
        net.within(start, f"layers.{number}")
    told = net.finish(net.conv(x, 8, 4, 1)).architecture.sentence
    assert "4 blocks (" in told
    assert "shared" not in told
