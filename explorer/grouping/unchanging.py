"""What follows from constants and shapes alone becomes preparation, wherever it was written.

Masks of ones, paddings up to a multiple of a window, places that are counted: for inputs of one
size they are always the same, and who draws the network draws none of them.
"""

from __future__ import annotations

from netloupe.explorer.model import Graph, Node
from netloupe.explorer.patterns import GraphContext, find_graph_context, has_weights
from netloupe.explorer.progress import step

from .group import Group, adopt
from .role_groups import PREPARATION, FreePath
from .shape_groups import consumers_in

#: in a graph of more nodes, and in a group of more children, nobody looks for it
_MOST_OF_GRAPH = 20_000
_MOST_CHILDREN = 300
#: fewer children stay as they are
_LEAST = 3

Child = Group | Node


def group_unchanging(root: Group, free_path: FreePath) -> None:
    """Put children that hang together and depend on no input into groups of preparation.

    What is made of weights is none: it is learned. Linear in nodes and edges.

    Parameters
    ----------
    root
        The tree; changed.
    free_path
        Gives an unused path for a child of a group.
    """
    graph = root.graph
    if len(graph.nodes) > _MOST_OF_GRAPH:
        return
    context = find_graph_context(graph)
    pending = [root]
    while pending:
        group = pending.pop()
        if group.kind in ("operation", "preparation", "postprocessing", "shape"):
            continue
        pending += group.inner_groups()
        if group.kind == "repeat" or not _LEAST < len(group.children) <= _MOST_CHILDREN:
            continue
        step()
        found = [child for child in group.children if _is_unchanging(child, context)]
        if 0 < len(found) < len(group.children):
            for piece in _find_pieces(found, graph):
                if len(piece) >= _LEAST or _goes_on(piece, context):
                    _wrap(group, piece, free_path)


def _is_unchanging(child: Child, context: GraphContext) -> bool:
    """Return whether a node, with what only arranges beside it, takes no input and no weights."""
    if isinstance(child, Group):
        return child.kind == "operation" and all(
            isinstance(inner, Node) and _is_unchanging(inner, context) for inner in child.children
        )
    outputs = [value for value in child.outputs if value is not None]
    return (
        bool(outputs)
        and all(context.is_unchanging(value) and not value.is_output for value in outputs)
        and not child.operator.has("random")
        and not has_weights(child)
    )


def _goes_on(piece: list[Child], context: GraphContext) -> bool:
    """Return whether some children take what is prepared elsewhere."""
    nodes = {node for child in piece for node in _list_nodes(child)}
    return any(
        giver is not None and giver not in nodes and _is_unchanging(giver, context)
        for node in nodes
        for value in node.inputs
        if value is not None and (giver := value.producer) is not None
        and not giver.operator.has("reads_shape", "shape_arithmetic", "stores_constant", "fills")
    )


def _find_pieces(found: list[Child], graph: Graph) -> list[list[Child]]:
    """Return children in lists of those that are joined by what they give each other."""
    homes = {node: place for place, child in enumerate(found) for node in _list_nodes(child)}
    leaders = [*range(len(found))]

    def find(place: int) -> int:
        while leaders[place] != place:
            leaders[place] = leaders[leaders[place]]
            place = leaders[place]
        return place

    for node, place in homes.items():
        for user in consumers_in(node, graph):
            if user in homes:
                leaders[find(homes[user])] = find(place)
    pieces: dict[int, list[Child]] = {}
    for place, child in enumerate(found):
        pieces.setdefault(find(place), []).append(child)
    return [*pieces.values()]


def _list_nodes(child: Child) -> list[Node]:
    if isinstance(child, Node):
        return [child]
    return [inner for inner in child.children if isinstance(inner, Node)]


def _wrap(group: Group, piece: list[Child], free_path: FreePath) -> None:
    """Put some children into a piece of preparation, in the place of the first of them."""
    path = free_path(group, PREPARATION)
    inner = Group("preparation", group.graph, path, PREPARATION, "", group)
    inner.children = [*piece]
    adopt(inner)
    taken = {id(child) for child in piece}
    group.children = [
        inner if child is piece[0] else child
        for child in group.children
        if child is piece[0] or id(child) not in taken
    ]
