"""Residual blocks that take one activation of their stream, which an exporter computed once."""

from __future__ import annotations

from .networks import Network


def test_blocks_side_by_side_may_share_the_activation_of_what_they_take() -> None:
    net = Network()
    x = net.conv(net.take("x", (1, 3, 16, 16)), 3, 8)
    active = net.add("LeakyRelu", x)
    given = []
    for _ in range(3):
        value, bent = x, active
        for _ in range(3):
            inner = net.add("LeakyRelu", net.conv(bent, 8, 8))
            value = net.add("Add", net.conv(inner, 8, 8), value)
            bent = net.add("LeakyRelu", value)
        given.append(value)
    total = net.add("Add", net.add("Add", given[0], given[1]), given[2])
    told = net.finish(net.conv(total, 8, 3)).architecture.sentence
    assert "3 branches of 3 residual blocks" in told
