"""Puts shape arithmetic into a tree: each connected piece where its consumers are."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from operator import attrgetter

from netloupe.explorer.model import Graph, Node, find_outer_node

from .group import Group
from .parts import MOST_CHILDREN

_LABEL = "shape arithmetic"
_GET_INDEX = attrgetter("index")


def add_shape_groups(
    root: Group, shape_nodes: frozenset[int], free_path: Callable[[Group, str], str]
) -> None:
    """Add groups of kind ``shape`` to a tree.

    A node belongs to the innermost group that holds all nodes that use it, but not to a
    repeat itself, whose children are its repetitions. Nodes of one home that hang together
    are one group, which stands before the first of its consumers. Linear in nodes and edges
    times the depth of the tree.

    Parameters
    ----------
    root
        The tree without these nodes.
    shape_nodes
        Indexes of the nodes.
    free_path
        Gives an unused path for a child of a group.
    """
    if not shape_nodes:
        return
    graph = root.graph
    homes = Homes(root)
    for index in sorted(shape_nodes, reverse=True):
        homes.settle(graph.nodes[index], shape_nodes)
    pieces = connect_nodes(graph, shape_nodes, homes.of_node)
    by_home: dict[Group, list[list[int]]] = {}
    for piece in pieces:
        by_home.setdefault(homes.of_node[piece[0]], []).append(piece)
    for home, own in by_home.items():
        if len(home.children) + len(own) > MOST_CHILDREN:
            own = [sorted(index for piece in own for index in piece)]
        _insert(home, own, homes, free_path)


class Homes:
    """The innermost group of every node, and how groups lie in one another."""

    def __init__(self, root: Group) -> None:
        self.graph = root.graph
        self.root = root
        self.of_node: dict[int, Group] = {}
        self._depths: dict[Group, int] = {root: 0}
        pending = [root]
        while pending:
            group = pending.pop()
            inner = group.inner_groups()
            nodes = [c for c in group.children if isinstance(c, Node)] if inner else group.children
            self.of_node.update(dict.fromkeys(map(_GET_INDEX, nodes), group))
            self._depths.update(dict.fromkeys(inner, self._depths[group] + 1))
            pending += inner

    def settle(self, node: Node, shape_nodes: frozenset[int]) -> None:
        """Find the home of a node from those of its consumers."""
        self.of_node[self.graph.index_of(node)] = self.around(consumers_in(node, self.graph))

    def around(self, nodes: Iterable[Node]) -> Group:
        """Return the innermost group that holds some nodes and is no repeat itself."""
        found: Group | None = None
        for node in nodes:
            home = self.of_node.get(self.graph.index_of(node))
            if home is not None and home is not found:
                found = home if found is None else self._join(found, home)
        if found is None:
            found = self.root
        while found.kind == "repeat" and found.parent is not None:
            found = found.parent
        return found

    def add(self, group: Group, home: Group) -> None:
        """Note that a group with all its nodes lies in another one."""
        self._depths[group] = self._depths[home] + 1
        for node in group.nodes_alone():
            self.of_node[self.graph.index_of(node)] = group

    def _join(self, group: Group, other: Group) -> Group:
        while group is not other:
            if self._depths[group] < self._depths[other]:
                group, other = other, group
            assert group.parent is not None  # noqa: S101 - only the root has none
            group = group.parent
        return group

    def child_holding(self, home: Group, node: Node) -> Group | Node | None:
        """Return the child of a group that is or holds a node."""
        if node.graph is not self.graph:
            return None
        child: Group | Node = node
        parent = self.of_node.get(node.index)
        while parent is not None and parent is not home:
            child, parent = parent, parent.parent
        return child if parent is home else None


def consumers_in(node: Node, graph: Graph) -> Iterator[Node]:
    """Yield the nodes of a graph that use a node's results; a subgraph's node is its caller."""
    for value in node.outputs:
        for consumer in value.users if value is not None else ():
            holder = find_outer_node(consumer, graph)
            if holder is not None:
                yield holder


def connect_nodes(
    graph: Graph, nodes: Collection[int], homes: Mapping[int, Group] | None = None
) -> list[list[int]]:
    """Return nodes that hang together, in pieces: those of one home, where homes are given."""
    leader = {index: index for index in nodes}

    def find(index: int) -> int:
        while leader[index] != index:
            leader[index] = leader[leader[index]]
            index = leader[index]
        return index

    for index in nodes:
        for consumer in consumers_in(graph.nodes[index], graph):
            other = graph.index_of(consumer)
            if other in leader and (homes is None or homes[other] is homes[index]):
                leader[find(index)] = find(other)
    pieces: dict[int, list[int]] = {}
    for index in sorted(nodes):
        pieces.setdefault(find(index), []).append(index)
    return list(pieces.values())


def _insert(
    home: Group, pieces: list[list[int]], homes: Homes, free_path: Callable[[Group, str], str]
) -> None:
    graph = home.graph
    places = {id(child): place for place, child in enumerate(home.children)}
    before: dict[int, list[Group | Node]] = {}
    for piece in pieces:
        shape = Group("shape", graph, free_path(home, "shape"), _LABEL, "", home)
        shape.children = [graph.nodes[index] for index in piece]
        users = [
            homes.child_holding(home, consumer)
            for index in piece
            for consumer in consumers_in(graph.nodes[index], graph)
        ]
        found = [places[id(user)] for user in users if id(user) in places]
        before.setdefault(min(found, default=len(home.children)), []).append(shape)
    children: list[Group | Node] = []
    for place, child in enumerate(home.children):
        children += before.get(place, [])
        children.append(child)
    home.children = children + before.get(len(home.children), [])
