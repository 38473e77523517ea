"""The view of one graph: what is open, and what each open item holds."""

from __future__ import annotations

from collections.abc import Iterator

from netloupe.explorer.errors import ViewError
from netloupe.explorer.grouping import GROUPINGS, Group, GroupTree, build_group_tree
from netloupe.explorer.model import (
    Graph,
    Model,
    Node,
    Value,
    constant_tensor,
    describe_constant,
    is_constant,
)
from netloupe.explorer.model.paths import CALL

from .bodies import bind_body
from .item import BORDER, ConstantRow, Instance, Item, Link, LinkKind
from .stubs import add_stubs
from .wiring import Wiring, body_graphs

#: an open call inside the call of the same function would go on for ever; this deep is shown
MAX_CALL_DEPTH = 40


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
        for consumer, _ in value.consumers:
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
        item.children = self._make_children(item)
        add_stubs(item)
        for child in item.children:
            self.items[child.key] = child
        if item is self.root:
            self.items[item.key] = item

    def _forget(self, item: Item) -> None:
        for child in item.children:
            self.items.pop(child.key, None)
            self._forget(child)

    def _make_children(self, item: Item) -> list[Item]:
        element = item.element
        if item.kind == "group" and isinstance(element, Group):
            item.body = item.instance
            return self._members(item, element)
        if item.kind in ("root", "branch") and isinstance(element, Graph):
            return self._graph_children(item, element)
        if isinstance(element, Node):
            bodies = body_graphs(element)
            if len(bodies) == 1:
                item.body = self._enter(item, element, bodies[0])
                return self._graph_children(item, bodies[0])
            item.body = item.instance
            return [self._make_branch(item, element, body) for body in bodies]
        return []

    def _enter(self, caller: Item, node: Node, graph: Graph) -> Instance:
        """Return the occurrence of a node's body inside its item."""
        if graph.kind == "function":
            prefix = caller.path + CALL
        else:
            prefix = caller.instance.path_of(graph.path)
        instance = Instance(graph, prefix, caller)
        bind_body(instance, node)
        return instance

    def _make_branch(self, caller: Item, node: Node, graph: Graph) -> Item:
        body = self._enter(caller, node, graph)
        branch = Item(
            "branch",
            body.prefix,
            graph,
            caller.instance,
            caller,
            label=graph.parent_attribute,
            openable=True,
        )
        branch.body = body
        wiring = self.wiring(graph)
        captured = wiring.group_inputs(wiring.tree.root)
        outer = [value for value in captured if value.graph is not graph]
        outer += [value for value in graph.outputs if value.graph is not graph]
        given = [operand for operand in body.bindings.values() if operand is not None]
        branch.inputs = tuple(
            dict.fromkeys(value for value in [*given, *outer] if not is_constant(value))
        )
        wanted = set(caller.outputs)
        branch.outputs = tuple(
            dict.fromkeys(
                outer for outers in body.results.values() for outer in outers if outer in wanted
            )
        )
        return branch

    def _graph_children(self, item: Item, graph: Graph) -> list[Item]:
        """Return the nodes and groups of a graph with its inputs and outputs where drawn."""
        assert item.body is not None  # noqa: S101 - set by the caller
        body = item.body
        members = self._members(item, self.wiring(graph).tree.root)
        known = {value for member in members for value in member.outputs}
        used = {value for member in members for value in member.inputs}
        partial = self.only is not None and body.caller is None
        inputs = []
        for value in graph.inputs:
            if partial and value not in used:
                continue
            if not self._is_row(body, value) and not self._is_bound(body, value):
                inputs.append(self._terminal("input", value, item, body))
                known.add(value)
        if body.caller is None:
            # nothing is around: what comes from elsewhere gets a box too
            for member in members:
                for value in member.inputs:
                    if value not in known:
                        known.add(value)
                        inputs.append(self._terminal("input", value, item, body))
        outputs = []
        for value in dict.fromkeys(graph.outputs):
            if partial and value not in known:
                continue
            if self._is_row(body, value):
                inputs.append(self._terminal("constant", value, item, body))
            if body.caller is not None and body.results.get(value):
                continue
            if value not in known and body.caller is None and value.graph is not graph:
                inputs.append(self._terminal("input", value, item, body))
            outputs.append(self._terminal("output", value, item, body))
        return [*inputs, *members, *outputs]

    def _is_bound(self, body: Instance, value: Value) -> bool:
        """Return whether an edge reaches a formal input from an operand outside.

        A constant operand is a row on the caller and has no edge. What a loop carries may
        begin as a constant but does not stay one, so that it needs a box inside.
        """
        operand = body.bindings.get(value)
        caller = body.caller
        return (
            caller is not None
            and operand is not None
            and not self._is_row(caller.instance, operand)
        )

    def _terminal(self, kind: str, value: Value, parent: Item, body: Instance) -> Item:
        own = value.graph is body.graph
        path = f"{body.prefix}/%{value.key}" if own else value.path
        key = path if kind == "input" else f"{path} {kind}"
        if not own and body.caller is not None:
            key = f"{key} of {body.prefix}"  # the same value may stand in several branches
        item = Item(
            kind,  # type: ignore[arg-type]
            path,
            resolve_operand(body, value)[0] if kind == "constant" else value,
            body,
            parent,
            key=key,
            label=value.name,
        )
        if kind == "output":
            item.inputs = (value,)
        else:
            item.outputs = (value,)
        return item

    def _members(self, parent: Item, group: Group) -> list[Item]:
        assert parent.body is not None  # noqa: S101 - set before children are made
        body = parent.body
        return [
            self._make_group(parent, body, child)
            if isinstance(child, Group)
            else self._make_node(parent, body, child)
            for child in group.children
        ]

    def _make_group(self, parent: Item, body: Instance, group: Group) -> Item:
        wiring = self.wiring(body.graph)
        item = Item(
            "group",
            body.path_of(group.path),
            group,
            body,
            parent,
            label=group.label,
            openable=True,
        )
        inputs = wiring.group_inputs(group)
        item.inputs = tuple(value for value in inputs if not self._is_row(body, value))
        item.outputs = wiring.group_outputs(group)
        return item

    def _make_node(self, parent: Item, body: Instance, node: Node) -> Item:
        wiring = self.wiring(body.graph)
        item = Item(
            "node",
            body.path_of(node.path),
            node,
            body,
            parent,
            label=wiring.tree.node_labels.get(node.index, ""),
            openable=bool(body_graphs(node)) and self._may_enter(body),
        )
        rows = []
        for index, value in enumerate(node.inputs):
            if value is not None and self._is_row(body, value):
                rows.append(self._constant_row(body, index, value))
        item.constants = tuple(rows)
        inputs = wiring.node_inputs(node)
        item.inputs = tuple(value for value in inputs if not self._is_row(body, value))
        item.outputs = wiring.node_outputs(node)
        return item

    def _may_enter(self, body: Instance) -> bool:
        depth = 0
        caller = body.caller
        while caller is not None:
            depth, caller = depth + 1, caller.instance.caller
        return depth < MAX_CALL_DEPTH

    def _is_row(self, body: Instance, value: Value) -> bool:
        """Return whether a value is a constant here: its own, or its caller's operand."""
        origin, _ = resolve_operand(body, value)
        return is_constant(origin)

    def _constant_row(self, body: Instance, index: int, value: Value) -> ConstantRow:
        origin, instance = resolve_operand(body, value)
        path = f"{instance.prefix}/%{origin.key}" if origin.graph is instance.graph else origin.path
        return ConstantRow(index, constant_tensor(origin), describe_constant(origin), path)

    # connections

    def links(self, item: Item) -> list[Link]:
        """Return the connections between the children of an open item, and to its border."""
        assert item.body is not None  # noqa: S101 - open items have a body
        body = item.body
        crosses = item is not self.root and body is not item.instance
        producers: dict[Value, list[int]] = {}
        for index, child in enumerate(item.children):
            if child.kind != "stub":
                for value in child.outputs:
                    producers.setdefault(value, []).append(index)
        links: list[Link] = []
        for index, child in enumerate(item.children):
            for value in child.inputs:
                kind = _link_kind(child, value)
                stub = item.stubs.get((child.key, value))
                if stub is not None:
                    links.append(Link(stub, index, value, value, value, kind))
                    continue
                sources = producers.get(value)
                if sources is not None and child.kind == "output":
                    sources = [source for source in sources if source != index]
                if sources:
                    links += [Link(s, index, value, value, value, kind) for s in sources]
                elif item is not self.root:
                    outer = body.bindings.get(value) if crosses else None
                    links.append(Link(BORDER, index, value, outer or value, value, kind))
        if item is not self.root:
            links += self._links_out(item, producers, crosses)
        return links

    def _links_out(
        self, item: Item, producers: dict[Value, list[int]], crosses: bool
    ) -> Iterator[Link]:
        """Yield the connections from children to the border of an open item."""
        assert item.body is not None  # noqa: S101 - open items have a body
        if not crosses:
            for value in item.outputs:
                for source in producers.get(value, ()):
                    yield Link(source, BORDER, value, value, value)
            return
        wanted = set(item.outputs)
        for inner, outers in item.body.results.items():
            for outer in outers:
                if outer not in wanted:
                    continue
                sources = producers.get(inner, ())
                for source in sources:
                    yield Link(source, BORDER, inner, inner, outer)
                if not sources:
                    origin = item.body.bindings.get(inner) or inner
                    yield Link(BORDER, BORDER, inner, origin, outer)


