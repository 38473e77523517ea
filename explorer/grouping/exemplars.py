"""Whether the first block of a stack may stand for all."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from netloupe.explorer.dataflow import is_input_independent
from netloupe.explorer.model import Node, is_constant

from .group import Group
from .member_nodes import list_nodes_inside

Block = Sequence[Group | Node]
_BOTH = 2


def is_first_odd(blocks: Sequence[Block]) -> bool:
    """Return whether a first block takes, or has, less than the others.

    So does the first step of a cell, whose state is zero; and of what a block makes of something
    stored an exporter may have computed a part beforehand.
    """
    if len(blocks) < _BOTH:
        return False
    first, second = map(list_nodes_inside, blocks[:_BOTH])
    if len(blocks) == _BOTH:  # nobody knows which one is as it should be, unless it begins less
        return _takes_less(first, second, is_sure=True)
    return _takes_less(first, second) or _is_alone_smaller(first, second, blocks[_BOTH:])


def _takes_less(first: Sequence[Node], other: Sequence[Node], *, is_sure: bool = False) -> bool:
    """Return whether a first block takes constants where the next one takes what was computed.

    Where that ``is_sure``, of an input, by equal nodes: a stored number may have been handed on.
    """
    if is_sure and [node.op_type for node in first] != [node.op_type for node in other]:
        return False
    is_stored = is_input_independent if is_sure else is_constant
    return any(
        is_constant(ours) and not is_stored(theirs)
        for node, match in zip(first, other, strict=False)
        for ours, theirs in zip(node.inputs, match.inputs, strict=False)
        if ours is not None and theirs is not None and node.op_type == match.op_type
    )


def _is_alone_smaller(
    first: Sequence[Node], second: Sequence[Node], others: Sequence[Block]
) -> bool:
    """Return whether a first block has fewer of some layers than all others, and more of none."""
    most = _count_layers(second)
    if not _count_layers(first) < most:
        return False
    return all(_count_layers(list_nodes_inside(block)) == most for block in others)


def _count_layers(nodes: Sequence[Node]) -> Counter[str]:
    return Counter(node.op_type for node in nodes if node.operator.weight_kind)
