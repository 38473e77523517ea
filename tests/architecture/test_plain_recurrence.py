"""Layers without gates that are written out step by step, and what only looks like one."""

from __future__ import annotations

import numpy as np
import pytest

from tests.architecture.networks import Network

_SAID = "RNN layer of width 4 written out in"


def write_steps(
    steps: int,
    *,
    squash: str = "Tanh",
    is_shared: bool = True,
    is_cut: bool = True,
    width: int = 4,
    begins_at_zero: bool = True,
) -> str:
    """Return what is said of steps of h = tanh(W·x + U·h + b).

    With ``is_cut`` each step takes its part of what one layer gives for all; else all the same.
    """
    net = Network()
    x = net.take("x", (steps, 1, 3))
    every = net.linear(x, 3, width)
    kept, bias = net.weight(width, width), net.weight(width)
    state = net.store(np.zeros((1, width), np.float32)) if begins_at_zero else ""
    first = ""
    for number in range(steps):
        place = net.store(np.int64(number if is_cut else 0))
        taken = net.add("Gather", every, place, axis=0)
        first = taken if is_cut or not number else first
        taken = first
        weight = kept if is_shared else net.weight(width, width)
        if state:
            carried = net.add("Add", net.add("MatMul", state, weight), bias)
            taken = net.add("Add", carried, taken)
        state = net.add(squash, taken)
    return net.finish(net.linear(state, width, 5), shape=(1, 5)).architecture.sentence


@pytest.mark.parametrize("squash", ["Tanh", "Relu"])
@pytest.mark.parametrize("begins_at_zero", [True, False])
def test_steps_without_gates_are_a_layer_written_out(squash: str, begins_at_zero: bool) -> None:
    told = write_steps(5, squash=squash, begins_at_zero=begins_at_zero)
    assert f"{_SAID} 5 steps" in told


def test_fewer_steps_or_other_weights_are_none() -> None:
    assert "RNN" not in write_steps(2)
    assert "RNN" not in write_steps(5, is_shared=False)


def test_iterations_of_one_value_are_no_sequence() -> None:
    assert "RNN" not in write_steps(5, is_cut=False)


def test_layers_in_a_chain_that_share_weights_are_none() -> None:
    net = Network()
    x = net.take("x", (1, 4))
    weight, bias = net.weight(4, 4), net.weight(4)
    for _ in range(5):
        x = net.add("Tanh", net.add("Add", net.add("MatMul", x, weight), bias))
    told = net.finish(net.linear(x, 4, 5), shape=(1, 5)).architecture.sentence
    assert "RNN" not in told


def test_steps_of_two_layers_are_not_taken_for_those_of_one() -> None:
    net = Network()
    every = net.linear(net.take("x", (5, 1, 3)), 3, 4)
    own, above, kept = (net.weight(4, 4) for _ in range(3))
    low = high = net.store(np.zeros((1, 4), np.float32))
    for number in range(5):
        taken = net.add("Gather", every, net.store(np.int64(number)), axis=0)
        low = net.add("Tanh", net.add("Add", net.add("MatMul", low, own), taken))
        both = net.add("Add", net.add("MatMul", low, above), net.add("MatMul", high, kept))
        high = net.add("Tanh", both)
    told = net.finish(net.linear(high, 4, 5), shape=(1, 5)).architecture.sentence
    assert f"{_SAID} 5 steps" in told
