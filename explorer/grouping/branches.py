"""Which of like blocks stand one behind another, and which side by side as branches.

Blocks in a row of names are not always blocks in a stream. Branches take the same value, and what
they give is added or joined: three kernels of a vocoder, rates of an atrous pyramid. Folded they
would look as if they stood in series; few of them are drawn side by side.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Literal

from netloupe.explorer.dataflow import find_source
from netloupe.explorer.model import Node, Value, is_constant
from netloupe.explorer.operators import LAYOUT_TRAITS

from .group import Group
from .member_nodes import list_member_nodes

Block = Sequence[Group | Node]
Link = Literal["serial", "summed", "none"]

#: more branches than this are folded, for they would make a picture too wide
MOST_BRANCHES = 4
#: larger blocks are not looked at
_MOST_NODES = 20_000
#: where blocks stand partly in series, so many of these in a row are a repeat
_LEAST_IN_SERIES = 3


def list_foldable(blocks: Sequence[Block]) -> list[range]:
    """Return which of a row of like blocks are repeats, by their numbers.

    That is all of it where each block takes from the one before, or none does; nothing where
    these are few branches of one value; else what stands in series.
    """
    nodes = [_list_nodes(block) for block in blocks]
    if sum(map(len, nodes)) > _MOST_NODES:
        return [range(len(blocks))]
    links = [_find_link(before, own) for before, own in pairwise(nodes)]
    if "serial" in links and {*links} != {"serial"}:
        return _list_in_series(links)
    if "serial" in links or len(blocks) > MOST_BRANCHES:
        return [range(len(blocks))]
    origins = {_find_origins(own, set(links) == {"summed"}) for own in nodes}
    are_of_one = len(origins) == 1 and origins != {frozenset()}
    return [] if are_of_one else [range(len(blocks))]


def _list_in_series(links: Sequence[Link]) -> list[range]:
    """Return the parts of a row of blocks of which each takes from the one before."""
    parts: list[range] = []
    first = 0
    for number, link in enumerate([*links, "none"], 1):
        if link != "serial":
            if number - first >= _LEAST_IN_SERIES:
                parts.append(range(first, number))
            first = number
    return parts


def _find_link(before: Sequence[Node], nodes: Sequence[Node]) -> Link:
    """Return how some nodes take from others: only to add to it, or put it together, is no step."""
    given = {*before}
    takers = {
        node
        for node in nodes
        for value in (*node.inputs, *node.captures)
        if value is not None and value.producer in given
    }
    if not takers:
        return "none"
    own = {*nodes}
    is_sum = all(node.operator.has("adds", "joins") and _is_last(node, own) for node in takers)
    return "summed" if is_sum else "serial"


def _find_origins(nodes: Sequence[Node], is_summed: bool) -> frozenset[Value]:
    """Return what nodes take from elsewhere, without what they only add to."""
    own = {*nodes}
    found: set[Value] = set()
    for node in nodes:
        if is_summed and node.operator.has("adds", "joins") and _is_last(node, own):
            continue
        for value in node.inputs:
            if value is None or value.producer in own or is_constant(value):
                continue
            origin = find_source(value, *LAYOUT_TRAITS)
            if origin is not None and not is_constant(origin):
                found.add(value)
    return frozenset(found)


def _is_last(node: Node, own: set[Node]) -> bool:
    return not any(user in own for value in node.outputs if value for user in value.users)


def _list_nodes(block: Block) -> list[Node]:
    nodes: list[Node] = []
    for child in block:
        nodes += list_member_nodes(child, _MOST_NODES) if isinstance(child, Group) else [child]
    return nodes
