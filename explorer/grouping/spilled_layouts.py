"""Rows of nodes that only lay one value out anew, or crop it: one box each.

An image that is cut into windows takes a Reshape, a Transpose and a Reshape, and one whose borders
are cut off a Slice for each axis: one step of a figure.
"""

from __future__ import annotations

from netloupe.explorer.model import Node
from netloupe.explorer.operators import LAYOUT_TRAITS
from netloupe.explorer.patterns import crops_one_value, describe_crop, describe_layout

from .group import Group
from .member_nodes import list_nodes_inside
from .role_groups import FreePath
from .small_blocks import wrap
from .spilled_arithmetic import Box, find_edges, list_searched

#: of two boxes a row is made, where one of them turns axes
_LEAST_BOXES, _MOST_CHILDREN = 2, 300
_REARRANGED, _CROPPED = "Rearrangement", "Crop"
LAYOUT_BLOCKS = frozenset({_REARRANGED, _CROPPED})


def group_layouts(root: Group, free_path: FreePath) -> None:
    """Make one block of children one behind another that only lay out, or crop, one value.

    Nothing else takes what one of them gives to the next. Linear in the tree.

    Parameters
    ----------
    root
        A tree whose children are what is drawn; changed.
    free_path
        Gives an unused path for a child of a group.
    """
    for group in list_searched(root, _LEAST_BOXES, _MOST_CHILDREN):
        boxes = [_make_box(child) for child in group.children]
        if sum(box.is_fit for box in boxes) < _LEAST_BOXES:
            continue
        find_edges(boxes, group.graph)
        for row in _list_rows(boxes):
            nodes = [node for box in row for node in box.nodes]
            crops = all(map(crops_one_value, nodes))
            turns = any(node.operator.has("permutes") for node in nodes)
            if len(row) == len(boxes) or not (crops or turns):
                continue
            name = _CROPPED if crops else _REARRANGED
            block = wrap(group, [box.child for box in row], name, name, name, free_path)
            block.facts = describe_crop(nodes) if crops else describe_layout(nodes)


def _make_box(child: Group | Node) -> Box:
    nodes = list_nodes_inside([child])
    is_plain = isinstance(child, Node) or child.kind == "operation"
    is_layout = all(node.operator.has(*LAYOUT_TRAITS) for node in nodes)
    return Box(child, nodes, is_plain and (is_layout or all(map(crops_one_value, nodes))))


def _list_rows(boxes: list[Box]) -> list[list[Box]]:
    """Return rows of at least two boxes of which each is all that takes what the one before gives.

    Returns
    -------
    list of list of Box
        Each box in one row at most.
    """
    rows: list[list[Box]] = []
    taken: set[int] = set()
    for place, box in enumerate(boxes):
        if place in taken or not box.is_fit:
            continue
        row = [place]
        while (following := _find_next(boxes, row[-1])) is not None and following not in taken:
            row.append(following)
        taken.update(row)
        if len(row) >= _LEAST_BOXES:
            rows.append([boxes[one] for one in row])
    return rows


def _find_next(boxes: list[Box], place: int) -> int | None:
    box = boxes[place]
    if box.leaves or len(box.takers) != 1:
        return None
    (following,) = box.takers
    other = boxes[following]
    is_same = crops_one_value(box.nodes[0]) == crops_one_value(other.nodes[0])
    return following if other.is_fit and is_same and other.givers == {place} else None
