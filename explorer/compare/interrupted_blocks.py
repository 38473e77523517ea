"""Blocks that another node was put into, so that they are no blocks any more."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from netloupe.explorer.model import Node

from .node_pairs import pair_same_operators

if TYPE_CHECKING:
    from .pair import Pair

#: so many nodes may have been put between two that were next to each other
_MOST_BETWEEN = 8


def pair_interrupted_blocks(pairs: Iterable[Pair]) -> Iterator[Pair]:
    """Yield pairs, those of a block with a part of it as pairs of single nodes where that can be.

    Where a convolution is no more followed by its normalization, but by something else and then
    by that, nothing is fused: both have a partner, and what is between was inserted.
    """
    listed = [*pairs]
    taken = {node for pair in listed for node in (*pair.left, *pair.right)}
    for pair in listed:
        if len(pair.left) == len(pair.right) == 1:
            yield pair
            continue
        found = _pair_across(pair, taken)
        if found is None:
            yield pair
            continue
        taken.update(node for both in found for node in both)
        for one, other in found:
            yield type(pair)((one,), (other,), pair.key, pair.confidence)


def _pair_across(pair: Pair, taken: set[Node]) -> list[tuple[Node, Node]] | None:
    """Return pairs of the nodes of a block, some of them with nodes that are in no pair yet."""
    same = dict(pair_same_operators(pair.left, pair.right))
    partners = {*same.values()}
    more = [node for node in pair.left if node not in same]
    others = [node for node in pair.right if node not in partners]
    if bool(more) == bool(others) or not same:
        return None
    found = [*same.items()]
    begins = [*same.values()] if more else [*same]
    chosen: set[Node] = set()
    for node in more or others:
        partner = _find_behind(begins, node, taken | chosen)
        if partner is None:
            return None
        chosen.add(partner)
        found.append((node, partner) if more else (partner, node))
    return found


def _find_behind(begins: list[Node], wanted: Node, taken: set[Node]) -> Node | None:
    """Return the first node of an operator behind some nodes, with only free ones between."""
    pending = [user for node in begins for user in _list_free(node, taken)]
    for node in pending:  # it grows
        if (node.domain, node.op_type) == (wanted.domain, wanted.op_type):
            return node
        if len(pending) < _MOST_BETWEEN:
            pending += _list_free(node, taken)
    return None


def _list_free(node: Node, taken: set[Node]) -> Iterator[Node]:
    for value in node.outputs:
        users = value.users if value is not None else ()
        if len(users) == 1 and users[0] not in taken and users[0].graph is node.graph:
            yield users[0]
