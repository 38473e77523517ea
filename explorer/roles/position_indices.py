"""Position indices: values that Range or CumSum counts, which say which place is which."""

from __future__ import annotations

from netloupe.explorer.dataflow import find_giver
from netloupe.explorer.model import Value
from netloupe.explorer.operators import PASSING_TRAITS

#: what gives the numbers of places
COUNTING_TRAITS = ("accumulates", "counts")
_MOST_STEPS = 16
_MOST_LOOKED = 40


def is_shifted_range(value: Value | None) -> bool:
    """Return whether a value is what Range counts, shifted perhaps, along the first operands."""
    through = ("adds", "subtracts", *PASSING_TRAITS)
    return find_giver(value, "counts", through=through, most=_MOST_STEPS) is not None


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
