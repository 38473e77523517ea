"""Stages of blocks are told where other layers stand between them, though their width is one."""

from __future__ import annotations

from collections.abc import Sequence

from .networks import Network
from .test_modules import Named


def add_block(net: Network, x: str, taken: int, given: int) -> str:
    y = net.conv(net.add("Relu", net.conv(x, taken, given)), given, given)
    x = net.conv(x, taken, given, 1) if taken != given else x
    return net.add("Relu", net.add("Add", x, y))


def make(counts: Sequence[int], *, between: bool, within: bool = False) -> str:
    """Return what is said of stages of which the last two are as wide as one another."""
    net = Named()
    x = net.take("image", (1, 3, 64, 64))
    x = net.add("Relu", net.conv(net.add("Relu", net.conv(x, 3, 8)), 8, 8))
    net.within(0, "front")
    taken, around = 8, len(net.nodes)
    for stage, count in enumerate(counts):
        given = 8 << min(stage, len(counts) - 2)
        outer = len(net.nodes)
        for block in range(count):
            start = len(net.nodes)
            x = add_block(net, x, taken, given)
            taken = given
            net.within(start, f"{block}" if within else f"layer{stage}.{block}")
        if between:
            start = len(net.nodes)
            x = net.add("Relu", net.conv(x, given, given))
            net.within(start, f"{count}" if within else f"conv{stage}")
        if within:
            net.within(outer, f"{stage}")
    if within:
        net.within(around, "encoder")
    start = len(net.nodes)
    x = net.add("Tanh", net.conv(x, taken, 3, 1))
    net.within(start, "last")
    return net.finish(x).architecture.sentence


def test_lists_of_blocks_that_take_turns_with_layers_are_stages() -> None:
    assert "stages of 1, 2, 4, 3 residual blocks, 8 → 16 → 32 channels" in make(
        (1, 2, 4, 3), between=True
    )


def test_lists_of_one_block_each_are_none() -> None:
    told = make((1, 1, 1, 1), between=True)
    assert "stages" not in told
    assert "4 residual blocks" in told


def test_stages_of_a_named_module_hold_layers_that_are_not_counted() -> None:
    told = make((1, 2, 4, 3), between=True, within=True)
    assert "stages of 1, 2, 4, 3 residual blocks, 8 → 16 → 32 channels" in told
