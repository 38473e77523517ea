"""Points, or features of them, turned by a matrix that a network predicts."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from netloupe.explorer.dataflow import find_source
from netloupe.explorer.errors import NetloupeError
from netloupe.explorer.model import Node, Value
from netloupe.explorer.model.stored_tensors import find_stored_tensor
from netloupe.explorer.roles import find_weight

from .found_blocks import FoundBlock, FoundBlocks
from .operations import ARRANGING

PREDICTED = "Predicted transform"
_BOTH = 2
_MOST_NUMBERS = 1 << 14
_MOST_PASSED = 6
_LEAST_SIZE = 2


def find_predicted_transforms(blocks: FoundBlocks) -> Iterator[FoundBlock]:
    """Find products with a matrix that layers give, to which the identity is added.

    C. Qi and others, PointNet, 2017, section 4.2: joint alignment of points, or of their features.
    """
    operations = blocks.operations
    for product, kind in enumerate(operations.kinds):
        if kind != "MatMul" or blocks.owner[product] is not None:
            continue
        size = read_predicted_size(operations.nodes[product])
        if size:
            numbers = frozenset({product})
            yield FoundBlock("unit", PREDICTED, numbers, product, (f"{size} × {size}",))


def read_predicted_size(node: Node) -> int:
    """Return how many rows the matrix has that is predicted; 0 where a node takes no such one."""
    if not node.operator.has("multiplies") or len(node.inputs) != _BOTH:
        return 0
    if any(value is None or value.initializer is not None for value in node.inputs):
        return 0
    for value in node.inputs:
        total = find_source(value, *ARRANGING)
        adding = total.producer if total is not None else None
        if adding is None or not adding.operator.has("adds") or len(adding.inputs) != _BOTH:
            continue
        sizes = [_read_identity(one) for one in adding.inputs if one is not None]
        if sorted(map(bool, sizes)) != [False, True]:
            continue
        given = adding.inputs[0 if sizes[1] else 1]
        if given is not None and _is_of_layer(given):
            return max(sizes)
    return 0


def _is_of_layer(value: Value) -> bool:
    """Return whether a layer gives a value, and perhaps a bias is added."""
    for _ in range(_BOTH):
        source = find_source(value, *ARRANGING)
        node = source.producer if source is not None else None
        if node is None:
            return False
        if node.operator.has("multiplies"):
            return find_weight(node) is not None
        first = next((one for one in node.inputs if one is not None and not _is_stored(one)), None)
        if first is None or not node.operator.has("adds"):
            return False
        value = first
    return False


def _is_stored(value: Value) -> bool:
    return find_stored_tensor(value) is not None


def _read_identity(value: Value) -> int:
    """Return how many rows an identity has that is stored, perhaps in one row; 0 for others."""
    for _ in range(_MOST_PASSED):
        node = value.producer
        first = node.input(0) if node is not None else None
        if node is None or first is None or not node.operator.has(*ARRANGING, "repeats"):
            break
        value = first
    tensor = find_stored_tensor(value)
    if tensor is None or not 0 < tensor.size <= _MOST_NUMBERS:
        return 0
    try:
        numbers = np.asarray(tensor.numpy(), np.float64).ravel()
    except (NetloupeError, TypeError, ValueError):
        return 0
    size = round(numbers.size**0.5)
    is_square = size >= _LEAST_SIZE and size * size == numbers.size
    return size if is_square and np.array_equal(numbers.reshape(size, size), np.eye(size)) else 0
