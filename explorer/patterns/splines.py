"""Splines: piecewise polynomials of each number, whose factors are learned."""

from __future__ import annotations

from collections.abc import Iterator

from netloupe.explorer.model import Value

from .found_blocks import FoundBlock, FoundBlocks
from .operations import OUTSIDE, Operations
from .weight_sizes import read_type_dims

#: what the recursion from one degree to the next is computed with
_STEPS = ("Add", "Div", "Mul", "Slice", "Sub")
_MOST_OF_SPLINES = 200


def find_splines(blocks: FoundBlocks) -> Iterator[FoundBlock]:
    """Find the B-splines of each number over stored knots, of one degree after the other.

    Those of degree 0 are 1 between two knots; each further one is the sum of two of the degree
    before, times (x - tᵢ) / (tᵢ₊ₖ - tᵢ) and (tᵢ₊ₖ₊₁ - x) / (tᵢ₊ₖ₊₁ - tᵢ₊₁) (C. de Boor, A
    Practical Guide to Splines, 1978, chapter IX; Z. Liu and others, Kolmogorov-Arnold Networks,
    2024, section 2.2).
    """
    operations = blocks.operations
    for number, node in enumerate(operations.nodes):
        givers = operations.givers(number) if node.operator.has("logical") else []
        if len(givers) != len(("least", "largest")):
            continue
        if not all(operations.nodes[giver].operator.has("compares_order") for giver in givers):
            continue
        values = {value for giver in givers for value in operations.operands[giver]}
        if len(values) != 1:
            continue
        numbers = _walk_on(blocks, {number, *givers}, next(iter(values)))
        ends = [n for n in numbers if not numbers.issuperset(operations.users[n])]
        degree = sum(operations.kinds[n] == "Add" for n in numbers)
        has_left = any(OUTSIDE in operations.users[n] for n in numbers - {*ends})
        if len(ends) != 1 or not degree or has_left or operations.kinds[ends[0]] != "Add":
            continue
        dims = read_type_dims(operations.nodes[ends[0]].output(0))
        count = f"{dims[-1]} of each number" if dims and dims[-1] else ""
        facts = tuple(filter(None, (f"degree {degree}", count)))
        yield FoundBlock("splines", "Splines", frozenset(numbers), ends[0], facts)


def _walk_on(blocks: FoundBlocks, begun: set[int], value: Value) -> set[int]:
    """Return what follows from splines of degree 0 and from the value that they are of alone."""
    operations = blocks.operations
    numbers = {*begun}
    ramps: set[int] = set()
    for number in range(min(begun), len(operations)):
        if number in numbers or len(numbers) > _MOST_OF_SPLINES:
            continue
        if operations.kinds[number] not in _STEPS or blocks.owner[number] is not None:
            continue
        givers = {*operations.givers(number)}
        taken = operations.operands[number]
        if all(v is value or operations.giver(v) in numbers | ramps for v in taken):
            (numbers if givers & numbers else ramps).add(number)
    return numbers | {n for n in ramps if _leads_to(operations, n, numbers)}


def _leads_to(operations: Operations, number: int, numbers: set[int]) -> bool:
    """Return whether what an operation gives is taken by some others, by one more at most."""
    users = [user for user in operations.users[number] if user != OUTSIDE]
    if len(users) < len(operations.users[number]):
        return False
    return all(user in numbers or numbers.issuperset(operations.users[user]) for user in users)
