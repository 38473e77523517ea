"""Which values cross the border of a group, and what a node takes and gives.

Computed from the graph alone and kept, since it does not depend on what is open.
"""

from __future__ import annotations

from netloupe.explorer.grouping import Group, GroupTree
from netloupe.explorer.model import Graph, Node, Value, is_constant


class Wiring:
    """Borders of the groups of one graph.

    Parameters
    ----------
    tree
        The graph's groups.
    """

    def __init__(self, tree: GroupTree) -> None:
        self.tree = tree
        self._inputs: dict[Group, tuple[Value, ...]] = {}
        self._outputs: dict[Group, tuple[Value, ...]] = {}
        self._users: dict[Value, tuple[int, int]] = {}
        #: by value, the nodes that wait for it, and those with a subgraph that uses it or has
        #: it as an output
        self._capturing: dict[Value, list[Node]] = {}
        for node in tree.graph.nodes:
            for value in (*node.captures, *node.control_inputs):
                self._capturing.setdefault(value, []).append(node)

    def node_inputs(self, node: Node) -> tuple[Value, ...]:
        """Return the distinct values that reach a node by an edge, constants left out."""
        values = [value for value in node.inputs if value is not None and not is_constant(value)]
        values += [value for value in node.captures if not is_constant(value)]
        values += node.control_inputs
        return tuple(dict.fromkeys(values))

    def node_outputs(self, node: Node) -> tuple[Value, ...]:
        """Return the values that a node gives and that are used or are outputs."""
        return tuple(
            value for value in node.outputs if value is not None and self._is_wanted(value)
        )

    def _is_wanted(self, value: Value) -> bool:
        return value.is_used or value.is_output or value in self._capturing

    def group_inputs(self, group: Group) -> tuple[Value, ...]:
        """Return the values used inside a group and produced outside, in order of first use."""
        found = self._inputs.get(group)
        if found is None:
            found = self._inputs[group] = tuple(self._find_inputs(group))
        return found

    def _find_inputs(self, group: Group) -> dict[Value, None]:
        graph, positions = self.tree.graph, self.tree.positions
        low, high = group.low, group.high
        found: dict[Value, None] = {}
        for node in self.tree.order[low:high]:
            special = node.captures or node.control_inputs
            for value in self.node_inputs(node) if special else node.inputs:
                if value is None or value in found:
                    continue
                producer = value.producer
                if producer is not None and value.graph is graph:
                    if low <= positions[producer.index] < high:
                        continue
                elif not special and value.initializer is not None:
                    continue
                if special or not is_constant(value):
                    found[value] = None
        return found

    def group_outputs(self, group: Group) -> tuple[Value, ...]:
        """Return the values produced inside a group and used outside, in order of production."""
        found = self._outputs.get(group)
        if found is None:
            found = self._outputs[group] = tuple(
                value
                for node in self.tree.order[group.low : group.high]
                for value in node.outputs
                if value is not None
                and (
                    value.is_output
                    or (self._is_wanted(value) and not self._used_within(value, group))
                )
            )
        return found

    def _used_within(self, value: Value, group: Group) -> bool:
        """Return whether all users of a value are inside a group."""
        users = value.users
        if len(users) == 1 and not self._capturing:
            return group.low <= self._position(users[0]) < group.high
        span = self._users.get(value)
        if span is None:
            positions = [self._position(node) for node in users]
            positions += [self._position(node) for node in self._capturing.get(value, ())]
            span = self._users[value] = (min(positions), max(positions))
        return group.low <= span[0] and span[1] < group.high

    def _position(self, node: Node) -> int:
        """Return where a user stands in this graph; a subgraph's node counts as its caller."""
        graph = self.tree.graph
        while node.graph is not graph and node.graph.parent_node is not None:
            node = node.graph.parent_node
        return self.tree.positions[node.index] if node.graph is graph else -1


def nodes_inside(group: Group) -> list[Node]:
    """Return the nodes of a group at any depth, in the tree's order, constants left out."""
    nodes: list[Node] = []
    pending: list[Group | Node] = list(reversed(group.children))
    while pending:
        child = pending.pop()
        if isinstance(child, Group):
            pending.extend(reversed(child.children))
        else:
            nodes.append(child)
    return nodes


def body_graphs(node: Node) -> tuple[Graph, ...]:
    """Return the graphs that opening a node shows: its subgraphs, or the function it calls."""
    if node.subgraphs:
        return node.subgraphs
    function = node.function
    return (function,) if function is not None else ()
