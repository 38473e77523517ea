"""The stored tensor behind a value, whichever way a file keeps it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from .constant import find_constant_nodes
from .dtype import DataType, data_type
from .graph import Graph
from .sparse_tensor import SparseTensor
from .storage import Payload
from .tensor import Tensor
from .value import Value


def find_stored_tensor(value: Value) -> Tensor | None:
    """Return the dense constant behind a value: an initializer, or what a constant node stores.

    Numbers that such a node gives as plain attributes come as tensors too; None where the value is
    computed, sparse or a string among attributes.
    """
    if value.initializer is not None:
        return value.initializer if isinstance(value.initializer, Tensor) else None
    node = value.producer
    if node is None or node.inputs:
        return None
    stored = node.details.constant
    if stored is not None:
        return stored if isinstance(stored, Tensor) else None
    if not node.operator.has("stores_constant"):
        return None
    for name, attribute in node.attributes.items():
        element_type = node.graph.dialect.constant_attributes.get(name, "string")
        if element_type != "string":
            return _make_tensor(value, name, data_type(element_type), attribute.value)
    return None


def find_own_tensor(value: Value) -> Tensor | SparseTensor | None:
    """Return the tensor that has a value's own elements: not those of a quantized weight."""
    return value.initializer or find_stored_tensor(value)


def list_stored_tensors(graph: Graph) -> Iterator[Tensor]:
    """Yield the dense tensors that a graph stores: initializers and those of constant nodes."""
    yield from graph.initializers
    for index in find_constant_nodes(graph):
        constant = graph.nodes[index].details.constant
        if isinstance(constant, Tensor):
            yield constant


def _make_tensor(value: Value, name: str, dtype: DataType, content: Any) -> Tensor | None:
    is_list = isinstance(content, tuple)
    try:
        with np.errstate(over="ignore"):
            elements = np.array(content if is_list else [content], dtype.numpy)
    except (TypeError, ValueError, OverflowError):
        return None  # a reference to a function's attribute, or a value of another kind
    return Tensor(
        value.name,
        value.path,
        dtype,
        elements.shape if is_list else (),
        name,
        elements.nbytes,
        lambda: Payload("typed", elements),
    )
