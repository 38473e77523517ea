"""Of many blocks it is told what each is made of, and what the last of them lacks."""

from __future__ import annotations

import pytest

from .test_modules import Named


def bend(net: Named, x: str) -> str:
    """Return an activation of a value, and its norm over all places."""
    x = net.add("PRelu", x, net.weight(1))
    mean = net.add("ReduceMean", x, net.numbers(1, 2))
    return net.add("Div", net.add("Sub", x, mean), net.add("ReduceMax", x, net.numbers(1, 2)))


def _make(*, lacking: int) -> str:
    """Return the sentence of six blocks with a path of skips; so many have no residual path."""
    net = Named()
    x = net.add("Conv", net.take("x", (1, 8, 64)), net.weight(16, 8, 1))
    net.within(0, "encoder")
    total = ""
    for number in range(6):
        start = len(net.nodes)
        y = bend(net, net.add("Conv", x, net.weight(32, 16, 1)))
        dilation = 1 << number % 3
        ways = {"group": 32, "dilations": [dilation], "pads": [dilation] * 2}
        y = bend(net, net.add("Conv", y, net.weight(32, 1, 3), **ways))
        if number < 6 - lacking:
            x = net.add("Add", x, net.add("Conv", y, net.weight(16, 32, 1)))
        skip = net.add("Conv", y, net.weight(16, 32, 1))
        net.within(start, f"conv_layers.{number}")
        total = net.add("Add", total, skip) if total else skip
    start = len(net.nodes)
    given = net.add("Conv", total, net.weight(8, 16, 1))
    net.within(start, "decoder")
    return net.finish(given).architecture.sentence


def test_the_last_block_may_lack_what_nothing_would_take() -> None:
    told = _make(lacking=1)
    each = "3 pointwise convolutions and depthwise convolution, dilation 1, 2, 4 in turn"
    assert f"6 blocks (each {each}; 2 pointwise convolutions in the last)" in told


@pytest.mark.parametrize("lacking", [0, 2])
def test_others_are_no_last_block(lacking: int) -> None:
    told = _make(lacking=lacking)
    assert "in the last" not in told
    assert (
        lacking
        or "6 convolution layers (each 2 pointwise convolutions and depthwise-separable convolution"
        in told
    )
