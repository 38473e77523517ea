"""What running sums are for: how much light is left along a ray, and the phase of a wave."""

from __future__ import annotations

from collections.abc import Iterator

from .found_blocks import FoundBlock, FoundBlocks
from .leading import find_leading
from .operations import PICKING, Operations
from .weight_sizes import read_width

_BOTH = 2
_MOST_STEPS = 5
_MOST_BEFORE = 16


def find_renderings(blocks: FoundBlocks) -> Iterator[FoundBlock]:
    """Find (1 - exp(-s)) times the exponential of the running sum of -s: weights along a ray.

    B. Mildenhall and others, NeRF, 2020, equation 3. The sum of what is seen by these weights is
    part of it.
    """
    operations = blocks.operations
    for product, kind in enumerate(operations.kinds):
        taken = operations.operands[product]
        if kind != "Mul" or len(taken) != _BOTH:
            continue
        for opacity, passed in (taken, taken[::-1]):
            less = operations.given_by(opacity, "Sub")
            through = operations.given_by(passed, "Exp")
            if less is None or through is None or len(operations.operands[less]) != 1:
                continue
            is_rest = operations.is_fixed(operations.nodes[less].input(0))
            if operations.scalar(less) != 1.0 or not is_rest:
                continue
            apart = operations.given_by(operations.operands[less][0], "Exp")
            total = _find_running(operations, through)
            if apart is None or total is None:
                continue
            numbers = {product}
            end = _add_sum(operations, product, numbers)
            leading = find_leading(operations, numbers, taken, most=_MOST_BEFORE)
            if leading is None or total not in leading.numbers:
                continue
            inner = {
                n
                for n in leading.numbers
                if operations.kinds[n] not in ("Gemm", "Conv")
                and n >= min(apart, total) - _MOST_STEPS
                and (blocks.owner[n] is None)
            }
            numbers |= inner
            if operations.is_closed(numbers, end) or end == product:
                yield FoundBlock("unit", "Volume rendering", frozenset(numbers), end)
                break


def _find_running(operations: Operations, number: int) -> int | None:
    """Return the running sum that an exponential is of, perhaps with its sign turned."""
    current: int | None = number
    for _ in range(_MOST_STEPS):
        taken = operations.operands[current] if current is not None else []
        current = operations.giver(taken[0]) if taken else None
        if current is None:
            return None
        if operations.nodes[current].operator.has("accumulates"):
            return current
        is_sign = operations.kinds[current] in ("Neg", "Mul") and (
            len(operations.operands[current]) == 1
        )
        if not is_sign and not operations.nodes[current].operator.has(*PICKING, "slices", "joins"):
            return None
    return None


def _add_sum(operations: Operations, product: int, numbers: set[int]) -> int:
    """Take in the sum of something by weights, where nothing else takes these."""
    weighted = operations.only_user(product)
    if weighted is None or operations.kinds[weighted] != "Mul":
        return product
    total = operations.only_user(weighted)
    if total is None or operations.kinds[total] != "ReduceSum":
        return product
    numbers |= {weighted, total}
    return total


def find_oscillators(blocks: FoundBlocks) -> Iterator[FoundBlock]:
    """Find sines of a running sum, perhaps of stored multiples of it: waves of given frequencies.

    J. Engel and others, DDSP: Differentiable Digital Signal Processing, 2020, equations 1 and 2; X.
    Wang and others, Neural Source-Filter-based Waveform Model, 2019, equation 3.
    """
    operations = blocks.operations
    for sine, kind in enumerate(operations.kinds):
        if kind != "Sin" or len(operations.operands[sine]) != 1:
            continue
        numbers, multiples = {sine}, 0
        current = operations.giver(operations.operands[sine][0])
        for _ in range(_MOST_STEPS):
            if current is None or not numbers.issuperset(operations.users[current]):
                break
            numbers.add(current)
            if operations.nodes[current].operator.has("accumulates"):
                facts = (f"{multiples} multiples",) if multiples > 1 else ()
                yield FoundBlock("unit", "Oscillators", frozenset(numbers), sine, facts)
                break
            if operations.kinds[current] not in ("Add", "Mul", "Mod", "Sub"):
                break
            if len(operations.operands[current]) != 1:
                break
            fixed = operations.fixed(current)
            multiples = max(multiples, read_width(fixed[0]) if fixed else 0)
            current = operations.giver(operations.operands[current][0])
