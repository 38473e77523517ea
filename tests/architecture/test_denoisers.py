"""A network removes noise where it gives what is as it takes it, and embeds a step by waves."""

from __future__ import annotations

import numpy as np
import pytest

from .networks import Network, Shape


def denoise(
    *,
    waves: tuple[str, str] = ("Sin", "Cos"),
    joins: bool = True,
    given: int = 3,
    step: Shape = (1,),
    names: tuple[str, str] = ("image", "step"),
) -> str:
    """Return what is said of convolutions, of which the first takes an embedded step besides."""
    net = Network()
    x, at = net.take(names[0], (1, 3, 16, 16)), net.take(names[1], step)
    rates = net.store(np.geomspace(1, 1e-3, 8).astype(np.float32)[None])
    angles = net.add("Mul", net.add("Reshape", at, net.numbers(-1, 1)), rates)
    first, second = (net.add(wave, angles) for wave in waves)
    embedded = net.add("Concat", first, second, axis=1) if joins else net.add("Mul", first, second)
    width = 16 if joins else 8
    features = net.linear(net.add("Relu", net.linear(embedded, width, 32)), 32, 8)
    features = net.add("Reshape", features, net.numbers(-1, 8, 1, 1))
    x = net.add("Add", net.add("Relu", net.conv(x, 3, 8)), features)
    x = net.add("Relu", net.conv(x, 8, 8))
    end = net.conv(x, 8, given)
    return net.finish(end, shape=(1, given, 16, 16)).architecture.sentence


@pytest.mark.parametrize("names", [("image", "step"), ("t0", "t1")])
@pytest.mark.parametrize("given", [3, 6])
def test_a_network_that_gives_noise_or_noise_and_variance_is_a_denoiser(
    names: tuple[str, str], given: int
) -> None:
    assert denoise(names=names, given=given).startswith("Denoising convolutional network: ")


def test_what_is_not_told_a_step_or_gives_something_else_is_none() -> None:
    for told in (
        denoise(given=4),
        denoise(waves=("Sin", "Sin")),
        denoise(joins=False),
        denoise(step=(1, 4)),
    ):
        assert told.startswith("Convolutional network: ")
