"""Boxes that a detector's numbers become: centres in a grid, sizes of anchors."""

from __future__ import annotations

from collections.abc import Iterator
from math import prod
from typing import NamedTuple

from netloupe.explorer.model import Value
from netloupe.explorer.notation import write_count
from netloupe.explorer.roles.origins import find_origin

from .found_blocks import FoundBlock, FoundBlocks
from .operations import PARTING, Operations

_MOST_STEPS = 8
_LEAST_PARTS = 2
#: width and height
_SIDES = 2
_SQUARE = 2.0
_ARITHMETIC = ("Add", "Div", "Exp", "Mul", "Pow", "Sigmoid", "Sub")


class _Part(NamedTuple):
    """A part of a detector's numbers, and what is made of it.

    Parameters
    ----------
    numbers
        The operations, with the one that takes the part.
    source
        What it is a part of.
    steps
        The operators that change it, the last first.
    stored
        How many numbers each of these adds or multiplies by, 1 where that is one.
    """

    numbers: frozenset[int]
    source: Value
    steps: tuple[str, ...]
    stored: tuple[int, ...]

    @property
    def is_centre(self) -> bool:
        """Whether numbers of each place are added, and there is no exponential."""
        adds = any(
            step in ("Add", "Sub") and count > 1
            for step, count in zip(self.steps, self.stored, strict=True)
        )
        return adds and "Exp" not in self.steps

    @property
    def is_size(self) -> bool:
        """Whether it is an exponential or a square of a sigmoid, and times numbers."""
        return bool({"Exp", "Square"} & {*self.steps}) and "Mul" in self.steps

    @property
    def anchors(self) -> int:
        """How many anchors the sizes are multiples of; 0 where they are of one size."""
        counts = [n for step, n in zip(self.steps, self.stored, strict=True) if step == "Mul"]
        most = max(counts, default=1)
        return most // _SIDES if most > 1 and most % _SIDES == 0 else 0


def find_box_decodings(blocks: FoundBlocks) -> Iterator[FoundBlock]:
    """Find parts of one value that become centres and sizes of boxes, and are joined again.

    Centres are a sigmoid in a grid, sizes exponentials times those of anchors (J. Redmon and A.
    Farhadi, YOLOv3, 2018, section 2.1); the centre may be any number and the size that of one place
    (Z. Ge and others, YOLOX, 2021, section 2.1), or the square of a sigmoid (YOLOv5, as its code
    has it). What else is told of a box may be joined to that.
    """
    operations = blocks.operations
    for join, node in enumerate(operations.nodes):
        taken = operations.operands[join]
        if not node.operator.has("joins") or len(taken) < _LEAST_PARTS or blocks.owner[join]:
            continue
        parts = [_read_part(blocks, value) for value in taken]
        known = [part for part in parts if part is not None]
        if len(known) < len(parts) or len({part.source for part in known}) != 1:
            continue
        sizes = [part for part in known if part.is_size]
        if not sizes or not any(part.is_centre for part in known):
            continue
        numbers = {join}.union(*(part.numbers for part in known))
        if not operations.is_closed(numbers, join):
            continue
        anchors = {part.anchors for part in sizes}
        count = anchors.pop() if len(anchors) == 1 else 0
        facts = (write_count(count, "anchor", "anchors"),) if count else ()
        yield FoundBlock("boxes", "Box decoding", frozenset(numbers), join, facts)


def _read_part(blocks: FoundBlocks, value: Value) -> _Part | None:
    """Return what a joined value is made of, back to what takes it from a larger one."""
    operations = blocks.operations
    numbers: set[int] = set()
    steps: list[str] = []
    stored: list[int] = []
    for _ in range(_MOST_STEPS):
        number = operations.giver(value)
        if number is None or not _is_plain(blocks, number):
            return None
        numbers.add(number)
        taken = {*operations.operands[number]}
        if len(taken) != 1:
            return None
        (value,) = taken
        if operations.nodes[number].operator.has(*PARTING):
            return _Part(frozenset(numbers), value, tuple(steps), tuple(stored))
        step = operations.kinds[number]
        if step not in _ARITHMETIC:
            return None
        is_square = step == "Pow" and operations.scalar(number) == _SQUARE
        is_square |= step == "Mul" and len(operations.operands[number]) == _SIDES
        steps.append("Square" if is_square else step)
        stored.append(_count_stored(operations, number))
    return None


def _is_plain(blocks: FoundBlocks, number: int) -> bool:
    """Return whether an operation is no part of a block, but for an activation of its own."""
    owner = blocks.owner[number]
    return owner is None or (owner.kind == "activation" and len(owner.numbers) == 1)


def _count_stored(operations: Operations, number: int) -> int:
    """Return how many numbers an operation computes with that are the same for all pictures."""
    counts = [1]
    for value in operations.fixed(number):
        origin = find_origin(value)
        dims = origin.dims if origin is not None else None
        known = [dim for dim in dims or () if isinstance(dim, int)]
        counts.append(prod(known) if dims is not None and len(known) == len(dims) else 1)
    return max(counts)
