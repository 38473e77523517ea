"""Layers before and behind a core that nothing else takes anything of."""

from __future__ import annotations

from .attention_heads import BEFORE_PRODUCTS
from .found_blocks import FoundBlocks

_MOST_STEPS = 25


def add_layers_around(blocks: FoundBlocks, numbers: set[int], end: int) -> tuple[set[int], int]:
    """Add the linear layers before and behind that nothing else takes."""
    operations = blocks.operations
    pending = sorted({g for n in numbers for g in operations.givers(n)} - numbers, reverse=True)
    for _ in range(_MOST_STEPS):
        if not pending:
            break
        number = pending.pop(0)
        owner = blocks.owner[number]
        if number in numbers or not numbers.issuperset(operations.users[number]):
            continue
        if owner is not None and owner.kind == "linear":
            numbers |= owner.numbers
        elif owner is not None and owner.kind == "norm":
            numbers |= owner.numbers
            pending += operations.givers(min(owner.numbers))
        elif owner is None and operations.kinds[number] in BEFORE_PRODUCTS:
            numbers.add(number)
            pending += operations.givers(number)
    behind = blocks.holding(operations.only_user(end), "linear")
    if behind is not None and operations.only_user(end) == min(behind.numbers):
        return numbers | behind.numbers, behind.end
    return numbers, end
