"""What leads to some operations and to nothing else, and what values were before."""

from __future__ import annotations

import heapq
from collections.abc import Collection, Iterable
from typing import NamedTuple

from netloupe.explorer.model import Value

from .operations import ARRANGING, Operations

_MOST_ARRANGED = 8


class Leading(NamedTuple):
    """Operations that lead to others alone.

    Parameters
    ----------
    numbers
        The operations.
    sources
        The values that they begin with; others may take these, too.
    """

    numbers: frozenset[int]
    sources: frozenset[Value]


def find_leading(
    operations: Operations,
    core: Collection[int],
    values: Iterable[Value],
    stops: Collection[Value] = (),
    most: int = 40,
) -> Leading | None:
    """Return what leads to some values, and through them to operations alone.

    Parameters
    ----------
    operations
        The operations.
    core
        The operations that take the values.
    values
        What is followed back.
    stops
        Values behind which nothing is followed.
    most
        So many operations at most.

    Returns
    -------
    Leading or None
        None where there are more.
    """
    inside = {*core}
    found: set[int] = set()
    sources: dict[Value, None] = {}
    pending: list[int] = []
    taken: dict[int, Value] = {}

    def follow(value: Value) -> None:
        giver = operations.giver(value)
        if giver is None or value in stops or giver in inside:
            if giver is None or value in stops:
                sources[value] = None
            return
        if giver not in taken:
            heapq.heappush(pending, -giver)
        taken[giver] = value

    for value in values:
        follow(value)
    while pending:
        number = -heapq.heappop(pending)
        if not inside.issuperset(operations.users[number]):
            sources[taken[number]] = None
            continue
        inside.add(number)
        found.add(number)
        if len(found) > most:
            return None
        for value in operations.operands[number]:
            follow(value)
    return Leading(frozenset(found), frozenset(sources))


def find_arranged_root(value: Value) -> Value:
    """Return what a value was before it was arranged, also outside of the operations."""
    for _ in range(_MOST_ARRANGED):
        node = value.producer
        first = node.input(0) if node is not None else None
        if node is None or first is None or not node.operator.has(*ARRANGING):
            break
        value = first
    return value
