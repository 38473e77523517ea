"""A number of 1×1 convolutions is said where none of them is left out as a linear layer."""

from __future__ import annotations

import pytest

from tests.architecture.test_modules import Named

_WIDTH = 16


def _convolve(net: Named, x: str, size: int) -> str:
    kernel = net.weight(_WIDTH, _WIDTH, size)
    return net.add("Conv", x, kernel, kernel_shape=[size], pads=[size // 2] * 2)


def _tell(*, is_turned: bool) -> str:
    """Return the sentence of a predictor whose first layer is a convolution of turned tokens.

    Or else a linear layer.
    """
    net = Named()
    x = net.take("x", (1, 32, _WIDTH))
    x = net.feed(x, _WIDTH)
    net.within(0, "encoder")
    begin = len(net.nodes)
    if not is_turned:
        x = net.linear(x, _WIDTH, _WIDTH)
    x = net.add("Transpose", x, perm=[0, 2, 1])
    if is_turned:
        x = _convolve(net, x, 1)
    for _ in range(6):
        for _ in range(3):
            y = net.add("Relu", _convolve(net, net.add("Relu", _convolve(net, x, 3)), 3))
            x = net.add("Add", x, _convolve(net, y, 3))
        x = net.add("Sin", _convolve(net, x, 1))
    net.within(begin, "predictor")
    start = len(net.nodes)
    y = net.feed(net.add("Transpose", x, perm=[0, 2, 1]), _WIDTH)
    net.within(start, "head")
    return net.finish(y).architecture.sentence


@pytest.mark.parametrize("is_turned", [True, False])
def test_a_number_covers_all_or_is_not_said(*, is_turned: bool) -> None:
    told = _tell(is_turned=is_turned)
    assert "pointwise convolutions" in told
    assert ("6 pointwise convolutions" in told) is not is_turned, told
