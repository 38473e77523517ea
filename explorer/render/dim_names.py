"""What dimensions are called in pictures, where a tool has made their names up."""

from __future__ import annotations

from dataclasses import replace

from netloupe.explorer.costs.facts import Dim
from netloupe.explorer.costs.polynomial import list_symbols, write_expression
from netloupe.explorer.costs.symbols import is_generated_dim
from netloupe.explorer.costs.value_facts import find_value_facts
from netloupe.explorer.model import TensorType, Value, ValueType

#: types of more axes are shown as they stand
_MOST_AXES = 32


def name_dims(kind: ValueType | None, value: Value | None) -> TensorType | None:
    """Return a type as a picture shows it: without names of dimensions that a tool has made up.

    Parameters
    ----------
    kind
        Any type.
    value
        What has this type, where that is one value alone.

    Returns
    -------
    TensorType or None
        In place of such a name stands the size that follows from the inputs, ``batch`` or 12, and
        ``?`` where none does. None where there is no such name.
    """
    shape = kind.shape if isinstance(kind, TensorType) else None
    if not isinstance(kind, TensorType) or shape is None or len(shape) > _MOST_AXES:
        return None
    made_up = [isinstance(dim.value, str) and is_generated_dim(dim.value) for dim in shape]
    if not any(made_up):
        return None
    found = None
    if value is not None and not value.is_input:
        found = find_value_facts(value.graph.model).find_dims(value)
    if found is None or len(found) != len(shape):
        found = (None,) * len(shape)
    sizes = (
        replace(dim, value=_write_known(known)) if is_made_up else dim
        for dim, known, is_made_up in zip(shape, found, made_up, strict=True)
    )
    return replace(kind, shape=tuple(sizes))


def _write_known(known: Dim) -> int | str | None:
    """Return a size as types have it; None for one that only a made-up name tells."""
    if known is None or isinstance(known, int):
        return known
    names = list_symbols(known)
    is_named = not any(name.endswith("]") or is_generated_dim(name) for name in names)
    return write_expression(known) if is_named else None
