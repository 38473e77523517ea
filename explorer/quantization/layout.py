"""How a value is cut into channels or blocks for its scales, and what its numbers are stored in.

Told from types and shapes; no tensor is read.
"""

from __future__ import annotations

from typing import Literal

from netloupe.explorer.model import DataType, Node, SparseTensorType, TensorType, Value, data_type
from netloupe.explorer.model.stored_tensors import find_stored_tensor

from .sources import Statement

Granularity = Literal["per tensor", "per channel", "per block"]


def read_integer(node: Node, name: str, default: int | None = None) -> int | None:
    """Return an integer attribute, or a default where there is none."""
    attribute = node.attributes.get(name)
    value = attribute.value if attribute is not None else None
    return value if isinstance(value, int) else default


#: by role of a weight of experts, how the attribute begins that states the bits of it alone
_EXPERT_BITS = {"weight1": "fc1", "weight2": "fc2", "weight3": "fc3"}


def read_bits(node: Node, weights: Value | None = None) -> int | None:
    """Return the bits of each weight of an operator that takes them packed.

    Parameters
    ----------
    node
        The operator.
    weights
        Which of its weights, where it may state bits for each; None for all.

    Returns
    -------
    int or None
        None for an undocumented number, and where the weights are no integers.
    """
    bits = read_integer(node, "bits", 4)
    if node.operator.has("routes_experts"):
        if not _has_integer_experts(node):
            return None
        bits = read_integer(node, "expert_weight_bits", 4)
        for role, name in _EXPERT_BITS.items() if weights is not None else ():
            place = node.operator.operands.find(role)
            if place is not None and node.inputs[place : place + 1] == (weights,):
                bits = read_integer(node, f"{name}_expert_weight_bits", bits)
    return bits if bits in (2, 4, 8) else None


def _has_integer_experts(node: Node) -> bool:
    """Return whether the weights of experts are integers: QMoE's attribute quant_type."""
    attribute = node.attributes.get("quant_type")
    return attribute is None or attribute.value in ("int", b"int")


def read_layout(statement: Statement, value: Value) -> tuple[int | None, int | None]:
    """Return block size and axis; no axis where one scale serves all."""
    node, axis, block_size = statement.node, statement.axis, None
    granularity = foresee_granularity(statement)
    if granularity == "per tensor":
        return None, None
    if node is not None and node.operator.has("quantizes", "dequantizes"):
        axis = read_integer(node, "axis", 1)
        block_size = read_integer(node, "block_size") or None
    elif node is not None and node.operator.has("packed_weight"):
        block_size = read_integer(node, "block_size")
        if node.operator.has("looks_up"):
            block_size = 128 if block_size is None else block_size
            axis = read_integer(node, "quantize_axis", 1)
        elif node.operator.has("routes_experts"):
            block_size, axis = block_size or _find_expert_width(statement), -1
    elif node is not None and node.operator.form == "Gemm":
        axis = 0 if read_integer(node, "transB") else 1
    if axis is not None and axis < 0:
        rank = _find_rank(value)
        axis = axis + rank if rank is not None and axis + rank >= 0 else axis
    return block_size, axis


def _find_expert_width(statement: Statement) -> int | None:
    """Return how many weights of an expert share a scale where no blocks are stated: a row."""
    shape, node = _find_shape(statement.quantized), statement.node
    bits = read_bits(node, statement.quantized) if node is not None else None
    return shape[-1] * 8 // bits if shape and shape[-1] and bits else None


def _find_rank(value: Value) -> int | None:
    if value.initializer is not None:
        return len(value.initializer.dims)
    shape = _find_shape(value)
    return None if shape is None else len(shape)


def _find_shape(value: Value | None) -> tuple[int | None, ...] | None:
    """Return a value's shape without reading data; None for sizes that are not numbers."""
    if value is None:
        return None
    tensor = find_stored_tensor(value)
    if tensor is not None:
        return tensor.dims
    if isinstance(value.type, TensorType | SparseTensorType) and value.type.shape is not None:
        return tuple(d.value if isinstance(d.value, int) else None for d in value.type.shape)
    return None


def foresee_granularity(statement: Statement) -> Granularity | None:
    """Judge the granularity by the shape of the scale, or of the zero point without one."""
    if statement.stated is not None:
        return judge_granularity((len(statement.stated.scale),))
    operator = None if statement.node is None else statement.node.operator
    if operator is not None and operator.has("packed_weight"):
        return "per block"
    if operator is not None and operator.results.find("data.scale") is not None:
        return "per tensor"  # by the definition of DynamicQuantizeLinear
    if statement.scale is None and statement.zero_point is None:
        return None
    return judge_granularity(_find_shape(statement.scale or statement.zero_point))


def judge_granularity(shape: tuple[int | None, ...] | None) -> Granularity | None:
    """Judge the granularity by the shape of the scale, where all of it is known."""
    if shape is None or any(size is None for size in shape):
        return None
    sizes = [size for size in shape if size is not None]
    if all(size == 1 for size in sizes):
        return "per tensor"
    # channels have one axis; two that differ from 1 can only be blocks
    return "per channel" if sum(size != 1 for size in sizes) == 1 else "per block"


def find_storage(statement: Statement) -> DataType | None:
    """Return the element type that the numbers are stored in; None where nothing says it."""
    if statement.stated is not None:
        return statement.stated.storage
    node = statement.node
    if node is not None and node.operator.has("packed_weight"):
        stored = find_dtype(statement.quantized)
        if stored is not None and stored.name != "uint8":
            return stored
        bits = read_bits(node, statement.quantized)  # packed
        if bits is None and node.operator.has("routes_experts") and not _has_integer_experts(node):
            return data_type("float4_e2m1fn")
        return None if bits is None else data_type(f"uint{bits}")
    # narrower than the type of the container, where a tool states it
    for key, text in statement.extra:
        if key == "finn_datatype" and is_narrow(data_type(text.lower())):
            return data_type(text.lower())
    for value in (statement.quantized, statement.zero_point):
        dtype = find_dtype(value)
        if dtype is not None and is_narrow(dtype):
            return dtype
    if node is not None and node.operator.has("quantizes"):
        number = read_integer(node, "output_dtype")
        stated = node.graph.dialect.element_types.get(number, "") if number else "uint8"
        output = data_type(stated) if stated else None
        return output if output is not None and is_narrow(output) else None
    return None


def is_narrow(dtype: DataType) -> bool:
    """Return whether numbers of a type can be quantized ones: integers, and floats of 8 bits."""
    return dtype.is_known and (dtype.is_integer or (dtype.is_float and (dtype.bits or 64) <= 8))


def find_dtype(value: Value | None) -> DataType | None:
    """Return the element type of a value, of stored ones without reading them."""
    if value is None:
        return None
    if isinstance(value.type, TensorType | SparseTensorType):
        return value.type.dtype
    if value.initializer is not None:
        return value.initializer.dtype
    tensor = find_stored_tensor(value)
    return tensor.dtype if tensor is not None else None
