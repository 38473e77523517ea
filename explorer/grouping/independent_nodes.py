"""Nodes between the groups of a parent that take nothing from these groups.

Exporters write what several layers share, such as a mask, where the first of them asks for it: so
it stands between two layers that have nothing to do with it.
"""

from __future__ import annotations

from collections.abc import Sequence, Set
from itertools import takewhile

from netloupe.explorer.dataflow import list_users
from netloupe.explorer.model import Node
from netloupe.explorer.roles import find_weight

from .group import Group
from .kinds import outermost_family
from .member_nodes import list_nodes_inside

#: to tell what a node takes from, so many others are asked at most
_MOST_ASKED = 1_000
#: what fewer children take is between two layers, and not for all of several
_LEAST_SERVED = 3


def find_independent(children: Sequence[Group | Node]) -> list[int]:
    """Return the places of nodes between groups to which none of the groups gives, by any way.

    Groups before the first that is numbered stand before all layers, and may give to them.
    Linear in the nodes of the groups, and in the nodes between them.
    """
    places = [place for place, child in enumerate(children) if isinstance(child, Group)]
    groups = [child for child in children if isinstance(child, Group)]
    labels = {group.label for group in groups}
    before = [*takewhile(lambda group: not _is_numbered(group.label, labels), groups)]
    places = places[len(before) :]
    if len(places) < 2:
        return []
    between = [
        (place, child)
        for place, child in enumerate(children[places[0] : places[-1]], places[0])
        if isinstance(child, Node)
    ]
    if not between:
        return []
    dependent: set[Node] = set()
    pending: list[Group | Node] = [children[place] for place in places]
    while pending:
        child = pending.pop()
        if isinstance(child, Group):
            pending += child.children
        else:
            dependent.add(child)
    independent: set[Node] = set()
    found = []
    for place, node in between:
        if _is_independent(node, dependent, independent):
            found.append(place)
        else:
            dependent.add(node)
    return found


def find_shared(children: Sequence[Group | Node]) -> list[int]:
    """Return the places of nodes that serve several groups, and take nothing from those around.

    Such a node has no weight, and what gives to it stands before the numbered layer before it.
    Linear in the nodes of the children.
    """
    serving = {
        child
        for child in children
        if isinstance(child, Node) and _count_uses(child) >= _LEAST_SERVED
    }
    if not serving or not any(isinstance(child, Group) for child in children):
        return []
    layers: dict[Node, int] = {}  # the last layer before each
    layer = -1
    for place, child in enumerate(children):
        if isinstance(child, Group) or find_weight(child) is not None:
            layer = place if isinstance(child, Node) or outermost_family(child.label) else layer
        elif child in serving and layer >= 0:
            layers[child] = layer
    places: dict[Node, int] = {}
    for place, child in enumerate(children if layers else ()):
        nodes = list_nodes_inside([child]) if isinstance(child, Group) else [child]
        places.update(dict.fromkeys(nodes, place))
    found = []
    for child, layer in layers.items():
        givers = [value.producer for value in child.inputs if value is not None]
        last = max((places.get(giver, -1) for giver in givers if giver is not None), default=layer)
        if last < layer and len({places.get(user) for user in list_users(child)}) >= _LEAST_SERVED:
            found.append(places[child])
    return found


def _count_uses(node: Node) -> int:
    return sum(len(value.users) for value in node.outputs if value is not None)


def _is_numbered(label: str, labels: Set[str]) -> bool:
    """Return whether a label is one of several with numbers, such as calls of a module."""
    return bool(outermost_family(label)) or f"{label}_1" in labels


def _is_independent(node: Node, dependent: set[Node], independent: set[Node]) -> bool:
    """Return whether nothing that a node takes from is dependent; add what it takes from."""
    asked = {node}
    pending = [node]
    while pending:
        one = pending.pop()
        if one in dependent or len(asked) > _MOST_ASKED:
            return False
        for value in (*one.inputs, *one.captures, *one.control_inputs):
            producer = value.producer if value is not None else None
            if producer is not None and producer not in asked and producer not in independent:
                asked.add(producer)
                pending.append(producer)
    independent |= asked
    return True
