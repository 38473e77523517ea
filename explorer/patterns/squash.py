"""Squashing of vectors: their direction is kept, and their length comes between 0 and 1."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from netloupe.explorer.model import Value

from .found_blocks import FoundBlock, FoundBlocks
from .operations import Operations
from .readings import read_axes

#: so many operations behind the first square are looked at
_MOST_BEHIND = 24
#: what only keeps a root or a quotient from 0 is no larger
_MOST_OF_LEAST = 0.01


class _Powers(NamedTuple):
    """A product of powers: of a vector, of its length, and of 1 + length²."""

    vector: float
    length: float
    raised: float


_VECTOR = _Powers(1, 0, 0)
_LENGTH = _Powers(0, 1, 0)
_SQUARE = _Powers(0, 2, 0)
_RAISED = _Powers(0, 0, 1)
_SQUASHED = _Powers(1, 1, -1)


def find_squashes(blocks: FoundBlocks) -> Iterator[FoundBlock]:
    """Find x · ‖x‖² / (1 + ‖x‖²) / ‖x‖, in any order and however reduced: what a capsule gives.

    S. Sabour and others, Dynamic routing between capsules, 2017, equation 1. What keeps the length
    from 0 may be added to it, or to its square.
    """
    operations = blocks.operations
    starts: set[Value] = set()
    for number, kind in enumerate(operations.kinds):
        start = _find_start(operations, number, kind)
        if start is None or start in starts:
            continue
        starts.add(start)
        found = _find(operations, start, number)
        if found is not None:
            yield found


def _find_start(operations: Operations, number: int, kind: str) -> Value | None:
    """Return a vector whose length or square an operation gives."""
    taken = operations.operands[number]
    if kind == "Mul" and len(taken) == 2 and taken[0] is taken[1]:
        return taken[0]
    if kind == "Pow":
        return taken[0] if operations.scalar(number) == 2 and len(taken) == 1 else None
    return taken[0] if kind in ("ReduceL2", "ReduceSumSquare") else None


def _find(operations: Operations, start: Value, first: int) -> FoundBlock | None:
    """Find what is made of a vector and its length alone, and squashes it."""
    known = {start: _VECTOR}
    numbers: set[int] = set()
    axes: set[tuple[int, ...] | None] = set()
    for number in range(first, min(first + _MOST_BEHIND, len(operations))):
        taken = operations.operands[number]
        result = operations.nodes[number].output(0)
        if result is None or not taken or any(value not in known for value in taken):
            continue
        powers = _read_powers(operations, number, [known[value] for value in taken])
        if powers is None:
            continue
        known[result] = powers
        numbers.add(number)
        if operations.kinds[number].startswith("Reduce"):
            axes.add(read_axes(operations.nodes[number]))
        if powers == _SQUASHED and len(axes) == 1:
            used = _find_used(operations, number, numbers)
            is_closed = operations.is_closed(used, number)
            return FoundBlock("squash", "Squash", frozenset(used), number) if is_closed else None
    return None


def _find_used(operations: Operations, end: int, numbers: set[int]) -> set[int]:
    """Return those of some operations that lead to one of them, with it."""
    used, pending = {end}, [end]
    while pending:
        givers = {*operations.givers(pending.pop())} & numbers - used
        used |= givers
        pending += givers
    return used


def _read_powers(operations: Operations, number: int, taken: list[_Powers]) -> _Powers | None:
    """Return what an operation makes of products of powers; None where it is no such product."""
    kind, first = operations.kinds[number], taken[0]
    if len(taken) == 2:
        sign = {"Mul": 1, "Div": -1}.get(kind)
        pairs = zip(first, taken[1], strict=True)
        return _Powers(*(one + sign * two for one, two in pairs)) if sign else None
    if kind.startswith("Reduce"):
        if kind == "ReduceSum":
            return _SQUARE if first == _Powers(2, 0, 0) else None
        lengths = {"ReduceL2": _LENGTH, "ReduceSumSquare": _SQUARE}
        return lengths.get(kind) if first == _VECTOR else None
    scalar = operations.scalar(number)
    if kind == "Sqrt" or kind == "Pow":
        exponent = 0.5 if kind == "Sqrt" else scalar
        return None if exponent is None else _Powers(*(exponent * power for power in first))
    if kind == "Reciprocal":
        return _Powers(*(-power for power in first))
    is_least = scalar is not None and 0 <= scalar <= _MOST_OF_LEAST
    if kind in ("Add", "Clip", "Max") and is_least and not first.vector:
        return first
    return _RAISED if kind == "Add" and scalar == 1 and first == _SQUARE else None
