"""Which of some children of a group hang together by what they give each other."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from netloupe.explorer.model import Graph, Node

from .group import Group
from .shape_groups import consumers_in


def find_joined_children(
    children: Sequence[Group | Node], graph: Graph
) -> list[list[Group | Node]]:
    """Return children in lists of those that give to one another, in their order.

    Parameters
    ----------
    children
        Some children of one group.
    graph
        That they are of.

    Notes
    -----
    Takes time nearly linear in the nodes of the children and their wires.
    """
    homes = {
        node: place for place, child in enumerate(children) for node in list_inner_nodes(child)
    }
    leaders = [*range(len(children))]

    def find(place: int) -> int:
        while leaders[place] != place:
            leaders[place] = leaders[leaders[place]]
            place = leaders[place]
        return place

    for node, place in homes.items():
        for user in consumers_in(node, graph):
            if user in homes:
                leaders[find(homes[user])] = find(place)
    pieces: dict[int, list[Group | Node]] = {}
    for place, child in enumerate(children):
        pieces.setdefault(find(place), []).append(child)
    return [*pieces.values()]


def list_inner_nodes(child: Group | Node) -> Iterator[Node]:
    """Yield the nodes of a child of a group, at any depth and in order."""
    pending = [child]
    while pending:
        inner = pending.pop()
        if isinstance(inner, Group):
            pending += reversed(inner.children)
        else:
            yield inner
