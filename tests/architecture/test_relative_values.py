"""Attention whose weights multiply a table of distances beside the values."""

from __future__ import annotations

import pytest

from tests.architecture.networks import Network

_HEADS, _SIZE, _TOKENS = 2, 4, 6
_WIDTH = _HEADS * _SIZE


def _attend(net: Network, x: str, *, is_of_weights: bool) -> str:
    split = net.numbers(0, -1, _HEADS, _SIZE)
    query, key, value = (net.add("Reshape", net.linear(x, _WIDTH, _WIDTH), split) for _ in range(3))
    query = net.add("Transpose", query, perm=[0, 2, 1, 3])
    key = net.add("Transpose", key, perm=[0, 2, 3, 1])
    value = net.add("Transpose", value, perm=[0, 2, 1, 3])
    weights = net.add("Softmax", net.add("MatMul", query, key), axis=-1)
    result = net.add("MatMul", weights, value)
    source, taken = (weights, _TOKENS) if is_of_weights else (result, _SIZE)
    padded = net.add("Pad", source, net.numbers(0, 0, 0, 0, 0, 0, 0, _TOKENS - 1))
    table = net.weight(taken + _TOKENS - 1, _SIZE)
    total = net.add("Add", result, net.add("MatMul", padded, table))
    joined = net.add("Transpose", total, perm=[0, 2, 1, 3])
    joined = net.add("Reshape", joined, net.numbers(0, -1, _WIDTH))
    return net.linear(joined, _WIDTH, _WIDTH)


@pytest.mark.parametrize("is_of_weights", [True, False])
def test_a_table_of_distances_belongs_to_attention(*, is_of_weights: bool) -> None:
    net = Network()
    x = net.take("x", (1, _TOKENS, _WIDTH))
    for _ in range(3):
        x = net.norm(net.add("Add", x, _attend(net, x, is_of_weights=is_of_weights)), _WIDTH)
        x = net.norm(net.add("Add", x, net.feed(x)), _WIDTH)
    told = net.finish(x).architecture.sentence
    assert ("linear layer" in told) is not is_of_weights
    assert "3 blocks" in told or "3 transformer blocks" in told
