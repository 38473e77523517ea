"""Columns of boxes that are alike, side by side, and joined by what follows: experts, heads.

Where an author computes the same for each of a few with weights of its own, in a loop without
modules, all of them stand beside each other. A figure shows one, and how many there are: experts
behind a gate (N. Shazeer and others, Outrageously Large Neural Networks, 2017, figure 1), heads of
attention. Here such columns become one repeat before the box that joins them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from operator import attrgetter

from netloupe.explorer.model import Node
from netloupe.explorer.patterns import read_scalar
from netloupe.explorer.roles import find_weight

from .alike import Key, KeyWriter
from .crowded import is_round
from .group import Group
from .member_nodes import is_layer, list_nodes_inside
from .spilled_arithmetic import Box, find_edges, list_searched

_GET_INDEX = attrgetter("index")

Child = Group | Node
#: makes a stack of blocks among the children of a group, one of which stands for all
MakeRepeat = Callable[[Group, Sequence[Sequence[Child]], int], Group]

#: levels of fewer boxes are seen at once, and of more are not looked at
_LEAST_BOXES, _MOST_CHILDREN = 12, 300
#: so many columns of so many boxes are one repeat; circles are none
_LEAST_COLUMNS, _LEAST_OF_COLUMN = 3, 2
#: columns of a single box are as easily seen where there are fewer, and have a layer in them
_LEAST_SINGLE = 4
#: what each of them is called that no author has named
_BRANCH = "Branch"
#: so much is one column at most
_MOST_NODES = 200


def fold_like_columns(root: Group, labels: Mapping[int, str], make_repeat: MakeRepeat) -> None:
    """Put columns of boxes that are alike, and that one box joins, into a repeat before that.

    A column is all that leads to one of the givers of a box and to nothing else; it has a layer in
    it. Columns are alike where their nodes have the same operators, attributes and wiring, and
    weights of the same sizes. Quadratic in the boxes of a level with many, of which there are few.

    Parameters
    ----------
    root
        A tree whose children are what is drawn; changed.
    labels
        The labels of nodes that stand for a group of one, by index.
    make_repeat
        Makes a stack.
    """
    for group in list_searched(root, _LEAST_BOXES, _MOST_CHILDREN):
        if sum(not is_round(child) for child in group.children) > _LEAST_BOXES:
            while columns := _find_columns(group):
                _fold(group, columns, labels, make_repeat)


def _fold(
    group: Group,
    columns: Sequence[Sequence[Child]],
    labels: Mapping[int, str],
    make_repeat: MakeRepeat,
) -> None:
    repeat = make_repeat(group, columns, 0)
    if not any(_is_named(child, labels) for child in columns[0]):
        repeat.label, repeat.type_name = _BRANCH, ""
        for number, block in enumerate(repeat.inner_groups()):
            block.label, block.type_name = f"{_BRANCH} {number}", ""
    taken = {id(child) for column in columns for child in column}
    last = columns[-1][-1]
    group.children = [
        repeat if child is last else child
        for child in group.children
        if child is last or id(child) not in taken
    ]


def _is_named(child: Child, labels: Mapping[int, str]) -> bool:
    """Return whether an author has a name for a child."""
    return child.index in labels if isinstance(child, Node) else child.kind in ("scope", "repeat")


def _find_columns(group: Group) -> list[list[Child]]:
    """Return the like columns of a level that make most boxes fewer; nothing for none."""
    boxes = [Box(child, list_nodes_inside([child]), False) for child in group.children]
    find_edges(boxes, group.graph)
    writer = KeyWriter(few=0)
    found: list[list[set[int]]] = []
    for joint, box in enumerate(boxes):
        if len(box.givers) >= _LEAST_COLUMNS and not _is_stack(box.child):
            found += _list_alike(boxes, joint, writer)
    best = max(found, key=lambda columns: _count_saved(boxes, columns), default=None)
    if best is None:
        return []
    return [[boxes[place].child for place in sorted(column)] for column in sorted(best, key=min)]


def _list_alike(boxes: Sequence[Box], joint: int, writer: KeyWriter) -> Iterator[list[set[int]]]:
    """Yield the sets of columns that lead to a box and are alike."""
    alike: dict[Key, list[set[int]]] = {}
    for giver in sorted(boxes[joint].givers):
        column = _find_column(boxes, giver, joint)
        nodes = sorted((node for place in column for node in boxes[place].nodes), key=_GET_INDEX)
        if len(nodes) <= _MOST_NODES and any(map(is_layer, nodes)):
            key = writer.write(nodes, with_masks=False), *map(_write_scalars, nodes)
            alike.setdefault(key, []).append(column)
    for columns in alike.values():
        shown = sum(not is_round(boxes[place].child) for place in columns[0])
        least = _LEAST_COLUMNS if shown >= _LEAST_OF_COLUMN else _LEAST_SINGLE
        is_apart = len(set().union(*columns)) == sum(map(len, columns))
        if len(columns) >= least and is_apart and not _holds_stack(boxes, columns[0]):
            yield columns


def _find_column(boxes: Sequence[Box], end: int, joint: int) -> set[int]:
    """Return the places of all that leads to a box and, through it, to a joint alone."""
    column: set[int] = set()
    pending = [end]
    while pending:
        place = pending.pop()
        box = boxes[place]
        if place in column or box.leaves or not box.takers <= column | {joint}:
            continue
        column.add(place)
        pending += box.givers
    return column


def _holds_stack(boxes: Sequence[Box], column: set[int]) -> bool:
    return any(_is_stack(boxes[place].child) for place in column)


def _is_stack(child: Child) -> bool:
    return isinstance(child, Group) and child.kind == "repeat"


def _count_saved(boxes: Sequence[Box], columns: Sequence[set[int]]) -> int:
    shown = sum(not is_round(boxes[place].child) for column in columns for place in column)
    return shown - 1


def _write_scalars(node: Node) -> object:
    """Return the numbers that a node without weights computes with."""
    return None if find_weight(node) is not None else tuple(map(read_scalar, node.inputs))
