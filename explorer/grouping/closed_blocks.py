"""Blocks with what lies on ways out of them and back, so that no picture has a cycle there.

As the scale of attention, which an exporter computes from the shape of its queries.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from netloupe.explorer.model import Node
from netloupe.explorer.patterns import NestedBlock

#: so many nodes are asked whether a way leads through them back into a block
_MOST_ASKED = 100


def close_blocks(blocks: Sequence[NestedBlock], nodes: Sequence[Node]) -> list[NestedBlock]:
    """Return blocks with the nodes that only they use and that take from them, by whatever ways.

    Nodes of another block stay there, and none becomes all of the nodes.
    """
    taken = frozenset[int]().union(*(block.places for block in blocks))
    places = {node: place for place, node in enumerate(nodes)}
    return [_close(block, nodes, places, taken) for block in blocks]


def _close(
    block: NestedBlock, nodes: Sequence[Node], places: Mapping[Node, int], taken: frozenset[int]
) -> NestedBlock:
    inside = {nodes[place] for place in block.places}
    added: list[int] = []
    for place in range(max(block.places) - 1, -1, -1):
        node = nodes[place]
        if place in taken:
            continue
        if _is_used_only_by(node, inside, places) and _leads_back(node, inside):
            inside.add(node)
            added.append(place)
    closed = block.places.union(added)
    return block._replace(places=closed) if added and len(closed) < len(nodes) else block


def _is_used_only_by(node: Node, inside: set[Node], places: Mapping[Node, int]) -> bool:
    """Return whether all that a node leads to is some others, or leads to these alone.

    What is among none of the nodes, as arithmetic on shapes, is where its users are.
    """
    asked = {node}
    pending = [node]
    while pending:
        for value in pending.pop().outputs:
            if value is None:
                continue
            if value.is_output or not value.is_used:
                return False
            for user in value.users:
                if user in inside or user in asked:
                    continue
                if user in places or len(asked) >= _MOST_ASKED:
                    return False
                asked.add(user)
                pending.append(user)
    return True


def _leads_back(node: Node, inside: set[Node]) -> bool:
    """Return whether a node takes from some others, directly or through any that are not."""
    asked = {node}
    pending = [node]
    while pending and len(asked) < _MOST_ASKED:
        for value in pending.pop().inputs:
            producer = value.producer if value is not None else None
            if producer in inside:
                return True
            if producer is not None and producer not in asked:
                asked.add(producer)
                pending.append(producer)
    return False
