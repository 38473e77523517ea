"""The activation Dice, whose gate is a normalization of what it gates."""

from __future__ import annotations

from netloupe.explorer.model import Value

from .found_blocks import FoundBlock, FoundBlocks
from .operations import Operations

#: by the slope, and by what is activated
_MOST_FACTORS = 2


def find_dice(blocks: FoundBlocks, sigmoid: int) -> FoundBlock | None:
    """Return x·p + α·x·(1 − p) around p = σ(norm(x)); None where it is not that.

    Parameters
    ----------
    blocks
        What was found so far, norms among it.
    sigmoid
        The operation that gives p.
    """
    operations = blocks.operations
    taken = operations.operands[sigmoid]
    norm = blocks.ending(operations.giver(taken[0]) if taken else None, "norm")
    if norm is None or operations.only_user(norm.end) != sigmoid:
        return None
    start = operations.operands[min(norm.numbers)][0]
    users = operations.users[sigmoid]
    rest = next((user for user in users if user >= 0 and _is_rest(operations, user, sigmoid)), None)
    other = next((user for user in users if user != rest), None)
    if rest is None or other is None or len(users) != _MOST_FACTORS:
        return None
    factors, end = {rest}, operations.only_user(rest)
    values: list[Value] = []
    while end is not None and operations.kinds[end] == "Mul" and len(factors) <= _MOST_FACTORS:
        factors.add(end)
        values += [v for v in operations.operands[end] if operations.giver(v) not in factors]
        end = operations.only_user(end)
    is_activated = values == [start] and len(factors) == 1 + _MOST_FACTORS
    if end is None or other < 0 or operations.kinds[end] != "Add" or not is_activated:
        return None
    if operations.kinds[other] != "Mul" or start not in operations.operands[other]:
        return None
    numbers = {sigmoid, other, end, *factors, *norm.numbers}
    if other not in operations.givers(end) or not operations.is_closed(numbers, end):
        return None
    return FoundBlock("activation", "Dice", frozenset(numbers), end, parts=(norm,))


def _is_rest(operations: Operations, number: int, share: int) -> bool:
    """Return whether an operation subtracts a share from 1."""
    node = operations.nodes[number]
    is_second = operations.is_fixed(node.input(0)) and operations.givers(number) == [share]
    return operations.kinds[number] == "Sub" and is_second and operations.scalar(number) == 1.0
