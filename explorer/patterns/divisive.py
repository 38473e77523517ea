"""Features divided by a root of what all features of their place amount to."""

from __future__ import annotations

from collections.abc import Iterator

from .convolutions import read_convolution
from .details import NormDetails
from .found_blocks import FoundBlock, FoundBlocks
from .operations import Operations
from .readings import read_scalar

_BOTH = 2
_SQUARE, _ROOT = 2.0, 0.5


def find_divisive_norms(blocks: FoundBlocks) -> Iterator[FoundBlock]:
    """Find x / √(β + γ·x²), γ a stored matrix over the channels; times the root, its inverse.

    J. Balle and others, Density Modeling of Images Using a Generalized Normalization
    Transformation, 2016, equation 3, with exponents of 2 and 1/2 as in End-to-end Optimized Image
    Compression, 2017, section 3, where the inverse is.
    """
    operations = blocks.operations
    for pool, kind in enumerate(operations.kinds):
        if kind != "Conv" or len(operations.operands[pool]) != 1:
            continue
        square = operations.giver(operations.operands[pool][0])
        if square is None or not _is_square(operations, square):
            continue
        if operations.only_user(square) != pool or not _mixes_channels(operations, pool):
            continue
        start = operations.operands[square][0]
        numbers, end, inverted = _follow_root(operations, pool)
        if end is None or start not in operations.operands[end]:
            continue
        if len(operations.operands[end]) != _BOTH or blocks.owner[end] is not None:
            continue
        name = _name(operations, end, start, is_inverted=inverted)
        if name:
            width = read_convolution(operations, pool).in_features
            details = NormDetails(width=width)
            every = frozenset({square, *numbers, end})
            yield FoundBlock("norm", name, every, end, details=details)


def _is_square(operations: Operations, number: int) -> bool:
    taken = operations.operands[number]
    if operations.kinds[number] == "Pow":
        return operations.scalar(number) == _SQUARE
    return operations.kinds[number] == "Mul" and len(taken) == _BOTH and taken[0] is taken[1]


def _mixes_channels(operations: Operations, number: int) -> bool:
    """Return whether a convolution weighs all channels at each place, and adds to each."""
    found = read_convolution(operations, number)
    is_point = max(found.kernel, default=1) == 1 and not found.stride
    is_whole = found.in_features is not None and found.in_features == found.out_features
    return is_point and is_whole and len(operations.fixed(number)) == _BOTH


def _follow_root(operations: Operations, pool: int) -> tuple[set[int], int | None, bool]:
    """Return the operations up to a root, what takes that, and whether the root is inverted."""
    numbers, inverted = {pool}, False
    number = operations.only_user(pool)
    if number is None:
        return numbers, None, inverted
    kind = operations.kinds[number]
    power = operations.scalar(number) if kind == "Pow" else None
    if kind != "Sqrt" and power not in (_ROOT, -_ROOT):
        return numbers, None, inverted
    inverted = power == -_ROOT
    numbers.add(number)
    user = operations.only_user(number)
    if user is not None and _is_reciprocal(operations, user):
        numbers.add(user)
        user, inverted = operations.only_user(user), not inverted
    return numbers, user, inverted


def _is_reciprocal(operations: Operations, number: int) -> bool:
    """Return whether an operation divides one by what it takes."""
    if operations.kinds[number] == "Reciprocal":
        return True
    first = operations.nodes[number].input(0)
    return operations.kinds[number] == "Div" and read_scalar(first) == 1


def _name(operations: Operations, end: int, start: object, *, is_inverted: bool) -> str:
    """Return what a product or quotient of a value and a root is."""
    kind = operations.kinds[end]
    if kind == "Mul":
        return "GDN" if is_inverted else "Inverse GDN"
    is_quotient = kind == "Div" and operations.operands[end][0] is start and not is_inverted
    return "GDN" if is_quotient else ""
