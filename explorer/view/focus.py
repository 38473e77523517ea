"""Focus: the neighbourhood of an element instead of the whole graph."""

from __future__ import annotations

from collections.abc import Iterable

from netloupe.explorer.model import Graph, Node, is_constant_node


def find_neighbourhood(graph: Graph, seeds: Iterable[Node], hops: int) -> frozenset[int]:
    """Return the indexes of the nodes that are at most so many edges from one of the seeds.

    Edges count in both directions; constants and inputs of the graph connect nothing.
    """
    found = {node.index for node in seeds if node.graph is graph}
    border = [graph.nodes[index] for index in sorted(found)]
    for _ in range(hops):
        following = []
        for node in border:
            for neighbour in list_neighbours(node, graph):
                index = graph.index_of(neighbour)
                if index not in found:
                    found.add(index)
                    following.append(neighbour)
        border = following
        if not border:
            break
    return frozenset(found)


def list_neighbours(node: Node, graph: Graph) -> Iterable[Node]:
    """Yield the nodes of a graph that are one edge from a node, some several times."""
    for value in (*node.inputs, *node.captures, *node.control_inputs):
        producer = value.producer if value is not None else None
        if producer is not None and producer.graph is graph and not is_constant_node(producer):
            yield producer
    for value in node.outputs:
        for consumer in value.users if value is not None else ():
            user = consumer
            while user.graph is not graph and user.graph.parent_node is not None:
                user = user.graph.parent_node
            if user.graph is graph:
                yield user
