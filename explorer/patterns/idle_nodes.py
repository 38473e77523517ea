"""Nodes that change nothing, as exporters leave them where sizes happen to fit."""

from __future__ import annotations

from netloupe.explorer.costs.value_facts import find_value_facts
from netloupe.explorer.model import Node

from .picked_parts import read_limits, read_parts


def is_idle(node: Node) -> bool:
    """Return whether a node gives what it takes: it pads by nothing, or slices all there is.

    So images whose sizes fit the windows already are padded (Z. Liu and others, Swin Transformer,
    2021, section 3.2, as libraries write it).
    """
    operator = node.operator
    if operator.has("pads"):
        return {*(read_limits(node, "pads", find_value_facts(node.graph.model)) or (None,))} == {0}
    if operator.has("slices"):
        parts = read_parts(node)
        return bool(parts) and all(
            part.start == 0 and part.step == 1 and part.is_to_end for part in parts
        )
    return False
