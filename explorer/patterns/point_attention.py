"""Attention whose scores also tell how far points are from one another."""

from __future__ import annotations

from collections.abc import Iterator

from netloupe.explorer.costs.value_facts import find_value_facts

from .found_blocks import FoundBlock, FoundBlocks
from .operations import OUTSIDE, Operations

_MOST_STEPS = 24
_COORDINATES = 3
_LEAST_PRODUCTS = 2
_SCORING = ("Add", "Div", "Mul", "Neg", "Pow", "ReduceSum", "Sub", "Where")


def find_point_attentions(blocks: FoundBlocks) -> Iterator[FoundBlock]:
    """Find attention whose scores are less for points that are far away, in squares of distances.

    The shares mix points as well as features (J. Jumper and others, Highly Accurate Protein
    Structure Prediction with AlphaFold, 2021, supplement, algorithm 22: invariant point attention).
    """
    operations = blocks.operations
    for core in [one for one in blocks.list_outermost() if isinstance(one, FoundBlock)]:
        if core.kind != "attention":
            continue
        shares = [n for n in core.numbers if operations.kinds[n] == "Softmax"]
        if len(shares) != 1:
            continue
        mixing = [
            user
            for user in operations.users[shares[0]]
            if user == OUTSIDE or operations.kinds[user] in ("Einsum", "MatMul")
        ]
        found = _walk_distances(blocks, core, shares[0])
        if found is None or len(mixing) < _LEAST_PRODUCTS:
            continue
        own = {*found, *core.numbers}
        for number in sorted(found - core.numbers, reverse=True):
            if not own.issuperset(operations.users[number]):
                own.discard(number)
        name = "Invariant point attention"
        yield FoundBlock("attention", name, frozenset(own), core.end, core.facts, core.details)


def _walk_distances(blocks: FoundBlocks, core: FoundBlock, shares: int) -> set[int] | None:
    """Return what adds squared distances of points to scores; None where nothing does."""
    operations = blocks.operations
    numbers: set[int] = set()
    has_distances = False
    pending = [*operations.givers(shares)]
    while pending and len(numbers) < _MOST_STEPS:
        number = pending.pop()
        owner = blocks.owner[number]
        is_fit = operations.kinds[number] in _SCORING and owner in (None, core)
        if number in numbers or not is_fit:
            continue
        numbers.add(number)
        if operations.kinds[number] == "Sub" and _are_points(operations, number):
            has_distances |= any(_squares(operations, user) for user in operations.users[number])
            continue
        pending += operations.givers(number)
    return numbers if has_distances else None


def _squares(operations: Operations, number: int) -> bool:
    if number < 0:
        return False
    taken = operations.operands[number]
    is_product = operations.kinds[number] == "Mul" and len(taken) == 2 and taken[0] is taken[1]
    return is_product or (operations.kinds[number] == "Pow" and operations.scalar(number) == 2.0)


def _are_points(operations: Operations, number: int) -> bool:
    """Return whether an operation takes points with three coordinates from others."""
    value = operations.nodes[number].output(0)
    dims = find_value_facts(value.graph.model).find_dims(value) if value is not None else None
    return bool(dims) and dims is not None and dims[-1] == _COORDINATES
