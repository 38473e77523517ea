"""Attention that multiplies keys and values first: its heads, and what it is among other parts."""

from __future__ import annotations

import pytest

from netloupe.explorer.patterns import IDEA, find_ingredients, recognise
from tests.architecture.networks import Network

_WIDTH, _TOKENS = 12, 5


def _attend(net: Network, x: str, heads: int, *, splits: bool = True) -> str:
    """Add ReLU attention of heads between its layers."""
    parts = []
    for _ in range(3):
        part = net.linear(x, _WIDTH, _WIDTH)
        if splits:
            part = net.add("Reshape", part, net.numbers(1, _TOKENS, heads, _WIDTH // heads))
            part = net.add("Transpose", part, perm=[0, 2, 1, 3])
        parts.append(part)
    query, key, value = net.add("Relu", parts[0]), net.add("Relu", parts[1]), parts[2]
    turned = [0, 1, 3, 2] if splits else [0, 2, 1]
    context = net.add("MatMul", net.add("Transpose", key, perm=turned), value)
    total = net.add("ReduceSum", key, net.numbers(-2), keepdims=1)
    total = net.add("MatMul", query, net.add("Transpose", total, perm=turned))
    mixed = net.add("Div", net.add("MatMul", query, context), total)
    if splits:
        mixed = net.add("Transpose", mixed, perm=[0, 2, 1, 3])
        mixed = net.add("Reshape", mixed, net.numbers(1, _TOKENS, _WIDTH))
    return net.linear(mixed, _WIDTH, _WIDTH)


@pytest.mark.parametrize("heads", [2, 3, 4])
def test_heads_of_linear_attention_are_told(heads: int) -> None:
    net = Network()
    x = net.take("x", (1, _TOKENS, _WIDTH))
    found = recognise(net.finish(_attend(net, x, heads)).graph.nodes)
    assert found is not None
    assert found.text == f"Linear attention, {heads} heads × {_WIDTH // heads}"


def test_linear_attention_without_heads_tells_none() -> None:
    net = Network()
    x = net.take("x", (1, _TOKENS, _WIDTH))
    found = recognise(net.finish(_attend(net, x, 1, splits=False)).graph.nodes)
    assert found is not None
    assert found.text == "Linear attention"


def test_linear_attention_is_no_linear_layer_among_parts() -> None:
    net = Network()
    x = net.take("x", (1, _TOKENS, _WIDTH))
    nodes = net.finish(net.add("Sigmoid", _attend(net, x, 2))).graph.nodes
    known = recognise(nodes[:-1])
    assert known is not None
    parts = {one.name: one for one in find_ingredients(nodes, known=[known])}
    assert parts["Linear attention"].rank == IDEA
    assert parts["Linear attention"].kind != "linear"
