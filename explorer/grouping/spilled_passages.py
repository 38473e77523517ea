"""Arithmetic without weights between two layers, whatever its size: one box that says what for.

Where a paper writes "distances of neighbours" or "cost volume", a program writes dozens of
operations, which together give several values. All that stands between the same layers is one
passage.
"""

from __future__ import annotations

from collections.abc import Sequence

from netloupe.explorer.model import Node
from netloupe.explorer.patterns import GraphContext, find_graph_context, name_passage

from .group import Group
from .member_nodes import list_nodes_inside
from .role_groups import FreePath
from .small_blocks import wrap
from .spilled_arithmetic import Box, find_edges, has_work, list_searched

#: fewer boxes are seen at once
_LEAST_BOXES = 8
#: in a group of more children nobody looks for what is spilled
_MOST_CHILDREN = 4_000
#: and of more nodes nobody asks what they are
_MOST_NODES = 4_000

Child = Group | Node


def group_passages(root: Group, free_path: FreePath) -> None:
    """Make a block of what is computed without weights between layers, where a word says what.

    Children of a group belong together where as many layers at most lead to them and one gives to
    another: no way leads out of such a passage and back. Sums and joins with what comes from
    elsewhere and activations stay outside at its ends. Linear in the tree.

    Parameters
    ----------
    root
        A tree whose children are what is drawn; changed.
    free_path
        Gives an unused path for a child of a group.
    """
    for group in list_searched(root, _LEAST_BOXES, _MOST_CHILDREN):
        _find(group, free_path)


def _find(group: Group, free_path: FreePath) -> None:
    boxes = [make_passage_box(child) for child in group.children]
    count = sum(box.is_fit for box in boxes)
    if not _LEAST_BOXES <= count < len(boxes):
        return  # where all is arithmetic, it stands between no layers
    find_edges(boxes, group.graph)
    context = find_graph_context(group.graph)
    for places in list_passages(boxes, _find_unchanging(boxes, context)):
        passage = _trim(boxes, places)
        if len(passage) < _LEAST_BOXES:
            continue
        nodes = [node for place in sorted(passage) for node in boxes[place].nodes]
        name, facts = name_passage(nodes) if len(nodes) <= _MOST_NODES else ("", ())
        if name:
            order_passage(group, boxes, passage)
            block = wrap(group, [boxes[n].child for n in passage], name, name, name, free_path)
            block.facts = facts


def make_passage_box(child: Child) -> Box:
    """Return a child of a group, and whether it may be part of a passage."""
    if isinstance(child, Node):
        return Box(child, [child], not has_work([child]))
    nodes = list_nodes_inside([child])
    is_plain = child.kind in ("operation", "shape", "block", "repeat") or (
        child.kind == "preparation" and child.label.startswith("preparation")
    )
    # exporters put an operation, and what only arranges, into a scope, too, that is no module
    is_plain |= child.names_operator or all(node.operator.family == "shape" for node in nodes)
    # what no weight is before may multiply: distances of all pairs of points are one product
    passed = ("multiplies",) if child.kind == "preparation" else ()
    return Box(child, nodes, is_plain and bool(nodes) and not has_work(nodes, *passed))


def _find_unchanging(boxes: Sequence[Box], context: GraphContext) -> set[int]:
    """Return the places of boxes that give the same for all inputs, and have no weights."""
    return {
        place
        for place, box in enumerate(boxes)
        if box.is_fit
        and all(
            context.is_unchanging(value)
            for node in box.nodes
            for value in node.outputs
            if value is not None
        )
    }


def list_passages(boxes: Sequence[Box], unchanging: set[int]) -> list[list[int]]:
    """Return the places of boxes that give to each other, with as many layers before them.

    Of two such no way from one to the other leads through a layer. What is the same for all inputs
    has none before it, and stands with what first takes it.
    """
    depths = [0] * len(boxes)
    ranked = _rank(boxes)
    for place in ranked:
        box = boxes[place]
        depths[place] = max(
            (depths[giver] + (not boxes[giver].is_fit) for giver in box.givers), default=0
        )
    for place in reversed(ranked):
        if place in unchanging:
            depths[place] = min((depths[taker] for taker in boxes[place].takers), default=0)
    seen: set[int] = set()
    found = []
    for first, box in enumerate(boxes):
        if not box.is_fit or first in seen:
            continue
        seen.add(first)
        passage = [first]
        for place in passage:
            for other in sorted(boxes[place].takers | boxes[place].givers):
                is_same = boxes[other].is_fit and depths[other] == depths[place]
                if is_same and other not in seen:
                    seen.add(other)
                    passage.append(other)
        found.append(passage)
    return found


def _rank(boxes: Sequence[Box]) -> list[int]:
    """Return the places of boxes, those that give before those that take."""
    missing = [len(box.givers) for box in boxes]
    ranked = [place for place, count in enumerate(missing) if not count]
    for place in ranked:
        for taker in sorted(boxes[place].takers):
            missing[taker] -= 1
            if not missing[taker]:
                ranked.append(taker)
    return ranked


def _trim(boxes: Sequence[Box], places: Sequence[int]) -> set[int]:
    """Return a passage without what only joins or bends the main stream at its ends."""
    left = {*places}
    pending = [*places]
    while pending:
        place = pending.pop()
        if place not in left or len(boxes[place].nodes) > 1:
            continue
        box = boxes[place]
        operator = box.nodes[0].operator
        is_first, is_last = not box.givers & left, not box.takers & left
        if operator.has("activates") and (is_first or is_last):
            stays = True
        elif operator.has("adds", "joins") and len(box.givers) > 1:
            # what joins the same as others do is one of these
            is_other = any(
                not any(taker in left and taker != place for taker in boxes[giver].takers)
                for giver in box.givers
            )
            stays = (is_first and is_other) or (is_last and not box.givers <= left)
        else:
            stays = False
        if stays:
            left.discard(place)
            pending += (box.takers | box.givers) & left
    return left


def order_passage(group: Group, boxes: Sequence[Box], passage: set[int]) -> None:
    """Put what takes from a passage behind the last of it, in the order of the children."""
    behind = {*passage}
    pending = [*passage]
    while pending:
        for taker in boxes[pending.pop()].takers - behind:
            behind.add(taker)
            pending.append(taker)
    last = max(passage)
    order = {id(box.child): place for place, box in enumerate(boxes)}

    def rank(child: Child) -> tuple[int, int]:
        place = order.get(id(child), len(boxes))
        if place > last:
            return 3, place
        return (1 if place in passage else 2 if place in behind else 0), place

    if all(id(child) in order for child in group.children):
        group.children = sorted(group.children, key=rank)
