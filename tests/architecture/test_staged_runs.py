"""Blocks that repeat over stages are one kind, and each stage has a number of them."""

from __future__ import annotations

import pytest

from tests.architecture.networks import Network


def _tell(counts: tuple[int, ...], *, is_cut: bool = False, is_last_other: bool = False) -> str:
    """Return the sentence of stages of blocks that are a sum and a convolution of each channel.

    Parameters
    ----------
    counts
        How many blocks each stage has.
    is_cut
        Whether the second stage ends within a block.
    is_last_other
        Whether there is one more sum behind the stages.
    """
    net = Network()
    x = net.conv(net.take("x", (1, 3, 64, 64)), 3, 8)
    width = 8
    for stage, count in enumerate(counts):
        if stage:
            x = net.conv(x, width, 2 * width, strides=[2, 2])
            width *= 2
        for block in range(count):
            y = net.conv(net.add("Relu", net.conv(x, width, width)), width, width)
            x = net.add("Relu", net.add("Add", x, y))
            if not (is_cut and stage == 1 and block == count - 1):
                x = net.add("Cos", net.conv(x, width, width, 5, group=width))
    x = net.conv(x, width, 4)
    if is_last_other:
        y = net.conv(net.add("Relu", net.conv(x, 4, 4)), 4, 4)
        x = net.add("Relu", net.add("Add", x, y))
    return net.finish(x).architecture.sentence


def test_blocks_of_several_layers_are_counted_in_each_stage() -> None:
    told = _tell((2, 3, 4))
    assert "stages of 2, 3, 4 blocks, 8 → 16 → 32 channels (each residual block and" in told
    assert "3×3 convolution 3 → 8 channels, stages" in told


def test_a_stage_may_have_one_block() -> None:
    assert "stages of 1, 3, 1, 2 blocks" in _tell((1, 3, 1, 2))


@pytest.mark.parametrize("case", ["is_cut", "is_last_other"])
def test_no_block_is_left_out_of_stages(case: str) -> None:
    assert "stages of" not in _tell((2, 3, 4), **{case: True})
