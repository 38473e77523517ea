"""Finds groups that give to what gives to them."""

from __future__ import annotations

from collections.abc import Iterator

from netloupe.explorer.grouping import Group, GroupTree
from netloupe.explorer.model import Node

Child = Group | Node


def list_circles(tree: GroupTree) -> Iterator[list[Child]]:
    """Yield for each group of a tree those children that values come back to, if there are some.

    Arithmetic on shapes does not count.
    """
    pending = [tree.root]
    for group in pending:
        pending += group.inner_groups()
        children = [c for c in group.children if not (isinstance(c, Group) and c.kind == "shape")]
        owners = {
            node.index: place for place, child in enumerate(children) for node in nodes_of(child)
        }
        givers: list[set[int]] = [set() for _ in children]
        for index, place in owners.items():
            for value in tree.graph.nodes[index].inputs:
                if value is not None and value.producer is not None:
                    giver = owners.get(value.producer.index, place)
                    if giver != place and value.graph is tree.graph:
                        givers[place].add(giver)
        left = {*range(len(children))}
        while free := {place for place in left if not givers[place] & left}:
            left -= free
        if left:
            yield [children[place] for place in sorted(left)]


def nodes_of(child: Child) -> Iterator[Node]:
    """Yield the nodes of a child at any depth, but those of arithmetic on shapes."""
    if isinstance(child, Node):
        yield child
    elif child.kind != "shape":
        for inner in child.children:
            yield from nodes_of(inner)
