"""Convolutions by band-pass filters that are computed of their cut-off frequencies."""

from __future__ import annotations

import numpy as np
import pytest

from .networks import Network

_SIZE = 21


def _tell(*, divides: str = "times", is_learned: bool = True, mixes: bool = False) -> str:
    """Return what is said of filters whose kernels are computed of frequencies.

    M. Ravanelli and Y. Bengio, SincNet, 2018, equation 4.
    """
    net = Network()
    times = np.linspace(-1, 1, _SIZE + 1, dtype=np.float32)[None, : _SIZE // 2]
    low = net.add("Abs", net.weight(12, 1))
    high = net.add("Add", low, net.add("Abs", net.weight(12, 1)))
    angles = [net.add("MatMul", one, net.store(times)) for one in (high, low)]
    waves = net.add("Sub", *(net.add("Sin", angle) for angle in angles))
    if mixes:
        waves = net.add("MatMul", waves, net.weight(_SIZE // 2, _SIZE // 2))
    if divides == "times":
        waves = net.add("Div", waves, net.store(times / 2))
    elif divides == "number":
        waves = net.add("Div", waves, net.store(np.float32(3)))
    elif divides == "others":
        others = np.random.default_rng(1).random((1, _SIZE // 2), np.float32) + 1
        waves = net.add("Div", waves, net.store(others))
    turned = net.store(np.arange(_SIZE // 2)[::-1].astype(np.int64))
    middle = net.add("Mul", net.add("Sub", high, low), net.store(np.float32(2)))
    kernel = net.add("Concat", waves, middle, net.add("Gather", waves, turned, axis=1), axis=1)
    kernel = net.add("Reshape", kernel, net.numbers(12, 1, _SIZE))
    kernel = kernel if is_learned else net.weight(12, 1, _SIZE)
    x = net.add("Conv", net.take("wave", (1, 1, 400)), kernel, kernel_shape=[_SIZE])
    x = net.add("MaxPool", net.add("Relu", x), kernel_shape=[3], strides=[3])
    x = net.add("Relu", net.add("Conv", x, net.weight(16, 12, 5), kernel_shape=[5]))
    pooled = net.add("Flatten", net.add("GlobalAveragePool", x))
    return net.finish(net.linear(pooled, 16, 10)).architecture.sentence


def test_differences_of_sines_by_times_are_sinc_filters() -> None:
    assert f"sinc convolution 1 → 12 channels (kernel {_SIZE})" in _tell()


@pytest.mark.parametrize(
    "told",
    [
        _tell(divides="number"),
        _tell(divides="others"),
        _tell(divides=""),
        _tell(is_learned=False),
        _tell(mixes=True),
    ],
    ids=["by one number", "by other numbers", "waves alone", "stored", "mixed"],
)
def test_other_kernels_are_none(told: str) -> None:
    assert "sinc" not in told
    assert "convolution" in told
