"""Which child of a group each node that only arranges values joins: the operation it serves."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

from netloupe.explorer.model import Graph, Node, Value, is_constant
from netloupe.explorer.roles import Roles

from .group import Group
from .shape_groups import Homes, consumers_in

#: a node with so many users is looked at no further
_MOST_USERS = 100

Child = Group | Node
#: lists the children around a node
Look = Callable[[Node], "list[Child | None]"]


class NodeHomes:
    """Tells which child of a group holds a node; homes are looked up where that is no child."""

    def __init__(self, root: Group) -> None:
        self._root = root
        self._homes: Homes | None = None
        self._direct: tuple[Group | None, list[Child], set[Node]] = (None, [], set())

    @property
    def _known(self) -> Homes:
        if self._homes is None:
            self._homes = Homes(self._root)
        return self._homes

    def child_holding(self, group: Group, node: Node) -> Child | None:
        """Return the child of a group that is or holds a node."""
        if self._direct[0] is not group or self._direct[1] is not group.children:
            nodes = {child for child in group.children if isinstance(child, Node)}
            self._direct = group, group.children, nodes
        return node if node in self._direct[2] else self._known.child_holding(group, node)

    def find(self, node: Node) -> Group | None:
        """Return the home of a node."""
        known = self._known
        return known.of_node.get(known.graph.index_of(node))

    def settle(self, node: Node, home: Group) -> None:
        """Note that a node was put into another group."""
        if self._homes is not None:
            self._homes.of_node[home.graph.index_of(node)] = home

    def add(self, group: Group, home: Group) -> None:
        """Note that a new group lies in another one."""
        if self._homes is not None:
            self._homes.add(group, home)


class ArrangementTargets:
    """The children of one group, and which of them the nodes that arrange join."""

    def __init__(
        self,
        group: Group,
        homes: NodeHomes,
        roles: Roles,
        labels: Mapping[int, str],
        loose: Sequence[Node],
        ending: frozenset[int] = frozenset(),
    ) -> None:
        self._group, self._homes, self._roles, self._labels = group, homes, roles, labels
        #: those that join what gives to them, and nothing else
        self._ending = ending
        self._loose = {node.index for node in loose}
        self._chosen: dict[int, Child] = {}

    def choose(self, loose: Sequence[Node]) -> Mapping[int, Child]:
        """Return what nodes, in the file's order, join; by their indices.

        First what alone takes their results, then what alone gives to them, in the end also
        sums and groups in which several take them.
        """
        for is_last in (False, True):
            for node in reversed(loose):
                self._try(node, self._list_users, is_last, onward=True)
            for node in loose:
                self._try(node, self._list_givers, is_last, onward=False)
        return self._chosen

    def list_preparation(self, nodes: Sequence[Node]) -> list[Node]:
        """Return those of some nodes, in the file's order, to which no node with a weight gives."""
        found: dict[Node, None] = {}
        for node in nodes:
            if self._roles.of(node) == "preparation" or all(
                value.producer is not None
                and value.producer.graph is self._graph  # what is around has roles of its own
                and (
                    value.producer in found
                    or self._roles.of(value.producer) in ("shape", "preparation")
                )
                for value in list_taken(node)
            ):
                found[node] = None
        return [*found]

    def resolve(self, child: Child) -> Child:
        """Return what a child was joined to in the end, or itself."""
        while isinstance(child, Node) and child.index in self._chosen:
            child = self._chosen[child.index]
        return child

    def _try(self, node: Node, look: Look, is_last: bool, *, onward: bool) -> None:
        if node.index in self._chosen or (onward and node.index in self._ending):
            return
        heads = {id(head): head for head in map(self._resolve, look(node))}
        head = next(iter(heads.values())) if len(heads) == 1 else None
        if head is not None and head is not node and self._takes(head, node, is_last, onward):
            self._chosen[node.index] = head

    def _resolve(self, child: Child | None) -> Child | None:
        return None if child is None else self.resolve(child)

    def _list_users(self, node: Node) -> list[Child | None]:
        """Return the children that use a node's results; None for what is elsewhere."""
        found: list[Child | None] = [
            None for value in node.outputs if value is not None and value.is_output
        ]
        for count, user in enumerate(consumers_in(node, self._graph)):
            if count > _MOST_USERS:
                return [None]
            if self._roles.of(user) != "shape":
                found.append(self._homes.child_holding(self._group, user))
        return found

    @property
    def _graph(self) -> Graph:
        return self._group.graph

    def _list_givers(self, node: Node) -> list[Child | None]:
        """Return the children that give to a node; None for what is elsewhere."""
        found: list[Child | None] = []
        for value in list_taken(node):
            producer = value.producer
            if producer is None or producer.graph is not self._graph:
                found.append(None)
            elif self._roles.of(producer) != "shape":
                found.append(self._homes.child_holding(self._group, producer))
        return found

    def _takes(self, head: Child, node: Node, is_last: bool, onward: bool) -> bool:
        """Return whether a node may join a child."""
        while isinstance(head, Group):
            if head.kind == "repeat":
                return False
            if head.kind == "preparation":
                return self._roles.of(node) == "preparation"
            around = consumers_in(node, self._graph) if onward else list_producers(node)
            inner = {
                id(child): child
                for other in around
                if (child := self._homes.child_holding(head, other)) is not None
            }
            if len(inner) != 1:
                return is_last
            (head,) = inner.values()
        if head.index in self._loose:
            return False  # it has to be put somewhere itself
        if head.subgraphs or head.function is not None:
            return False  # what is inside of it counts more
        return is_last or not self._is_sum(head)

    def _is_sum(self, node: Node) -> bool:
        """Return whether a node joins streams, all of them computed: it is drawn as a circle."""
        operands = [value for value in node.inputs if value is not None]
        return (
            node.operator.has("adds", "multiplies_elements", "subtracts")
            and node.index not in self._labels
            and len(operands) > 1
            and not any(map(is_constant, operands))
        )


def list_taken(node: Node) -> Iterator[Value]:
    """Yield the operands of a node that are computed, and what its subgraphs take."""
    for value in (*node.inputs, *node.captures):
        if value is not None and not is_constant(value):
            yield value


def list_producers(node: Node) -> Iterator[Node]:
    """Yield the nodes that give computed operands to a node."""
    for value in list_taken(node):
        if value.producer is not None:
            yield value.producer
