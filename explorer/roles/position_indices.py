"""Position indices: values that Range or CumSum counts, which say which place is which."""

from __future__ import annotations

from netloupe.explorer.model import Value
from netloupe.explorer.operators import PASSING_TRAITS

#: what gives the numbers of places
COUNTING_TRAITS = ("accumulates", "counts")
_MOST_STEPS = 16
_MOST_LOOKED = 40


def is_shifted_range(value: Value | None) -> bool:
    """Return whether a value is what Range counts, shifted perhaps, along the first operands."""
    for _ in range(_MOST_STEPS):
        node = value.producer if value is not None else None
        if node is None:
            return False
        if node.operator.has("counts"):
            return True
        if not node.operator.has("adds", "subtracts", *PASSING_TRAITS):
            return False
        value = node.input(0)
    return False


def comes_from_range_or_cumsum(value: Value) -> bool:
    """Return whether a value is what Range or CumSum counts, shifted perhaps."""
    pending: list[Value | None] = [value]
    for _ in range(_MOST_LOOKED):
        if not pending:
            return False
        current = pending.pop()
        node = current.producer if current is not None else None
        if node is None:
            continue
        operator = node.operator
        if operator.has(*COUNTING_TRAITS):
            return True
        if operator.has("joins", *PASSING_TRAITS):
            pending.append(node.input(0))
        elif operator.has("adds", "chooses", "multiplies_elements", "subtracts"):
            pending += node.inputs
    return False
