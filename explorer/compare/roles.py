"""What operators on integers take, in the order in which those on floats take it.

Sources: onnx/docs/Operators.md for QLinearConv and QLinearMatMul; ContribOperators.md of ONNX
Runtime for the others.
"""

from __future__ import annotations

from netloupe.explorer.model import Node, Value

#: the places of the data, of the weight or second operand, and of the bias
_PLACES = {
    "DynamicQuantizeMatMul": (0, 1, 4),
    "MatMulBnb4": (0, 1),
    "MatMulInteger": (0, 1),
    "MatMulIntegerToFloat": (0, 1, 6),
    "MatMulNBits": (0, 1, 5),
    "ConvInteger": (0, 1),
    "QGemm": (0, 3, 6),
    "QLinearAdd": (0, 3),
    "QLinearConv": (0, 3, 8),
    "QLinearMatMul": (0, 3),
    "QLinearMul": (0, 3),
}


def list_operands(node: Node) -> tuple[Value | None, ...]:
    """Return the operands of a node as the operator on floats has them, without scales."""
    places = _PLACES.get(node.op_type)
    if places is None:
        return node.inputs
    return tuple(node.inputs[place] for place in places if place < len(node.inputs))
