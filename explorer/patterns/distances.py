"""Distances between all pairs of rows, and the nearest of them."""

from __future__ import annotations

from collections.abc import Iterator

from netloupe.explorer.model import Value

from .found_blocks import FoundBlock, FoundBlocks
from .operations import Operations
from .readings import read_float

_SUMS = ("Add", "Neg", "Sub")
_MOST_STEPS = 5
#: squares of two are taken from twice their products
_TWICE = 2.0


def find_distances(blocks: FoundBlocks) -> Iterator[FoundBlock]:
    """Find |x|² - 2·x·y + |y|², the squared distances of all pairs, and the search of the nearest.

    The nearest of the others are the neighbours that a graph is made of (Y. Wang and others,
    Dynamic Graph CNN for Learning on Point Clouds, 2019, section 3.2); squares that are the same
    for all that is compared may be left out.
    """
    operations = blocks.operations
    for product, kind in enumerate(operations.kinds):
        if kind not in ("MatMul", "Gemm"):
            continue
        owner = blocks.owner[product]
        if owner is not None and owner.kind != "linear":
            continue
        found = _find_around(blocks, product)
        if found is None:
            continue
        numbers, end = found
        user = next(iter(operations.users[end]), None)
        node = operations.nodes[user] if user is not None and user >= 0 else None
        if node is not None and user is not None and operations.kinds[user] == "TopK":
            count = operations.scalar(user)
            facts = (f"{int(count)} of each",) if count is not None else ()
            numbers.add(user)
            yield FoundBlock("neighbours", "Nearest neighbours", frozenset(numbers), user, facts)
        else:
            yield FoundBlock("distances", "Squared distances", frozenset(numbers), end)


def _find_around(blocks: FoundBlocks, product: int) -> tuple[set[int], int] | None:
    """Return the operations of squared distances around a product, and their last one."""
    operations = blocks.operations
    owner = blocks.owner[product]
    numbers = {*owner.numbers} if owner is not None else {product}
    factors = {*operations.operands[product]}
    doubled = abs(read_float(operations.nodes[product], "alpha") or 1.0) == _TWICE
    for value in [*factors]:  # twice one of the factors
        scale = operations.given_by(value, "Mul")
        is_twice = scale is not None and abs(operations.scalar(scale) or 0) == _TWICE
        if scale is not None and is_twice and operations.only_user(scale) == product:
            numbers.add(scale)
            factors |= {*operations.operands[scale]}
            doubled = True
        elif scale is not None and operations.scalar(scale) == 0:  # a bias that adds nothing
            numbers.add(scale)
    end = owner.end if owner is not None else product
    squares: list[int] = []
    for _ in range(_MOST_STEPS):
        user = operations.only_user(end)
        if user is None or (blocks.owner[user] is not None):
            break
        kind, taken = operations.kinds[user], operations.operands[user]
        if kind == "Mul" and len(taken) == 1 and abs(operations.scalar(user) or 0) == _TWICE:
            doubled = True
        elif kind in _SUMS:
            own = _read_squares(operations, taken, end, factors)
            if own is None:
                break
            squares += own
        else:
            break
        numbers.add(user)
        end = user
    if not doubled or not squares:
        return None
    numbers |= {n for n in squares if {*operations.users[n]} <= numbers | {*squares}}
    return numbers, end


def _read_squares(
    operations: Operations, taken: list[Value], end: int, factors: set[Value]
) -> list[int] | None:
    """Return the operations of the sums of squares that are added to products; None for others.

    Nothing where what is added is stored, as squares of centres are.
    """
    others = [value for value in taken if operations.giver(value) != end]
    found: list[int] = []
    for value in others:
        number = operations.giver(value)
        if number is not None and operations.kinds[number] == "Neg":
            found.append(number)
            number = operations.giver(operations.operands[number][0])
        if number is None:
            return None
        kind = operations.kinds[number]
        if kind == "ReduceSumSquare":
            start: Value | None = operations.operands[number][0]
            found.append(number)
        elif kind == "ReduceSum":
            inner = operations.given_by(operations.operands[number][0], "Mul", "Pow")
            if inner is None:
                return None
            operands = operations.operands[inner]
            is_square = (
                operations.scalar(inner) == _TWICE
                if operations.kinds[inner] == "Pow"
                else len(operands) == 2 and operands[0] is operands[1]
            )
            start = operands[0] if is_square else None
            found += [number, inner]
        else:
            return None
        if start not in factors:
            return None
    return found
