"""Linear layers of which there is one for each of several numbers are told apart from others."""

from __future__ import annotations

import pytest

from .networks import Network


@pytest.mark.parametrize("stack", [1, 8])
def test_layers_for_each_number_are_no_part_of_a_row(stack: int) -> None:
    """As where each number is embedded by its own layer (Y. Gorishniy and others, 2022)."""
    net = Network()
    weights = (stack, 6, 4) if stack > 1 else (6, 4)
    x = net.add("MatMul", net.take("x", (5, 8, 1, 6)), net.weight(*weights))
    x = net.add("Reshape", net.add("Relu", net.add("Mul", x, net.weight(4))), net.numbers(5, 32))
    for taken, given in ((32, 16), (16, 16), (16, 2)):
        x = net.add("MatMul", net.add("Mul", x, net.weight(taken)), net.weight(taken, given))
        x = net.add("Relu", net.add("Mul", x, net.weight(given)))
    told = net.finish(x).architecture.sentence
    row = "3 linear layers 32 → 16 → 16 → 2"
    assert (f"linear layer (8 × (6 → 4)), {row}" in told) is (stack > 1)
    assert ("4 linear layers" in told) is (stack == 1)
