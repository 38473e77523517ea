"""Convolutions along a sequence between two gates that are parts of the same projection."""

from __future__ import annotations

from collections.abc import Iterator

from .convolution_details import ConvolutionDetails
from .convolutions import read_convolution
from .found_blocks import FoundBlock, FoundBlocks
from .operations import PARTING, Operations
from .walks import find_parted

_BOTH = 2
_MOST_PICKED = 4


def find_short_convolutions(blocks: FoundBlocks) -> Iterator[FoundBlock]:
    """Find c · conv(b · x), where b, c and x are parts of one projection, and the layer behind.

    The convolution is short, and takes each feature alone along the sequence (Liquid AI, LFM2
    Technical Report, 2025, section 2.1; M. Poli and others, Hyena Hierarchy, 2023, section 3.1,
    has long ones in its place).
    """
    operations = blocks.operations
    for number, kind in enumerate(operations.kinds):
        conv = blocks.holding(number, "conv") if kind == "Conv" else None
        details = read_convolution(operations, number) if conv is not None else None
        if conv is None or details is None or not details.is_depthwise:
            continue
        if len(details.kernel) != 1 or conv.name != "Conv":
            continue
        start = operations.given_by(operations.operands[min(conv.numbers)][0], "Mul")
        between, end = _walk_on(operations, conv.end)
        if start is None or end is None or operations.kinds[end] != "Mul" or end == start:
            continue
        wholes = [find_parted(operations, v) for v in operations.operands[start]]
        others = [v for v in operations.operands[end] if operations.giver(v) not in between]
        wholes += [find_parted(operations, v) for v in others]
        if len(wholes) != _BOTH + 1 or len({id(one) for one in wholes}) != 1:
            continue
        projection = blocks.ending(operations.giver(wholes[0]) if wholes[0] else None, "linear")
        if projection is None or any(
            (owner := blocks.owner[n]) is not None and owner.kind != "gate" for n in (start, end)
        ):
            continue
        yield _make(blocks, {start, *conv.numbers, *between, end}, projection, end, details)


def _make(
    blocks: FoundBlocks,
    numbers: set[int],
    projection: FoundBlock,
    end: int,
    details: ConvolutionDetails,
) -> FoundBlock:
    operations = blocks.operations
    numbers |= projection.numbers
    parting = {u for u in operations.users[projection.end] if u >= 0} - numbers
    numbers |= {n for n in parting if numbers.issuperset(operations.users[n])}
    last = blocks.holding(operations.only_user(end), "linear")
    if last is not None and min(last.numbers) == operations.only_user(end):
        numbers |= last.numbers
        end = last.end
    kernel = f"kernel {details.kernel[0]}"
    parts = (projection, *((last,) if last is not None else ()))
    name = "Gated short convolution"
    return FoundBlock("unit", name, frozenset(numbers), end, (kernel,), parts=parts)


def _walk_on(operations: Operations, number: int) -> tuple[set[int], int | None]:
    """Return what only cuts the result of an operation, that included, and what takes it then."""
    numbers = {number}
    for _ in range(_MOST_PICKED):
        user = operations.only_user(number)
        if user is None or not operations.nodes[user].operator.has(*PARTING):
            return numbers, user
        numbers.add(user)
        number = user
    return numbers, None
