"""Levels of a block that is a U of its own, inside of a larger network."""

from __future__ import annotations

from collections.abc import Collection

from .operations import Operations
from .readings import read_ints


def count_nested_levels(operations: Operations, numbers: Collection[int]) -> int:
    """Return on how many levels a block makes maps smaller and as often larger again; 0 for others.

    One behind the other, and what levels had goes across: branches side by side, each with maps of
    its own size, are none. One of the places where they are resized may keep the size, where they
    are fitted to others (X. Qin and others, U²-Net, 2020, figure 2).
    """
    ways: dict[int, tuple[int, int]] = {}
    joined = 0
    for number in sorted(numbers):
        operator = operations.nodes[number].operator
        before = [ways[giver] for giver in operations.givers(number) if giver in ways]
        down, up = max(before, default=(0, 0))
        joined += len({*before}) > 1 and operator.has("joins", "adds")
        if operator.has("transposed", "resamples"):
            up += 1
        elif operator.has("pools", "convolves") and not operator.has("pools_all"):
            is_smaller = max(read_ints(operations.nodes[number], "strides") or (1,)) > 1
            if is_smaller and up:
                return 0  # down again
            down += is_smaller
        ways[number] = down, up
    down, up = max(ways.values(), default=(0, 0))
    return down + 1 if up >= down > 1 and joined >= down else 0
