"""Whether what multiplies by a stored matrix, or looks up its rows, is a layer by itself."""

from __future__ import annotations

from netloupe.explorer.model.constant import constant_tensor
from netloupe.explorer.patterns.readings import read_numbers

from .outline import Outline, OutlinePart

#: so many operations may stand between shares and what they weigh besides
_MOST_BETWEEN = 16
#: of a larger table it is not read whether it is of zeros
_MOST_NUMBERS = 1 << 16


def is_inside(outline: Outline, part: OutlinePart) -> bool:
    """Return whether a linear layer takes what is inside of an attention, and not its result.

    So shares weigh vectors of relative positions beside values (P. Shaw and others, Self-Attention
    with Relative Position Representations, 2018, equation 3).
    """
    if part.kind != "linear":
        return False
    operations = outline.operations
    pending = [giver for number in part.numbers for giver in operations.givers(number)]
    pending = [giver for giver in pending if giver not in part.numbers]
    seen = 0
    while pending:
        number = pending.pop()
        owner = outline.owner(number)
        seen += 1
        if owner.kind == "attention":
            return number != owner.end
        givers = operations.givers(number)
        if owner.operator is None or len(givers) != 1 or seen > _MOST_BETWEEN:
            return False
        pending += givers
    return False


def takes_zeros(outline: Outline, part: OutlinePart) -> bool:
    """Return whether a part looks up rows of zeros that a graph writes: a state that begins so."""
    node = outline.operations.nodes[part.end]
    table = node.input(0) if part.kind == "embedding" else None
    if table is None or table.initializer is not None:
        return False
    numbers = read_numbers(constant_tensor(table), _MOST_NUMBERS)
    return bool(numbers) and not any(numbers)
