"""Groups with too many children, split where few tensors cross."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

import numpy as np

from netloupe.explorer.arrays import sort_distinct
from netloupe.explorer.model import Graph, Node
from netloupe.explorer.progress import step

from .group import Group
from .order import walk
from .signatures import Integers, used_values

#: no group but a repeat has more children
MOST_CHILDREN = 150
#: how many children a part has, if it can be chosen
_LEAST, _MOST = 40, 120
#: parts that so many others each take from, on average, are too many: they tell nothing
_MOST_CONNECTED = 4
#: and then there are so many of them
_FEW = 12

FreePath = Callable[[Group, str], str]


def split_large(root: Group, free_path: FreePath) -> None:
    """Split every group of more than `MOST_CHILDREN` children into parts, and these again.

    Children stand in the order of the file or in that of a walk from the outputs, whichever
    lets fewer tensors cross; the latter keeps together what wide graphs have side by side. Each
    cut is at the place of fewest crossing tensors among those that make a part of `_LEAST` to
    `_MOST` children. Where nearly every part takes from every other one, as in a random graph,
    they are put into a few larger ones. O(n log n) in children and edges.

    Parameters
    ----------
    root
        The tree; changed.
    free_path
        Gives an unused path for a child of a group.
    """
    large: list[Group] = []
    pending = [root]
    while pending:
        group = pending.pop()
        if len(group.children) > MOST_CHILDREN and group.kind != "repeat":
            large.append(group)
        pending += group.inner_groups()
    if not large:
        return
    parents: list[Group | None] = [None] * len(root.graph.nodes)
    pending = [root]
    while pending:
        group = pending.pop()
        for child in group.children:
            if isinstance(child, Group):
                pending.append(child)
            else:
                parents[root.graph.index_of(child)] = group
    for group in large:
        step()
        _split(group, parents, free_path)


def _split(group: Group, parents: list[Group | None], free_path: FreePath) -> None:
    sources, targets = _child_edges(group, parents)
    count = len(group.children)
    file_order: Integers = np.arange(count)
    chosen = min(
        (_cut(order, sources, targets) for order in (file_order, walk(count, sources, targets))),
        key=lambda entry: entry[0],
    )
    _, order, cuts = chosen
    children = [group.children[place] for place in order.tolist()]
    pieces = [children[low:high] for low, high in pairwise(cuts)]
    level: list[Group | Node] = list(_make_parts(group, pieces, free_path))
    most = _MOST
    if _count_connections(order, cuts, sources, targets) > _MOST_CONNECTED * len(pieces):
        most = _FEW
    while len(level) > (MOST_CHILDREN if most == _MOST else _FEW):
        size = -(-len(level) // -(-len(level) // most))
        level = list(
            _make_parts(
                group, [level[low : low + size] for low in range(0, len(level), size)], free_path
            )
        )
    group.children = level


def _count_connections(
    order: Integers, cuts: list[int], sources: Integers, targets: Integers
) -> int:
    """Return from how many pairs of pieces one takes from the other."""
    piece = np.empty(len(order), dtype=np.int64)
    piece[order] = np.searchsorted(cuts, np.arange(len(order)), "right")
    pairs = piece[sources] * (len(cuts) + 1) + piece[targets]
    return len(sort_distinct(pairs[piece[sources] != piece[targets]]))


def _make_parts(
    group: Group, pieces: list[list[Group | Node]], free_path: FreePath
) -> list[Group | Node]:
    parts: list[Group | Node] = []
    for number, piece in enumerate(pieces, 1):
        if len(piece) == 1:
            parts.append(piece[0])
            continue
        first, last = _name(piece[0]), _name(piece[-1])
        label = f"part {number} of {len(pieces)}: {first} … {last}"
        path = free_path(group, f"part {number}")
        part = Group("part", group.graph, path, label, "", group)
        part.children = piece
        for child in piece:
            if isinstance(child, Group):
                child.parent = part
        parts.append(part)
    return parts


def _name(child: Group | Node) -> str:
    while isinstance(child, Group) and child.kind == "part":
        child = child.children[0]
    return child.label


def _child_edges(group: Group, parents: list[Group | None]) -> tuple[Integers, Integers]:
    """Return the edges between the children of a group, as places; each pair once a tensor."""
    places: dict[int, int] = {id(child): place for place, child in enumerate(group.children)}
    known: dict[int, int] = {}
    graph: Graph = group.graph

    def place_of(node: Node) -> int:
        if id(node) in places:
            return places[id(node)]
        parent = parents[graph.index_of(node)]
        if parent is None:
            return -1
        found = known.get(id(parent))
        if found is None:
            outer: Group | None = parent
            while outer is not None and id(outer) not in places:
                outer = outer.parent
            found = known[id(parent)] = places[id(outer)] if outer is not None else -1
        return found

    sources: list[int] = []
    targets: list[int] = []
    pending: list[tuple[Group | Node, int]] = [
        (child, place) for place, child in enumerate(group.children)
    ]
    while pending:
        child, place = pending.pop()
        if isinstance(child, Group):
            pending.extend((inner, place) for inner in child.children)
            continue
        for value in used_values(child):
            if value.producer is None or value.producer.graph is not graph:
                continue
            source = place_of(value.producer)
            if source >= 0 and source != place:
                sources.append(source)
                targets.append(place)
    return np.array(sources, dtype=np.int64), np.array(targets, dtype=np.int64)


def _cut(order: Integers, sources: Integers, targets: Integers) -> tuple[int, Integers, list[int]]:
    """Return how many tensors the cuts of an order cross, the order, and the cuts."""
    count = len(order)
    place = np.empty(count, dtype=np.int64)
    place[order] = np.arange(count)
    # a tensor crosses every place from its producer to the last of its users
    last = np.arange(count)
    np.maximum.at(last, place[sources], place[targets])
    steps = np.zeros(count + 2, dtype=np.int64)
    np.add.at(steps, np.arange(count) + 1, 1)
    np.add.at(steps, last + 1, -1)
    crossing = np.cumsum(steps)
    cuts = [0]
    total = 0
    while count - cuts[-1] > _MOST:
        low = cuts[-1] + _LEAST
        high = min(cuts[-1] + _MOST, count - 2)
        window = crossing[low : high + 1]
        # of equal places the last: fewer parts
        best = high - int(np.argmin(window[::-1]))
        total += int(crossing[best])
        cuts.append(best)
    cuts.append(count)
    return total, order, cuts
