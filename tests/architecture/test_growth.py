"""Of blocks that add channels to those they take it is said how many, and no width."""

from __future__ import annotations

import pytest

from .test_modules import Named


def _make(*, ways: str) -> str:
    """Return the sentence of three stages of units, of which each adds channels or gives others."""
    net = Named()
    width = 16
    x = net.conv(net.take("x", (1, 3, 32, 32)), 3, width)
    net.within(0, "stem")
    for stage, count in enumerate((3, 4, 5)):
        start = len(net.nodes)
        new = 8 << stage
        for unit in range(count):
            first = len(net.nodes)
            y = net.add("Relu", net.conv(x, width, 4 * new, 1))
            y = net.add("Relu", net.conv(y, 4 * new, new))
            if ways == "joined":
                x, width = net.add("Concat", x, y, axis=1), width + new
            elif ways == "joined twice" and unit % 2:
                x, width = net.add("Concat", x, y, y, axis=1), width + 2 * new
            elif ways == "joined twice":
                x, width = net.add("Concat", x, y, axis=1), width + new
            else:
                x, width = y, new
            net.within(first, f"units.{unit}")
        x = net.add("AveragePool", x, kernel_shape=[2, 2], strides=[2, 2])
        net.within(start, f"stages.{stage}")
    return net.finish(x).architecture.sentence


def test_channels_that_each_block_adds_are_told_as_added() -> None:
    told = _make(ways="joined")
    assert "stages of 3, 4, 5 blocks, 8 → 16 → 32 channels more by each" in told


@pytest.mark.parametrize("ways", ["joined twice", "one behind the other"])
def test_what_blocks_give_else_is_not_told_as_added(ways: str) -> None:
    told = _make(ways=ways)
    assert "more by each" not in told
    assert ("8 → 16 → 32 channels" in told) == (ways == "one behind the other")
