"""Codes that are numbers in a few places, rounded."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from netloupe.explorer.errors import NetloupeError
from netloupe.explorer.model import Tensor
from netloupe.explorer.model.constant import constant_tensor

from .found_blocks import FoundBlock, FoundBlocks
from .operations import Operations

_BOTH = 2
#: codes have so few numbers
_MOST_NUMBERS = 64
_MOST_BEHIND = 3


def find_scalar_quantizers(blocks: FoundBlocks) -> Iterator[FoundBlock]:
    """Find tanh of features times stored numbers, rounded, and divided by such again.

    F. Mentzer and others, Finite Scalar Quantization: VQ-VAE Made Simple, 2024, section 3.1: of L
    levels tanh is scaled by half of L - 1, and what is rounded by half of L.
    """
    operations = blocks.operations
    for rounded, kind in enumerate(operations.kinds):
        if kind != "Round" or blocks.owner[rounded] is not None:
            continue
        number: int | None = operations.giver(operations.operands[rounded][0])
        before: set[int] = set()
        half: int | None = None
        for _ in range(_BOTH):
            if number is None or operations.kinds[number] not in ("Add", "Mul", "Sub"):
                break
            if len(operations.operands[number]) != 1:
                break
            before.add(number)
            if operations.kinds[number] == "Mul":
                half = number
                break
            number = operations.giver(operations.operands[number][0])
        if half is None:
            continue
        value = operations.operands[half][0]
        bounding, bounded = value.producer, operations.giver(value)
        if bounding is None or bounding.operator.form != "Tanh":
            continue
        numbers = {rounded, *before}
        owner = blocks.owner[bounded] if bounded is not None else None
        if bounded is not None and owner is not None and len(owner.numbers) == 1:
            numbers.add(bounded)
        end = _pass_straight(operations, numbers, rounded, operations.operands[rounded][0])
        division = operations.only_user(end)
        if division is None or operations.kinds[division] not in ("Div", "Mul"):
            continue
        if len(operations.operands[division]) != 1 or blocks.owner[division] is not None:
            continue
        numbers.add(division)
        facts = _tell_levels(operations, half)
        yield FoundBlock(
            "quantizer", "Finite scalar quantizer", frozenset(numbers), division, facts
        )


def _pass_straight(operations: Operations, numbers: set[int], end: int, start: object) -> int:
    """Go on behind x + (round(x) - x), by which gradients pass."""
    apart = operations.only_user(end)
    if apart is None or operations.kinds[apart] != "Sub":
        return end
    total = operations.only_user(apart)
    if total is None or operations.kinds[total] != "Add":
        return end
    if start not in operations.operands[apart] or start not in operations.operands[total]:
        return end
    numbers |= {apart, total}
    return total


def _tell_levels(operations: Operations, half: int) -> tuple[str, ...]:
    """Return how many levels each number of a code has, as far as that is stored."""
    fixed = operations.fixed(half)
    tensor = constant_tensor(fixed[0]) if len(fixed) == 1 else None
    if not isinstance(tensor, Tensor) or not 0 < tensor.size <= _MOST_NUMBERS:
        return ()
    try:
        levels = [round(_BOTH * float(one)) + 1 for one in np.ravel(tensor.numpy())]
    except (NetloupeError, OverflowError, TypeError, ValueError):
        return ()
    return (f"levels {', '.join(map(str, levels))}",)
