"""The scan of a selective state space: one box between the layers that give it what it takes.

A. Gu and T. Dao, Mamba, 2023, section 3.3 and figure 3; T. Dao and A. Gu, Transformers are SSMs,
2024, figure 6: projections, a convolution, the scan, a gate, a projection. A program writes the
scan as products of chunks, or step by step; a paper as one box.
"""

from __future__ import annotations

from collections.abc import Sequence

from netloupe.explorer.model import Node, find_nodes_with
from netloupe.explorer.patterns import has_weights

from .group import Group
from .member_nodes import list_nodes_inside
from .role_groups import FreePath
from .small_blocks import wrap
from .spilled_arithmetic import Box, find_edges, list_searched
from .spilled_passages import list_passages, order_passage

SCAN = "Selective scan"
#: what the blocks around one have been recognised as
STATE_SPACES = ("Mamba", "Mamba-2")
#: fewer boxes are no scan
_LEAST_BOXES, _MOST_CHILDREN = 5, 300
#: what is another part of such a block
_APART = ("attends", "convolves", "normalizes", "takes_root")


def group_scans(root: Group, free_path: FreePath) -> None:
    """Make a block of what is without weights in each block of a state space, behind its layers.

    The gate, a norm and the activation of the convolution stay outside. Linear in the tree.

    Parameters
    ----------
    root
        A tree whose children are what is drawn; changed.
    free_path
        Gives an unused path for a child of a group.
    """
    if not find_nodes_with(root.graph, "convolves").size:
        return
    for group in list_searched(root, _LEAST_BOXES, _MOST_CHILDREN):
        if (
            _convolves(group)
            and group.recognised
            and group.recognised.name.removesuffix(" block") in STATE_SPACES
        ):
            _group(group, free_path)


def _convolves(group: Group) -> bool:
    return any(
        node.operator.has("convolves")
        for child in group.children
        if isinstance(child, Node) or child.kind in ("operation", "block")
        for node in list_nodes_inside([child])
    )


def _group(group: Group, free_path: FreePath) -> None:
    boxes = [_make_box(child) for child in group.children]
    find_edges(boxes, group.graph)
    passages = list_passages(boxes, set())
    scans = [_add_own(boxes, _trim(boxes, {*places}), {*places}) for places in passages]
    scan = max(
        scans, key=lambda places: sum(len(boxes[place].nodes) for place in places), default=()
    )
    decays = any(node.operator.form == "Exp" for place in scan for node in boxes[place].nodes)
    if not decays or not _LEAST_BOXES <= len(scan) < len(boxes):
        return
    places = {*scan}
    order_passage(group, boxes, places)
    wrap(group, [boxes[place].child for place in sorted(places)], SCAN, SCAN, SCAN, free_path)


def _make_box(child: Group | Node) -> Box:
    nodes = list_nodes_inside([child])
    return Box(child, nodes, bool(nodes) and not any(map(_is_layer, nodes)))


def _is_layer(node: Node) -> bool:
    """Return whether a node is a layer; numbers for each head or channel make none."""
    is_linear = node.operator.has("multiplies") and has_weights(node)
    return is_linear or node.operator.has(*_APART)


def _trim(boxes: Sequence[Box], places: set[int]) -> set[int]:
    """Return a passage without activations it begins with, and without the gate at its end."""
    left = {*places}
    pending = [*places]
    while pending:
        place = pending.pop()
        box = boxes[place]
        if place not in left:
            continue
        is_first, is_last = not box.givers & left, not box.takers & left
        gates = any(node.operator.has("multiplies_elements") for node in box.nodes) and any(
            _bends(boxes[giver]) for giver in box.givers - left
        )
        begins = _bends(box) or _cuts(boxes, place)
        if (is_first and begins) or (is_last and (gates or _bends(box))):
            left.discard(place)
            pending += (box.takers | box.givers) & left
    return left


def _cuts(boxes: Sequence[Box], place: int) -> bool:
    """Return whether what a convolution gives is cut to the length of the sequence."""
    box = boxes[place]
    return all(node.operator.has("slices") for node in box.nodes) and any(
        node.operator.has("convolves") for giver in box.givers for node in boxes[giver].nodes
    )


def _bends(box: Box) -> bool:
    return any(
        node.operator.has("activates") or node.operator.form == "Sigmoid" for node in box.nodes
    )


def _add_own(boxes: Sequence[Box], places: set[int], passage: set[int]) -> set[int]:
    """Return a scan with what only gives to it, as its step sizes are; nothing of its passage."""
    found = {*places}
    pending = [giver for place in places for giver in boxes[place].givers]
    while pending:
        place = pending.pop()
        box = boxes[place]
        is_new = place not in found and place not in passage
        if is_new and box.is_fit and not box.leaves and box.takers <= found:
            found.add(place)
            pending += box.givers
    return found
