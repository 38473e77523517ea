"""Along how many axes a classifier convolves is said where that are not two."""

from __future__ import annotations

import pytest

from tests.architecture.networks import Network


def _convolve(net: Network, x: str, taken: int, given: int, size: int, axes: int) -> str:
    kernel = net.weight(given, taken, *[size] * axes)
    shape = {"kernel_shape": [size] * axes, "pads": [size // 2] * 2 * axes}
    return net.add("Relu", net.add("Conv", x, kernel, **shape))


def _tell(axes: int, *, has_short: bool = False) -> str:
    """Return the sentence of three inception blocks; one of them may lack a branch."""
    net = Network()
    x = _convolve(net, net.take("x", (1, 3, *[16] * axes)), 3, 32, 3, axes)
    for block in range(3):
        ways = [_convolve(net, x, 32, 8, 1, axes)]
        for size in (3, 5):
            ways.append(_convolve(net, _convolve(net, x, 32, 4, 1, axes), 4, 8, size, axes))
        shape = {"kernel_shape": [3] * axes, "pads": [1] * 2 * axes, "strides": [1] * axes}
        pool = net.add("MaxPool", x, **shape)
        last = 8
        if has_short and block == 1:
            ways.pop()
            last = 16
        ways.append(_convolve(net, pool, 32, last, 1, axes))
        x = net.add("Concat", *ways, axis=1)
    x = net.add("Flatten", net.add("GlobalAveragePool", x))
    return net.finish(net.add("Softmax", net.linear(x, 32, 10))).architecture.sentence


@pytest.mark.parametrize(("axes", "title"), [(2, "Inception CNN"), (3, "3-D Inception CNN")])
def test_a_family_is_told_with_its_axes(axes: int, title: str) -> None:
    assert _tell(axes) == f"{title}: stages of 3 blocks of 4 branches each, 10 classes."


def test_branches_are_counted_where_all_blocks_have_as_many() -> None:
    assert _tell(2, has_short=True) == "Inception CNN: stages of 3 blocks, 10 classes."
