"""The pill of a closed group in which all is quantized in the same way."""

from __future__ import annotations

from netloupe.explorer.grouping import Group
from netloupe.explorer.model import Node
from netloupe.explorer.quantization import node_badge
from netloupe.explorer.roles import find_weight

#: more nodes than a layer with its norm and activation has
_MOST_NODES = 24


def find_group_badge(group: Group) -> str:
    """Return what all layers of a small group say of their quantization; "" where they differ.

    Norms do not count: they keep their weights where layers are quantized. Where there are no
    layers, what quantizes and dequantizes the operands and results says it.
    """
    if group.node_count > _MOST_NODES:
        return ""
    found: set[str] = set()
    around: set[str] = set()
    pending = [*group.children]
    while pending:
        child = pending.pop()
        if isinstance(child, Group):
            pending += child.children
        elif _is_layer(child):
            found.add(node_badge(child) or "")
        elif child.operator.has("quantizes", "dequantizes"):
            around.add(node_badge(child) or "")
    told = found or around
    return told.pop() if len(told) == 1 else ""


def _is_layer(node: Node) -> bool:
    weight = find_weight(node)
    return weight is not None and weight.kind != "normalization"
