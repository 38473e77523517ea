"""What operators on integers take, in the order in which those on floats take it.

Sources: onnx/docs/Operators.md for QLinearConv and QLinearMatMul; ContribOperators.md of ONNX
Runtime for the others.
"""

from __future__ import annotations

from collections.abc import Sequence

from netloupe.explorer.model import Node, Value
from netloupe.explorer.model.stored_tensors import find_stored_tensor

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

#: where norms take scale and shift
_NORMS = {
    "LayerNormalization": (1, 2),
    "RMSNormalization": (1,),
    "SimplifiedLayerNormalization": (1,),
    "SkipLayerNormalization": (2, 3),
    "SkipSimplifiedLayerNormalization": (2,),
}


def list_operands(node: Node) -> tuple[Value | None, ...]:
    """Return the operands of a node as the operator on floats has them, without scales."""
    places = _PLACES.get(node.op_type)
    if places is None:
        return node.inputs
    return tuple(node.inputs[place] for place in places if place < len(node.inputs))


def is_on_integers(node: Node) -> bool:
    """Return whether an operator takes codes, and scales and zero points between its operands."""
    return node.op_type in _PLACES


def list_norm_weights(nodes: Sequence[Node]) -> tuple[Value | None, Value | None] | None:
    """Return scale and shift of a norm, as one operator or written out.

    Written out, the last product with more than one constant number scales, and the last sum with
    such shifts; ε is one number.

    Returns
    -------
    tuple or None
        None for no value that is stored; None instead of both where there is no norm.
    """
    for node in nodes:
        places = _NORMS.get(node.op_type)
        if places is not None:
            taken = [node.input(place) for place in places]
            return taken[0], taken[1] if len(taken) > 1 else None
    if not any(node.op_type == "ReduceMean" for node in nodes):
        return None
    found: dict[str, Value] = {}
    for node in sorted(nodes, key=lambda node: node.index):
        if node.op_type in ("Add", "Mul"):
            for value in node.inputs:
                tensor = find_stored_tensor(value) if value is not None else None
                if value is not None and tensor is not None and tensor.size > 1:
                    found[node.op_type] = value
    return found.get("Mul"), found.get("Add")
