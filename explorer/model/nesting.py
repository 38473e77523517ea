"""Which node of a graph another node is, or is inside of."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .graph import Graph
    from .node import Node


def find_outer_node(node: Node, graph: Graph) -> Node | None:
    """Return the node of a graph that is a node, or whose subgraphs hold it; None for neither."""
    holder: Node | None = node
    while holder is not None and holder.graph is not graph:
        holder = holder.graph.parent_node
    return holder


def is_before(node: Node, other: Node) -> bool:
    """Return whether a node stands before another one: of any graphs, one inside of the other.

    What is inside of a node stands where that does. Nodes of graphs of which none holds the other
    stand beside each other, and neither before the other.
    """
    holder = find_outer_node(other, node.graph)
    if holder is not None:
        return node.index < holder.index
    holder = find_outer_node(node, other.graph)
    return holder is not None and holder.index < other.index
