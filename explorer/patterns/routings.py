"""Sums by shares that what is summed agrees with: of capsules, and to stored centres."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from netloupe.explorer.model import Value

from .found_blocks import FoundBlock, FoundBlocks
from .leading import find_leading
from .operations import Operations
from .weight_sizes import read_dims

_BOTH = 2
_MOST_BEFORE = 12
#: between two sums so many operations squash the first
_MOST_OF_SQUASH = 16


class Routing(NamedTuple):
    """An iteration of routing by agreement.

    Parameters
    ----------
    numbers
        Its operations: agreement, scores, shares, and the new sum.
    end
        The one that gives the sum.
    """

    numbers: frozenset[int]
    end: int


def find_routings(blocks: FoundBlocks) -> Iterator[FoundBlock]:
    """Find shares of votes by how they agreed with their sum before, and their new sum.

    S. Sabour and others, Dynamic Routing Between Capsules, 2017, procedure 1: one iteration but the
    first, whose shares are equal and need no scores.
    """
    operations = blocks.operations
    for softmax, kind in enumerate(operations.kinds):
        found = read_routing(operations, softmax) if kind == "Softmax" else None
        if found is None:
            continue
        numbers, end = {*found.numbers}, found.end
        behind = blocks.owner[operations.users[end][0]] if operations.users[end][0] >= 0 else None
        parts: tuple[FoundBlock, ...] = ()
        if behind is not None and behind.kind == "squash":
            numbers |= behind.numbers
            end, parts = behind.end, (behind,)
        yield FoundBlock("unit", "Routing update", frozenset(numbers), end, parts=parts)


def read_routing(operations: Operations, softmax: int) -> Routing | None:
    """Return the iteration of which a softmax makes the shares; None for other shares.

    Its scores are those before, which may be stored or drawn at random, and how much each vote
    agrees with the sum of all: a product with that sum. The shares, some of them perhaps masked,
    sum the same votes. Queries of attention are no sum of what they are compared with.
    """
    total = operations.giver(operations.operands[softmax][0])
    if total is None or operations.kinds[total] != "Add":
        return None
    agreed = [
        found
        for value in operations.operands[total]
        if (found := _read_sum(operations, operations.giver(value))) is not None
    ]
    shares = softmax
    numbers = {total, softmax}
    masked = operations.only_user(softmax)
    if masked is not None and operations.kinds[masked] == "Where":
        numbers.add(masked)
        shares = masked
    weighted = operations.only_user(shares)
    if weighted is not None and operations.kinds[weighted] == "Mul":
        weighted = operations.only_user(weighted)
    summed = _read_sum(operations, weighted)
    if len(agreed) != 1 or summed is None or weighted is None:
        return None
    (agreement,) = agreed
    votes = {*agreement.taken} & {*summed.taken}
    others = {*agreement.taken} - votes
    if len(votes) != 1 or len(others) != 1:
        return None
    if agreement.is_product and not _follows_sum(operations, *others, *votes):
        return None
    return Routing(frozenset(numbers | agreement.numbers | summed.numbers), weighted)


class _Sum(NamedTuple):
    """A sum of products of two values."""

    taken: tuple[Value, ...]
    numbers: frozenset[int]
    is_product: bool


def _read_sum(operations: Operations, end: int | None) -> _Sum | None:
    """Return what a matrix product, or the sum of a product, is made of; else None."""
    if end is None:
        return None
    taken = operations.operands[end]
    if operations.nodes[end].operator.has("multiplies"):
        # by stored shares votes are summed that stand behind these: before a weight they are no sum
        second = operations.nodes[end].input(1)
        is_sum = len(taken) == _BOTH or (
            second is not None and [operations.source(second)] == [*taken]
        )
        return _Sum((*taken,), frozenset({end}), is_product=True) if is_sum else None
    product = operations.given_by(taken[0], "Mul") if operations.kinds[end] == "ReduceSum" else None
    if product is None:
        return None
    both = (*operations.operands[product],)
    return _Sum(both, frozenset({end, product}), is_product=False)


def _follows_sum(operations: Operations, value: Value, votes: Value) -> bool:
    """Return whether a value follows from a sum of some votes, as squashed sums do."""
    pending = [operations.giver(value)]
    seen: set[int] = set()
    while pending and len(seen) < _MOST_OF_SQUASH:
        number = pending.pop()
        if number is None or number in seen:
            continue
        seen.add(number)
        found = _read_sum(operations, number)
        if found is not None:
            if votes in found.taken:
                return True
            continue
        pending += [operations.giver(taken) for taken in operations.operands[number]]
    return False


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
