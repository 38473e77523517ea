"""Products of few coordinates side by side: bases of polynomials and spherical harmonics."""

from __future__ import annotations

import math
from collections.abc import Iterator

from netloupe.explorer.model import Value

from .found_blocks import FoundBlock, FoundBlocks
from .operations import Operations
from .weight_sizes import read_type_dims

#: fewer results, or operations, are no basis
_LEAST_RESULTS, _LEAST_OPERATIONS = 4, 6
#: more coordinates are features
_MOST_COORDINATES = 4
_MOST_OPERATIONS = 200
_MOST_DEGREE = 12
_COMPUTING = ("Add", "Sub", "Mul", "Div", "Neg", "Pow")
#: √(3 / 4π), by which those of degree 1 are the coordinates
_FACTOR = math.sqrt(3 / (4 * math.pi))
_ROUNDING = 1e-3


def find_polynomials(blocks: FoundBlocks) -> Iterator[FoundBlock]:
    """Find polynomials of the coordinates of one value that are put side by side.

    Where there are n² of a degree up to n - 1, with the factors of real spherical harmonics, they
    are these (R. Ramamoorthi and P. Hanrahan, An Efficient Representation for Irradiance
    Environment Maps, 2001, equation 3; T. Müller and others, Instant Neural Graphics Primitives,
    2022).
    """
    operations = blocks.operations
    for join, node in enumerate(operations.nodes):
        count = len([value for value in node.inputs if value is not None])
        if not node.operator.has("joins") or count < _LEAST_RESULTS:
            continue
        if blocks.owner[join] is not None:
            continue
        found = _walk_back(blocks, join)
        if found is None:
            continue
        inner, coordinates, of = found
        degree = _find_degree(operations, join, inner, coordinates)
        numbers = {join, *inner, *coordinates}
        if not 2 <= degree <= _MOST_DEGREE or not operations.is_closed(numbers, join):
            continue
        name = "Spherical harmonics" if _is_spherical(operations, inner, count, degree) else ""
        width = (read_type_dims(of) or (0,))[-1]
        facts = (
            f"degree {degree}",
            f"{width} → {count}" if isinstance(width, int) and width else "",
        )
        told = tuple(fact for fact in facts if fact)
        yield FoundBlock("polynomials", name or "Polynomials", frozenset(numbers), join, told)


def _walk_back(blocks: FoundBlocks, join: int) -> tuple[set[int], set[int], Value] | None:
    """Return what computes the results, the picks of coordinates, and the value of these."""
    operations = blocks.operations
    inner: set[int] = set()
    picks: set[int] = set()
    of: dict[Value, None] = {}
    pending = [*operations.operands[join]]
    while pending and len(inner) < _MOST_OPERATIONS:
        value = pending.pop()
        number = operations.giver(value)
        if number is None or blocks.owner[number] is not None:
            return None
        if number in inner or number in picks:
            continue
        taken = operations.operands[number]
        if taken and operations.nodes[number].operator.has("gathers", "slices", "splits"):
            picks.add(number)
            of.setdefault(taken[0])
        elif operations.kinds[number] in _COMPUTING:
            inner.add(number)
            pending += taken
        else:
            return None
    is_few = 0 < len(picks) <= _MOST_COORDINATES
    if pending or not is_few or len(of) != 1 or len(inner) < _LEAST_OPERATIONS:
        return None
    return inner, picks, next(iter(of))


def _find_degree(operations: Operations, join: int, inner: set[int], picks: set[int]) -> int:
    """Return the highest degree of the results; 0 where one is no polynomial."""
    degrees = dict.fromkeys(picks, 1)
    for number in sorted(inner):
        taken = [
            0 if giver is None else degrees.get(giver, 0)
            for giver in map(operations.giver, operations.operands[number])
        ]
        kind = operations.kinds[number]
        if kind == "Mul":
            degrees[number] = sum(taken)
        elif kind == "Pow":
            power = operations.scalar(number)
            if power is None or power != int(power) or power < 1 or len(taken) != 1:
                return 0
            degrees[number] = taken[0] * int(power)
        elif kind == "Div" and len(taken) != 1:
            return 0
        else:
            degrees[number] = max(taken, default=0)
    return max((degrees.get(giver, 0) for giver in operations.givers(join)), default=0)


def _is_spherical(operations: Operations, inner: set[int], count: int, degree: int) -> bool:
    if count != (degree + 1) ** 2:
        return False
    factors = [abs(factor) for number in inner if (factor := operations.scalar(number))]
    return any(abs(factor - _FACTOR) < _ROUNDING for factor in factors)
