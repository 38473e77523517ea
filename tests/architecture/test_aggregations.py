"""Results of all layers in a row that are joined at once."""

from __future__ import annotations

import pytest

from .networks import Network


def _tell(layers: int, blocks: int = 3, *, densely: bool = False, pools: bool = False) -> str:
    net = Network()
    x = net.add("Relu", net.conv(net.take("image", (1, 3, 32, 32)), 3, 16))
    for _ in range(blocks):
        joined, width = [x], 16
        for _ in range(layers):
            taken = (
                net.add("Concat", *joined, axis=1) if densely and len(joined) > 1 else joined[-1]
            )
            given = 16 if pools else 8
            if pools:
                y = net.add("MaxPool", taken, kernel_shape=[5, 5], pads=[2] * 4)
            else:
                y = net.add("Relu", net.conv(taken, width if densely or len(joined) == 1 else 8, 8))
            joined.append(y)
            width = width + given if densely else given
        count = 16 + layers * (16 if pools else 8)
        x = net.add("Relu", net.conv(net.add("Concat", *joined, axis=1), count, 16, 1))
    flat = net.add("Flatten", net.add("GlobalAveragePool", x))
    return net.finish(net.linear(flat, 16, 10)).architecture.sentence


def test_layers_in_a_row_that_are_joined_at_once_are_told() -> None:
    """Y. Lee and others, VoVNet, 2019, figure 2b."""
    told = _tell(4)
    assert "one-shot aggregation of 4 layers in 3 places, 10 outputs" in told


@pytest.mark.parametrize(
    ("layers", "changes"),
    [
        (4, {"blocks": 1}),  # a single one is no idea of a network
        (2, {}),  # as a cross-stage block joins a few
        (4, {"densely": True}),  # each takes what was joined before
        (3, {"pools": True}),  # spatial pyramid pooling, one behind the other
    ],
)
def test_other_joined_values_are_none(layers: int, changes: dict[str, int]) -> None:
    assert "one-shot" not in _tell(layers, **changes)  # type: ignore[arg-type]
