"""A sum around several blocks is a skip: what it goes around is told."""

from __future__ import annotations

import pytest

from netloupe.explorer.patterns.ingredients import find_ingredients
from tests.architecture.networks import Network


def _list_names(count: int, *, is_long: bool = True) -> list[str]:
    """Return what a convolution, so many residual blocks and a convolution are made of."""
    net = Network()
    x = net.conv(net.take("image", (1, 3, 16, 16)), 3, 8)
    y = x
    for _ in range(count):
        inner = net.conv(net.add("Relu", net.conv(y, 8, 8)), 8, 8)
        y = net.add("Add", y, inner)
    y = net.conv(y, 8, 8)
    model = net.finish(net.add("Add", x, y) if is_long else y)
    return [one.name for one in find_ingredients(model.graph.nodes)]


@pytest.mark.parametrize("count", [2, 5])
@pytest.mark.parametrize("is_long", [True, False])
def test_blocks_that_a_long_skip_goes_around_are_told(count: int, is_long: bool) -> None:
    names = _list_names(count, is_long=is_long)
    assert names == ["Conv", *["Residual block"] * count, "Conv"]


def test_a_block_with_a_shortcut_of_its_own_inside_is_one() -> None:
    assert _list_names(1) == ["Conv", "Residual block"]
