"""Determinants, which are what a network of linear layers is for."""

from __future__ import annotations

import pytest

from .networks import Network


@pytest.mark.parametrize("operator", ["Det", "Neg"])
def test_a_determinant_is_told_behind_the_layers_that_fill_it(operator: str) -> None:
    net = Network()
    x = net.add("Tanh", net.linear(net.take("electrons", (1, 4, 6)), 6, 8))
    x = net.add(operator, net.linear(net.add("Add", x, net.add("Neg", x)), 8, 4))
    told = net.finish(net.add("Log", net.add("Abs", x))).architecture.sentence
    assert told.startswith("Network: " if operator == "Det" else "Feed-forward network: ")
    assert ("determinant of 4 × 4" in told) is (operator == "Det")
