"""ReLU that is squared, and what scales and shifts that."""

from __future__ import annotations

from .found_blocks import FoundBlock
from .operations import Operations

_SQUARE = 2.0


def find_squared(operations: Operations, relu: int) -> FoundBlock | None:
    """Find relu(x)², and what scales and shifts it by one number each.

    D. So and others, Primer: Searching for Efficient Transformers, 2021, section 4; W. Yu and
    others, MetaFormer Baselines for Vision, 2022, equation 3 (StarReLU).
    """
    square = operations.only_user(relu)
    if square is None:
        users = operations.users[relu]
        square = users[0] if len({*users}) == 1 and users[0] >= 0 else None
    if square is None:
        return None
    taken = operations.operands[square]
    is_product = operations.kinds[square] == "Mul" and len(taken) == 2 and taken[0] is taken[1]
    is_power = operations.kinds[square] == "Pow" and operations.scalar(square) == _SQUARE
    if not (is_product or is_power):
        return None
    numbers, end = {relu, square}, square
    for kind in ("Mul", "Add"):
        user = operations.only_user(end)
        is_next = user is not None and operations.kinds[user] == kind
        if user is None or not is_next or operations.scalar(user) is None:
            return FoundBlock("activation", "squared ReLU", frozenset({relu, square}), square)
        numbers.add(user)
        end = user
    return FoundBlock("activation", "StarReLU", frozenset(numbers), end)
