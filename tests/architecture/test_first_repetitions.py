"""The first repetition of parts that an exporter numbers from the second one on."""

from __future__ import annotations

import pytest

from .test_modules import Named


def make(count: int, *, first: str) -> str:
    """Return what is said of so many pairs of modules, of which the first has no number."""
    net = Named()
    x = net.take("x", (4, 8))
    for number in range(count):
        for part in ("turn", "shift"):
            start = len(net.nodes)
            if part == "turn":
                x = net.linear(x, 8, 8)
            elif number or first == "alike":
                x = net.add("Mul", x, net.add("Exp", net.feed(x)))
            else:
                x = net.add("Mul", x, net.add("Exp", net.linear(x, 8, 8)))
            net.within(start, f"{part}_{number}" if number else part)
    return net.finish(x).architecture.sentence


@pytest.mark.parametrize("count", [3, 6])
def test_it_is_counted_where_it_is_equal(count: int) -> None:
    assert f"{count} blocks of linear layer and MLP" in make(count, first="alike")


def test_what_differs_is_told_apart() -> None:
    told = make(6, first="other")
    assert "5 blocks of linear layer and MLP" in told
    assert "6 blocks" not in told
