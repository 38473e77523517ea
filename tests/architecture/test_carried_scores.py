"""Scores of attention that are handed on to the layer behind, and added to its own."""

from __future__ import annotations

import numpy as np
import pytest

from tests.architecture.networks import Network


def attend(net: Network, x: str, before: str, *, is_first: bool) -> tuple[str, str]:
    """Add attention that adds the scores of the layer before; return its result and scores."""
    split = net.numbers(0, -1, 2, 4)
    heads = [net.add("Reshape", net.linear(x, 8, 8), split) for _ in range(3)]
    turns = ([0, 2, 1, 3], [0, 2, 3, 1], [0, 2, 1, 3])
    query, key, value = (
        net.add("Transpose", one, perm=turn) for one, turn in zip(heads, turns, strict=True)
    )
    scores = net.add("MatMul", query, key)
    scores = net.add("Mul", scores, net.store(np.float32(0.5)))
    if before:
        both = (before, scores) if is_first else (scores, before)
        scores = net.add("Add", *both)
    weighed = net.add("MatMul", net.add("Softmax", scores, axis=-1), value)
    joined = net.add("Transpose", weighed, perm=[0, 2, 1, 3])
    return net.linear(net.add("Reshape", joined, net.numbers(0, -1, 8)), 8, 8), scores


@pytest.mark.parametrize("is_first", [True, False])
@pytest.mark.parametrize("count", [2, 3, 6])
def test_layers_that_add_the_scores_before_are_all_told(count: int, is_first: bool) -> None:
    net = Network()
    x = net.linear(net.take("x", ("batch", 16, 3)), 3, 8)
    scores = ""
    for _ in range(count):
        attended, scores = attend(net, x, scores, is_first=is_first)
        x = net.norm(net.add("Add", x, attended), 8)
        x = net.norm(net.add("Add", x, net.feed(x)), 8)
    told = net.finish(net.linear(x, 8, 5), shape=("batch", 16, 5)).architecture.sentence
    assert f"{count} transformer blocks" in told
    assert "2 heads × 4" in told
