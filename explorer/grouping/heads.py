"""What stands in many boxes behind the one module that is nearly all of a model: its head.

A program keeps the network in one module, and spells beside it how predictions are made of each
layer's result. A figure is about the network: the rest is a box behind it.
"""

from __future__ import annotations

from collections.abc import Sequence

from .group import Group
from .role_groups import FreePath
from .small_blocks import wrap
from .spilled_arithmetic import Box, find_edges
from .spilled_passages import make_passage_box, order_passage

_NAME = "head"
#: a module with such a share of all nodes is the network
_MOST = 0.8
#: fewer boxes behind it are seen at once; of more nobody knows what they are
_LEAST_BOXES, _MOST_CHILDREN = 10, 150


def group_head(root: Group, free_path: FreePath) -> None:
    """Make one block of all that is behind the module that holds most of a model.

    Postprocessing stays behind the block. Linear in the nodes.

    Parameters
    ----------
    root
        A tree whose children are what is drawn; changed.
    free_path
        Gives an unused path for a child of a group.
    """
    if not _LEAST_BOXES < len(root.children) <= _MOST_CHILDREN:
        return
    boxes = [make_passage_box(child) for child in root.children]
    whole = sum(len(box.nodes) for box in boxes)
    core = max(range(len(boxes)), key=lambda place: len(boxes[place].nodes))
    child = boxes[core].child
    if not isinstance(child, Group) or child.kind != "scope":
        return
    if len(boxes[core].nodes) < _MOST * whole:
        return
    find_edges(boxes, root.graph)
    behind = _list_behind(boxes, core)
    if sum(not _is_round(boxes[place]) for place in behind) < _LEAST_BOXES or core in behind:
        return
    order_passage(root, boxes, behind)
    wrap(root, [boxes[place].child for place in sorted(behind)], _NAME, _NAME, "", free_path)


def _list_behind(boxes: Sequence[Box], core: int) -> set[int]:
    """Return the places of all that takes from a box by some way, without postprocessing."""
    behind: set[int] = set()
    pending = [core]
    while pending:
        fresh = boxes[pending.pop()].takers - behind
        behind |= fresh
        pending += fresh
    return {place for place in behind if not _is_end(boxes[place])}


def _is_end(box: Box) -> bool:
    return isinstance(box.child, Group) and box.child.kind == "postprocessing" and not box.takers


def _is_round(box: Box) -> bool:
    """Return whether a box is a sum or a product of results, drawn as a circle."""
    return not isinstance(box.child, Group) and len(box.givers) > 1
