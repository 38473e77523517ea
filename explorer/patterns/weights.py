"""The widths that an operator's weights tell, without reading their elements."""

from __future__ import annotations

from netloupe.explorer.model import Node, TensorType, Value, constant_tensor

from .operations import read_int, read_ints
from .shape_values import evaluate_list

_SAME_DIMS = frozenset(
    {"Cast", "CastLike", "DequantizeLinear", "Identity", "QuantizeLinear", "Copy"}
    | {"Int8Dequantize", "Int8Quantize"}
)
#: operators whose weight stands elsewhere than second
_PLACES = {"QLinearConv": 3, "QLinearMatMul": 3, "QGemm": 3, "Gather": 0}
#: operators whose weight is (out, in)
_OUT_FIRST = frozenset({"FC", "Int8FC", "Int8FCRelu"})
_MOST_STEPS = 8


def read_dims(value: Value | None) -> tuple[int, ...]:
    """Return the dimensions of a constant; nothing where they cannot be told."""
    if value is None:
        return ()
    turns: list[Node] = []
    for _ in range(_MOST_STEPS):
        tensor = constant_tensor(value)
        if tensor is not None:
            return _turn(tuple(tensor.dims), turns)
        node = value.producer
        stated = value.type
        if isinstance(stated, TensorType) and stated.shape is not None:
            dims = [dim.value for dim in stated.shape]
            if all(isinstance(dim, int) for dim in dims):
                return _turn(tuple(dim for dim in dims if isinstance(dim, int)), turns)
        if node is None or not node.inputs or node.inputs[0] is None:
            return ()
        if node.op_type == "ConstantOfShape":
            return _turn(_read_ints(node.inputs[0]), turns)
        if node.op_type not in _SAME_DIMS and node.op_type not in ("Transpose", "Reshape"):
            return ()
        if node.op_type not in _SAME_DIMS:
            turns.append(node)
        value = node.inputs[0]
    return ()


def _turn(dims: tuple[int, ...], turns: list[Node]) -> tuple[int, ...]:
    """Return dimensions as they are behind some nodes, the last of them first."""
    for node in reversed(turns):
        if node.op_type == "Reshape":
            dims = _read_ints(node.inputs[1] if len(node.inputs) > 1 else None)
        else:
            perm = read_ints(node, "perm") or tuple(reversed(range(len(dims))))
            if sorted(perm) != list(range(len(dims))):
                return ()
            dims = tuple(dims[axis] for axis in perm)
    return dims


def _read_ints(value: Value | None) -> tuple[int, ...]:
    listed = evaluate_list(value)
    if not all(isinstance(entry, int) and entry > 0 for entry in listed):
        return ()
    return tuple(entry for entry in listed if isinstance(entry, int))


def read_linear(node: Node) -> tuple[int, int]:
    """Return how many features a linear operator takes and gives; 0 where it cannot be told."""
    if node.op_type in ("MatMulNBits", "MatMulBnb4", "MatMulFpQ4"):
        return read_int(node, "K") or 0, read_int(node, "N") or 0
    place = _PLACES.get(node.op_type, 1)
    dims = read_dims(node.inputs[place] if len(node.inputs) > place else None)
    if len(dims) < 2:
        return 0, 0
    if node.op_type in _OUT_FIRST:
        return _multiply(dims[1:]), dims[0]
    if read_int(node, "transB"):
        return dims[-1], dims[-2]
    return dims[-2], dims[-1]


def read_table(node: Node) -> tuple[int, int]:
    """Return rows and width of an embedding's table; 0 where they cannot be told."""
    dims = read_dims(node.inputs[0] if node.inputs else None)
    return (dims[0], dims[1]) if len(dims) == 2 else (0, 0)


def read_width(value: Value) -> int:
    """Return how many elements a scale or shift has; 0 where it cannot be told."""
    return _multiply(read_dims(value))


def _multiply(dims: tuple[int, ...]) -> int:
    product = 1
    for dim in dims:
        product *= dim
    return product if dims else 0
