"""Preparation of which each block of a stack has its own share: it stands in that block.

Alike pieces whose takers do not hang on one another are one piece of preparation, as the places
where each level of a pyramid is looked up. So are what the layers of a normalizing flow add to the
logarithm of the determinant, as far as it depends on no data (D. Kingma and P. Dhariwal, Glow,
2018, table 1). Where the layers are a stack, each has its own.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from netloupe.explorer.model import Graph, Node
from netloupe.explorer.roles import PreparationPiece

from .group import Group
from .shape_groups import Homes, connect_nodes, consumers_in

#: so many blocks have a share each
_LEAST_MEMBERS = 3


def put_into_members(
    pieces: Sequence[PreparationPiece], homes: Homes, graph: Graph
) -> list[PreparationPiece]:
    """Put preparation into the blocks of stacks that take it; return the other pieces.

    That is such as consists of pieces that do not hang together, each of which feeds one block
    alone. Linear in nodes and edges times the depth of the tree.

    Parameters
    ----------
    pieces
        The preparation.
    homes
        Those of the nodes of a tree without these; changed, as the tree is.
    """
    left: list[PreparationPiece] = []
    found: dict[Group, list[list[int]]] = {}
    for piece in pieces:
        parts = (
            connect_nodes(graph, piece.nodes) if piece.purpose is None and piece.is_shared else []
        )
        owners = [homes.around(_list_users(graph, part)) for part in parts]
        members = [_find_member(owner) for owner in owners]
        if None in members or len({*map(id, members)}) < _LEAST_MEMBERS:
            left.append(piece)
            continue
        for owner, part in zip(owners, parts, strict=True):
            found.setdefault(owner, []).append(part)
    for home, own in found.items():
        _insert(home, own, homes)
    return left


def _list_users(graph: Graph, part: Sequence[int]) -> Iterator[Node]:
    inside = {*part}
    for index in part:
        users = consumers_in(graph.nodes[index], graph)
        yield from (user for user in users if graph.index_of(user) not in inside)


def _find_member(group: Group) -> Group | None:
    """Return the block of a stack that a group is in, the innermost one; None where in none."""
    inner: Group | None = group
    while inner is not None and (inner.parent is None or inner.parent.kind != "repeat"):
        inner = inner.parent
    return inner


def _insert(home: Group, parts: Sequence[Sequence[int]], homes: Homes) -> None:
    """Put nodes into a group, right before what takes of them."""
    graph = home.graph
    places = {id(child): place for place, child in enumerate(home.children)}
    before: dict[int, list[Group | Node]] = {}
    for part in parts:
        takers = [homes.child_holding(home, user) for user in _list_users(graph, part)]
        place = min(places[id(taker)] for taker in takers if id(taker) in places)
        before.setdefault(place, []).extend(graph.nodes[index] for index in part)
        homes.of_node.update(dict.fromkeys(part, home))
    children: list[Group | Node] = []
    for place, child in enumerate(home.children):
        children += before.get(place, [])
        children.append(child)
    home.children = children
