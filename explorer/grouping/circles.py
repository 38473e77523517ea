"""Takes groups apart that a value leaves and comes back to, for a picture would show a cycle.

A group is convex where every way between two of its nodes stays in it. Scopes of an author are, as
long as all their nodes are in them; what is found by structure, or put together because of what it
is for, may not be.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from netloupe.explorer.dataflow import list_edges, list_users
from netloupe.explorer.model import Node

from .group import Group, adopt
from .member_nodes import list_member_nodes, list_nodes_inside

Child = Group | Node

#: kinds of group that may be taken apart, those of which the least is lost first
_LOOSE = ("operation", "preparation", "postprocessing", "block", "repeat")
#: in larger graphs circles are left as they are
_MOST_NODES = 20_000
#: so many groups of one group are taken apart
_MOST_OPENED = 40
#: a fold of an author's groups is, where it puts no more than so many boxes in its place
_MOST_OF_FOLD = 24


def open_circles(root: Group) -> list[Group]:
    """Put the children of groups that are not convex in their place; return these groups.

    Nothing is done in larger graphs. Linear in nodes and edges times the depth of the tree, where
    nothing is in a circle.
    """
    opened: list[Group] = []
    if len(root.graph.nodes) > _MOST_NODES:
        return opened
    turning = _list_turning(root)
    pending = [root] if turning else []
    while pending:
        group = pending.pop()
        if group in turning and group.kind != "shape" and group.inner_groups():
            for _ in range(_MOST_OPENED):
                found = _find_loose(group.children)
                if found is None:
                    break
                place = group.children.index(found)
                group.children = [
                    *group.children[:place],
                    *found.children,
                    *group.children[place + 1 :],
                ]
                adopt(group)
                opened.append(found)
        pending += group.inner_groups()
    return opened


def _list_turning(root: Group) -> set[Group]:
    """Return the groups of which a child gives to one that stands before it.

    Among the children of all others there is no circle: each gives to later ones alone.
    """
    parents: dict[Group, Group] = {}
    homes: dict[int, Group] = {}
    pending = [root]
    while pending:
        group = pending.pop()
        for child in group.children:
            if isinstance(child, Node):
                homes[root.graph.index_of(child)] = group
            else:
                parents[child] = group
                pending.append(child)
    positions = np.full(len(root.graph.nodes), -1)
    order = [root.graph.index_of(node) for node in list_nodes_inside([root])]
    positions[order] = np.arange(len(order))
    sources, targets = list_edges(root.graph)
    are_back = (positions[sources] > positions[targets]) & (positions[targets] >= 0)
    ends = {*zip(sources[are_back].tolist(), targets[are_back].tolist(), strict=True)}
    return {_find_common(homes[source], homes[target], parents) for source, target in ends}


def _find_common(group: Group, other: Group, parents: Mapping[Group, Group]) -> Group:
    """Return the innermost group that both of two groups are, or are in."""
    around = [group]
    while around[-1] in parents:
        around.append(parents[around[-1]])
    while other not in around:
        other = parents[other]
    return other


def _find_loose(children: Sequence[Child]) -> Group | None:
    """Return the group among children that is to be taken apart first; None where none is."""
    owners: dict[Node, int] = {}
    for place, child in enumerate(children):
        owners.update(dict.fromkeys(_list_nodes(child), place))
    takers = {node: [*_list_takers(node, owners)] for node in owners}
    loose = [
        child
        for child in map(children.__getitem__, _list_in_circles(len(children), owners, takers))
        if isinstance(child, Group) and child.kind in _LOOSE
        if len(child.children) <= _MOST_OF_FOLD or not _holds_scope(child)
    ]
    loose.sort(
        key=lambda child: (
            *(_holds_scope(child), _LOOSE.index(child.kind), len(_list_nodes(child))),
        )
    )
    return next((child for child in loose if _comes_back(child, takers)), None)


def _holds_scope(group: Group) -> bool:
    """Return whether an author's groups are in a group at any depth."""
    inner = group.inner_groups()
    return any(one.kind == "scope" for one in inner) or any(map(_holds_scope, inner))


def _list_takers(node: Node, owners: Mapping[Node, int]) -> Iterable[Node]:
    return (
        user for user in list_users(node) if user in owners and not user.operator.has("reads_shape")
    )


def _list_in_circles(
    count: int, owners: Mapping[Node, int], takers: Mapping[Node, Sequence[Node]]
) -> list[int]:
    """Return the places of children that lie in circles, or between two of them."""
    below: list[set[int]] = [set() for _ in range(count)]
    above: list[set[int]] = [set() for _ in range(count)]
    for node, place in owners.items():
        for taker in takers[node]:
            if (other := owners[taker]) != place:
                below[place].add(other)
                above[other].add(place)
    left = {*range(count)}
    for first, then in ((above, below), (below, above)):
        waiting = {place: len(first[place] & left) for place in left}
        ready = [place for place in left if not waiting[place]]
        while ready:
            place = ready.pop()
            left.discard(place)
            for other in then[place] & left:
                waiting[other] -= 1
                if not waiting[other]:
                    ready.append(other)
    return sorted(left)


def _comes_back(group: Group, takers: Mapping[Node, Sequence[Node]]) -> bool:
    """Return whether a way leads out of a group and back into it."""
    inside = {*_list_nodes(group)}
    pending = [taker for node in inside for taker in takers[node] if taker not in inside]
    seen = {*pending}
    while pending:
        for taker in takers[pending.pop()]:
            if taker in inside:
                return True
            if taker not in seen:
                seen.add(taker)
                pending.append(taker)
    return False


def _list_nodes(child: Child) -> list[Node]:
    if isinstance(child, Node):
        return [child]
    return [] if child.kind == "shape" else list_member_nodes(child, _MOST_NODES)
