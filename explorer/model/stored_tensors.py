"""The stored tensor behind a value, whichever way a file keeps it."""

from __future__ import annotations

from typing import Any

import numpy as np

from .dtype import data_type
from .storage import Payload
from .tensor import Tensor
from .value import Value


def find_stored_tensor(value: Value) -> Tensor | None:
    """Return the dense constant behind a value: an initializer, or a Constant node's tensor.

    Numbers and strings that a Constant node gives as plain attributes come as tensors too;
    None where the value is computed or sparse.
    """
    if value.initializer is not None:
        return value.initializer if isinstance(value.initializer, Tensor) else None
    node = value.producer
    if node is not None and node.domain == "caffe2":
        return node.details.constant
    if node is None or node.op_type != "Constant" or node.domain not in ("", "ai.onnx"):
        return None
    for name, attribute in node.attributes.items():
        if isinstance(attribute.value, Tensor):
            return attribute.value
        if name in _CONSTANT_TYPES:
            return _make_tensor(value, name, attribute.value)
    return None


_CONSTANT_TYPES = {
    "value_float": "float32",
    "value_floats": "float32",
    "value_int": "int64",
    "value_ints": "int64",
}


def _make_tensor(value: Value, name: str, content: Any) -> Tensor | None:
    dtype = data_type(_CONSTANT_TYPES[name])
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
