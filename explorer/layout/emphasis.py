"""Where the nodes are that matter more than others, as what differs from another model."""

from __future__ import annotations

from bisect import bisect_left

from netloupe.explorer.grouping import Group
from netloupe.explorer.model import Graph, Node
from netloupe.explorer.model.emphasised import find_emphasised
from netloupe.explorer.view import Item, View, body_graphs

#: where more of all nodes matter, none matters more than others
_MOST_SPECIAL = 0.5


class Emphasis:
    """The nodes of a view's model that a first view is to show."""

    def __init__(self, view: View) -> None:
        self._view = view
        self._nodes = find_emphasised(view.model)
        self._positions: dict[Graph, list[int]] = {}
        self._held: dict[Graph, int] = {}
        #: by graph, how many such nodes it has itself
        self._own: dict[Graph, list[Node]] = {}
        for node in self._nodes:
            self._own.setdefault(node.graph, []).append(node)

    @property
    def is_special(self) -> bool:
        """Whether some nodes matter more than others."""
        return 0 < len(self._nodes) <= _MOST_SPECIAL * self._view.model.node_count

    def is_in(self, item: Item) -> bool:
        """Return whether opening an item shows such nodes among others."""
        count = self.count(item)
        element = item.element
        if isinstance(element, Group) and element.node_count == count > 0:
            return False  # all of it does: that can be said of it as a whole
        return count > 0

    def count(self, item: Item) -> int:
        """Return how many such nodes are inside an item."""
        element = item.element
        if isinstance(element, Group):
            positions = self._find_positions(element.graph)
            return bisect_left(positions, element.high) - bisect_left(positions, element.low)
        if isinstance(element, Node):
            return sum(map(self._count_held, body_graphs(element)))
        return self._count_held(element) if isinstance(element, Graph) else 0

    def _find_positions(self, graph: Graph) -> list[int]:
        """Return the positions, in the order of the groups, of nodes that matter or hold some."""
        found = self._positions.get(graph)
        if found is None:
            tree = self._view.borders(graph).tree
            nodes = {*self._own.get(graph, ())}
            nodes.update(node for node in self._list_holders(graph) if self._holds(node))
            places = (tree.position_of(node) for node in nodes)
            found = self._positions[graph] = sorted(place for place in places if place >= 0)
        return found

    def _list_holders(self, graph: Graph) -> list[Node]:
        has_functions = bool(self._view.model.functions)
        return [n for n in graph.nodes if n.subgraphs or (has_functions and n.function)]

    def _holds(self, node: Node) -> bool:
        return any(self._count_held(inner) for inner in body_graphs(node))

    def _count_held(self, graph: Graph) -> int:
        """Return how many such nodes a graph has, those of graphs inside included."""
        known = self._held.get(graph)
        if known is None:
            self._held[graph] = 0  # of a function that calls itself
            inner = [body for node in self._list_holders(graph) for body in body_graphs(node)]
            known = len(self._own.get(graph, ())) + sum(map(self._count_held, inner))
            self._held[graph] = known
        return known
