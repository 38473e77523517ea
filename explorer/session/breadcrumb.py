"""The breadcrumb of a graph: from the main graph through the nodes that hold it."""

from __future__ import annotations

from netloupe.explorer.model import Graph, Model, Node


def make_breadcrumb(model: Model, graph: Graph) -> list[list[str]]:
    """Return path and label of each graph from the main one to one that is shown."""
    breadcrumb: list[list[str]] = []
    around: Graph | None = graph
    while around is not None:
        label = around.name or around.path
        if around.parent_node is not None:
            node = around.parent_node
            label = f"{node.name.rsplit('/', 1)[-1] or node.op_type}.{around.parent_attribute}"
        elif around is model.graph:
            label = "main"
        breadcrumb.append([around.path, label])
        around = around.parent_node.graph if around.parent_node is not None else None
    if breadcrumb[-1][0] != model.graph.path:
        breadcrumb.append([model.graph.path, "main"])
    return breadcrumb[::-1]


def find_caller(inner: Graph, outer: Graph) -> Node | None:
    """Return the node of a graph that holds another one at whatever depth; None for none."""
    while inner.parent_node is not None:
        if inner.parent_node.graph is outer:
            return inner.parent_node
        inner = inner.parent_node.graph
    return None


def find_outermost(graph: Graph) -> Graph:
    """Return the graph that holds a subgraph at whatever depth; itself where nothing does."""
    while graph.parent_node is not None:
        graph = graph.parent_node.graph
    return graph
