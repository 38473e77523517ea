"""UNets with nodes between both ways, of which each is joined with all before it on its level."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from .outline import Outline
from .resolutions import Resolutions

NESTED_UNET = "Nested UNet"
#: what is joined first is of the way down, and of the level below
_LEAST_JOINED = 2


def is_nested(outline: Outline, resolutions: Resolutions, ups: Sequence[Fraction]) -> bool:
    """Return whether one node is on the lowest level of a way up, two on the next, and so on.

    Z. Zhou and others, UNet++, 2018, figure 1 and equation 1: on each level the first one takes two
    values, and each other one more than that before it.
    """
    joined: dict[Fraction, list[int]] = {factor: [] for factor in ups}
    for number, node in enumerate(outline.operations.nodes):
        found = resolutions[number]
        if node.operator.has("joins") and found.is_up and found.factor in joined:
            joined[found.factor].append(len(outline.operations.operands[number]))
    return len(ups) > 1 and all(
        sorted(joined[factor]) == [*range(_LEAST_JOINED, _LEAST_JOINED + place)]
        for place, factor in enumerate(sorted(ups, reverse=True), 1)
    )


def write_nested(levels: int) -> str:
    """Return how many nodes there are on so many levels of a way up."""
    nodes = levels * (levels + 1) // 2
    return f"{levels:,} levels down, {nodes:,} nested nodes that join all before on their level"
