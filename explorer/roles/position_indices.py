"""Position indices: values that Range or CumSum counts, which say which place is which."""

from __future__ import annotations

from netloupe.explorer.model import Value

from .unlearned import LAYOUT

COUNTING_OPERATORS = frozenset({"CumSum", "Range"})
_MOST_STEPS = 16
_MOST_LOOKED = 40


def is_shifted_range(value: Value | None) -> bool:
    """Return whether a value is what Range counts, shifted perhaps, along the first operands."""
    for _ in range(_MOST_STEPS):
        node = value.producer if value is not None else None
        if node is None:
            return False
        if node.op_type == "Range":
            return True
        if node.op_type not in (LAYOUT - {"Concat"}) | {"Add", "Sub"}:
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
        if node.op_type in ("CumSum", "Range"):
            return True
        if node.op_type in LAYOUT:
            pending.append(node.input(0))
        elif node.op_type in ("Add", "Mul", "Sub", "Where"):
            pending += node.inputs
    return False
