"""How alike two maps are at several displacements of one of them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from netloupe.explorer.model import Value

from .found_blocks import FoundBlock, FoundBlocks
from .operations import Operations

_LEAST_DISPLACEMENTS = 3
_BOTH = 2
#: what moves a map by some places
_MOVING = ("pads", "slices")
_MOST_STEPS = 6


class _Comparison(NamedTuple):
    """Two maps that are compared, as they were before they were moved.

    Parameters
    ----------
    maps
        Both.
    moved
        Both as they are compared.
    numbers
        The operations of the comparison, and those that move.
    how
        By sums of products, by differences, or not yet, where both are put beside one another.
    """

    maps: frozenset[Value]
    moved: tuple[Value, Value]
    numbers: frozenset[int]
    how: str


def find_cost_volumes(blocks: FoundBlocks) -> Iterator[FoundBlock]:
    """Find products or differences of two maps, one of them moved by other places each time.

    Products are summed over channels (A. Dosovitskiy and others, FlowNet, 2015, section 3:
    correlation); differences stay for each channel (S. Khamis and others, StereoNet, 2018, section
    3.1); or layers behind compare both (A. Kendall and others, End-to-End Learning of Geometry and
    Context for Deep Stereo Regression, 2017, section 3.2). All displacements stand beside one
    another.
    """
    operations = blocks.operations
    for join, node in enumerate(operations.nodes):
        taken = operations.operands[join]
        if not node.operator.has("joins") or len(taken) < _LEAST_DISPLACEMENTS:
            continue
        if blocks.owner[join] is not None:
            continue
        first = _read_comparison(operations, taken[0])
        if first is None:  # of many that are joined, none is looked at
            continue
        found = [_read_comparison(operations, value) for value in taken]
        known = [one for one in found if one is not None]
        if len(known) < len(taken) or len({(one.maps, one.how) for one in known}) > 1:
            continue
        if len({one.moved for one in known}) < len(known):
            continue
        numbers = {join}.union(*(one.numbers for one in known))
        if any(blocks.owner[number] is not None for number in numbers):
            continue
        kept = {n for n in numbers if numbers.issuperset(operations.users[n]) or n == join}
        facts = (first.how, f"{len(known):,} displacements")
        yield FoundBlock("cost volume", "Cost volume", frozenset(kept), join, facts)


def _read_comparison(operations: Operations, value: Value) -> _Comparison | None:
    """Return which maps an operation compares; None where it is anything else."""
    numbers, value = _pass_moves(operations, value)
    number = operations.giver(value)
    if number is not None and operations.kinds[number] == "Abs":
        numbers.add(number)
        number = _find_giver(operations, number)
    is_product = number is not None and operations.nodes[number].operator.has("reduces")
    if is_product and number is not None:
        numbers.add(number)
        number = _find_giver(operations, number)
        if number is not None and operations.kinds[number] != "Mul":
            return None
    if number is None or len(operations.operands[number]) != _BOTH:
        return None
    how = "correlation" if is_product else "differences"
    if not is_product and operations.nodes[number].operator.has("joins"):
        how = "concatenation"
    elif not is_product and not operations.nodes[number].operator.has("subtracts"):
        return None
    one, other = operations.operands[number]
    before, first = _pass_moves(operations, one)
    behind, second = _pass_moves(operations, other)
    if first is second:
        return None
    every = frozenset({number, *numbers, *before, *behind})
    return _Comparison(frozenset({first, second}), (one, other), every, how)


def _find_giver(operations: Operations, number: int) -> int | None:
    """Return the one operation that another takes from."""
    givers = operations.givers(number)
    return givers[0] if len(givers) == 1 else None


def _pass_moves(operations: Operations, value: Value) -> tuple[set[int], Value]:
    """Return the operations that move a map, and what it was before."""
    numbers: set[int] = set()
    for _ in range(_MOST_STEPS):
        number = operations.giver(value)
        taken = [] if number is None else operations.operands[number]
        if number is None or not taken or not operations.nodes[number].operator.has(*_MOVING):
            break
        numbers.add(number)
        value = taken[0]
    return numbers, value
