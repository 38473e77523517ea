"""Shares of which many are 0."""

from __future__ import annotations

from collections.abc import Iterator

from .found_blocks import FoundBlock, FoundBlocks
from .operations import Operations
from .walks import keep_own, walk_back

_MOST_OF_THRESHOLD = 30
#: what may be beside it; a root is taken of other shares than those
_OF_THRESHOLD = frozenset(
    {"Add", "Gather", "GatherElements", "Greater", "GreaterOrEqual", "Less", "LessOrEqual"}
    | {"Max", "ReduceMax", "Sub", "Where"}
)


def find_sparsemax(blocks: FoundBlocks) -> Iterator[FoundBlock]:
    """Find max(z - τ, 0), where τ follows from running sums of the sorted z.

    So the shares add up to 1, and small ones are 0 (A. Martins and R. Astudillo, From Softmax to
    Sparsemax, 2016, algorithm 1).
    """
    operations = blocks.operations
    for end, kind in enumerate(operations.kinds):
        owner = blocks.owner[end]
        if kind not in ("Clip", "Max", "Relu") or (owner is not None and len(owner.numbers) > 1):
            continue
        difference = operations.given_by(operations.operands[end][0], "Sub")
        taken = operations.operands[difference] if difference is not None else []
        if difference is None or len(taken) != 2:
            continue
        scores, threshold = taken
        numbers = walk_back(operations, threshold, {scores}, _MOST_OF_THRESHOLD)
        if numbers is None or not _is_threshold(operations, numbers):
            continue
        own = keep_own(operations, numbers | {difference}, end)
        if all(blocks.owner[number] is None for number in own - {end}):
            yield FoundBlock("sparsemax", "Sparsemax", frozenset(own), end)


def _is_threshold(operations: Operations, numbers: set[int]) -> bool:
    """Return whether sums of what is sorted are compared, counted, looked up and divided."""
    kinds = {operations.kinds[number] for number in numbers}
    compares = any(operations.nodes[n].operator.has("compares_order") for n in numbers)
    looks_up = any(operations.nodes[n].operator.has("gathers") for n in numbers)
    needed = {"CumSum", "Div", "Mul", "ReduceSum", "TopK"}
    return compares and looks_up and needed <= kinds <= needed | _OF_THRESHOLD
