"""Which constants hold several small integers in a byte, and the integers themselves.

The weights and zero points of ONNX Runtime's blocked operators (ContribOperators): the lowest bits
first, each row from a whole byte on. A last block that the row does not fill is padding.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from netloupe.explorer.model import Node, Payload, Tensor, Value, data_type
from netloupe.explorer.model.stored_tensors import find_stored_tensor

from .layout import find_dtype, read_bits, read_integer
from .sources import Statement, find_statement, state_zero_point

if TYPE_CHECKING:
    from netloupe.explorer.tensors import Packing

#: by role of a weight of MatMulNBitsQkv, the attribute that counts its rows
_QKV_ROWS = {"weight1": "Nq", "weight2": "Nkv", "weight3": "Nkv"}


def is_packed(statement: Statement) -> bool:
    """Return whether the weights that a statement is about are bytes of packed integers."""
    node = statement.node
    if node is None or not node.operator.has("packed_weight"):
        return False
    return (find_dtype(statement.quantized) or data_type("uint8")).name == "uint8"


def unpack_weights(statement: Statement) -> Tensor | None:
    """Return the integers that packed weights hold, as a tensor of their own type and shape.

    Returns
    -------
    Tensor or None
        Its elements are read when they are asked for. None where nothing is packed, where
        the weights are not constant, or where their size and the node's attributes disagree.
    """
    tensor = find_stored_tensor(statement.quantized) if statement.quantized is not None else None
    node = statement.node
    if tensor is None or node is None or not is_packed(statement):
        return None
    bits = read_bits(node, statement.quantized)
    if bits is None or not tensor.dims:
        return None
    if not node.operator.has("multiplies"):  # only the last axis is packed
        if (read_integer(node, "weights_prepacked") or 0) > 0:
            return None
        *rows, width = tensor.dims
        return _unpack(tensor, bits, (*rows, width * 8 // bits), width)
    shape = _read_matrix(node, statement.quantized)
    if shape is None or read_integer(node, "weight_prepacked"):  # another layout, not documented
        return None
    rows_of_blocks, width, block_size = shape
    row_bytes = -(-width // block_size) * (-(-block_size * bits // 8))
    return _unpack(tensor, bits, (rows_of_blocks, width), row_bytes)


def unpack_zero_points(statement: Statement) -> Tensor | None:
    """Return packed zero points, one for each scale; None as for :func:`unpack_weights`."""
    node = statement.node
    tensor = find_stored_tensor(statement.zero_point) if statement.zero_point is not None else None
    if tensor is None or node is None or tensor.dtype.name != "uint8" or not is_packed(statement):
        return None
    bits = read_bits(node, statement.quantized)
    shape = _read_matrix(node, statement.quantized)
    dims: tuple[int, ...]
    if shape is not None:
        dims = (shape[0], -(-shape[1] // shape[2]))
    else:
        scale = find_stored_tensor(statement.scale) if statement.scale is not None else None
        dims = scale.dims if scale is not None else ()
    if bits is None or not dims:
        return None
    return _unpack(tensor, bits, dims, -(-dims[-1] * bits // 8))


def unpack_constant(value: Value) -> Tensor | None:
    """Return the integers that a constant holds packed: weights or zero points; else None."""
    statement = find_statement(value)
    if statement is not None:
        return unpack_weights(statement) if statement.quantized is value else None
    statement = state_zero_point(value)
    return None if statement is None else unpack_zero_points(statement)


def _read_matrix(node: Node, weights: Value | None) -> tuple[int, int, int] | None:
    """Return rows, integers in a row and block size of a matrix whose rows are cut into blocks."""
    operator = node.operator
    if not operator.has("multiplies"):
        return None
    name = "N"
    if operator.results.find("query") is not None:
        places = [i for i, each in enumerate(node.inputs) if each is weights]
        name = _QKV_ROWS.get(operator.operands.at(places[0]), "") if places else ""
    numbers = [read_integer(node, each) or 0 for each in (name, "K", "block_size")]
    return (numbers[0], numbers[1], numbers[2]) if min(numbers) > 0 else None


def _unpack(tensor: Tensor, bits: int, dims: tuple[int, ...], row_bytes: int) -> Tensor | None:
    from netloupe.explorer.tensors import Packing

    packing = Packing(bits, dims, row_bytes)
    if tensor.size != packing.stored_bytes or min(dims) <= 0:
        return None
    return Tensor(
        tensor.name,
        tensor.path,
        data_type(f"uint{bits}"),
        dims,
        tensor.storage,
        lambda: tensor.stored_bytes,
        lambda: _read(tensor, packing),
        external=tensor.external,
    )


def _read(tensor: Tensor, packing: Packing) -> Payload:
    from netloupe.explorer.tensors import open_elements, unpack_elements

    dtype = data_type(f"uint{packing.bits}").numpy
    assert dtype is not None  # noqa: S101 - the type is one of the specification
    return Payload("elements", elements=unpack_elements(open_elements(tensor), packing, dtype))
