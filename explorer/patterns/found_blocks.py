"""Blocks of known kinds among some operations, from the innermost to those that hold others."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

from .details import NO_DETAILS, BlockDetails
from .operations import Operations


class FoundBlock(NamedTuple):
    """A block of a known kind, by the numbers of its operations.

    Parameters
    ----------
    kind
        The pattern, which others ask for: ``linear``, ``norm``, ``attention``.
    name
        What it is called, as of a :class:`Recognition`.
    numbers
        Its operations.
    facts, details
        As of a :class:`Recognition`.
    end
        The operation that gives its result.
    parts
        The blocks that it was put together from.
    """

    kind: str
    name: str
    numbers: frozenset[int]
    end: int
    facts: tuple[str, ...] = ()
    details: BlockDetails = NO_DETAILS
    parts: tuple[FoundBlock, ...] = ()


class FoundBlocks:
    """Operations, and what was found among them so far.

    Parameters
    ----------
    operations
        The operations.
    """

    def __init__(self, operations: Operations) -> None:
        self.operations = operations
        #: by operation, the outermost block that holds it
        self.owner: list[FoundBlock | None] = [None] * len(operations)

    def add(self, found: FoundBlock) -> bool:
        """Take a block in, unless it would cut another one; return whether it was taken."""
        inner = {id(owner): owner for n in found.numbers if (owner := self.owner[n]) is not None}
        if any(not owner.numbers <= found.numbers for owner in inner.values()):
            return False
        for number in found.numbers:
            self.owner[number] = found
        return True

    def ending(self, number: int | None, *kinds: str) -> FoundBlock | None:
        """Return the block of some kinds whose result an operation gives."""
        found = self.owner[number] if number is not None and number >= 0 else None
        return found if found is not None and found.kind in kinds and found.end == number else None

    def holding(self, number: int | None, *kinds: str) -> FoundBlock | None:
        """Return the block of some kinds that holds an operation."""
        found = self.owner[number] if number is not None and number >= 0 else None
        return found if found is not None and found.kind in kinds else None

    def list_outermost(self) -> list[FoundBlock | int]:
        """Return blocks and the operations in none, in the order of their ends."""
        listed: dict[int, FoundBlock | int] = {}
        for number, found in enumerate(self.owner):
            if found is None:
                listed[number] = number
            else:
                listed[found.end] = found
        return [listed[number] for number in sorted(listed)]


#: finds blocks of one family; what it yields is taken in before it goes on
BlockFinder = Callable[[FoundBlocks], Iterator[FoundBlock]]
