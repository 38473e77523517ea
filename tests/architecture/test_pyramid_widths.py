"""Blocks that are wider one after the other: stages end where the resolution does."""

from __future__ import annotations

import pytest

from .networks import Network


def _make(widths: list[int]) -> str:
    """Return the sentence of a classifier of residual blocks, six to a stage of half the size."""
    net = Network()
    before = widths[0]
    x = net.add("Relu", net.conv(net.take("x", (1, 3, 32, 32)), 3, before))
    for number, width in enumerate(widths):
        stride = 2 if number and number % 6 == 0 else 1
        y = net.add("Relu", net.conv(x, before, width, strides=[stride] * 2))
        y = net.conv(y, width, width)
        if stride > 1:
            kernel = {"kernel_shape": [2, 2], "strides": [2, 2]}
            x = net.add("AveragePool", x, **kernel)
        if width > before:
            pads = net.numbers(0, 0, 0, 0, 0, width - before, 0, 0)
            x = net.add("Pad", x, pads)
        x, before = net.add("Add", x, y), width
    x = net.add("Flatten", net.add("GlobalAveragePool", net.add("Relu", x)))
    return net.finish(net.linear(x, before, 10)).architecture.sentence


def test_stages_of_a_pyramid_end_where_maps_become_smaller() -> None:
    told = _make([16 + 2 * number for number in range(18)])
    assert "stages of 6, 6, 6 blocks, 16 → 50 channels, wider in each block" in told


@pytest.mark.parametrize("widths", [[16] * 6 + [32] * 6, [16] * 3 + [32] * 3 + [64] * 6])
def test_others_end_where_the_width_changes_too(widths: list[int]) -> None:
    told = _make(widths)
    counts = [widths.count(width) for width in dict.fromkeys(widths)]
    assert f"stages of {', '.join(map(str, counts))} blocks" in told
    assert "wider" not in told
