"""Levels of what is a U of its own, inside of a larger network: of a block, or of a module."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import NamedTuple

from netloupe.explorer.costs.value_facts import find_value_facts
from netloupe.explorer.model import Node

from .graph_context import GraphContext
from .operations import OUTSIDE, Operations
from .readings import read_ints

#: how often maps become smaller, and larger again, on the way to something
_Way = tuple[int, int]
_LEAST_STEPS = 2
#: what a block is called that is one
NESTED_U = "Nested U"


class NestedLevels(NamedTuple):
    """The levels of a U.

    Parameters
    ----------
    resolutions
        How many there are.
    finest, coarsest
        The most channels of a convolution on the first way at the uppermost and the lowest one; 0
        where they are not known.
    """

    resolutions: int
    finest: int
    coarsest: int


def find_nested_levels(nodes: Sequence[Node], context: GraphContext) -> NestedLevels | None:
    """Return the levels of nodes that are a U altogether; None for others.

    All that leaves has gone down and up again, and what each level had goes across (O. Ronneberger
    and others, U-Net, 2015, figure 1; A. Newell and others, Stacked Hourglass Networks, 2016,
    figure 3). What leaves on the way, as the maps of a pyramid, is no end of a U.
    """
    smaller = sum(_is_smaller(node) for node in nodes)
    larger = sum(_is_larger(node) for node in nodes)
    if min(smaller, larger) < _LEAST_STEPS:
        return None
    operations = Operations(nodes, context)
    numbers = range(len(operations))
    ways, joined = _find_ways(operations, numbers)
    down, up = max(ways.values(), default=(0, 0))
    ends = [ways.get(number) for number in numbers if OUTSIDE in operations.users[number]]
    if not up >= down >= _LEAST_STEPS or joined < down or {*ends} != {(down, up)}:
        return None
    facts = find_value_facts(nodes[0].graph.model)
    channels: dict[_Way, int] = {}
    for number, way in ways.items():
        node = operations.nodes[number]
        if node.operator.has("convolves"):
            dims = facts.find_dims(node.output(0)) or ()
            width = dims[1] if len(dims) > 1 and isinstance(dims[1], int) else 0
            channels[way] = max(channels.get(way, 0), width)
    return NestedLevels(down + 1, channels.get((0, 0), 0), channels.get((down, 0), 0))


def count_nested_levels(operations: Operations, numbers: Collection[int]) -> int:
    """Return on how many levels a block makes maps smaller and as often larger again; 0 for others.

    One behind the other, and what levels had goes across: branches side by side, each with maps of
    its own size, are none. One of the places where they are resized may keep the size, where they
    are fitted to others (X. Qin and others, U²-Net, 2020, figure 2).
    """
    ways, joined = _find_ways(operations, sorted(numbers))
    down, up = max(ways.values(), default=(0, 0))
    return down + 1 if up >= down >= _LEAST_STEPS and joined >= down else 0


def _find_ways(operations: Operations, numbers: Sequence[int]) -> tuple[dict[int, _Way], int]:
    """Return how operations are reached, and how often ways of several kinds are joined.

    Nothing where maps become smaller again behind where they became larger.
    """
    ways: dict[int, _Way] = {}
    joined = 0
    for number in numbers:
        node = operations.nodes[number]
        before = [ways[giver] for giver in operations.givers(number) if giver in ways]
        down, up = max(before, default=(0, 0))
        joined += len({*before}) > 1 and node.operator.has("joins", "adds")
        if _is_larger(node):
            up += 1
        elif _is_smaller(node):
            if up:
                return {}, 0
            down += 1
        ways[number] = down, up
    return ways, joined


def _is_larger(node: Node) -> bool:
    return node.operator.has("transposed", "resamples")


def _is_smaller(node: Node) -> bool:
    operator = node.operator
    works = operator.has("pools", "convolves") and not operator.has("pools_all", "transposed")
    return works and max(read_ints(node, "strides") or (1,)) > 1
