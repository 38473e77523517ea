"""What residual blocks are made of is said where their name does not imply it."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from netloupe.explorer.architecture.dilations import write_dilations
from tests.architecture.networks import Network

_WIDTH = 8


def _make(
    counts: Sequence[int],
    *,
    separable: bool,
    dilations: Sequence[int] = (1,),
    projected: Sequence[int] = (),
) -> str:
    """Return the sentence of residual blocks of so many convolutions each."""
    net = Network()
    x = net.add("Relu", net.conv(net.take("x", (1, 3, 32, 32)), 3, _WIDTH))
    for number, count in enumerate(counts):
        y = x
        far = dilations[number % len(dilations)]
        for place in range(count):
            y = net.add("Relu", y) if place else y
            if separable:
                y = net.conv(y, _WIDTH, _WIDTH, group=_WIDTH)
                y = net.conv(y, _WIDTH, _WIDTH, 1)
            else:
                pads = [far] * 4
                kernel = net.weight(_WIDTH, _WIDTH, 3, 3)
                y = net.add("Conv", y, kernel, pads=pads, dilations=[far, far])
        x = net.conv(x, _WIDTH, _WIDTH, 1) if number in projected else x
        x = net.add("Relu", net.add("Add", x, y))
    return net.finish(net.add("Tanh", net.conv(x, _WIDTH, 3))).architecture.sentence


def test_blocks_of_separable_convolutions_are_told_by_how_many_they_hold() -> None:
    assert "4 residual blocks of 5 depthwise-separable convolutions each" in _make(
        [5] * 4, separable=True
    )
    assert "5 residual blocks of 2 or 3 depthwise-separable convolutions each" in _make(
        [2, 2, 3, 3, 3], separable=True
    )


def test_one_separable_convolution_is_told_as_one() -> None:
    told = _make([1] * 4, separable=True)
    assert "4 residual blocks of one depthwise-separable convolution each" in told


@pytest.mark.parametrize("count", [2, 3, 4])
def test_two_convolutions_are_implied_and_others_are_told(count: int) -> None:
    told = _make([count] * 4, separable=False)
    assert "residual blocks" in told
    assert ("each" in told) == (count != 2)
    number = {2: "two", 3: "three", 4: "four"}[count]
    assert (f"of {number} 3×3 convolutions" in told) == (count != 2)


@pytest.mark.parametrize(
    ("projected", "told"),
    [
        (range(4), "4 residual blocks of five 3×3 convolutions and a projection each"),
        ((0, 2), "4 residual blocks of five 3×3 convolutions each"),
        ((), "4 residual blocks of five 3×3 convolutions each"),
    ],
)
def test_a_layer_around_many_is_told_where_all_have_it(projected: Sequence[int], told: str) -> None:
    assert told in _make([5] * 4, separable=False, projected=projected)
    assert "projection" not in _make([3] * 4, separable=False, projected=range(4))


def test_blocks_of_many_different_counts_are_told_without() -> None:
    told = _make([2, 3, 4, 5], separable=True)
    assert "residual blocks" in told
    assert "separable" not in told


def test_the_distance_at_which_blocks_read_is_told_where_it_changes() -> None:
    assert "residual blocks of 8 channels (dilation 1, 2, 4 in turn)" in _make(
        [2] * 6, separable=False, dilations=(1, 2, 4)
    )
    assert "dilation" not in _make([2] * 6, separable=False)


@pytest.mark.parametrize(
    ("dilations", "told"),
    [
        ([1, 1, 1], ""),
        ([2, 2], "dilation 2"),
        ([1, 1, 2, 2], "dilation 1, then 2"),
        ([1, 2, 4, 8], "dilation 1 … 8"),
        ([1, 2, 4, 8] * 3, "dilation 1 … 8 in 3 cycles"),
        ([1, 3, 9, 1, 3, 9], "dilation 1, 3, 9 in turn"),
        ([1, 2, 4, 8, 1, 2, 4], "dilation 1 … 8"),
        ([4, 1, 2, 8] * 2, "dilation 1 … 8"),
        ([], ""),
    ],
)
def test_dilations_are_told_as_they_go(dilations: list[int], told: str) -> None:
    assert write_dilations(dilations) == told
