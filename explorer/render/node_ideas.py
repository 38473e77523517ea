"""What a single node is that does more than its operator says: positions, a layer scale, a mean."""

from __future__ import annotations

from typing import NamedTuple

from netloupe.explorer.model import Node
from netloupe.explorer.patterns.added_positions import read_added_positions
from netloupe.explorer.patterns.scaled_branches import count_averaged, read_layer_scale


class NodeIdea(NamedTuple):
    """What figures call a node.

    Parameters
    ----------
    name
        Instead of its operator.
    facts
        What is known of it.
    category
        Decides its colours; "" where its operator does.
    """

    name: str
    facts: tuple[str, ...] = ()
    category: str = ""


def find_node_idea(node: Node) -> NodeIdea | None:
    """Return what figures call a node; None where its operator says it."""
    positions = read_added_positions(node)
    if positions is not None:
        return NodeIdea("+ positions", positions.facts, "lookup")
    channels = read_layer_scale(node)
    if channels is not None:
        return NodeIdea("Layer scale", (f"{channels:,}",))
    count = count_averaged(node)
    return None if count is None else NodeIdea(f"Mean of {count}")
