"""Blocks that differ in their shortcut alone are one kind in a row."""

from __future__ import annotations

import pytest

from tests.architecture.networks import Network


def _invert(net: Network, x: str, taken: int, given: int) -> str:
    wide = net.add("Relu", net.conv(x, taken, 4 * taken, 1))
    deep = net.add("Relu", net.conv(wide, 4 * taken, 4 * taken, group=4 * taken))
    y = net.conv(deep, 4 * taken, given, 1)
    return net.add("Add", x, y) if taken == given else y


def _tell(widths: list[int], *, is_one_apart: bool = False) -> str:
    """Return the sentence of inverted residuals of some widths with a convolution behind each."""
    net = Network()
    x = net.conv(net.take("x", (1, 3, 32, 32)), 3, 8)
    for place, (taken, given) in enumerate(zip([8, *widths], widths, strict=False)):
        x = _invert(net, x, taken, given)
        if not (is_one_apart and place == 3):
            x = net.add("Cos", net.conv(x, given, given, 5))
    return net.finish(x).architecture.sentence


@pytest.mark.parametrize("widths", [[8] * 6, [8, 16, 16, 24, 24, 24], [8, 8, 16, 24, 24, 32]])
def test_blocks_with_and_without_a_shortcut_are_counted_together(widths: list[int]) -> None:
    assert "6 blocks of inverted residual" in _tell(widths)


def test_a_block_without_what_follows_the_others_is_apart() -> None:
    assert "6 blocks" not in _tell([8, 16, 16, 24, 24, 24], is_one_apart=True)
