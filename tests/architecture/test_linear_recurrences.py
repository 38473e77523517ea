"""Linear recurrences that a file writes out step by step, beside gates and attention."""

from __future__ import annotations

import numpy as np

from netloupe.explorer.patterns import Operations, find_graph_context
from netloupe.explorer.patterns.found_blocks import FoundBlocks
from netloupe.explorer.patterns.recurrences import find_linear_recurrences
from tests.architecture.networks import Network

_WIDTH = 8


def _recur(net: Network, x: str, steps: int, *, is_gated: bool) -> str:
    """Add h = a · h + b over some tokens, of which each step picks its own row."""
    decay = net.add("Sigmoid", net.linear(x, _WIDTH, _WIDTH))
    taken = net.linear(x, _WIDTH, _WIDTH)
    if is_gated:
        taken = net.add("Mul", net.add("Sigmoid", net.linear(x, _WIDTH, _WIDTH)), taken)
    states = [net.store(np.zeros((1, _WIDTH), np.float32))]
    for step in range(steps):
        rate = net.add("Gather", decay, net.store(np.array(step)), axis=1)
        own = net.add("Gather", taken, net.store(np.array(step)), axis=1)
        states.append(net.add("Add", net.add("Mul", rate, states[-1]), own))
    joined = [net.add("Unsqueeze", state, net.numbers(1)) for state in states[1:]]
    return net.add("Concat", *joined, axis=1)


def _tell(blocks: int, *, is_gated: bool = True, has_attention: bool = True) -> str:
    net = Network()
    x = net.take("x", (1, 6, _WIDTH))
    for block in range(blocks):
        y = _recur(net, x, 6, is_gated=is_gated)
        x = net.add("Add", x, net.linear(y, _WIDTH, _WIDTH))
        x = net.add("Add", x, net.feed(net.norm(x, _WIDTH)))
        if has_attention and block % 2:
            x = net.block(x)
    return net.finish(x).architecture.sentence


def test_a_network_is_named_after_its_recurrences() -> None:
    assert _tell(6).startswith("Network of linear recurrences and attention: ")
    assert _tell(6, has_attention=False).startswith("Network of linear recurrences: ")


def test_one_recurrence_is_no_kind_of_network() -> None:
    assert "linear recurrences" not in _tell(1)


def test_a_recurrence_ends_at_what_its_steps_pick_of() -> None:
    net = Network()
    y = _recur(net, net.take("x", (1, 6, _WIDTH)), 6, is_gated=True)
    graph = net.finish(y).graph
    operations = Operations([*graph.nodes], find_graph_context(graph))
    (found,) = find_linear_recurrences(FoundBlocks(operations))
    products = [number for number in found.numbers if operations.kinds[number] == "Mul"]
    assert len(products) == 6  # one for each step, and not what gates all of them
