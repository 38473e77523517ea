"""What is written where a value enters from a box that stands elsewhere in a picture."""

from __future__ import annotations

from collections.abc import Collection

from netloupe.explorer.grouping import Group

from .item import Item


def name_source(item: Item, paths: Collection[str]) -> str:
    """Return what a box is called as the source of some values.

    Of preparation that makes several things those are named that the values come from.

    Parameters
    ----------
    item
        The box.
    paths
        The paths of the values in the view.
    """
    group = item.element
    if not isinstance(group, Group) or group.kind != "preparation" or not group.inner_groups():
        return item.label
    body = item.instance
    names = [
        piece.label
        for piece in group.inner_groups()
        for node in piece.nodes_alone()
        for value in node.outputs
        if value is not None and f"{body.prefix}/%{value.key}" in paths
    ]
    told = dict.fromkeys(name for name in names if not name.startswith(group.kind))
    return " · ".join(told) or item.label
