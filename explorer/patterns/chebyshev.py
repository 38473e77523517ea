"""Chebyshev polynomials of each number, whose factors are learned."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

from netloupe.explorer.dataflow import find_source
from netloupe.explorer.model import Value
from netloupe.explorer.model.constant import constant_tensor

from .details import NO_DETAILS, BlockDetails, FeatureDetails
from .found_blocks import FoundBlock, FoundBlocks
from .linear import write_widths
from .operations import Operations
from .readings import read_numbers
from .weight_sizes import read_dims

_LEAST_DEGREE = 2
_MOST_DEGREE = 64
_BOTH = 2
_TWO = 2.0
#: features that are taken and given, and the degrees of each
_OF_WEIGHT = 3


def find_chebyshevs(blocks: FoundBlocks) -> Iterator[FoundBlock]:
    """Find cos(n · arccos x) for n from 0 on, or 2x · Tₙ₋₁ - Tₙ₋₂, and the layer over them.

    J. Mason and D. Handscomb, Chebyshev Polynomials, 2003, sections 1.2 and 1.3; as layers of a
    Kolmogorov-Arnold network: S. Sidharth and others, Chebyshev Polynomial-Based
    Kolmogorov-Arnold Networks, 2024, section 3.
    """
    operations = blocks.operations
    for end in range(len(operations)):
        found = _read_waves(operations, end) or _read_steps(operations, end)
        if found is None or not _LEAST_DEGREE <= found[1] <= _MOST_DEGREE:
            continue
        numbers, degree = found
        last, facts, name = end, [f"degree {degree}"], "Chebyshev basis"
        details: BlockDetails = NO_DETAILS
        layer = operations.only_user(end)
        fixed = operations.fixed(layer) if layer is not None else []
        dims = read_dims(fixed[0]) if len(fixed) == 1 else ()
        if layer is not None and len(dims) == _OF_WEIGHT and degree + 1 in dims:
            numbers.add(layer)
            last, name = layer, "Chebyshev layer"
            sizes = [dim for place, dim in enumerate(dims) if place != _find(dims, degree + 1)]
            details = FeatureDetails().with_features((sizes[0], sizes[1]))
            facts.insert(0, write_widths(*sizes))
        if operations.is_closed(numbers, last):
            yield FoundBlock("basis", name, frozenset(numbers), last, tuple(facts), details)


def _find(dims: Sequence[int], size: int) -> int:
    return len(dims) - 1 - dims[::-1].index(size)


def _read_waves(operations: Operations, end: int) -> tuple[set[int], int] | None:
    """Return the operations of cos(n · arccos x), and the highest n."""
    product = _give(operations, end, "Cos", "Mul")
    angle = _give(operations, product, "Mul", "Acos") if product is not None else None
    fixed = operations.fixed(product) if product is not None else []
    if product is None or angle is None or len(fixed) != 1:
        return None
    stored = find_source(fixed[0], "casts", "copies")
    tensor = constant_tensor(stored) if stored is not None else None
    degrees = read_numbers(tensor, _MOST_DEGREE)
    is_whole = degrees[:1] == (0.0,) and all(two - one == 1 for one, two in pairwise(degrees))
    return ({end, product, angle}, len(degrees) - 1) if is_whole else None


def _give(operations: Operations, number: int, kind: str, before: str) -> int | None:
    """Return what gives the one operand of an operation of a kind."""
    taken = operations.operands[number]
    if operations.kinds[number] != kind or len(taken) != 1:
        return None
    return operations.given_by(taken[0], before)


def _read_steps(operations: Operations, end: int) -> tuple[set[int], int] | None:
    """Return the operations of 2x · Tₙ₋₁ - Tₙ₋₂ that are put side by side, and the highest n."""
    taken = operations.operands[end]
    if not operations.nodes[end].operator.has("joins") or len(taken) < _LEAST_DEGREE + 1:
        return None
    numbers = {end}
    of = taken[0]
    for place, value in enumerate(taken[1:], 1):
        difference = operations.given_by(value, "Sub")
        if difference is None:
            return None
        first, *others = operations.operands[difference]
        is_last = others == ([taken[place - _BOTH]] if place > 1 else [])
        factors = _list_factors(operations, first, numbers)
        if not is_last or factors is None or {*factors} != {of, taken[place - 1]}:
            return None
        numbers.add(difference)
    return numbers, len(taken)


def _list_factors(operations: Operations, value: Value, numbers: set[int]) -> list[Value] | None:
    """Return what is multiplied with one another and with 2; None where it is not."""
    product = operations.given_by(value, "Mul")
    if product is None:
        return None
    numbers.add(product)
    factors = [*operations.operands[product]]
    twice = operations.scalar(product) == _TWO
    for factor in [*factors]:
        inner = operations.given_by(factor, "Mul")
        if inner is not None and operations.scalar(inner) == _TWO and not twice:
            numbers.add(inner)
            factors.remove(factor)
            factors += operations.operands[inner]
            twice = True
        elif inner is not None and len(factors) == 1:
            numbers.add(inner)
            factors = [*operations.operands[inner]]
    return factors if twice and len(factors) == _BOTH else None
