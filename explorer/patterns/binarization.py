"""Maps that are compared with a map of thresholds by a steep sigmoid."""

from __future__ import annotations

from collections.abc import Iterator

from netloupe.explorer.model import Value
from netloupe.explorer.notation import write_number

from .found_blocks import FoundBlock, FoundBlocks
from .operations import Operations

_BOTH = 2
#: a gate's sigmoid is not so steep
_LEAST_STEEP = 10.0


def find_binarizations(blocks: FoundBlocks) -> Iterator[FoundBlock]:
    """Find 1 / (1 + exp(-k · (p - t))) of probabilities and thresholds.

    M. Liao and others, Real-time Scene Text Detection with Differentiable Binarization, 2020,
    equation 2. Both are what a sigmoid gives, and k is a large number, 50.
    """
    operations = blocks.operations
    for difference, kind in enumerate(operations.kinds):
        taken = operations.operands[difference]
        if kind != "Sub" or len(taken) != _BOTH or blocks.owner[difference] is not None:
            continue
        if not all(_is_probability(operations, value) for value in taken):
            continue
        product = operations.only_user(difference)
        factor = operations.scalar(product) if product is not None else None
        if product is None or operations.kinds[product] != "Mul" or factor is None:
            continue
        chain = _follow_sigmoid(operations, product, factor)
        if abs(factor) < _LEAST_STEEP or not chain:
            continue
        numbers = frozenset({difference, product, *chain})
        name = "Differentiable binarization"
        yield FoundBlock("unit", name, numbers, chain[-1], (f"k = {write_number(abs(factor))}",))


def _is_probability(operations: Operations, value: Value) -> bool:
    """Return whether a sigmoid gives a value, be it among the operations or before them."""
    giver = operations.source(value).producer
    return giver is not None and giver.operator.form == "Sigmoid"


def _follow_sigmoid(operations: Operations, product: int, factor: float) -> list[int]:
    """Return the operations of a sigmoid of a product; written out it takes a negative one."""
    user = operations.only_user(product)
    if user is not None and operations.kinds[user] == "Sigmoid" and factor > 0:
        return [user]
    chain: list[int] = []
    if user is not None and operations.kinds[user] == "Neg" and factor > 0:
        chain, user, factor = [user], operations.only_user(user), -factor
    for kind in ("Exp", "Add", "Reciprocal"):
        if user is None or factor > 0:
            return []
        is_last = kind == "Reciprocal"
        is_divided = is_last and operations.kinds[user] == "Div"
        if operations.kinds[user] != kind and not is_divided:
            return []
        if (kind == "Add" or is_divided) and operations.scalar(user) != 1.0:
            return []
        chain.append(user)
        user = None if is_last else operations.only_user(user)
    return chain
