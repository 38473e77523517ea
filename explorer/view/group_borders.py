"""Which values cross the border of a group, and what a node takes and gives.

Computed from the graph and kept; of what is open only the hidden shape arithmetic matters,
since nothing is drawn of it and its values are rows on the faces of their consumers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cached_property

import numpy as np

from netloupe.explorer.arrays import sort_distinct
from netloupe.explorer.grouping import Group, GroupTree
from netloupe.explorer.model import Graph, Node, Value

from .edges import EdgeTable, Integers
from .many_values import list_distinct
from .repetitions import Repetitions

#: a border with fewer values than this is not searched for families of inner repeats
LEAST_FAMILY = 4


class GroupBorders:
    """Borders of the groups of one graph.

    Parameters
    ----------
    tree
        The graph's groups.
    """

    def __init__(self, tree: GroupTree) -> None:
        self.tree = tree
        self._edges: EdgeTable | None = None
        self._inputs: dict[Group, tuple[Value, ...]] = {}
        self._outputs: dict[Group, tuple[Value, ...]] = {}
        self._repetitions: dict[Group, Repetitions] = {}
        #: groups of shape arithmetic that are drawn like others instead of being hidden
        self._shown: set[Group] = set()
        #: values that subgraphs use or other nodes wait for
        self._held: set[Value] = set()
        for index in tree.graph.wiring.with_others:
            node = tree.graph.nodes[index]
            self._held.update(node.captures, node.control_inputs)

    @property
    def edges(self) -> EdgeTable:
        """Every use of a value, those within hidden shape arithmetic being hidden."""
        if self._edges is None:
            self._edges = EdgeTable(self.tree)
            self._hide()
        return self._edges

    # hidden shape arithmetic

    @cached_property
    def shape_groups(self) -> tuple[Group, ...]:
        """The groups of shape arithmetic."""
        groups = self.tree.groups.values()
        return tuple(dict.fromkeys(group for group in groups if group.kind == "shape"))

    def is_hidden(self, group: Group) -> bool:
        """Return whether nothing is drawn of a group."""
        return group.kind == "shape" and group not in self._shown

    def set_hidden(self, groups: Iterable[Group], is_hidden: bool) -> None:
        """Hide groups of shape arithmetic, or draw them like other groups.

        What is drawn is so with the shape arithmetic around it.
        """
        if is_hidden:
            self._shown.difference_update(groups)
        else:
            for group in groups:
                around: Group | None = group
                while around is not None and around.kind == "shape":
                    self._shown.add(around)
                    around = around.parent
        self._inputs.clear()
        self._outputs.clear()
        self._repetitions.clear()
        if self._edges is not None:
            self._hide()

    @property
    def shown_shapes(self) -> frozenset[str]:
        """The paths of the shape arithmetic that is drawn."""
        return frozenset(group.path for group in self._shown)

    def show_only(self, paths: Iterable[str]) -> None:
        """Draw the shape arithmetic at some paths, and hide all other."""
        self._shown.clear()
        self.set_hidden(
            [group for path in paths if (group := self.tree.groups.get(path)) is not None], False
        )

    def hidden_group(self, node: Node) -> Group | None:
        """Return the hidden shape arithmetic that a node of this graph is in, at any depth."""
        group = self.tree.group_of(node)
        while group is not None and not self.is_hidden(group):
            group = group.parent
        return group

    def _hide(self) -> None:
        assert self._edges is not None  # noqa: S101 - only called with edges
        hidden = np.zeros(self._edges.count, np.bool_)
        for group in self.shape_groups:
            if self.is_hidden(group):
                hidden[group.low : group.high] = True
        self._edges.hide(hidden)

    # borders

    def node_inputs(self, node: Node) -> tuple[Value, ...]:
        """Return the distinct values that reach a node, constants among them."""
        return list_distinct(filter(None, (*node.inputs, *node.captures, *node.control_inputs)))

    def node_outputs(self, node: Node) -> tuple[Value, ...]:
        """Return the values that a node gives and that are outputs or used by what is drawn."""
        return tuple(value for value in node.outputs if value is not None and self._is_taken(value))

    def _is_taken(self, value: Value) -> bool:
        """Return whether a value is an output, or goes to anything but hidden arithmetic."""
        if value.is_output or value in self._held:
            return True
        if not self.shape_groups:
            return value.is_used
        users = (user for user in value.users if user.graph is self.tree.graph)
        return any(self.hidden_group(user) is None for user in users)

    def group_inputs(self, group: Group) -> tuple[Value, ...]:
        """Return the values used inside a group and produced outside, in order of first use."""
        found = self._inputs.get(group)
        if found is None:
            edges = self.edges
            found = edges.distinct_values(edges.entering(group.low, group.high))
            self._inputs[group] = found
        return found

    def group_outputs(self, group: Group) -> tuple[Value, ...]:
        """Return the values produced inside a group and used outside, in order of production."""
        found = self._outputs.get(group)
        if found is None:
            edges = self.edges
            found = edges.distinct_values(edges.leaving(group.low, group.high))
            self._outputs[group] = found
        return found

    # repeats

    def repetitions(self, group: Group) -> Repetitions:
        """Return how the repetitions of a repeat correspond."""
        found = self._repetitions.get(group)
        if found is None:
            found = Repetitions(group, self.edges, self.tree.positions)
            self._repetitions[group] = found
        return found

    def families(self, group: Group) -> dict[Value, Value]:
        """Return the values that cross a group's border in families, with whom stands for them.

        A family are values that enter or leave the repetitions of one repeat at the same
        place, one for each, such as the past keys of all layers.
        """
        edges = self.edges
        inputs, outputs = self.group_inputs(group), self.group_outputs(group)
        ends: list[Integers] = []
        if len(inputs) >= LEAST_FAMILY or group.kind == "repeat":
            ends.append(edges.targets[edges.entering(group.low, group.high)])
        if len(outputs) >= LEAST_FAMILY or group.kind == "repeat":
            ends.append(edges.sources[edges.leaving(group.low, group.high)])
        if not ends:
            return {}
        found: dict[Value, Value] = {}
        for repeat in self._repeats_around(group, sort_distinct(np.concatenate(ends)).tolist()):
            for value, family in self.repetitions(repeat).families.items():
                found.setdefault(value, found.get(family, family))
        return found

    def _repeats_around(self, group: Group, positions: list[int]) -> list[Group]:
        """Return the repeats in a group that hold nodes at some positions, outer ones first."""
        seen: set[Group] = set()
        repeats: dict[Group, int] = {}
        for position in positions:
            chain: list[Group] = []
            inner = self.tree.group_of(self.edges.nodes[position])
            while inner is not None and inner not in seen:
                seen.add(inner)
                chain.append(inner)
                if inner is group:
                    break
                inner = inner.parent
            for found in chain:
                if found.kind == "repeat":
                    repeats[found] = found.high - found.low
        return sorted(repeats, key=lambda repeat: -repeats[repeat])


def find_constants(values: Iterable[Value], gives_constant: Callable[[Node], bool]) -> set[Value]:
    """Return those of some values that are stored, or that one of certain nodes gives.

    Each node is asked once: it may give a million values.

    Parameters
    ----------
    values
        The values, to be looked through twice.
    gives_constant
        Whether a node is such a one.
    """
    found = {v for v in values if v.initializer is not None or v.is_parameter}
    producers = {value.producer for value in values}
    constant_nodes = {node for node in producers if node is not None and gives_constant(node)}
    if constant_nodes:
        found.update(value for value in values if value.producer in constant_nodes)
    return found


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
