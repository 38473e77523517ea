"""Ways back from a value to what it was made of."""

from __future__ import annotations

from collections.abc import Collection

from netloupe.explorer.model import Value

from .operations import PARTING, Operations

_PARTING = ("slices", "splits")


def walk_back(
    operations: Operations, value: Value, starts: Collection[Value], most: int
) -> set[int] | None:
    """Return the operations that make a value of some others, and of constants.

    Parameters
    ----------
    operations
        The operations.
    value
        What is made.
    starts
        What it is made of; not all of them need be taken.
    most
        So many operations there may be.

    Returns
    -------
    set of int
        None where it is made of anything else as well, or of more operations.
    """
    numbers: set[int] = set()
    pending = [value]
    while pending:
        current = pending.pop()
        if current in starts:
            continue
        giver = operations.giver(current)
        if giver is None or len(numbers) >= most:
            return None
        if giver not in numbers:
            numbers.add(giver)
            pending += operations.operands[giver]
    return numbers


def keep_own(operations: Operations, numbers: set[int], end: int) -> set[int]:
    """Return those of some operations whose results are taken by these alone, and the end."""
    own = {*numbers, end}
    for number in sorted(own - {end}, reverse=True):
        if not own.issuperset(operations.users[number]):
            own.discard(number)
    return own


def leads_to(operations: Operations, start: Value, value: Value, most: int) -> bool:
    """Return whether a value is made of another one, also outside of the operations.

    Parameters
    ----------
    operations
        The operations.
    start, value
        What may lead to what.
    most
        So many values are looked at; of more it is not known.
    """
    met, pending = {value}, [value]
    while pending and len(met) < most:
        node = pending.pop().producer
        for given in node.inputs if node is not None else ():
            if given is start:
                return True
            if given is not None and given not in met and not operations.is_fixed(given):
                met.add(given)
                pending.append(given)
    return False


def find_whole(
    operations: Operations, value: Value | None, traits: Collection[str] = _PARTING
) -> tuple[Value, int] | None:
    """Return of what a value is a part, and the operation that takes it apart; None for no part.

    Parameters
    ----------
    operations
        The operations.
    value
        The part.
    traits
        Of operators that take a value apart.
    """
    number = operations.giver(value) if value is not None else None
    if number is None or not operations.nodes[number].operator.has(*traits):
        return None
    taken = operations.operands[number]
    return (taken[0], number) if taken else None


def find_parted(operations: Operations, value: Value) -> Value | None:
    """Return the value that another one is a part of, in the layout that it was made in."""
    number = operations.giver(value)
    if number is None or not operations.nodes[number].operator.has(*PARTING):
        return None
    first = operations.nodes[number].input(0)
    return operations.source(first) if first is not None else None
