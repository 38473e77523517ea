"""Series that are made alike before a network, with what is told of them kept for the end."""

from __future__ import annotations

from collections.abc import Iterator

from netloupe.explorer.model import Value

from .found_blocks import FoundBlock, FoundBlocks
from .operations import Operations
from .terms import read_terms

_MOST_STEPS = 24
_ROOTS = ("Sqrt", "Pow")
_STEPS = ("Sub", "Div")


def find_reversible_standardizations(blocks: FoundBlocks) -> Iterator[FoundBlock]:
    """Find (x - mean) / deviation without weights, whose mean and deviation are used again behind.

    So the scale of each series is taken off, and given back to what is forecast (T. Kim and others,
    Reversible Instance Normalization, 2022, equations 1 and 2).
    """
    operations = blocks.operations
    kinds = {*operations.kinds}
    if kinds.isdisjoint(_ROOTS) or not kinds.issuperset(_STEPS):
        return
    terms = read_terms(operations)
    for end, term in enumerate(terms):
        if term.kind != "standard" or term.of is None or blocks.owner[end] is not None:
            continue
        numbers = _walk_back(operations, end, term.of)
        kept = {
            terms[number].kind
            for number in numbers - {end}
            if not numbers.issuperset(operations.users[number])
        }
        is_free = all(blocks.owner[number] is None for number in numbers)
        if is_free and {"mean", "deviation"} == kept:
            facts = ("reversed at the end",)
            yield FoundBlock("standardized", "Standardization", frozenset(numbers), end, facts)


def _walk_back(operations: Operations, end: int, start: Value) -> set[int]:
    """Return what is computed of a value up to an end."""
    numbers, pending = {end}, [end]
    while pending and len(numbers) < _MOST_STEPS:
        for value in operations.operands[pending.pop()]:
            giver = operations.giver(value)
            if value is not start and giver is not None and giver not in numbers:
                numbers.add(giver)
                pending.append(giver)
    return numbers