def resolve_operand(body: Instance, value: Value) -> tuple[Value, Instance]:
    """Follow a formal input of a function to the operand of the outermost call that gives it.

    Inputs of subgraphs are not followed: a Loop or Scan gives them another value in each turn.

    Returns
    -------
    tuple
        The value that is found in the end, and the occurrence whose graph it belongs to.
    """
    instance = body
    while instance.caller is not None:
        while value.graph is not instance.graph and instance.caller is not None:
            # a captured value belongs to a graph around
            instance = instance.caller.instance
        operand = instance.bindings.get(value)
        if operand is None or instance.caller is None or instance.graph.kind != "function":
            break
        value = operand
        instance = instance.caller.instance
    return value, instance


def _link_kind(child: Item, value: Value) -> LinkKind:
    node = child.element
    if child.kind == "branch":
        bindings = child.body.bindings.values() if child.body is not None else ()
        return "data" if value in bindings else "captured"
    if child.kind == "node" and isinstance(node, Node):
        if value in node.inputs:
            return "data"
        return "control" if value in node.control_inputs else "captured"
    return "data"


def _is_below(path: str, outer: str) -> bool:
    return path.startswith(outer) and (
        outer.endswith("/") or path[len(outer) : len(outer) + 1] in ("/", ".", "(")
    )
