"""The view of one graph: what is open, and what each open item holds."""

from __future__ import annotations

from collections.abc import Iterator

from netloupe.explorer.errors import ViewError
from netloupe.explorer.grouping import GROUPINGS, Group, GroupTree, build_group_tree
from netloupe.explorer.model import Graph, Model, Node, Value
from netloupe.explorer.model.paths import CALL

from .children import ChildMaker
from .item import Instance, Item, Link
from .links import list_links
from .stubs import add_stubs
from .wiring import Wiring, body_graphs


class View:
    """A graph with some of its groups open.

    Parameters
    ----------
    model
        The model.
    graph
        The graph that is the outermost level; the main graph where None.
    grouping
        Where groups come from: ``auto``, ``names``, ``modules`` or ``none``.
    only
        Indexes of the graph's nodes that are shown; all where None.

    Raises
    ------
    ViewError
        For an unknown grouping.
    """

    def __init__(
        self,
        model: Model,
        graph: Graph | None = None,
        grouping: str = "auto",
        only: frozenset[int] | None = None,
    ) -> None:
        if grouping not in GROUPINGS:
            raise ViewError(
                f"grouping {grouping!r} is unknown. Choose one of {', '.join(GROUPINGS)}."
            )
        self.model = model
        self.graph = graph or model.graph
        self.grouping = grouping
        self.only = only
        self._wirings: dict[str, Wiring] = {}
        self._maker = ChildMaker(self.wiring, is_partial=only is not None)
        instance = Instance(self.graph, self.graph.path, None)
        self.root = Item("root", self.graph.path, self.graph, instance, None, openable=True)
        self.root.body = instance
        self.items: dict[str, Item] = {}
        self._open(self.root)

    # what is open

    def open(self, path: str) -> Item:
        """Open what is at a path and everything that hides it; return the item.

        Raises
        ------
        ViewError
            Where there is no such item, or it has no inside.
        """
        item = self.reveal(path)
        if not item.openable:
            raise ViewError(
                f"{self.model.source}: {path!r} cannot be opened. Groups, calls of functions "
                "and nodes with subgraphs can."
            )
        self.open_item(item)
        return item

    def close(self, path: str) -> Item:
        """Close the open item at a path; return it.

        Raises
        ------
        ViewError
            Where nothing open is at that path.
        """
        item = self.items.get(path)
        if item is None or not item.is_open or item is self.root:
            raise ViewError(f"{self.model.source}: {path!r} is not an open group.")
        self.close_item(item)
        return item

    def open_item(self, item: Item) -> None:
        """Open an item of this view that can be opened."""
        if not item.is_open:
            self._open(item)

    def close_item(self, item: Item) -> None:
        """Close an open item of this view."""
        self._forget(item)
        item.children = []
        item.stubs = {}
        item.is_open = False

    def reveal(self, path: str) -> Item:
        """Open whatever hides the element at a path; return the item that shows it.

        For a constant this is its first consumer, since constants are rows there; for a value
        it is its producer, or the input itself.

        Raises
        ------
        ViewError
            Where the element is not part of this view's graph.
        """
        item = self.items.get(path) or self.root
        found = item.key == path
        while not found:
            child, found = self._step(item, path)
            if child is None:
                raise ViewError(
                    f"{self.model.source}: there is nothing at {path!r} in the view of "
                    f"{self.graph.path!r}."
                )
            if not found and not child.openable:
                return child
            if not found:
                self.open_item(child)
            item = child
        return item

    def shown(self, path: str) -> Item | None:
        """Return the item drawn now that is or hides the element at a path; None if elsewhere."""
        item: Item = self.items.get(path) or self.root
        found = item.key == path
        while not found:
            child, found = self._step(item, path)
            if child is None:
                return None
            if not child.is_open:
                return child
            item = child
        return item

    def find(self, text: str) -> str | None:
        """Return the path of the group or group of one that a person means; None for none.

        Groups of this view's own graph are found by the ends of their paths, as in ``h.3``.
        """
        found = self.wiring(self.graph).tree.find(text)
        return self.root.instance.path_of(found.path) if found is not None else None

    def open_items(self) -> Iterator[Item]:
        """Yield the root and every open item, outer ones before inner ones."""
        pending = [self.root]
        while pending:
            item = pending.pop()
            yield item
            pending.extend(child for child in reversed(item.children) if child.is_open)

    def wiring(self, graph: Graph) -> Wiring:
        """Return the groups and borders of a graph."""
        wiring = self._wirings.get(graph.path)
        if wiring is None:
            only = self.only if graph is self.graph else None
            wiring = Wiring(build_group_tree(graph, self.grouping, only))
            self._wirings[graph.path] = wiring
        return wiring

    def links(self, item: Item) -> list[Link]:
        """Return the connections between the children of an open item, and to its border."""
        return list_links(item, is_root=item is self.root)

    # finding the way down to an element

    def _step(self, item: Item, path: str) -> tuple[Item | None, bool]:
        """Return the child of an open item that is or holds what is at a path, and which of both.

        The second part is True where the child is the end of the way: it is the element
        itself, or stands for it as a node does for its constants and results.
        """
        body = item.body
        if body is None or not path.startswith(body.prefix):
            return None, False
        for child in item.children:
            if path in (child.key, child.path):
                return child, True
            if child.kind == "branch" and _is_below(path, child.path):
                return child, False
        tree = self.wiring(body.graph).tree
        local = body.graph.path + path[len(body.prefix) :]
        group = tree.groups.get(local)
        if group is not None:
            return self._child_with(item, tree, group), any(
                child.element is group for child in item.children
            )
        single = tree.singles.get(local)
        node, exact = (single, True) if single else self._find_node(body.graph, local)
        if node is None:
            return None, False
        holder = self._child_with(item, tree, node)
        return holder, exact and holder is not None and holder.element is node

    def _find_node(self, graph: Graph, path: str) -> tuple[Node | None, bool]:
        """Return the node that is, shows or holds what is at a path of a graph.

        The second part tells whether the path is not deeper inside the node.
        """
        if path.startswith(f"{graph.path}/%"):
            value = graph.values.get(path[len(graph.path) + 2 :])
            return (self._node_showing(value, graph) if value is not None else None), True
        nodes = self.model.path_index(graph).nodes
        node = nodes.get(path)
        if node is not None:
            if self.wiring(graph).tree.positions[node.index] >= 0:
                return node, True
            value = node.outputs[0]
            return (self._node_showing(value, graph) if value is not None else None), True
        cut = len(path)
        while cut > len(graph.path):
            cut = max(path.rfind(mark, len(graph.path), cut) for mark in ("/", ".", CALL))
            node = nodes.get(path[:cut]) if cut > 0 else None
            if node is not None and body_graphs(node):
                return node, False
        return None, False

    def _node_showing(self, value: Value, graph: Graph) -> Node | None:
        """Return the node that stands for a value: its producer, or its first consumer."""
        tree = self.wiring(graph).tree
        producer = value.producer
        if producer is not None and producer.graph is graph:
            if tree.positions[producer.index] >= 0:
                return producer
            value = next((out for out in producer.outputs if out is not None), value)
        for consumer in value.users:
            node = consumer
            while node.graph is not graph and node.graph.parent_node is not None:
                node = node.graph.parent_node
            if node.graph is not graph:
                continue
            if tree.positions[node.index] >= 0:
                return node
            folded = next((out for out in node.outputs if out is not None), None)
            if folded is not None and folded is not value:
                return self._node_showing(folded, graph)
        return None

    def _child_with(self, item: Item, tree: GroupTree, target: Group | Node) -> Item | None:
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

    # opening

    def _open(self, item: Item) -> None:
        item.is_open = True
        item.children = self._maker.make_children(item)
        add_stubs(item)
        for child in item.children:
            self.items[child.key] = child
        if item is self.root:
            self.items[item.key] = item

    def _forget(self, item: Item) -> None:
        for child in item.children:
            self.items.pop(child.key, None)
            self._forget(child)


def _is_below(path: str, outer: str) -> bool:
    return path.startswith(outer) and (
        outer.endswith("/") or path[len(outer) : len(outer) + 1] in ("/", ".", "(")
    )
