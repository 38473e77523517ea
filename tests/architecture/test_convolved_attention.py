"""Attention whose queries, keys and values convolutions of single channels give."""

from __future__ import annotations

import pytest
from onnx import helper

from tests.architecture.networks import Network

_WIDTH = 8


def _attend(net: Network, x: str, *, is_deep: bool) -> str:
    """Add attention over the channels of a map of 8 × 8 places."""
    wide = net.conv(x, _WIDTH, 3 * _WIDTH, 1)
    groups = 3 * _WIDTH if is_deep else 1
    deep = net.conv(wide, 3 * _WIDTH, 3 * _WIDTH, group=groups)
    parts = [f"{deep}_{letter}" for letter in "qkv"]
    net.nodes.append(helper.make_node("Split", [deep], parts, axis=1, num_outputs=3))
    rows = net.numbers(0, 2, _WIDTH // 2, 64)
    query, key, value = (net.add("Reshape", part, rows) for part in parts)
    query, key = (net.add("LpNormalization", one, axis=-1) for one in (query, key))
    scores = net.add("MatMul", query, net.add("Transpose", key, perm=[0, 1, 3, 2]))
    weighed = net.add("MatMul", net.add("Softmax", scores, axis=-1), value)
    joined = net.add("Reshape", weighed, net.numbers(0, _WIDTH, 8, 8))
    return net.conv(joined, _WIDTH, _WIDTH, 1)


@pytest.mark.parametrize("is_deep", [True, False])
def test_what_attention_takes_is_part_of_it(*, is_deep: bool) -> None:
    net = Network()
    x = net.conv(net.take("x", (1, 3, 8, 8)), 3, _WIDTH)
    for _ in range(4):
        x = net.add("Add", x, _attend(net, x, is_deep=is_deep))
    told = net.finish(net.conv(x, _WIDTH, 3)).architecture.sentence
    assert "4 cross-covariance attentions" in told or "4 blocks" in told
    # of a convolution that mixes channels it is said that there is one
    assert ("blocks" in told) is not is_deep, told
