"""Levels of more boxes than a figure has: what follows a layer without weights joins its box.

An activation behind a stage, a pooling in front of one and a resizing behind a convolution are
boxes where there is room. A figure of dozens of boxes writes them into the box of the layer, or
leaves them to the size of the map.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from netloupe.explorer.model import Node
from netloupe.explorer.patterns import has_weights

from .group import Group
from .role_groups import FreePath
from .small_blocks import wrap
from .spilled_arithmetic import Box, find_edges, list_searched
from .spilled_passages import make_passage_box

#: so many boxes are a figure
_MOST_BOXES = 26
_MOST_CHILDREN = 150
_BOTH = 2

Child = Group | Node


def relieve_crowded(root: Group, labels: Mapping[int, str], free_path: FreePath) -> None:
    """Join activations, poolings and resizings to layers where a level has very many boxes.

    Each joins what alone gives to it and gives to nothing else, or else what takes from it alone;
    a map that is made larger what joins it with another one. Of a stack, or of a sum, it is no
    part. Activations are joined first, and the rest where that is not enough. Linear in the tree.

    Parameters
    ----------
    root
        A tree whose children are what is drawn; changed.
    labels
        The labels of nodes that stand for a group of one, by index.
    free_path
        Gives an unused path for a child of a group.
    """
    for group in list_searched(root, _MOST_BOXES, _MOST_CHILDREN):
        for traits, find in _STEPS:
            _relieve(group, traits, find, labels, free_path)


def _relieve(
    group: Group, traits: Sequence[str], find: Find, labels: Mapping[int, str], free_path: FreePath
) -> None:
    boxes = [make_passage_box(child) for child in group.children]
    find_edges(boxes, group.graph)
    if sum(not is_round(box.child) for box in boxes) <= _MOST_BOXES:
        return
    taken: set[int] = set()
    found: list[tuple[int, int]] = []
    for place, box in enumerate(boxes):
        node = _find_node(box.child)
        if node is None or not node.operator.has(*traits) or has_weights(node) or place in taken:
            continue
        at = find(boxes, place)
        if at is not None and at not in taken:
            taken |= {place, at}
            found.append((place, at))
    for place, at in found:
        child, head = boxes[place].child, boxes[at].child
        label = _tell(head, labels)
        name = "" if _is_layer(boxes[at]) else f"{_tell(child, labels)} · {label}"
        wrap(group, [child, head], name or label, name or label, name, free_path)


def _tell(child: Child, labels: Mapping[int, str]) -> str:
    return child.label if isinstance(child, Group) else labels.get(child.index, child.op_type)


def _find_layer(boxes: Sequence[Box], place: int) -> int | None:
    """Return the place of the box that one without weights joins; None for no such."""
    box = boxes[place]
    if len(box.givers) == 1:
        (giver,) = box.givers
        if boxes[giver].takers == {place} and not boxes[giver].leaves and _is_layer(boxes[giver]):
            return giver
    if len(box.takers) == 1 and not box.leaves:
        (taker,) = box.takers
        if boxes[taker].givers == {place} and _is_layer(boxes[taker]):
            return taker
    return None


def _find_join(boxes: Sequence[Box], place: int) -> int | None:
    """Return the place of what joins a map that is made larger with another one, as a U does."""
    box = boxes[place]
    (taker,) = box.takers if len(box.takers) == 1 and not box.leaves else (None,)
    node = _find_node(boxes[taker].child) if taker is not None else None
    if taker is None or node is None or not node.operator.has("joins"):
        return None
    return taker if len(boxes[taker].givers) == _BOTH else None


def _is_layer(box: Box) -> bool:
    child = box.child
    is_whole = isinstance(child, Node) or child.kind in ("scope", "block", "operation")
    return is_whole and any(map(has_weights, box.nodes))


def _find_node(child: Child) -> Node | None:
    """Return what computes in a child that is one operation."""
    if isinstance(child, Node):
        return child
    return child.main if child.kind == "operation" else None


def is_round(child: Child) -> bool:
    """Return whether a child is a sum or a product of results, drawn as a circle."""
    return isinstance(child, Node) and child.operator.has("adds", "multiplies_elements")


#: finds what a box joins
Find = Callable[[Sequence[Box], int], int | None]
#: what goes first: what is the least of a box of its own
_STEPS: tuple[tuple[tuple[str, ...], Find], ...] = (
    (("activates",), _find_layer),
    (("pools", "resamples"), _find_layer),
    (("resamples",), _find_join),
)
