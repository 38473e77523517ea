"""Sizes that the dimensions of weights tell: features, kernels, widths. Reads no elements."""

from __future__ import annotations

from netloupe.explorer.model import Node, TensorType, Value
from netloupe.explorer.roles import find_weight
from netloupe.explorer.roles.origins import find_origin


def read_dims(value: Value | None) -> tuple[int, ...]:
    """Return the dimensions of a constant; nothing where not all of them are known."""
    origin = find_origin(value) if value is not None else None
    dims = origin.dims if origin is not None else None
    if dims is None or any(dim is None for dim in dims):
        return ()
    return tuple(dim for dim in dims if dim is not None)


def read_features(node: Node) -> tuple[int, int]:
    """Return how many features an operator takes and gives; 0 where it cannot be told."""
    weight = find_weight(node)
    taken, given = (weight.features if weight is not None else None) or (None, None)
    return taken or 0, given or 0


def read_kernel(node: Node) -> tuple[int, ...]:
    """Return the sizes of a convolution's kernel by its weight; nothing where unknown."""
    weight = find_weight(node)
    kernel = weight.kernel if weight is not None else None
    if kernel is None or any(size is None for size in kernel):
        return ()
    return tuple(size for size in kernel if size is not None)


def read_width(value: Value) -> int:
    """Return how many elements a scale or shift has; 0 where it cannot be told."""
    product = 1
    dims = read_dims(value)
    for dim in dims:
        product *= dim
    return product if dims else 0


def read_type_dims(value: Value | None) -> tuple[int | None, ...]:
    """Return the dimensions of a value as its type states them; nothing where it has none."""
    shape = value.type.shape if value is not None and isinstance(value.type, TensorType) else None
    if shape is None:
        return ()
    return tuple(dim.value if isinstance(dim.value, int) else None for dim in shape)
