"""Layers between two MLPs, and the convolution of each channel that stands in them."""

from __future__ import annotations

import numpy as np

from .networks import Network


def convolve(net: Network, x: str, kernel: int) -> str:
    """Return a gated pointwise convolution, one of each channel and a pointwise one."""
    x = net.add("Transpose", net.norm(x, 8), perm=[0, 2, 1])
    x = net.add("Conv", x, net.weight(16, 8, 1), kernel_shape=[1])
    first = net.add("Slice", x, *(net.numbers(n) for n in (0, 8, 1)))
    second = net.add("Slice", x, *(net.numbers(n) for n in (8, 16, 1)))
    x = net.add("Mul", first, net.add("Sigmoid", second))
    pads = [kernel // 2] * 2
    x = net.add("Conv", x, net.weight(8, 1, kernel), kernel_shape=[kernel], group=8, pads=pads)
    x = net.add("Mul", x, net.add("Sigmoid", x))
    x = net.add("Conv", x, net.weight(8, 8, 1), kernel_shape=[1])
    return net.add("Transpose", x, perm=[0, 2, 1])


def tell(kernels: tuple[int, ...], *, half: float = 0.5) -> str:
    net = Network()
    x = net.take("frames", (1, 40, 8))
    for kernel in kernels:
        for inner in ("feed", "attend", "convolve", "feed"):
            normed = net.norm(x, 8)
            if inner == "feed":
                given = net.feed(normed)
                if half != 1:
                    given = net.add("Mul", given, net.store(np.float32(half)))
            elif inner == "attend":
                given = net.attend(normed, normed)
            else:
                given = convolve(net, x, kernel)
            x = net.add("Add", x, given)
        x = net.norm(x, 8)
    return net.finish(x).architecture.sentence


def test_a_conformer_has_two_halves_of_an_mlp_and_a_convolution_of_each_channel() -> None:
    """A. Gulati and others, Conformer, 2020, figure 1."""
    told = tell((7, 7, 7))
    assert told.startswith("Conformer: 3 blocks (")
    assert "depthwise convolution of kernel 7; two half-step MLPs 8 → 32, GELU" in told


def test_no_kernel_is_told_where_they_differ_and_no_half_where_all_is_added() -> None:
    told = tell((7, 5, 7))
    assert "kernel" not in told
    assert "two half-step MLPs 8 → 32" in told
    told = tell((7, 7, 7), half=1)
    assert "half" not in told
    assert "two MLPs 8 → 32" in told
