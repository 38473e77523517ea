"""What in a closed group takes a value that comes in: what takes others is another thing."""

from __future__ import annotations

from bisect import bisect_right

from netloupe.explorer.grouping import Group, GroupTree
from netloupe.explorer.model import Value

#: a value of more users is taken by all
_MOST_USERS = 50


def find_inner_takers(tree: GroupTree, element: object, value: Value) -> frozenset[int]:
    """Return where the children of a group begin that take a value; of a repeat, of its first.

    Nothing where the element is no group, or where that is not known.
    """
    if not isinstance(element, Group) or element.kind == "preparation":
        return frozenset()
    group: Group = element
    while group.kind == "repeat":
        first = group.children[0]
        if not isinstance(first, Group):
            return frozenset()
        group = first
    users = value.users
    if value.graph is not tree.graph or len(users) > _MOST_USERS:
        return frozenset()
    inner = group.inner_groups()
    found: set[int] = set()
    for user in users:
        position = tree.position_of(user) if user.graph is tree.graph else -1
        if not group.low <= position < group.high:
            continue
        place = bisect_right(inner, position, key=lambda one: one.low) - 1
        is_inside = place >= 0 and position < inner[place].high
        found.add(inner[place].low if is_inside else position)
    return frozenset(found)
