"""Series that are made alike before a network, with what is told of them kept for the end."""

from __future__ import annotations

from collections.abc import Container, Iterator, Sequence

from netloupe.explorer.dataflow import list_users
from netloupe.explorer.model import Node, Value
from netloupe.explorer.operators import LAYOUT_TRAITS

from .found_blocks import FoundBlock, FoundBlocks
from .operations import ARRANGING, PARTING, Operations
from .terms import Term, read_terms

_MOST_STEPS = 24
#: so many operations behind are looked at
_MOST_BEHIND = 2_000
_ROOTS = ("Sqrt", "Pow")
_STEPS = ("Sub", "Div")


def find_reversible_standardizations(blocks: FoundBlocks) -> Iterator[FoundBlock]:
    """Find (x - mean) / deviation without weights, whose mean and deviation are used again behind.

    So the scale of each series is taken off, and given back to what is forecast (T. Kim and others,
    Reversible Instance Normalization, 2022, equations 1 and 2). That it is given back is told where
    something is multiplied by this deviation, and this mean added to that.
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
            facts = ("reversed at the end",) if _is_reversed(operations, terms, numbers) else ()
            yield FoundBlock("standardized", "Standardization", frozenset(numbers), end, facts)


def _is_reversed(operations: Operations, terms: Sequence[Term], numbers: set[int]) -> bool:
    """Return whether something behind is multiplied by the deviation, and the mean added to it."""
    inside = frozenset(operations.nodes[number] for number in numbers)
    deviations, means = (
        [operations.nodes[number] for number in numbers if terms[number].kind == kind]
        for kind in ("deviation", "mean")
    )
    pending = _list_takers(deviations, "multiplies_elements", inside)
    sums = frozenset(_list_takers(means, "adds", inside))
    seen = {*pending}
    while pending and sums and len(seen) < _MOST_BEHIND:
        node = pending.pop()
        if node in sums:
            return True
        later = [user for user in list_users(node) if user not in seen]
        seen.update(later)
        pending += later
    return False


def _list_takers(givers: Sequence[Node], trait: str, inside: Container[Node]) -> list[Node]:
    """Return nodes with a trait, none of some, which take what others give and layout arranges."""
    pending, seen = [*givers], {*givers}
    found = []
    while pending and len(seen) < _MOST_BEHIND:
        for user in list_users(pending.pop()):
            if user in seen or user in inside:
                continue
            seen.add(user)
            if user.operator.has(trait):
                found.append(user)
            elif user.operator.has(*ARRANGING, *PARTING, *LAYOUT_TRAITS):
                pending.append(user)
    return found


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
