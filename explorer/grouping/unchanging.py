"""What follows from constants and shapes alone is hidden as they are, wherever it was written.

Masks of ones, paddings up to a multiple of a window, places that are counted: for inputs of one
size they are always the same, and who draws the network draws none of them.
"""

from __future__ import annotations

from collections.abc import Sequence

from netloupe.explorer.model import Node
from netloupe.explorer.operators import LAYOUT_TRAITS
from netloupe.explorer.patterns import GraphContext, find_graph_context, has_weights
from netloupe.explorer.progress import step
from netloupe.explorer.roles import find_weight

from .group import Group, adopt
from .joined_children import find_joined_children, list_inner_nodes
from .role_groups import PREPARATION, FreePath

#: in a graph of more nodes, and in a group of more children, nobody looks for it
_MOST_OF_GRAPH = 20_000
_MOST_CHILDREN = 300
#: what a group of them is called, where nothing in it has a name
_LABEL = "constants"
_AND = " · "

#: what gives something stored in another shape, or in parts
_ARRANGING = (*LAYOUT_TRAITS, "broadcasts", "scatters", "slices", "splits")

Child = Group | Node


def group_unchanging(root: Group, free_path: FreePath) -> None:
    """Put children that hang together and depend on no input into groups that are hidden.

    They are of kind ``shape``, as arithmetic on shapes is. What is made of weights is none: it is
    learned. Linear in nodes and edges.

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
    fit = _find_unchanging(_list_shown(root), find_graph_context(graph))
    pending = [root] if fit else []
    while pending:
        group = pending.pop()
        if group.kind in ("operation", "preparation", "postprocessing", "shape"):
            continue
        pending += group.inner_groups()
        if group.kind == "repeat" or not 1 < len(group.children) <= _MOST_CHILDREN:
            continue
        step()
        found = [child for child in group.children if _is_unchanging(child, fit)]
        if 0 < len(found) < len(group.children):
            for piece in find_joined_children(found, graph):
                _wrap(group, piece, free_path)


def _list_shown(root: Group) -> list[Node]:
    """Return the nodes of a tree that are not hidden already."""
    found: list[Node] = []
    pending = [root]
    while pending:
        for child in pending.pop().children:
            if isinstance(child, Node):
                found.append(child)
            elif child.kind != "shape":
                pending.append(child)
    return found


def _find_unchanging(shown: Sequence[Node], context: GraphContext) -> frozenset[Node]:
    """Return the nodes that take no input and compute with nothing that may be learned.

    What only arranges something learned is among them. Looked at are nodes that are shown, and what
    these are computed of.
    """
    fit: set[Node] = set()
    arranged: set[Node] = set()
    learned: set[Node] = set()
    for node in _list_before(shown, context):
        outputs = [value for value in node.outputs if value is not None]
        operator = node.operator
        givers = {value.producer for value in node.inputs if value is not None}
        is_scale = any(giver is not None and giver.operator.has("quantizes") for giver in givers)
        if operator.has("random") or any(value.is_output for value in outputs):
            continue
        if is_scale or not learned.isdisjoint(givers):
            learned.add(node)
        elif not arranged.isdisjoint(givers) or has_weights(node):
            # what is learned, in another shape, or what is computed of it
            (arranged if _arranges(node) else learned).add(node)
        else:
            fit.add(node)
    return frozenset(fit | arranged)


def _list_before(shown: Sequence[Node], context: GraphContext) -> list[Node]:
    """Return the nodes whose results depend on no input, and those they are of, in their order."""
    found: set[Node] = set()
    pending = [*shown]
    while pending:
        node = pending.pop()
        outputs = [value for value in node.outputs if value is not None]
        if node in found or not outputs or not all(map(context.is_unchanging, outputs)):
            continue
        found.add(node)
        givers = (value.producer for value in node.inputs if value is not None)
        pending += [giver for giver in givers if giver is not None and giver.graph is node.graph]
    return sorted(found, key=context.graph.index_of)


def _arranges(node: Node) -> bool:
    """Return whether a node gives what it takes in another shape, or a part of it.

    What takes rows of a table by several indices looks them up: that is a layer.
    """
    operator = node.operator
    is_picked = operator.has("looks_up") and find_weight(node) is None
    return is_picked or operator.has(*_ARRANGING)


def _is_unchanging(child: Child, fit: frozenset[Node]) -> bool:
    """Return whether a child is a node that is fit, or holds nothing but such nodes.

    Modules of an author stay, and what is of a known kind: positions that waves tell.
    """
    if isinstance(child, Node):
        return child in fit
    if child.kind not in ("block", "operation", "preparation", "repeat"):
        return False
    if not fit.issuperset(list_inner_nodes(child)):
        return False
    is_simple = child.kind in ("operation", "preparation")
    return not (child.inner_groups() if is_simple else _tells_something(child))


def _tells_something(group: Group) -> bool:
    """Return whether a group is of a known kind, or holds a module of the author's."""
    pending = [group]
    while pending:
        inner = pending.pop()
        if inner.recognised is not None or (inner.kind == "scope" and not inner.names_operator):
            return True
        pending += inner.inner_groups()
    return False


def _wrap(group: Group, piece: list[Child], free_path: FreePath) -> None:
    """Put some children into one hidden group, in the place of the first of them.

    What was prepared keeps its name.
    """
    if len(piece) == 1 and isinstance(piece[0], Group) and piece[0].kind == "preparation":
        piece[0].kind = "shape"
        return
    prepared = [one for one in piece if isinstance(one, Group) and one.kind == "preparation"]
    names = dict.fromkeys(one.label for one in prepared if not one.label.startswith(PREPARATION))
    label = _AND.join(names) or _LABEL
    inner = Group("shape", group.graph, free_path(group, label), label, "", group)
    for child in piece:
        is_prepared = isinstance(child, Group) and child.kind == "preparation"
        inner.children += list_inner_nodes(child) if is_prepared else [child]
    adopt(inner)
    taken = {id(child) for child in piece}
    group.children = [
        inner if child is piece[0] else child
        for child in group.children
        if child is piece[0] or id(child) not in taken
    ]
