"""A network removes noise where it gives what is as it takes it, and embeds a step by waves."""

from __future__ import annotations

import numpy as np
import pytest
from onnx import TensorProto, helper

from netloupe.explorer.readers.load import load

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


def _denoise_beside(shape: Shape) -> str:
    """Return the title of a network that gives something else besides."""
    net = Network()
    x, at = net.take("image", (1, 3, 16, 16)), net.take("step", (1,))
    angles = net.add("Mul", net.add("Reshape", at, net.numbers(-1, 1)), net.weight(1, 8))
    embedded = net.add("Concat", *(net.add(wave, angles) for wave in ("Sin", "Cos")), axis=1)
    features = net.add("Reshape", net.linear(embedded, 16, 8), net.numbers(-1, 8, 1, 1))
    x = net.add("Relu", net.add("Add", net.add("Relu", net.conv(x, 3, 8)), features))
    ends = net.conv(x, 8, 3), net.conv(x, 8, 3)
    values = zip(ends, ((1, 3, 16, 16), shape), strict=True)
    given = [helper.make_tensor_value_info(name, TensorProto.FLOAT, dims) for name, dims in values]
    graph = helper.make_graph(net.nodes, "g", net.inputs, given, net.weights)
    opsets = [helper.make_opsetid("", 21)]
    model = load(helper.make_model(graph, opset_imports=opsets).SerializeToString())
    return model.architecture.sentence.partition(":")[0]


def test_what_is_given_beside_the_noise_is_something_else() -> None:
    assert _denoise_beside((1, 3)).startswith("Denoising")
    assert not _denoise_beside((1, 3, 16, 16)).startswith("Denoising")


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
