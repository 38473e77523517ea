"""Sums around residual blocks are counted apart from these, and a plain chain is none."""

from __future__ import annotations

import re
from itertools import pairwise

from netloupe.explorer.architecture.claims import read_counts
from tests.architecture.networks import Network


def tell_nested(outer: int, inner: int, *, is_summed: bool = True) -> str:
    """Return what is said of blocks, each of so many blocks of three convolutions."""
    net = Network()
    x = net.conv(net.take("x", (1, 3, 16, 16)), 3, 16)
    names: dict[int, str] = {}
    for one in range(outer):
        start = x
        for two in range(inner):
            before = x
            for three in range(3):
                begin = len(net.nodes)
                x = net.conv(x, 16, 16)
                x = net.add("Relu", x) if three < 2 else x
                names |= dict.fromkeys(range(begin, len(net.nodes)), f"body/body.{one}/rdb{two}")
            names[len(net.nodes)] = f"body/body.{one}/rdb{two}"
            x = net.add("Add", x, before)
        if is_summed:
            names[len(net.nodes)] = f"body/body.{one}"
            x = net.add("Add", x, start)
    for number, name in names.items():
        net.nodes[number].name = f"/{name}/{net.nodes[number].op_type}_{number}"
    return net.finish(net.conv(x, 16, 3), shape=(1, 3, 16, 16)).architecture.sentence


def test_all_sums_around_blocks_are_opened_however_many_there_are() -> None:
    told = tell_nested(20, 3)
    assert (
        "20 residual blocks of 3 residual blocks of three 3×3 convolutions each, 16 channels"
        in told
    )


def test_blocks_without_a_sum_around_them_are_counted_alone() -> None:
    told = tell_nested(4, 3, is_summed=False)
    assert "residual blocks of 3 residual" not in told
    assert "12 residual blocks" in told


def test_inner_blocks_are_counted_by_all_outer_ones() -> None:
    text = "20 residual blocks of 3 residual blocks of 16 channels"
    assert [*read_counts(text, ["residual block"])] == [("residual block", 60)]


def test_a_plain_chain_of_convolutions_has_no_blocks() -> None:
    net = Network()
    x = net.take("x", (1, 3, 16, 16))
    widths = [3, *[16] * 12, 48]
    for taken, given in pairwise(widths):
        x = net.add("PRelu", net.conv(x, taken, given), net.weight(given, 1, 1))
    told = net.finish(x, shape=(1, 48, 16, 16)).architecture.sentence
    assert re.search(r"13 3×3 convolutions 3 → 16 → 48 channels", told)
    assert "blocks" not in told
