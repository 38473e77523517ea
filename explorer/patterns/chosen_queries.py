"""Attention of some queries alone, and shares that are taken from others."""

from __future__ import annotations

from collections.abc import Iterator

from netloupe.explorer.model import Value

from .differential_attention import find_differential_heads
from .found_blocks import FoundBlock, FoundBlocks
from .operations import PICKING, Operations

_MOST_STEPS = 4
_AVERAGING = ("ReduceSum", "ReduceMean", "CumSum")


def find_chosen_queries(blocks: FoundBlocks) -> Iterator[FoundBlock]:
    """Find attention of the queries whose scores differ most from their mean, written into a mean.

    How much they differ is told by some of the keys; all other places get the mean, or running sum,
    of the values (H. Zhou and others, Informer, 2021, equation 4 and algorithm 1: ProbSparse).
    """
    operations = blocks.operations
    for scatter, node in enumerate(operations.nodes):
        if not node.operator.has("scatters") or blocks.owner[scatter] is not None:
            continue
        core = next(
            (
                found
                for value in operations.operands[scatter]
                if (found := blocks.ending(operations.giver(value), "attention")) is not None
            ),
            None,
        )
        place = node.operator.operands.find("indices")
        index = node.input(place) if place is not None else None
        top = _find_top(operations, index)
        measured = _read_measure(operations, top) if top is not None else None
        if core is None or top is None or measured is None:
            continue
        numbers = {scatter, top, *core.numbers, *measured}
        for _ in range(_MOST_STEPS):  # what is gathered, averaged or projected for these alone
            numbers |= _find_own_givers(blocks, numbers)
        end = scatter
        out = blocks.holding(operations.only_user(scatter), "linear")
        if out is not None and operations.only_user(scatter) == min(out.numbers):
            numbers, end = numbers | out.numbers, out.end
        count = operations.scalar(top)
        facts = (*core.facts, *([f"{int(count)} queries"] if count else []))
        name = "ProbSparse attention"
        yield FoundBlock("attention", name, frozenset(numbers), end, facts, core.details)


def _find_top(operations: Operations, index: Value | None) -> int | None:
    """Return what chooses the places that an index tells."""
    if index is None:
        return None
    value = operations.source(index)
    for _ in range(_MOST_STEPS):
        giver = operations.giver(value)
        if giver is None or operations.kinds[giver] == "TopK":
            return giver
        joined = operations.operands[giver]
        if not operations.nodes[giver].operator.has("joins") or not joined:
            return None
        value = joined[-1]
    return None


def _read_measure(operations: Operations, top: int) -> set[int] | None:
    """Return what takes from the largest score of each query the mean of them."""
    difference = operations.given_by(operations.operands[top][0], "Sub")
    taken = operations.operands[difference] if difference is not None else []
    if difference is None or len(taken) != 2:
        return None
    largest = operations.given_by(taken[0], "ReduceMax")
    mean = operations.giver(taken[1])
    numbers = {difference}
    if mean is not None and operations.kinds[mean] in ("Div", "Mul"):
        numbers.add(mean)
        mean = operations.giver(operations.operands[mean][0])
    if largest is None or mean is None or operations.kinds[mean] not in _AVERAGING:
        return None
    scores = operations.operands[largest][0]
    if operations.operands[mean][0] is not scores:
        return None
    numbers |= {largest, mean}
    pick = operations.giver(scores)
    if pick is not None and operations.nodes[pick].operator.has(*PICKING):
        numbers.add(pick)
        scores = operations.operands[pick][0]
    product = operations.given_by(scores, "MatMul", "Einsum")
    return {*numbers, product} if product is not None else None


def _find_own_givers(blocks: FoundBlocks, numbers: set[int]) -> set[int]:
    operations = blocks.operations
    found: set[int] = set()
    for number in numbers:
        for giver in operations.givers(number):
            owner = blocks.owner[giver]
            own = owner.numbers if owner is not None else frozenset({giver})
            node = operations.nodes[giver]
            is_fit = (
                owner.kind == "linear"
                if owner is not None
                else node.operator.has(*PICKING, "looks_up")
                or operations.kinds[giver] in _AVERAGING
            )
            if is_fit and numbers.issuperset({u for n in own for u in operations.users[n]} - own):
                found |= own
    return found


def find_differences_of_shares(blocks: FoundBlocks) -> Iterator[FoundBlock]:
    """Find values mixed by shares from which others, times a learned number, are taken.

    T. Ye and others, Differential Transformer, 2025, equation 1.
    """
    yield from find_differential_heads(blocks)
    operations = blocks.operations
    for end, kind in enumerate(operations.kinds):
        taken = operations.operands[end]
        if kind != "MatMul" or len(taken) != 2 or blocks.owner[end] is not None:
            continue
        difference = operations.given_by(taken[0], "Sub")
        sides = operations.operands[difference] if difference is not None else []
        if difference is None or len(sides) != 2:
            continue
        product = operations.given_by(sides[1], "Mul")
        if product is None or operations.operands[product] == sides:
            continue
        scaled = operations.operands[product]
        found = [_walk_shares(operations, value) for value in (sides[0], scaled[0])]
        if any(one is None for one in found) or len(scaled) > 1:
            continue
        numbers = {end, difference, product}.union(*(one for one in found if one is not None))
        if all((owner := blocks.owner[n]) is None or owner.kind == "activation" for n in numbers):
            scores = {g for n in numbers for g in operations.givers(n)} - numbers
            numbers |= {
                g
                for g in scores
                if operations.kinds[g] == "MatMul"
                and blocks.owner[g] is None
                and numbers.issuperset(operations.users[g])
            }
            yield FoundBlock("attention", "Differential attention", frozenset(numbers), end)


def _walk_shares(operations: Operations, value: Value) -> set[int] | None:
    """Return what gives shares, of which a value may be a part, up to their scores."""
    numbers: set[int] = set()
    is_shared = False
    for _ in range(_MOST_STEPS * 2):
        giver = operations.giver(value)
        if giver is None:
            return None
        if operations.kinds[giver] == "Softmax":
            is_shared = True
        elif is_shared and operations.kinds[giver] not in ("Add", "Mul", "Div", "Where"):
            return numbers
        elif not is_shared and not operations.nodes[giver].operator.has(*PICKING, "splits"):
            return None
        numbers.add(giver)
        value = operations.operands[giver][0]
    return None
