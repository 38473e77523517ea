"""What is between blocks of a decoder is told where it makes maps larger."""

from __future__ import annotations

import pytest

from tests.architecture.test_modules import Named


def _tell(*, is_larger: bool) -> str:
    """Return the sentence of nine residual blocks with a convolution before each three."""
    net = Named()
    x = net.add("Relu", net.conv(net.take("x", (1, 8, 8, 8)), 8, 16))
    begin = len(net.nodes)
    for stage in range(3):
        if is_larger:
            kernel = {"kernel_shape": [4, 4], "strides": [2, 2], "pads": [1] * 4}
            x = net.add("ConvTranspose", x, net.weight(16, 16, 4, 4), **kernel)
        else:
            x = net.conv(x, 16, 16, strides=[2, 2])
        for block in range(3):
            start = len(net.nodes)
            y = net.conv(net.add("Relu", net.conv(x, 16, 16)), 16, 16)
            x = net.add("Add", x, y)
            net.within(start, f"resblocks.{3 * stage + block}")
    net.within(begin, "decoder")
    y = net.add("Relu", net.conv(x, 16, 16))
    return net.finish(net.conv(y, 16, 3)).architecture.sentence


@pytest.mark.parametrize("is_larger", [True, False])
def test_transposed_convolutions_between_blocks_are_counted(*, is_larger: bool) -> None:
    told = _tell(is_larger=is_larger)
    if is_larger:
        assert "3 stages (each transposed 4×4 convolution of 16 channels and 3 residual b" in told
    else:
        assert "9 residual blocks" in told
