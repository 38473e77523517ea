"""The nodes of a group that compute, in the order of the file."""

from __future__ import annotations

from typing import TYPE_CHECKING

from netloupe.explorer.model import Node

if TYPE_CHECKING:
    from .group import Group


def list_member_nodes(group: Group, most: int) -> list[Node]:
    """Return the nodes of a group at any depth in file order, arithmetic on shapes left out.

    Nothing where there are more than ``most``.
    """
    nodes: list[Node] = []
    pending: list[Group] = [group]
    while pending:
        inner = pending.pop()
        for child in inner.children:
            if isinstance(child, Node):
                nodes.append(child)
            elif child.kind != "shape":
                pending.append(child)
        if len(nodes) > most:
            return []
    return sorted(nodes, key=lambda node: node.index)
