"""Like single nodes side by side, each between the same two boxes: one stack.

Where one module is called for every channel or step, what stands between two calls is a node for
each. A figure of dozens of sums side by side shows nothing else; one stack says how many there are.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence

from netloupe.explorer.dataflow import is_input_independent
from netloupe.explorer.model import Node, Value
from netloupe.explorer.roles import find_roles, find_weight

from .alike import KeyWriter
from .group import Group
from .like_columns import MakeRepeat
from .member_nodes import is_layer, list_nodes_inside
from .spilled_arithmetic import Box, find_edges, list_searched

#: levels of fewer children are seen at once, and of more are not looked at
_LEAST_BOXES, _MOST_CHILDREN = 12, 300
#: fewer like nodes are as easily seen
_LEAST_ALIKE = 6


def fold_like_nodes(root: Group, make_repeat: MakeRepeat) -> None:
    """Put like nodes without weights that take from the same boxes, and give to them, in a stack.

    Like nodes have the same operator, attributes and stored operands of the same sizes. None of
    them gives a result. Linear in the tree.

    Parameters
    ----------
    root
        A tree whose children are what is drawn; changed.
    make_repeat
        Makes a stack.
    """
    for group in list_searched(root, _LEAST_BOXES, _MOST_CHILDREN):
        boxes = [Box(child, list_nodes_inside([child]), False) for child in group.children]
        find_edges(boxes, group.graph)
        for places in [*_list_alike(boxes)]:
            members = [boxes[place].child for place in places]
            repeat = make_repeat(group, [[member] for member in members], 0)
            repeat.label, repeat.type_name = boxes[places[0]].nodes[0].op_type, ""
            taken = {id(member) for member in members[:-1]}
            group.children = [
                repeat if child is members[-1] else child
                for child in group.children
                if id(child) not in taken
            ]


def _list_alike(boxes: Sequence[Box]) -> Iterator[list[int]]:
    """Yield the places of like nodes."""
    places = {node: place for place, box in enumerate(boxes) for node in box.nodes}
    writer = KeyWriter(few=0)
    alike: dict[Hashable, list[int]] = {}
    for place, box in enumerate(boxes):
        node = box.child
        if isinstance(node, Node) and box.takers and not box.leaves and not is_layer(node):
            sources = _list_sources(node, places)
            is_of_body = find_roles(node.graph).of(node) == "body"  # masks are no steps
            if sources and is_of_body and find_weight(node) is None:
                key = writer.write([node], with_masks=False), sources, frozenset(box.takers)
                alike.setdefault(key, []).append(place)
    yield from (found for found in alike.values() if len(found) >= _LEAST_ALIKE)


def _list_sources(node: Node, places: Mapping[Node, int]) -> frozenset[int | Value]:
    """Return where a node takes from: places of boxes, and values from elsewhere."""
    found: set[int | Value] = set()
    for value in node.inputs:
        if value is not None and not is_input_independent(value):
            place = places.get(value.producer) if value.producer is not None else None
            found.add(value if place is None else place)
    return frozenset(found)
