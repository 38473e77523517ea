"""The pill of a closed group in which all is quantized in the same way."""

from __future__ import annotations

from netloupe.explorer.grouping import Group
from netloupe.explorer.model import Node
from netloupe.explorer.quantization import node_badge
from netloupe.explorer.roles import find_weight

#: in a group of more nodes nobody waits for all of them to be asked
_MOST_NODES = 4_096
#: between the type and how many weights share a scale
_AND = " · "


def find_group_badge(group: Group) -> str:
    """Return what all layers of a group say of their quantization; "" where they differ.

    Norms do not count: they keep their weights where layers are quantized. Where there are no
    layers, what quantizes and dequantizes the operands and results says it. Of layers that share
    a type and not how many weights share a scale, the type alone is said.
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
    types = {badge.partition(_AND)[0] for badge in told}
    return told.pop() if len(told) == 1 else types.pop() if len(types) == 1 else ""


def _is_layer(node: Node) -> bool:
    weight = find_weight(node)
    return weight is not None and weight.kind != "normalization"
