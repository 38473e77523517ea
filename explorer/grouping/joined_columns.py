"""Columns of loose nodes that stand side by side and are put together by one node.

An author compares all with all in a loop, and joins what came out: of so many like columns each
would be drawn. Here they are found, to be one repeat before the node that joins them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from netloupe.explorer.model import Node
from netloupe.explorer.patterns import find_graph_context, name_block

from .branches import MOST_BRANCHES
from .group import Group
from .role_groups import FreePath
from .spilled_arithmetic import has_work

_NAME = "Branch"
#: columns of fewer nodes are as good drawn
_LEAST_NODES = 4
#: and of more are not looked at
_MOST_NODES = 200


def fold_joined_columns(group: Group, free_path: FreePath) -> None:
    """Put like columns of loose nodes in a group that one node joins into a repeat before it.

    A column is all that leads to one operand and to nothing else, and has work in it: arithmetic
    alone is one passage. All have the same operators in
    the same order, and none has a value that is a result. Linear in the nodes.

    Parameters
    ----------
    group
        The group; changed.
    free_path
        Gives an unused path for a child of a group.
    """
    nodes = [child for child in group.children if isinstance(child, Node)]
    joints = [
        node for node in nodes if len(node.inputs) > MOST_BRANCHES and node.operator.has("joins")
    ]
    places = {node: place for place, node in enumerate(nodes)} if joints else {}
    for joint in joints:
        columns = _list_columns(joint, places)
        if columns:
            _fold(group, joint, columns, free_path)


def _fold(
    group: Group, joint: Node, columns: Sequence[Sequence[Node]], free_path: FreePath
) -> None:
    name = name_block(columns[0], find_graph_context(group.graph)) or _NAME
    path = free_path(group, name)
    repeat = Group("repeat", group.graph, path, name, name, group)
    for number, column in enumerate(columns):
        label = f"{name} {number}"
        block = Group("block", group.graph, f"{path}{number}/", label, name, repeat)
        block.children = [*column]
        repeat.add(block)
    inside = {node for column in columns for node in column}
    place = group.children.index(joint)
    before, behind = (
        [child for child in part if child not in inside]
        for part in (group.children[:place], group.children[place:])
    )
    group.children = [*before, repeat, *behind]


def _list_columns(joint: Node, places: Mapping[Node, int]) -> list[list[Node]]:
    columns: list[list[Node]] = []
    for value in joint.inputs:
        end = value.producer if value is not None else None
        column = _find_column(end, joint, places) if end is not None else []
        if not _LEAST_NODES <= len(column) <= _MOST_NODES or not has_work(column):
            return []
        if columns and [node.op_type for node in column] != [n.op_type for n in columns[0]]:
            return []
        columns.append(column)
    is_apart = len({node for column in columns for node in column}) == sum(map(len, columns))
    return columns if is_apart else []


def _find_column(end: Node, joint: Node, places: Mapping[Node, int]) -> list[Node]:
    """Return what leads to a node and, through it, to a joint alone."""
    column: set[Node] = set()
    pending = [end]
    while pending and len(column) <= _MOST_NODES:
        node = pending.pop()
        if node in column or node not in places:
            continue
        values = [value for value in node.outputs if value is not None]
        if any(len(value.users) > _MOST_NODES for value in values):
            continue  # what so many take is not of one column
        users = {user for value in values for user in value.users}
        if any(value.is_output for value in values) or not users <= column | {joint}:
            continue
        column.add(node)
        pending += [v.producer for v in node.inputs if v is not None and v.producer is not None]
    return sorted(column, key=places.__getitem__)
