"""Takes away the modules around a pyramid: what gives maps of several resolutions to others.

A backbone with its feature pyramid is drawn as levels, each beside what it is made of (T. Lin and
others, Feature Pyramid Networks, 2017, figure 3; Focal Loss for Dense Object Detection, 2017,
figure 3). A frame around all of them would be one box for what the picture is about. So is a
decoder that joins the maps of an encoder on its way up (O. Ronneberger and others, U-Net, 2015,
figure 1), where the levels of the encoder stand beside it.
"""

from __future__ import annotations

from netloupe.explorer.model import Node
from netloupe.explorer.patterns.readings import read_ints

from .group import Group, adopt
from .member_nodes import list_member_nodes, list_nodes_inside
from .ports import find_ports

#: so many resolutions are a pyramid
_LEAST_LEVELS = 3
#: batch, channels, rows, columns
_RANK_OF_MAPS = 4
#: of a decoder there may be slices, too
_RANKS_OF_DECODERS = (4, 5)
#: a decoder has so many nodes at most
_MOST_OF_DECODER = 1_000
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
        groups = root.inner_groups()
        found = next(filter(_gives_levels, groups), None)
        found = found or next((one for one in groups if _takes_levels(one, root)), None)
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


def _takes_levels(group: Group, root: Group) -> bool:
    """Return whether a module joins maps of several resolutions that others beside it give."""
    if group.kind != "scope" or len(group.inner_groups()) < 2:
        return False
    ports = find_ports(group)
    places = {dims[2:] for dims in ports.taken if len(dims) in _RANKS_OF_DECODERS}
    if len(places) < _LEAST_LEVELS or len(places) != len(ports.taken):
        return False
    nodes = list_member_nodes(group, _MOST_OF_DECODER)
    joins = sum(node.operator.has("joins") for node in nodes)
    shrinks = any(max(read_ints(n, "strides"), default=1) > 1 for n in nodes if not _enlarges(n))
    if min(joins, sum(map(_enlarges, nodes))) < len(places) - 1 or shrinks:
        return False
    inside = {*nodes}
    givers = {
        value.producer
        for node in nodes
        for value in node.inputs
        if value is not None and value.producer is not None and value.producer not in inside
    }
    levels = {
        place
        for place, child in enumerate(root.children)
        if child is not group and not givers.isdisjoint(list_nodes_inside([child]))
    }
    return len(levels) >= _LEAST_LEVELS


def _enlarges(node: Node) -> bool:
    return node.operator.has("resamples", "transposed")
