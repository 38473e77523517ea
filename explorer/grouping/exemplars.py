"""Whether the first block of a stack may stand for all."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from netloupe.explorer.model import Node, is_constant

from .group import Group
from .member_nodes import list_nodes_inside

Block = Sequence[Group | Node]


def is_first_odd(blocks: Sequence[Block]) -> bool:
    """Return whether a first block takes, or has, less than the others.

    So does the first step of a cell, whose state is zero; and of what a block makes of something
    stored an exporter may have computed a part beforehand.
    """
    if len(blocks) < 3:
        return False
    nodes = [list_nodes_inside(block) for block in blocks]
    return _takes_less(nodes[0], nodes[1]) or _is_alone_smaller(nodes)


def _takes_less(first: Sequence[Node], other: Sequence[Node]) -> bool:
    """Return whether a first block takes constants where the next one takes what was computed."""
    return any(
        is_constant(ours) and not is_constant(theirs)
        for node, match in zip(first, other, strict=False)
        for ours, theirs in zip(node.inputs, match.inputs, strict=False)
        if ours is not None and theirs is not None and node.op_type == match.op_type
    )


def _is_alone_smaller(blocks: Sequence[Sequence[Node]]) -> bool:
    """Return whether a first block has fewer of some layers than all others, and more of none."""
    first, *others = (
        Counter(node.op_type for node in nodes if node.operator.weight_kind) for nodes in blocks
    )
    return all(one == others[0] for one in others) and first < others[0]
