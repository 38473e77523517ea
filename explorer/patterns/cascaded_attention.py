"""Attentions over parts of the features, each of which takes what the last one gives, too."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from netloupe.explorer.notation import write_count

from .found_blocks import FoundBlock, FoundBlocks
from .leading import find_leading
from .operations import OUTSIDE, PARTING, Operations

#: so many operations lead to all of them together
_MOST_LEADING = 160
_LEAST_PARTS = 2
_PROJECTING = ("conv", "linear")
_HEAD_PARTS = ("attention", "norm", *_PROJECTING)


def find_cascaded_attentions(blocks: FoundBlocks) -> Iterator[FoundBlock]:
    """Find attention of each head to its own part of the features and to the last head's result.

    The result of one is added to the part that the next one takes, and all are joined and projected
    (X. Liu and others, EfficientViT: Memory Efficient Vision Transformer with Cascaded Group
    Attention, 2023, equations 2 and 3).
    """
    operations = blocks.operations
    for join, node in enumerate(operations.nodes):
        givers = operations.givers(join) if node.operator.has("joins") else []
        if len({*givers}) < _LEAST_PARTS:
            continue
        heads = [blocks.ending(giver, "attention") for giver in givers]
        known = [head for head in heads if head is not None]
        if len(known) != len(operations.operands[join]) or not _is_cascade(operations, known):
            continue
        leading = find_leading(operations, {join}, operations.operands[join], most=_MOST_LEADING)
        if leading is None or len(leading.sources) != 1:
            continue
        if not all(_may_lead(blocks, number) for number in leading.numbers):
            continue
        inside = {*leading.numbers, join}
        end = _add_projection(blocks, inside, join)
        split = [n for n in leading.numbers if operations.nodes[n].operator.has("splits", "slices")]
        if not split:
            continue
        facts = (write_count(len(known), "head"),)
        name = "Cascaded group attention"
        yield FoundBlock("attention", name, frozenset(inside), end, facts, parts=(*known,))


def _may_lead(blocks: FoundBlocks, number: int) -> bool:
    """Return whether an operation is in a layer or an attention, takes a part, or adds."""
    operator = blocks.operations.nodes[number].operator
    return blocks.holding(number, *_HEAD_PARTS) is not None or operator.has(*PARTING, "adds")


def _is_cascade(operations: Operations, heads: list[FoundBlock]) -> bool:
    """Return whether what each of some attentions gives is added to what the next one takes."""
    for one, other in pairwise(heads):
        sums = [
            user
            for user in operations.users[one.end]
            if user != OUTSIDE
            and operations.kinds[user] == "Add"
            and len(operations.operands[user]) == len(("part", "result"))
        ]
        if len(sums) != 1:
            return False
        leading = find_leading(
            operations,
            other.numbers,
            [value for number in other.numbers for value in operations.operands[number]],
            most=_MOST_LEADING,
        )
        if leading is None or sums[0] not in leading.numbers | other.numbers:
            return False
    return True


def _add_projection(blocks: FoundBlocks, inside: set[int], end: int) -> int:
    """Take in the activation and the layer behind what was joined; return what gives the result."""
    operations = blocks.operations
    last, added = end, set[int]()
    for kinds in (("activation",), _PROJECTING):
        user = operations.only_user(last)
        owner = blocks.holding(user, *kinds)
        if owner is not None and operations.operands[min(owner.numbers)][:1] == [
            operations.nodes[last].output(0)
        ]:
            added |= owner.numbers
            last = owner.end
            if kinds == _PROJECTING:
                inside |= added
                return last
    return end
