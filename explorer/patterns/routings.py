"""Sums by shares that what is summed agrees with: of capsules, and to stored centres."""

from __future__ import annotations

from collections.abc import Iterator

from .found_blocks import FoundBlock, FoundBlocks
from .leading import find_leading
from .operations import Operations
from .weight_sizes import read_dims

_BOTH = 2
_MOST_BEFORE = 12


def find_routings(blocks: FoundBlocks) -> Iterator[FoundBlock]:
    """Find shares of votes by how they agreed with their sum before, and their new sum.

    S. Sabour and others, Dynamic Routing Between Capsules, 2017, procedure 1: one iteration but the
    first, whose shares are equal and need no scores.
    """
    operations = blocks.operations
    for softmax, kind in enumerate(operations.kinds):
        total = operations.giver(operations.operands[softmax][0]) if kind == "Softmax" else None
        if total is None or operations.kinds[total] != "Add":
            continue
        agreed = [
            n for v in operations.operands[total] if (n := operations.given_by(v, "ReduceSum"))
        ]
        product = operations.giver(operations.operands[agreed[0]][0]) if agreed else None
        if len(agreed) != 1 or product is None or operations.kinds[product] != "Mul":
            continue
        weighted = operations.only_user(softmax)
        if weighted is None or operations.kinds[weighted] != "Mul":
            continue
        votes = {*operations.operands[product]} & {*operations.operands[weighted]}
        end = operations.only_user(weighted)
        if len(votes) != 1 or end is None or operations.kinds[end] != "ReduceSum":
            continue
        numbers = {total, *agreed, product, softmax, weighted, end}
        behind = blocks.owner[operations.users[end][0]] if operations.users[end][0] >= 0 else None
        parts: tuple[FoundBlock, ...] = ()
        if behind is not None and behind.kind == "squash":
            numbers |= behind.numbers
            end, parts = behind.end, (behind,)
        yield FoundBlock("unit", "Routing update", frozenset(numbers), end, parts=parts)


def find_residual_poolings(blocks: FoundBlocks) -> Iterator[FoundBlock]:
    """Find what features differ by from stored centres, summed up by soft shares of these.

    R. Arandjelovic and others, NetVLAD, 2016, equation 4.
    """
    operations = blocks.operations
    for end, kind in enumerate(operations.kinds):
        taken = operations.operands[end]
        product = operations.given_by(taken[0], "Mul") if kind == "ReduceSum" and taken else None
        if product is None or blocks.owner[end] is not None or blocks.owner[product] is not None:
            continue
        factors = operations.operands[product]
        for apart, shares in (factors, factors[::-1]) if len(factors) == _BOTH else ():
            difference = operations.given_by(apart, "Sub")
            softmax = operations.given_by(shares, "Softmax")
            if difference is None or softmax is None or operations.only_user(difference) != product:
                continue
            count = _count_centres(operations, difference)
            start = operations.operands[difference][0]
            leading = find_leading(operations, {end}, taken, [start], _MOST_BEFORE)
            if not count or leading is None:
                continue
            layers = {n for n in leading.numbers if operations.kinds[n] in ("Conv", "Gemm")}
            if leading.sources <= {start} and layers:
                facts = (f"{count} centres",)
                numbers = frozenset({end, *leading.numbers})
                yield FoundBlock("unit", "NetVLAD pooling", numbers, end, facts)
                break


def _count_centres(operations: Operations, difference: int) -> int:
    """Return how many stored centres features are compared with."""
    fixed = operations.fixed(difference)
    if len(operations.operands[difference]) != 1 or len(fixed) != 1:
        return 0
    sizes = [dim for dim in read_dims(fixed[0]) if dim > 1]
    return sizes[0] if len(sizes) == _BOTH else 0
