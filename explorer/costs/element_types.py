"""The types of results, as the schema of an operator has them.

An operator declares for each operand a type, a choice of types, or a variable that stands for the
same type wherever it is written (ONNX IR specification, Operators; Operators.md, Type Constraints).
"""

from __future__ import annotations

from collections.abc import Sequence

from netloupe.explorer.model import data_type
from netloupe.explorer.operators import OperatorSchema

from .facts import UNKNOWN, Fact

#: of nodes with more results or operands these are looked at
_MOST = 64


def add_types(
    schema: OperatorSchema,
    operands: Sequence[Fact | None],
    results: Sequence[Fact | None],
    count: int,
) -> list[Fact | None]:
    """Return what is known of so many results, with the types that their operator gives them.

    The one type that the schema leaves, or that its variable has at the operands, comes before
    what a rule of the operator says.
    """
    found = [*results[:count], *[None] * (min(count, _MOST) - len(results))]
    bound: dict[str, str] | None = None
    for index, fact in enumerate(found[:_MOST]):
        formal = schema.output(index)
        if formal is None or not formal.types:
            continue
        if len(formal.types) == 1:
            (name,) = formal.types
        else:
            if bound is None:
                bound = bind_variables(schema, operands)
            name = bound.get(formal.variable, "") if formal.is_homogeneous else ""
        known = fact or UNKNOWN
        if not name or name == known.type_name:
            continue
        if "(" in name:
            found[index] = Fact(kind=name)
        else:
            found[index] = known._replace(dtype=data_type(name), kind="")
    return found


def bind_variables(schema: OperatorSchema, operands: Sequence[Fact | None]) -> dict[str, str]:
    """Return by type variable the type of the first operand that it stands for."""
    bound: dict[str, str] = {}
    for index, operand in enumerate(operands[:_MOST]):
        formal = schema.input(index)
        if formal is None or operand is None or not formal.variable or not formal.is_homogeneous:
            continue
        name = operand.type_name
        if name and formal.variable not in bound:
            bound[formal.variable] = name
    return bound
