"""Sizes that the dimensions of weights tell: features, kernels, widths. Reads no elements."""

from __future__ import annotations

from netloupe.explorer.model import Graph, Node, TensorType, Value
from netloupe.explorer.model.kept import find_kept
from netloupe.explorer.roles import find_weight
from netloupe.explorer.roles.origins import Dims, find_origin


class _KnownSizes:
    """What was read of the weights of a graph: each pattern asks for it, in each group."""

    def __init__(self) -> None:
        self.dims: dict[Value, tuple[int, ...]] = {}
        self.features: dict[Node, tuple[int, int]] = {}
        self.kernels: dict[Node, tuple[int, ...]] = {}


def _find_known(graph: Graph) -> _KnownSizes:
    return find_kept(graph, _KnownSizes, _KnownSizes)


def read_dims(value: Value | None) -> tuple[int, ...]:
    """Return the dimensions of a constant; nothing where not all of them are known."""
    if value is None:
        return ()
    known = _find_known(value.graph).dims
    found = known.get(value)
    if found is None:
        origin = find_origin(value)
        found = known[value] = _list_known(origin.dims if origin is not None else None)
    return found


def read_features(node: Node) -> tuple[int, int]:
    """Return how many features an operator takes and gives; 0 where it cannot be told."""
    if not node.operator.weight_kind:
        return 0, 0
    known = _find_known(node.graph).features
    found = known.get(node)
    if found is None:
        weight = find_weight(node)
        taken, given = (weight.features if weight is not None else None) or (None, None)
        found = known[node] = taken or 0, given or 0
    return found


def read_kernel(node: Node) -> tuple[int, ...]:
    """Return the sizes of a convolution's kernel by its weight; nothing where unknown."""
    if not node.operator.weight_kind:
        return ()
    known = _find_known(node.graph).kernels
    found = known.get(node)
    if found is None:
        weight = find_weight(node)
        found = known[node] = _list_known(weight.kernel if weight is not None else None)
    return found


def _list_known(sizes: Dims | None) -> tuple[int, ...]:
    """Return sizes that are all known; nothing for others."""
    if sizes is None or None in sizes:
        return ()
    return tuple(size for size in sizes if size is not None)


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
