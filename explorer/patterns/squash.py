"""Squashing of vectors: their direction is kept, and their length comes between 0 and 1."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from netloupe.explorer.model import Value

from .found_blocks import FoundBlock, FoundBlocks
from .operations import Operations

#: what there is beside the sum of squares: at most so many operations
_MOST_BEHIND = 7


def find_squashes(blocks: FoundBlocks) -> Iterator[FoundBlock]:
    """Find x · ‖x‖² / (1 + ‖x‖²) / ‖x‖, in any order: what a capsule gives.

    S. Sabour and others, Dynamic routing between capsules, 2017, equation 1.
    """
    operations = blocks.operations
    for number, kind in enumerate(operations.kinds):
        if kind in ("ReduceSum", "ReduceSumSquare"):
            found = _find(operations, number)
            if found is not None:
                yield found


def _find(operations: Operations, total: int) -> FoundBlock | None:
    """Find what is made of a sum of squares and of what was squared."""
    numbers = {total}
    start = operations.operands[total]
    if operations.kinds[total] == "ReduceSum":
        square = operations.giver(start[0]) if len(start) == 1 else None
        if square is None or not _is_square(operations, square):
            return None
        start = operations.operands[square]
        numbers.add(square)
    return _close(operations, numbers, total, start[0])


def _close(
    operations: Operations, numbers: set[int], total: int, taken: Value
) -> FoundBlock | None:
    """Add what follows from a sum of squares and is used for one result; check what it is."""
    known = {*numbers}
    pending = sorted({user for user in operations.users[total] if user >= 0})
    while pending and len(known) <= _MOST_BEHIND + 2:
        user = pending.pop(0)
        if user not in known and _fits(operations, user, known, taken):
            known.add(user)
            pending = sorted({*pending, *(one for one in operations.users[user] if one >= 0)})
    end = max(known)
    roots = {number for number in known if _is_root(operations, number)}
    sums = {
        number
        for number in known
        if operations.kinds[number] == "Add" and operations.scalar(number) == 1
    }
    kinds = Counter(operations.kinds[number] for number in known - numbers)
    divisors = {
        operations.giver(operations.operands[number][1])
        for number in known
        if operations.kinds[number] == "Div" and len(operations.operands[number]) == 2
    }
    if len(roots) != 1 or len(sums) != 1 or divisors != roots | sums:
        return None
    if (kinds["Div"], kinds["Mul"]) != (2, 1) or not operations.is_closed(known, end):
        return None
    return FoundBlock("squash", "Squash", frozenset(known), end)


def _fits(operations: Operations, user: int, known: set[int], taken: Value) -> bool:
    """Return whether an operation takes only what is known, what was squared, and numbers."""
    if operations.kinds[user] not in ("Add", "Div", "Mul", "Pow", "Sqrt"):
        return False
    operands = operations.operands[user]
    return all(value is taken or operations.giver(value) in known for value in operands)


def _is_root(operations: Operations, number: int) -> bool:
    kind = operations.kinds[number]
    return kind == "Sqrt" or (kind == "Pow" and operations.scalar(number) == 0.5)


def _is_square(operations: Operations, number: int) -> bool:
    operands = operations.operands[number]
    if operations.kinds[number] == "Pow":
        return operations.scalar(number) == 2
    return operations.kinds[number] == "Mul" and len(operands) == 2 and operands[0] is operands[1]
