"""Paths to elements of a graph: which group or node is meant, and which item shows it.

Nothing is opened here; what is hidden or a row on a face leads to the node that shows it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Protocol

from netloupe.explorer.grouping import Group, GroupTree
from netloupe.explorer.model import Model, Node, Value, is_constant_node
from netloupe.explorer.model.paths import CALL, index_nodes

from .group_borders import GroupBorders, body_graphs
from .item import Item


class Hiding(Protocol):
    """The groups of a graph, and which shape arithmetic is hidden: as of a view, or by itself."""

    @property
    def tree(self) -> GroupTree:
        """The groups of the graph."""

    def hidden_group(self, node: Node, /) -> Group | None:
        """Return the hidden shape arithmetic that a node of the graph belongs to."""


class AllHidden:
    """The groups of a graph with all shape arithmetic hidden, as a picture first has it.

    Parameters
    ----------
    tree
        The groups of the graph.
    """

    def __init__(self, tree: GroupTree) -> None:
        self.tree = tree

    def hidden_group(self, node: Node) -> Group | None:
        """Return the shape arithmetic that a node of the graph belongs to."""
        group = self.tree.group_of(node)
        return group if group is not None and group.kind == "shape" else None


def is_below(path: str, outer: str) -> bool:
    """Return whether a path leads to what is inside the element at another."""
    return path.startswith(outer) and (
        outer.endswith("/") or path[len(outer) : len(outer) + 1] in ("/", ".", "(")
    )


def find_target(model: Model, borders: GroupBorders, path: str) -> tuple[Group | Node | None, bool]:
    """Return the group or node that is, shows or holds what is at a path of a graph."""
    group = borders.tree.groups.get(path)
    while group is not None and group.stand_in is not None:
        group = group.stand_in
    if group is not None:
        return group, True
    single = borders.tree.singles.get(path)
    return (single, True) if single is not None else _find_node(model, borders, path)


def _find_node(model: Model, borders: GroupBorders, path: str) -> tuple[Node | None, bool]:
    """Return the node that is, shows or holds what is at a path of a graph.

    The second part tells whether the path is not deeper inside the node.
    """
    graph = borders.tree.graph
    if path.startswith(f"{graph.path}/%"):
        value = graph.values.get(path[len(graph.path) + 2 :])
        return (find_node_showing(borders, value) if value is not None else None), True
    nodes = index_nodes(graph)
    node = nodes.find(path)
    if node is not None:
        if borders.tree.position_of(node) >= 0:
            return node, True
        if not is_constant_node(node):
            return None, True  # outside of the neighbourhood that alone is shown
        value = node.output(0)
        return (find_node_showing(borders, value) if value is not None else None), True
    cut = len(path)
    while cut > len(graph.path):
        cut = max(path.rfind(mark, len(graph.path), cut) for mark in ("/", ".", CALL))
        node = nodes.find(path[:cut]) if cut > 0 else None
        if node is not None and body_graphs(node):
            return node, False
    return None, False


def find_child(item: Item, tree: GroupTree, target: Group | Node) -> Item | None:
    """Return the child that is a group or node, or the group that holds it."""
    for child in item.children:
        element = child.element
        if element is target:
            return child
        if isinstance(element, Group) and element.graph is tree.graph:
            inside = (
                tree.holds(element, target)
                if isinstance(target, Node)
                else element.low <= target.low and target.high <= element.high
            )
            if inside:
                return child
    return None


def find_hidden(borders: GroupBorders, target: Group | Node) -> Group | None:
    """Return the hidden shape arithmetic that an element is or belongs to."""
    if isinstance(target, Node):
        return borders.hidden_group(target)
    return target if borders.is_hidden(target) else None


def list_takers(value: Value) -> Iterator[Node]:
    """Yield the nodes that use a value, those that do through constants in their place.

    A constant node, such as a DequantizeLinear over a stored weight, is drawn as a row on the
    nodes that use what it gives.
    """
    pending, seen = [iter(value.users)], {value}
    told: set[Node] = set()
    while pending:
        user = next(pending[-1], None)
        if user is None:
            pending.pop()
        elif not is_constant_node(user):
            if user not in told:
                told.add(user)
                yield user
        else:
            for given in user.outputs:
                if given is not None and given not in seen:
                    seen.add(given)
                    pending.append(iter(given.users))


def find_node_showing(borders: Hiding, value: Value) -> Node | None:
    """Return the node that stands for a value: its producer, or the one where it is a row."""
    tree = borders.tree
    producer = value.producer
    if producer is not None and producer.graph is tree.graph:
        if tree.position_of(producer) >= 0:
            if borders.hidden_group(producer) is None:
                return producer
            return _first_consumer(borders, value, is_drawn=True) or producer
        value = next((out for out in producer.outputs if out is not None), value)
    drawn = _first_consumer(borders, value, is_drawn=True)
    return drawn or _first_consumer(borders, value, is_drawn=False)


def _first_consumer(borders: Hiding, value: Value, *, is_drawn: bool) -> Node | None:
    """Return the first node of a graph that uses a value, through constants if need be.

    Where ``is_drawn``, nodes of hidden shape arithmetic do not count.
    """
    tree = borders.tree
    graph = tree.graph
    for consumer in value.users:
        node = consumer
        while node.graph is not graph and node.graph.parent_node is not None:
            node = node.graph.parent_node
        if node.graph is not graph:
            continue
        if tree.position_of(node) >= 0:
            if is_drawn and borders.hidden_group(node) is not None:
                continue
            return node
        if not is_constant_node(node):
            continue  # outside of the neighbourhood that alone is shown
        constant = next((out for out in node.outputs if out is not None), None)
        if constant is not None and constant is not value:
            return find_node_showing(borders, constant)
    return None


def find_first_user(borders: Hiding, group: Group) -> Node | None:
    """Return the first drawn node that takes what hidden shape arithmetic gives."""
    pending = [node for node in group.children if isinstance(node, Node)]
    seen = set(pending)
    for node in pending:
        for value in node.outputs:
            for consumer in value.users if value is not None else ():
                user = consumer
                while user.graph is not node.graph and user.graph.parent_node is not None:
                    user = user.graph.parent_node
                if user.graph is not node.graph or user in seen:
                    continue
                if borders.hidden_group(user) is None and borders.tree.position_of(user) >= 0:
                    return user
                seen.add(user)
                pending.append(user)
    return None
