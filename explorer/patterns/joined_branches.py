"""Branches of one value whose results are concatenated."""

from __future__ import annotations

from collections.abc import Container

from netloupe.explorer.model import Value

from .operations import Operations

#: fewer have names of their own, or none
LEAST_BRANCHES = 3


def list_joined_starts(
    operations: Operations, join: int, within: Container[int] | None = None
) -> list[Value]:
    """Return for each value that is joined which value it was before any operation here.

    Parameters
    ----------
    operations
        All operations of a block.
    join
        What joins them.
    within
        Those operations that are meant; all where it is None.
    """
    starts = []
    for value in operations.operands[join]:
        for _ in range(len(operations)):
            giver = operations.giver(value)
            if giver is None or (within is not None and giver not in within):
                break
            taken = operations.operands[giver]
            if not taken:
                break
            value = taken[0]
        starts.append(value)
    return starts


def joins_branches(
    operations: Operations,
    join: int,
    convolutions: int,
    least: int = LEAST_BRANCHES,
    within: Container[int] | None = None,
) -> bool:
    """Return whether a concatenation joins branches of one value, some of several convolutions.

    C. Szegedy and others, Going Deeper with Convolutions, 2015, figure 2.

    Parameters
    ----------
    operations
        All operations of a block.
    join
        The concatenation.
    convolutions
        How many there are before it.
    least
        How many branches there are at least.
    within
        Those operations that are meant; all where it is None.
    """
    values = operations.operands[join]
    if len({*values}) < least or convolutions <= len(values):
        return False
    givers = [operations.giver(value) for value in values]
    return len({*list_joined_starts(operations, join, within)}) == 1 and all(
        number is not None and operations.users[number] == [join] for number in givers
    )
