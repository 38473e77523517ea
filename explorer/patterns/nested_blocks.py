"""Blocks of known kinds among many nodes, and those inside them: what a box may be drawn round."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import NamedTuple

from netloupe.explorer.model import Node

from .found_blocks import FoundBlock
from .graph_context import GraphContext, find_graph_context
from .operations import Operations
from .recognise import find_blocks
from .registry import is_kind_of_ours

#: a block takes in at most so many nodes that stand between its own
_MOST_BETWEEN = 8
#: whose places are at most so far apart
_MOST_APART = 1_000


class NestedBlock(NamedTuple):
    """A block of a known kind among some nodes, by their places."""

    name: str
    places: frozenset[int]


def find_nested_blocks(
    nodes: Sequence[Node], context: GraphContext | None = None
) -> list[NestedBlock]:
    """Return the blocks of known kinds among some nodes, inner ones first.

    Parameters
    ----------
    nodes
        Nodes of one graph, producers first.
    context
        What is known of that graph, where it was found already.

    Returns
    -------
    list
        Blocks of several nodes. Two of them are either disjoint or one inside the other; none is
        all of the nodes.
    """
    if not nodes:
        return []
    operations = Operations(nodes, context or find_graph_context(nodes[0].graph))
    places = {node: place for place, node in enumerate(nodes)}
    found: list[NestedBlock] = []
    owner: dict[int, NestedBlock] = {}
    for block in _list_inner_first(find_blocks(operations).list_outermost()):
        name = _name_box(operations, block)
        if not name:
            continue
        members = operations.list_nodes(block.numbers, are_leading_in=block.kind != "activation")
        own = frozenset(places[node] for node in members)
        between = _list_between(nodes, places, own)
        taken = own | between
        inner = {id(owner[place]): owner[place] for place in taken if place in owner}
        is_nested = all(other.places < taken for other in inner.values())
        if len(between) <= _MOST_BETWEEN and 1 < len(taken) < len(nodes) and is_nested:
            nested = NestedBlock(name, taken)
            found.append(nested)
            owner.update(dict.fromkeys(taken, nested))
    return found


def _list_inner_first(entries: Sequence[FoundBlock | int]) -> Iterator[FoundBlock]:
    """Yield blocks and the blocks that they were put together from, the inner ones first."""
    for entry in entries:
        if isinstance(entry, FoundBlock):
            yield from _list_inner_first(entry.parts)
            yield entry


def _name_box(operations: Operations, block: FoundBlock) -> str:
    """Return what a box round a block is called; "" where it says no more than one node."""
    if block.kind == "attention":
        return "Attention"
    if block.kind == "mlp":
        return "Gated MLP" if "GLU" in block.name else "MLP"
    if len(block.numbers) < 2:
        return ""
    if block.kind == "norm":
        is_written_out = not any(
            operations.nodes[number].operator.has("normalizes") for number in block.numbers
        )
        return block.name if is_written_out and block.name != "Affine" else ""
    if block.kind == "conv":
        return block.name if "·" in block.name else ""
    if block.kind == "residual" and block.name != "Inverted residual":
        return "Residual block"
    is_boxed = block.kind in ("activation", "inverted", "positions", "residual")
    return block.name if is_boxed or not is_kind_of_ours(block.kind) else ""


def _list_between(
    nodes: Sequence[Node], places: dict[Node, int], own: Collection[int]
) -> frozenset[int]:
    """Return what takes from some nodes and gives to others of them: a box would be in a circle.

    Not looked for where the nodes are far apart in the file.
    """
    low, high = min(own), max(own)
    behind: set[int] = set()
    for place in range(low + 1, high) if high - low <= _MOST_APART else ():
        if place not in own and any(
            given in own or given in behind
            for value in nodes[place].inputs
            if value is not None and value.producer is not None
            for given in (places.get(value.producer),)
        ):
            behind.add(place)
    between: set[int] = set()
    for place in sorted(behind, reverse=True):
        if any(
            taker in own or taker in between
            for value in nodes[place].outputs
            if value is not None
            for user in value.users
            if not user.operator.has("reads_shape")
            for taker in (places.get(user),)
        ):
            between.add(place)
    return frozenset(between)
