"""Attention that samples its own stream at places that the queries choose."""

from __future__ import annotations

import numpy as np
import pytest
from onnx import TensorProto

from tests.architecture.networks import Network

_WIDTH = 8
_PLACES = 2


def _sample(net: Network, query: str, memory: str, *, is_masked: bool) -> str:
    """Add attention over a map of 4 × 4 places, each of which is a query."""
    value = net.linear(memory, _WIDTH, _WIDTH)
    if is_masked:
        value = net.add("Where", "padding", net.store(np.float32(0)), value)
    value = net.add("Reshape", net.add("Transpose", value, perm=[0, 2, 1]), net.numbers(0, 0, 4, 4))
    places = net.add(
        "Reshape", net.linear(query, _WIDTH, 2 * _PLACES), net.numbers(0, 0, _PLACES, 2)
    )
    places = net.add("Add", places, net.weight(1, 16, 1, 2))
    grid = net.add("Sub", net.add("Mul", places, net.weight(1)), net.weight(1))
    weights = net.add("Softmax", net.linear(query, _WIDTH, _PLACES), axis=-1)
    weights = net.add("Reshape", weights, net.numbers(0, 1, 16, _PLACES))
    weighed = net.add("Mul", net.add("GridSample", value, grid), weights)
    total = net.add("ReduceSum", weighed, net.numbers(-1), keepdims=0)
    return net.linear(net.add("Transpose", total, perm=[0, 2, 1]), _WIDTH, _WIDTH)


def _tell(*, is_masked: bool = False, has_positions: bool = True, is_other: bool = False) -> str:
    net = Network()
    x = net.take("x", (1, 16, _WIDTH))
    memory = net.linear(net.take("y", (1, 16, _WIDTH)), _WIDTH, _WIDTH) if is_other else ""
    if is_masked:
        net.take("padding", (1, 16, 1), TensorProto.BOOL)
    x = net.linear(x, _WIDTH, _WIDTH)
    for _ in range(3):
        query = net.add("Add", x, net.weight(1, 16, _WIDTH)) if has_positions else x
        attended = _sample(net, query, memory or x, is_masked=is_masked)
        x = net.norm(net.add("Add", x, attended), _WIDTH)
        x = net.norm(net.add("Add", x, net.feed(x)), _WIDTH)
    return net.finish(x).architecture.sentence


@pytest.mark.parametrize("is_masked", [True, False])
def test_queries_sample_their_own_stream(*, is_masked: bool) -> None:
    assert "3 deformable transformer blocks" in _tell(is_masked=is_masked)


@pytest.mark.parametrize("case", [{"has_positions": False}, {"is_other": True}])
def test_another_stream_or_no_positions_are_no_deformable_blocks(case: dict[str, bool]) -> None:
    assert "deformable transformer block" not in _tell(**case)
