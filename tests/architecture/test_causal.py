"""Blocks of convolutions of which each place takes no later one are told as such."""

from __future__ import annotations

import pytest

from tests.architecture.networks import Network

_WIDTH = 8


def _convolve(net: Network, x: str, pads: tuple[int, int], dilation: int, *, is_apart: bool) -> str:
    kernel = net.weight(_WIDTH, _WIDTH, 3)
    if is_apart:
        x = net.add("Pad", x, net.numbers(0, 0, pads[0], 0, 0, pads[1]))
        pads = (0, 0)
    return net.add("Conv", x, kernel, kernel_shape=[3], pads=[*pads], dilations=[dilation])


def _tell(*places: float, is_apart: bool = False) -> str:
    """Return the sentence of five blocks for each share of pads that is at their beginning."""
    net = Network()
    x = net.take("x", (1, _WIDTH, 64))
    x = net.add("Conv", x, net.weight(_WIDTH, _WIDTH, 1), kernel_shape=[1])
    for place in places:
        for block in range(5):
            dilation = 2**block
            begin = int(2 * dilation * place)
            pads = (begin, 2 * dilation - begin)
            y = net.add("Relu", _convolve(net, x, pads, dilation, is_apart=is_apart))
            y = _convolve(net, y, pads, dilation, is_apart=is_apart)
            x = net.add("Relu", net.add("Add", x, y))
    return net.finish(x).architecture.sentence


@pytest.mark.parametrize("is_apart", [True, False])
def test_blocks_that_are_padded_at_the_beginning_are_causal(*, is_apart: bool) -> None:
    told = _tell(1, is_apart=is_apart)
    assert "5 causal residual blocks of 8 channels (dilation 1 … 16)" in told


@pytest.mark.parametrize("place", [0.5, 0])
def test_blocks_that_take_later_places_are_not_causal(place: float) -> None:
    told = _tell(place)
    assert "5 residual blocks of 8 channels" in told
    assert "causal" not in told


def test_blocks_of_both_kinds_are_counted_apart() -> None:
    told = _tell(0.5, 1)
    assert "5 residual blocks of 8 channels" in told
    assert "5 causal residual blocks of 8 channels" in told
