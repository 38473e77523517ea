"""What follows from constants and shapes alone is hidden as they are, wherever it was written.

Masks of ones, paddings up to a multiple of a window, places that are counted: for inputs of one
size they are always the same, and who draws the network draws none of them.
"""

from __future__ import annotations

from collections.abc import Sequence

from netloupe.explorer.costs.value_facts import find_value_facts
from netloupe.explorer.dataflow import find_of_shapes
from netloupe.explorer.model import Node, Value, is_constant_node
from netloupe.explorer.operators import ARITHMETIC_TRAITS, LAYOUT_TRAITS
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

#: axes of a batch of maps of channels
_OF_MAP = 4
#: what gives something stored in another shape, or in parts
_ARRANGING = (*LAYOUT_TRAITS, "broadcasts", "scatters", "slices", "splits")

Child = Group | Node


def group_unchanging(root: Group, free_path: FreePath) -> None:
    """Put children that hang together and depend on no input into groups that are hidden.

    They are of kind ``shape``, as arithmetic on shapes is. What is made of weights is none, for
    that is learned, unless it only makes the weight of a layer. Linear in nodes and edges.

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
    fit, composed = _find_unchanging(_list_shown(root), find_graph_context(graph))
    pending = [root] if fit else []
    while pending:
        group = pending.pop()
        if group.kind in ("operation", "preparation", "postprocessing", "shape"):
            continue
        pending += group.inner_groups()
        if group.kind == "repeat" or not 1 < len(group.children) <= _MOST_CHILDREN:
            continue
        step()
        found = [child for child in group.children if _is_unchanging(child, fit, composed)]
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


def _find_unchanging(
    shown: Sequence[Node], context: GraphContext
) -> tuple[frozenset[Node], frozenset[Node]]:
    """Return the nodes that take no input and are not shown, and those that compose a weight.

    The former compute with nothing that may be learned, or only arrange something learned, or
    compose a weight. Looked at are nodes that are shown, and what these are computed of.
    """
    fit: set[Node] = set()
    arranged: set[Node] = set()
    learned: set[Node] = set()
    quantized: set[Node] = set()
    before = _list_before(shown, context)
    for node in before:
        outputs = [value for value in node.outputs if value is not None]
        operator = node.operator
        givers = {value.producer for value in node.inputs if value is not None}
        is_scale = any(giver is not None and giver.operator.has("quantizes") for giver in givers)
        if operator.has("random") or any(value.is_output for value in outputs):
            continue
        if is_scale or operator.has("quantizes", "dequantizes") or not quantized.isdisjoint(givers):
            quantized.add(node)
            learned.add(node)
        elif not learned.isdisjoint(givers):
            learned.add(node)
        elif not arranged.isdisjoint(givers) or has_weights(node):
            # what is learned, in another shape, or what is computed of it
            (arranged if _arranges(node) else learned).add(node)
        else:
            fit.add(node)
    layers = _find_layers(before)
    rest = [node for node in before if node not in quantized and node not in layers]
    composed = _find_composed(rest, context)
    return frozenset(fit | arranged | composed), composed


def _find_composed(before: Sequence[Node], context: GraphContext) -> frozenset[Node]:
    """Return the nodes that compute a weight of what is stored, and nothing else.

    So a matrix is made of two triangles (D. Kingma and P. Dhariwal, Glow, 2018, section 3.2), and
    parameters are kept positive. Learned queries are compared, and are no weight.
    """
    composed: set[Node] = set()
    for node in reversed(before):
        outputs = [value for value in node.outputs if value is not None]
        uses = [(user, value) for value in outputs for user in value.users]
        if node.operator.has("random") or any(value.is_output for value in outputs):
            continue
        if uses and all(
            user in composed or _is_weight(user, value, context) for user, value in uses
        ):
            composed.add(node)
    return frozenset(composed)


def _find_layers(before: Sequence[Node]) -> set[Node]:
    """Return the layers whose weight is stored, and what is computed of what these give.

    So learned queries are projected, and a step of a recurrent layer begins with zeros.
    """
    layers: set[Node] = set()
    for node in before:
        if _is_layer(node) or any(
            value is not None and value.producer in layers for value in node.inputs
        ):
            layers.add(node)
    return layers


def _is_layer(node: Node) -> bool:
    """Return whether a node multiplies what it takes by what is stored, or looks up rows of it."""
    weight, second = find_weight(node), node.input(1)
    if weight is not None:
        return weight.index > 0 or node.operator.has("looks_up")
    giver = second.producer if second is not None else None
    return node.operator.has("multiplies") and (giver is None or is_constant_node(giver))


def _is_weight(user: Node, value: Value, context: GraphContext) -> bool:
    """Return whether a value is the weight or the bias of a layer, or scales or shifts channels."""
    operator = user.operator
    place = max(number for number, taken in enumerate(user.inputs) if taken is value)
    if operator.has("convolves"):
        return place > 0
    if all(one is None or context.is_unchanging(one) for one in user.inputs):
        return False
    if operator.has(*ARITHMETIC_TRAITS):
        return _is_of_channels(user, value)
    return operator.has("multiplies") and not operator.has("attends")


def _is_of_channels(user: Node, value: Value) -> bool:
    """Return whether a value is one number, or has one for each channel of what a node gives."""
    facts = find_value_facts(user.graph.model)
    dims, given = facts.find_dims(value), facts.find_dims(user.output(0))
    if dims is None or given is None:
        return False
    axes = [place - len(dims) for place, dim in enumerate(dims) if dim != 1]
    channels = {-1} if len(given) < _OF_MAP else {1 - len(given)}
    return not axes or (len(axes) == 1 and axes[0] in channels)


def _list_before(shown: Sequence[Node], context: GraphContext) -> list[Node]:
    """Return the nodes whose results depend on no input, and those they are of, in their order."""
    found: set[Node] = set()
    pending = [*shown]
    if not context.measures_scales:  # few nodes are of shapes
        of_shapes = find_of_shapes(context.graph)
        pending = [node for node in shown if of_shapes[context.graph.index_of(node)]]
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


def _is_unchanging(child: Child, fit: frozenset[Node], composed: frozenset[Node]) -> bool:
    """Return whether a child is a node that is fit, or holds nothing but such nodes.

    Modules of an author stay, unless they compose a weight, and what is of a known kind: positions
    that waves tell.
    """
    if isinstance(child, Node):
        return child in fit
    if child.kind == "scope":
        inner = list_inner_nodes(child)
        return bool(inner) and composed.issuperset(inner)
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
