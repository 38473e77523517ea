"""The nodes of a group, at any depth."""

from __future__ import annotations

from collections.abc import Iterable
from operator import attrgetter
from typing import TYPE_CHECKING

from netloupe.explorer.model import Node
from netloupe.explorer.roles import find_weight

if TYPE_CHECKING:
    from .group import Group

_GET_INDEX = attrgetter("index")


def list_nodes_inside(children: Iterable[Group | Node]) -> list[Node]:
    """Return the nodes that some children of a group are or hold, in the order of the children."""
    nodes: list[Node] = []
    pending = [*children][::-1]
    while pending:
        child = pending.pop()
        if isinstance(child, Node):
            nodes.append(child)
            continue
        alone = child.nodes_alone()
        if alone:
            nodes += alone
        else:
            pending += reversed(child.children)
    return nodes


def list_member_nodes(group: Group, most: int) -> list[Node]:
    """Return the nodes of a group at any depth in file order, arithmetic on shapes left out.

    Nothing where there are more than ``most``.
    """
    nodes: list[Node] = []
    pending: list[Group] = [group]
    while pending:
        inner = pending.pop()
        alone = inner.nodes_alone()
        nodes += alone
        for child in inner.children if not alone else ():
            if isinstance(child, Node):
                nodes.append(child)
            elif child.kind != "shape":
                pending.append(child)
        if len(nodes) > most:
            return []
    return sorted(nodes, key=_GET_INDEX)


def is_layer(node: Node) -> bool:
    """Return whether a node has a weight, and is no norm."""
    return node.operator.weight_kind != "normalization" and find_weight(node) is not None
