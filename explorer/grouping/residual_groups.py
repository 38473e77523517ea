"""Sums around several residual sums, in models without names: what a figure draws as one box.

A Transformer with projections before and behind it stands so in a diffusion's network (R. Rombach
and others, High-Resolution Image Synthesis with Latent Diffusion Models, 2022, appendix E.2.1), and
a row of residual blocks in networks for super-resolution (Y. Zhang and others, Image
Super-Resolution Using Very Deep Residual Channel Attention Networks, 2018, section 3.2).
"""

from __future__ import annotations

import heapq
from bisect import bisect_left
from collections.abc import Mapping, Sequence
from itertools import pairwise

from netloupe.explorer.dataflow import is_input_independent
from netloupe.explorer.model import Node, Value
from netloupe.explorer.patterns import NestedBlock
from netloupe.explorer.roles import find_weight

#: around so many sums one more is a group
_LEAST_SUMS = 2
_MOST_NODES = 2_000
_ATTENTION = "Attention"
#: so many looks at nodes for each of all
_MOST_LOOKS = 50


def find_residual_groups(nodes: Sequence[Node], blocks: Sequence[NestedBlock]) -> list[NestedBlock]:
    """Return the groups among some nodes, none of which cuts any of some blocks; outermost alone.

    Parameters
    ----------
    nodes
        Nodes of one graph, producers first.
    blocks
        What was found among them.
    """
    places = {node: place for place, node in enumerate(nodes)}
    indices = [own.index for own in nodes]
    is_in_order = all(one < other for one, other in pairwise(indices))

    def find_start(stream: Value | None) -> int:
        """Return the last place before what gives a stream, or of it; negative where unknown."""
        producer = stream.producer if stream is not None else None
        if producer is None or producer in places or not is_in_order:
            return places.get(producer, -1) if producer is not None else -1
        graph = nodes[0].graph
        return bisect_left(indices, graph.index_of(producer)) - 1 if producer.graph is graph else -1

    left = _MOST_LOOKS * len(nodes)
    found: list[frozenset[int]] = []
    end = len(nodes)
    while end and left > 0:
        end -= 1
        node = nodes[end]
        if not node.operator.has("adds") or len(node.inputs) != 2:
            continue
        for main, stream in (node.inputs, node.inputs[::-1]):
            region, looks = _walk_back(nodes, places, end, main, stream, find_start(stream))
            left -= looks
            if _is_group(nodes, region, blocks):
                found.append(frozenset(region))
                end = min(region)
                break
    return [NestedBlock(_name(region, blocks), region) for region in found]


def _is_group(nodes: Sequence[Node], region: set[int], blocks: Sequence[NestedBlock]) -> bool:
    inside = [nodes[place] for place in region]
    sums = sum(node.operator.has("adds") and _is_residual(node) for node in inside)
    if sums <= _LEAST_SUMS or len(region) == len(nodes):
        return False
    if sum(find_weight(node) is not None for node in inside) < sums:
        return False
    return all(region.isdisjoint(block.places) or block.places < region for block in blocks)


def _is_residual(node: Node) -> bool:
    """Return whether both operands of a sum are computed, and one serves for something else too."""
    computed = [v for v in node.inputs if v is not None and not is_input_independent(v)]
    return len(computed) == 2 and any(
        user is not node and not user.operator.has("reads_shape")
        for value in computed
        for user in value.users
    )


def _walk_back(
    nodes: Sequence[Node],
    places: Mapping[Node, int],
    end: int,
    main: Value | None,
    stream: Value | None,
    start: int,
) -> tuple[set[int], int]:
    """Return what leads from a stream to a sum and nowhere else, and how many nodes were looked at.

    Nothing where something else leads from the stream to it.
    """
    first = places.get(main.producer, -1) if main is not None and main.producer else -1
    if start < 0 or first <= start or end - start > _MOST_NODES:
        return set(), 1
    region = {end}
    pending = [-first]
    is_reached = False
    looks = 1
    while pending:
        place = -heapq.heappop(pending)
        if place in region:
            continue
        looks += 1
        node = nodes[place]
        users = [user for value in node.outputs if value is not None for user in value.users]
        if any(places.get(user, -1) not in region for user in users if not _reads(user)):
            return set(), looks
        region.add(place)
        for value in node.inputs:
            if value is stream:
                is_reached = True
            producer = value.producer if value is not None else None
            giver = places.get(producer, -1) if producer is not None else -1
            if giver > start:
                heapq.heappush(pending, -giver)
    return (region if is_reached else set()), looks


def _reads(user: Node) -> bool:
    return user.operator.has("reads_shape")


def _name(region: frozenset[int], blocks: Sequence[NestedBlock]) -> str:
    attends = any(block.name == _ATTENTION and block.places < region for block in blocks)
    return "Spatial transformer" if attends else "Residual group"
