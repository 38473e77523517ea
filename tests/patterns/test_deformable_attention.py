"""Attention that looks up what is at places that its queries choose."""

from __future__ import annotations

import numpy as np
import pytest

from netloupe.explorer.patterns import recognise
from tests.architecture.networks import Network

_WIDTH = 8


def _tell(
    *,
    heads: int = 2,
    sides: tuple[int, ...] = (4, 2),
    points: int = 3,
    memory: str = "x",
    queries: str = "added",
    is_masked: bool = False,
) -> str:
    """Return what attention to maps of some sides is told to be."""
    net = Network()
    places = sum(side * side for side in sides)
    x = net.take("x", (1, places, _WIDTH))
    y = net.take("y", (1, places, _WIDTH))
    query = {
        "added": net.add("Add", x, net.take("p", (1, places, _WIDTH))),
        "plain": x,
        "stored": net.weight(1, places, _WIDTH),
    }[queries]
    before = len(net.nodes)
    value = net.linear({"x": x, "y": y}[memory], _WIDTH, _WIDTH)
    if is_masked:
        value = net.add("Where", net.store(np.ones((1, places, 1), bool)), value, net.weight(1))
    value = net.add("Reshape", value, net.numbers(1, places, heads, _WIDTH // heads))
    moved = net.linear(query, _WIDTH, heads * len(sides) * points * 2)
    moved = net.add("Reshape", moved, net.numbers(1, places, heads, len(sides), points, 2))
    shares = net.linear(query, _WIDTH, heads * len(sides) * points)
    shares = net.add("Reshape", shares, net.numbers(1, places, heads, len(sides) * points))
    shares = net.add("Softmax", shares, axis=-1)
    shares = net.add("Transpose", shares, perm=[0, 2, 1, 3])
    shares = net.add("Reshape", shares, net.numbers(heads, 1, places, len(sides) * points))
    grids = net.add("Add", moved, net.weight(1, places, 1, 1, 1, 2))
    found, start = [], 0
    for level, side in enumerate(sides):
        ends = net.numbers(start), net.numbers(start + side * side), net.numbers(1)
        part = net.add("Slice", value, *ends)
        part = net.add("Transpose", part, perm=[0, 2, 3, 1])
        part = net.add("Reshape", part, net.numbers(heads, _WIDTH // heads, side, side))
        grid = net.add("Gather", grids, net.store(np.array(level)), axis=3)
        grid = net.add("Transpose", grid, perm=[0, 2, 1, 3, 4])
        grid = net.add("Reshape", grid, net.numbers(heads, places, points, 2))
        found.append(net.add("GridSample", part, grid))
        start += side * side
    joined = net.add("Concat", *found, axis=-1)
    mixed = net.add("ReduceSum", net.add("Mul", joined, shares), net.numbers(-1), keepdims=0)
    mixed = net.add("Reshape", mixed, net.numbers(1, _WIDTH, places))
    given = net.linear(net.add("Transpose", mixed, perm=[0, 2, 1]), _WIDTH, _WIDTH)
    nodes = net.finish(given).graph.nodes[before:]
    told = recognise(nodes)
    return told.text if told is not None else ""


@pytest.mark.parametrize("is_masked", [True, False])
def test_levels_heads_and_points_are_told(*, is_masked: bool) -> None:
    told = _tell(is_masked=is_masked)
    assert told == "Deformable self-attention, 2 heads × 4, 2 levels × 3 points"
    told = _tell(sides=(4,), points=1, heads=1, is_masked=is_masked)
    assert told == "Deformable self-attention, 1 head × 8, 1 point"


@pytest.mark.parametrize("queries", ["added", "plain", "stored"])
def test_queries_of_another_stream_and_stored_ones_attend_across(queries: str) -> None:
    told = _tell(memory="y", queries=queries)
    assert told == "Cross-attention, deformable, 2 heads × 4, 2 levels × 3 points"


def test_what_samples_its_own_stream_without_positions_is_a_convolution_of_moved_places() -> None:
    assert "attention" not in _tell(queries="plain").lower()
