"""What the convolutions of several blocks are: kernels, dilations, and which are separable."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from .networks import Network

_WIDTH = 8


def along(net: Network, x: str, kernel: int, *, group: int = 1, far: int = 1) -> str:
    """Return a convolution along one axis that keeps all places."""
    pads = [(kernel - 1) * far, 0]
    weight = net.weight(_WIDTH, _WIDTH // group, kernel)
    return net.add(
        "Conv", x, weight, kernel_shape=[kernel], pads=pads, group=group, dilations=[far]
    )


def make_blocks(kernels: Sequence[int], *, group: int, apart: bool = False, far: int = 1) -> str:
    """Return what is said of blocks of two pairs of a convolution and a pointwise one.

    What is ``apart`` takes what came into the block.
    """
    net = Network()
    x = net.take("wave", (1, _WIDTH, 200))
    for number, kernel in enumerate(kernels):
        start = len(net.nodes)
        first = x
        for _ in range(2):
            y = along(net, x, kernel, group=group, far=far**number)
            y = net.add("Mul", y, net.take(f"mask{len(net.nodes)}", (1, 1, 200)))
            x = net.add("Relu", along(net, first if apart else y, 1))
            x = net.add("Concat", x, y, axis=1) if apart else x
            x = along(net, net.add("Slice", x, *map(net.numbers, (0, 8, 1))), 1) if apart else x
        for place, node in enumerate(net.nodes[start:]):
            node.name = f"/units.{number}/{node.op_type}_{place}"
    return net.finish(x).architecture.sentence


def test_blocks_of_pairs_are_told_as_separable_with_their_kernels() -> None:
    """F. Chollet, Xception, 2017, section 2, here along time and between masks."""
    told = make_blocks([33, 39, 51, 63], group=_WIDTH)
    assert "4 blocks of 2 depthwise-separable convolutions of kernel 33 … 63" in told
    assert "of 2 depthwise-separable convolutions of kernel 5," in make_blocks([5] * 4, group=8)


def test_convolutions_of_all_channels_are_not_separable() -> None:
    told = make_blocks([5, 5, 5, 5], group=1)
    assert "4 blocks of 2 convolutions of kernel 5 and 2 pointwise convolutions" in told
    told = make_blocks([2, 2, 2, 2], group=1, far=2)
    assert "2 convolutions of kernel 2, dilation 1 … 8 and 2 pointwise convolutions" in told


def test_a_pointwise_convolution_that_takes_something_else_makes_nothing_separable() -> None:
    assert "separable" not in make_blocks([5] * 4, group=_WIDTH, apart=True)


def make_sums(kernels: Sequence[Sequence[tuple[int, ...]]], *, projected: bool = False) -> str:
    """Return what is said of residual blocks of convolutions with these kernels."""
    net = Network()
    rank = len(kernels[0][0])
    x = net.take("x", (1, _WIDTH, *[32] * rank))
    for block in kernels:
        y = x
        for place, kernel in enumerate(block):
            y = net.add("Relu", y) if place else y
            pads = [size // 2 for size in kernel] * 2
            weight = net.weight(_WIDTH, _WIDTH, *kernel)
            y = net.add("Conv", y, weight, kernel_shape=[*kernel], pads=pads)
        if projected:
            x = net.add("Conv", x, net.weight(_WIDTH, _WIDTH, *[1] * rank), kernel_shape=[1] * rank)
        x = net.add("Relu", net.add("Add", x, y))
    return net.finish(x).architecture.sentence


@pytest.mark.parametrize("projected", [False, True])
def test_kernels_of_residual_blocks_are_told(projected: bool) -> None:
    """As of a spatial and a temporal one (D. Tran and others, R(2+1)D, 2018, section 3.5)."""
    told = make_sums([[(1, 3, 3), (3, 1, 1)] * 2] * 4, projected=projected)
    assert "4 residual blocks of four 1×3×3 and 3×1×1 convolutions" in told
    told = make_sums([[(3, 1), (1, 3)] * 2] * 4, projected=projected)
    assert "4 residual blocks of four 3×1 and 1×3 convolutions" in told
    assert "of 3 convolutions of kernel 5" in make_sums([[(5,)] * 3] * 4, projected=projected)


def test_no_kernel_is_told_of_blocks_that_differ_or_have_many() -> None:
    told = make_sums([[(3, 3)] * 3, [(5, 5)] * 3] * 2)
    assert "4 residual blocks of 3 convolutions each" in told
    told = make_sums([[(3, 3), (5, 5), (7, 7)]] * 4)
    assert "4 residual blocks of 3 convolutions each" in told
