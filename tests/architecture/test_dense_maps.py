"""Vision transformers that give a map: what makes the tokens an image again is a decoder."""

from __future__ import annotations

import numpy as np
import pytest

from netloupe.explorer.architecture import Architecture

from .networks import Network


def tell(layers: int, *steps: str, channels: int = 1) -> Architecture:
    """Return what is said of layers over patches, with convolutions and resizes behind them."""
    net = Network()
    kernel = net.weight(8, 3, 4, 4)
    x = net.take("x", (1, 3, 32, 32))
    x = net.add("Conv", x, kernel, kernel_shape=[4, 4], strides=[4, 4])
    x = net.add("Transpose", net.add("Reshape", x, net.numbers(0, 8, -1)), perm=[0, 2, 1])
    for _ in range(layers):
        x = net.block(x)
    x = net.norm(x, 8)
    x = net.add("Reshape", net.add("Transpose", x, perm=[0, 2, 1]), net.numbers(0, 8, 8, 8))
    for step in steps:
        if step == "resize":
            scales = net.store(np.array([1, 1, 2, 2], np.float32))
            x = net.add("Resize", x, "", scales, mode="nearest")
        else:
            x = net.add("Relu", net.conv(x, 8, 8))
    return net.finish(net.conv(x, 8, channels, 1)).architecture


@pytest.mark.parametrize("layers", [2, 5])
@pytest.mark.parametrize("channels", [1, 21])
@pytest.mark.parametrize("steps", [("conv", "resize") * 2, ("conv", "conv", "resize")])
def test_convolutions_that_enlarge_are_a_decoder(
    layers: int, channels: int, steps: tuple[str, ...]
) -> None:
    told = tell(layers, *steps, channels=channels)
    assert told.family == "vision transformer"
    assert told.summary.startswith("Vision transformer with a convolutional decoder: ")
    assert f", {channels} channel{'s' * (channels > 1)} out." in told.summary
    assert told.facts["outputs"] == channels


def test_a_map_that_is_only_resized_has_no_decoder() -> None:
    summary = tell(3, "resize", channels=21).summary
    assert summary.startswith("Vision transformer: ")
    assert ", 21 channels out." in summary


def test_what_is_not_enlarged_is_no_map() -> None:
    assert "channel" not in tell(3, "conv", "conv", channels=21).summary


def test_patches_that_are_put_back_are_as_large_as_the_image() -> None:
    net = Network()
    x = net.conv(net.take("image", (1, 3, 32, 32)), 3, 8, 5, strides=[4, 4])
    x = net.add("Reshape", net.conv(x, 8, 8), net.store(np.array([1, 8, 64])))
    x = net.linear(net.add("Transpose", x, perm=[0, 2, 1]), 8, 48)
    x = net.add("Reshape", x, net.store(np.array([1, 8, 8, 4, 4, 3])))
    x = net.add("Transpose", x, perm=[0, 5, 1, 3, 2, 4])
    x = net.add("Reshape", x, net.store(np.array([1, 3, 32, 32])))
    told = net.finish(net.conv(x, 3, 3), shape=(1, 3, 32, 32)).architecture.sentence
    assert told.endswith("3 channels out.")
