"""What the first step of a loop lacks: it was computed beforehand, or nobody asked for it."""

from __future__ import annotations

import re

from netloupe.explorer.dataflow import is_of_shapes
from netloupe.explorer.grouping import GroupTree
from netloupe.explorer.grouping.group import Group
from netloupe.explorer.model import Node

_CALL = re.compile(r"_\d+$")


def needs_data(tree: GroupTree, node: Node) -> bool:
    """Return whether a node is in a module of a loop's step that takes data from around the loop.

    The first step has no such module.

    As the attention of a decoder, which looks at a picture in each step but the first (H. Li and
    others, Show, Attend and Read, 2019, section 3.2). Nobody can compute that beforehand.
    """
    group = tree.group_of(node) if tree.position_of(node) >= 0 else None
    module: Group | None = None
    while group is not None and group.kind != "repeat":
        if group.kind == "scope":
            module = group
        group = group.parent
    if module is None or group is None or not group.is_loop or _is_in_first(group, module):
        return False
    return any(
        not is_of_shapes(value)
        and (value.producer is None or not tree.holds(group, value.producer))
        for inner in tree.order[module.low : module.high]
        for value in inner.inputs
        if value is not None and value.graph is tree.graph
    )


def _is_in_first(loop: Group, module: Group) -> bool:
    """Return whether the first step calls a module, too, perhaps less of it."""
    pending = [one for one in loop.children[:1] if isinstance(one, Group)]
    while pending:
        group = pending.pop()
        if group.kind == "scope" and _tell_module(group) == _tell_module(module):
            return True
        pending += group.inner_groups()
    return False


def _tell_module(group: Group) -> str:
    """Return the name of a module without the number of its call."""
    return _CALL.sub("", group.label)
