"""Axes that two nodes name, counted from the first or from the last."""

from __future__ import annotations

from netloupe.explorer.model import Node, TensorType, Value
from netloupe.explorer.model.stored_tensors import find_stored_tensor

#: whose axes are those of the result
_OF_RESULT = ("Unsqueeze", "OneHot")
#: the attributes that name axes of one operand or result
AXES = frozenset({"axis", "axes", "gather_axis", "quantize_axis"})
#: which axes these name counts, not in which order
_UNORDERED = frozenset({"MeanVarianceNormalization", "QLinearReduceMean", "Squeeze", "Unsqueeze"})
_RUNTIME = "com.microsoft"
#: of ONNX Runtime, by operator, the operand whose axes are named
_OF_RUNTIME = {
    **dict.fromkeys(("BiasSoftmax", "DequantizeLinear", "GatherBlockQuantized"), 0),
    **dict.fromkeys(("QLinearReduceMean", "QLinearSoftmax", "QuantizeLinear"), 0),
    **dict.fromkeys(("QOrderedLayerNormalization", "ReduceSumInteger"), 0),
    "QLinearConcat": 2,
}
#: what gives as many axes as its first operand has
_KEEPING = frozenset(
    {"Abs", "BatchNormalization", "Cast", "Clip", "Concat", "Conv", "CumSum", "Dropout", "Elu"}
    | {"Erf", "Exp", "Gelu", "HardSigmoid", "HardSwish", "Identity", "LayerNormalization"}
    | {"LeakyRelu", "Log", "LogSoftmax", "MaxPool", "AveragePool", "Neg", "Pad", "Reciprocal"}
    | {"Relu", "Sigmoid", "Slice", "Softmax", "Split", "Sqrt", "Tanh", "Transpose"}
)
#: what gives as many axes as that operand has which has most
_BROADCASTING = frozenset({"Add", "Div", "Mul", "Pow", "Sub", "Where"})
#: so many nodes are followed back at most
_MOST_FOLLOWED = 64


def are_same_axes(left: Node, right: Node, one: object, other: object) -> bool:
    """Return whether two nodes name the same axes, one perhaps from the first, one from the last.

    Parameters
    ----------
    left, right
        The nodes; how many axes there are is told by the types of what they take or give.
    one, other
        An axis, or a tuple of axes.
    """
    ranks = {rank for node in (left, right) if (rank := _find_rank(node)) is not None}
    if _is_unordered(left) and _is_unordered(right):
        one, other = _sort(one), _sort(other)
    if len(ranks) != 1 or isinstance(one, tuple) != isinstance(other, tuple):
        return one == other
    rank = ranks.pop()
    sides = []
    for axes in (one, other):
        listed = axes if isinstance(axes, tuple) else (axes,)
        if not all(isinstance(axis, int) and -rank <= axis < rank for axis in listed):
            return one == other
        counted = (*(axis % rank for axis in listed),)
        sides.append(_sort(counted) if _is_unordered(left) else counted)
    return sides[0] == sides[1]


def _is_unordered(node: Node) -> bool:
    return node.op_type in _UNORDERED or node.op_type.startswith("Reduce")


def _sort(axes: object) -> object:
    if isinstance(axes, tuple) and all(isinstance(axis, int) for axis in axes):
        return (*sorted(axes),)
    return axes


def _find_rank(node: Node) -> int | None:
    """Return how many axes those of a node's attributes are counted among; None if unknown."""
    dialect = node.graph.dialect
    is_own = node.domain == dialect.domain and dialect.has_opsets
    if node.function is not None or not (is_own or node.domain == _RUNTIME):
        return None  # what others count their axes among is not known
    place = 0 if is_own else _OF_RUNTIME.get(node.op_type)
    operands = node.outputs if node.op_type in _OF_RESULT and is_own else node.inputs
    return None if place is None or place >= len(operands) else count_axes(operands[place])


def count_axes(value: Value | None) -> int | None:
    """Return how many axes a value has, where that is stated or follows; None if not known."""
    return None if value is None else _count_axes(value, [_MOST_FOLLOWED])


def _count_axes(value: Value, left: list[int]) -> int | None:
    """Return how many axes a value has, by what is stated or by the nodes that give it.

    What is left to be followed is counted down.
    """
    kind, tensor, node = value.type, find_stored_tensor(value), value.producer
    if isinstance(kind, TensorType) and kind.shape is not None:
        return len(kind.shape)
    if tensor is not None:
        return len(tensor.dims)
    if node is None or node.domain or node.function is not None or not left[0]:
        return None
    left[0] -= 1
    order = node.attributes.get("perm")
    if node.op_type == "Transpose" and order is not None:
        return len(order.value) if isinstance(order.value, tuple) else None
    if node.op_type == "Reshape":
        taken = node.input(1)
        shape = None if taken is None else find_stored_tensor(taken)
        return shape.dims[0] if shape is not None and len(shape.dims) == 1 else None
    is_reduced = node.op_type.startswith("Reduce") and _keeps_axes(node)
    if not is_reduced and node.op_type not in _KEEPING | _BROADCASTING:
        return None
    operands = node.inputs if node.op_type in _BROADCASTING else node.inputs[:1]
    counts = [None if one is None else _count_axes(one, left) for one in operands]
    known = [count for count in counts if count is not None]
    return max(known) if len(known) == len(counts) > 0 else None


def _keeps_axes(node: Node) -> bool:
    stated = node.attributes.get("keepdims")
    return stated is None or stated.value == 1
