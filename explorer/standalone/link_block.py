"""Which nodes are one edge apart, so that a page finds the neighbourhood of an element.

Integers of the block (see :mod:`.blocks`), of the nodes of the graph that a page shows, in the
order of the graph. A path is told by its number among the texts of the levels, -1 where it has no
place there; a node by its number in the graph, from 0 on.

============== ============================================================
column         content
============== ============================================================
``paths``      of each node its path
``around``     of each node the path of the innermost group around it, -1 without one
``counts``     how many neighbours each node has
``neighbours`` these, each as the difference from the node's own number
``constants``  nodes that give a constant
``values``     path, node that gives it (-1: none), count of nodes that use it
``users``      these nodes
============== ============================================================
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from netloupe.explorer.model import Graph, Node, Value, is_constant_node
from netloupe.explorer.view import View
from netloupe.explorer.view.focus import list_neighbours

from .blocks import write_block
from .level_block import IntegerColumns


def write_links(view: View, numbers: Mapping[str, int]) -> bytes:
    """Return the block of the links between the nodes of a view's graph.

    Parameters
    ----------
    view
        What the page shows.
    numbers
        Of each path at which something is shown its number among the texts of the levels.
    """
    graph = view.graph
    tree = view.borders(graph).tree
    columns = IntegerColumns(
        *("paths", "around", "counts", "neighbours", "constants", "values", "users")
    )
    for node in graph.nodes:
        around = tree.group_of(node)
        while around is not None and around.path not in numbers:
            around = around.parent
        linked = dict.fromkeys(map(graph.index_of, list_neighbours(node, graph)))
        columns.add("paths", (numbers.get(node.path, -1),))
        columns.add("around", (-1 if around is None else numbers[around.path],))
        columns.add("counts", (len(linked),))
        columns.add("neighbours", (index - node.index for index in linked))
        if is_constant_node(node):
            columns.add("constants", (node.index,))
    for value in _list_values(graph):
        number = numbers.get(value.path, -1)
        if number < 0:
            continue
        producer = value.producer
        users = dict.fromkeys(user.index for user in value.users if user.graph is graph)
        giver = -1 if producer is None else graph.index_of(producer)
        columns.add("values", (number, giver, len(users)))
        columns.add("users", users)
    return write_block(columns.integers, {})


def _list_values(graph: Graph) -> Iterator[Value]:
    """Yield the values that belong to a graph, each once."""
    seen: set[Value] = set()

    def list_of(node: Node) -> Iterator[Value | None]:
        yield from node.outputs
        yield from node.inputs
        yield from node.captures
        yield from node.control_inputs

    for value in (*graph.inputs, *(value for node in graph.nodes for value in list_of(node))):
        if value is not None and value.graph is graph and value not in seen:
            seen.add(value)
            yield value
