"""What closed boxes only seem to take: of a value where its places are, and no feature of it."""

from __future__ import annotations

from netloupe.explorer.grouping import Group
from netloupe.explorer.grouping.member_nodes import list_nodes_inside
from netloupe.explorer.model import Value
from netloupe.explorer.patterns.index_pools import gives_places_alone

from .item import Item

#: so many uses of a value are looked at
_MOST_USERS = 100


def takes_places_alone(child: Item, value: Value) -> bool:
    """Return whether a closed group takes nothing of a value but where its places are."""
    group = child.element
    if child.is_open or not isinstance(group, Group) or len(value.users) > _MOST_USERS:
        return False
    if not any(map(gives_places_alone, value.users)):
        return False
    inside = {*list_nodes_inside([group])}
    return all(gives_places_alone(user) for user in value.users if user in inside)
