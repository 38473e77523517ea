"""The type of a value where the file states none, as far as it follows without computing."""

from __future__ import annotations

from netloupe.explorer.model import (
    DataType,
    Dimension,
    SparseTensor,
    SparseTensorType,
    Tensor,
    TensorType,
    Value,
    data_type,
    find_constant_source,
)
from netloupe.explorer.model.stored_tensors import find_own_tensor
from netloupe.explorer.quantization.layout import find_dtype

#: the opset from which on DequantizeLinear gives the type of its scale
_SCALED = 19


def infer_type(value: Value) -> TensorType | SparseTensorType | None:
    """Return the type that follows from the constant behind a value; reads no elements.

    Parameters
    ----------
    value
        Any value, whether the file states its type or not.

    Returns
    -------
    TensorType or SparseTensorType or None
        Of an initializer or the result of Constant, its own; of DequantizeLinear over one, its
        shape with ``output_dtype`` or the type of the scale (ONNX operator specification,
        DequantizeLinear-23), before opset 19 with float32. None for anything else.
    """
    tensor = find_own_tensor(value)
    if tensor is not None:
        return _make_type(tensor, tensor.dtype)
    node = value.producer
    if node is None or find_constant_source(node.operator) != "dequantized":
        return None
    stored, scale, *_ = (*node.inputs, None, None)
    tensor = None if stored is None else find_own_tensor(stored)
    if tensor is None:
        return None
    output = node.attributes.get("output_dtype")
    number = output.value if output is not None else None
    if isinstance(number, int) and number:
        name = node.graph.dialect.element_types.get(number)
        if name is not None:
            return _make_type(tensor, data_type(name))
    dtype = find_dtype(scale)
    if dtype is None and (node.opset_version or _SCALED) < _SCALED:
        dtype = data_type("float32")
    return None if dtype is None else _make_type(tensor, dtype)


def _make_type(tensor: Tensor | SparseTensor, dtype: DataType) -> TensorType | SparseTensorType:
    shape = tuple(map(Dimension, tensor.dims))
    kind = SparseTensorType if isinstance(tensor, SparseTensor) else TensorType
    return kind(dtype, shape)
