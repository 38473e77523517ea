"""Shape arithmetic: nodes that only compute the shapes, ranges and indices others work with.

Exporters write ``x.view(batch, -1)`` as a chain from Shape through Gather, Unsqueeze and Concat
to Reshape. Such integers mean nothing of their own, so that they are shown as text on the nodes
that use them. A node belongs to them if

- it reads a shape, or is one of a few operators over constants and other such nodes, and
- all its results go to such nodes, or to operands that only tell a shape.

So does what only changes layout or type, where nothing is asked of the result but its shape.

Which operators these are, the dialect knows.

Two passes over the nodes in file order, one forward and one backward: linear time.
"""

from __future__ import annotations

from netloupe.explorer.dataflow import list_users
from netloupe.explorer.model import Graph, Node, Value, find_nodes_with, is_constant_node
from netloupe.explorer.operators import ARITHMETIC_TRAITS

#: what only changes layout or type
_LAYOUT = ("casts", "copies", "permutes", "reshapes")


def find_shape_nodes(graph: Graph) -> set[int]:
    """Return the indexes of the nodes of a graph that only do arithmetic on shapes."""
    nodes, own = graph.nodes, graph.dialect.domain
    sources = find_nodes_with(graph, "reads_shape").tolist()
    if not any(nodes[index].domain == own for index in sources):
        return set()
    derived = bytearray(len(nodes))
    for node in nodes:
        operator = node.operator
        if operator.has("reads_shape"):
            derived[graph.index_of(node)] = node.domain == own
        elif operator.has("shape_arithmetic") and node.domain == own and not node.subgraphs:
            derived[graph.index_of(node)] = all(
                value is None or _is_known(value, graph, derived) for value in node.inputs
            )
    accepted: set[int] = set()
    for node in reversed(nodes):
        if derived[graph.index_of(node)] and not is_constant_node(node):
            is_accepted = _only_tells(node, accepted)
        else:
            # sums of zeros with what is wanted have its shape, as exporters write broadcasting
            is_fit = node.operator.has(*_LAYOUT, *ARITHMETIC_TRAITS) and node.domain == own
            is_accepted = is_fit and _is_only_measured(node, accepted)
        if is_accepted:
            accepted.add(node.index)
    return _reach_from_shapes(graph, accepted)


def _is_known(value: Value, graph: Graph, derived: bytearray) -> bool:
    """Return whether a value is a constant or comes from shape arithmetic before."""
    if value.initializer is not None:
        return True
    producer = value.producer
    return (
        producer is not None
        and producer.graph is graph
        and (bool(derived[graph.index_of(producer)]) or is_constant_node(producer))
    )


def _only_tells(node: Node, accepted: set[int]) -> bool:
    """Return whether all results of a node are used, and only to tell shapes."""
    used = False
    for value in node.outputs:
        if value is None:
            continue
        if value.is_output:
            return False
        for consumer, index in value.consumers:
            used = True
            if consumer.graph is node.graph and consumer.index in accepted:
                continue
            if not consumer.operator.arranges(index):
                return False
    return used


def _is_only_measured(node: Node, accepted: set[int]) -> bool:
    """Return whether a node is used, and only for the shapes of its results."""
    users = list_users(node)
    return (
        bool(users)
        and all(
            user.graph is node.graph
            and (user.operator.has("reads_shape") or user.index in accepted)
            for user in users
        )
        and not any(value is not None and value.is_output for value in node.outputs)
    )


def _reach_from_shapes(graph: Graph, accepted: set[int]) -> set[int]:
    """Return those that hang together with a Shape or Size.

    Arithmetic on nothing but constants is left alone.
    """
    neighbours: dict[int, list[int]] = {index: [] for index in accepted}
    for index in accepted:
        for value in graph.nodes[index].inputs:
            producer = value.producer if value is not None else None
            if producer is not None and producer.graph is graph and producer.index in accepted:
                neighbours[index].append(producer.index)
                neighbours[graph.index_of(producer)].append(index)
    pending = [index for index in accepted if graph.nodes[index].operator.has("reads_shape")]
    reached = set(pending)
    # what takes from an ordinary node's integers by way of one that is not accepted counts too
    pending += [
        index
        for index in accepted
        if index not in reached and _takes_computed(graph.nodes[index], accepted)
    ]
    reached.update(pending)
    while pending:
        for other in neighbours[pending.pop()]:
            if other not in reached:
                reached.add(other)
                pending.append(other)
    return reached


def _takes_computed(node: Node, accepted: set[int]) -> bool:
    return any(
        value is not None
        and value.producer is not None
        and (value.producer.graph is not node.graph or value.producer.index not in accepted)
        and not is_constant_node(value.producer)
        for value in node.inputs
    )
