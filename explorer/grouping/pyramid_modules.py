"""Takes away the modules around a pyramid: what gives maps of several resolutions to heads.

A backbone with its feature pyramid is drawn as levels, each beside what it is made of (T. Lin and
others, Feature Pyramid Networks, 2017, figure 3; Focal Loss for Dense Object Detection, 2017,
figure 3). A frame around all of them would be one box for what the picture is about.
"""

from __future__ import annotations

from netloupe.explorer.model import Node

from .group import Group, adopt
from .ports import find_ports

#: so many resolutions are a pyramid
_LEAST_LEVELS = 3
#: batch, channels, rows, columns
_RANK_OF_MAPS = 4
#: a picture of a pyramid has so many boxes, and so deep are modules of it in each other
_MOST_CHILDREN, _MOST_DEPTH = 40, 4


def dissolve_pyramids(root: Group) -> None:
    """Replace modules that give maps of several resolutions by what they hold, at the top.

    Parameters
    ----------
    root
        The root of a tree whose nodes have their numbers; changed.
    """
    for _ in range(_MOST_DEPTH):
        found = next(filter(_gives_levels, root.inner_groups()), None)
        if found is None or len(root.children) + len(found.children) > _MOST_CHILDREN:
            return
        children: list[Group | Node] = []
        for child in root.children:
            children += found.children if child is found else [child]
        found.stand_in = max(found.inner_groups(), key=lambda one: one.node_count, default=None)
        root.children = children
        adopt(root)


def _gives_levels(group: Group) -> bool:
    if group.kind != "scope" or len(group.inner_groups()) < 2:
        return False
    ports = find_ports(group)
    maps = [dims for dims in ports.given if len(dims) == _RANK_OF_MAPS]
    places = {dims[2:] for dims in maps}
    # what takes several, too, is a module of an exchange between resolutions
    is_from_one = len({dims[2:] for dims in ports.taken}) == 1
    return is_from_one and len(places) >= _LEAST_LEVELS and len(places) == len(maps)
