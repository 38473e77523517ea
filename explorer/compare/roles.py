"""What nodes take, by the roles of their operands: whichever way an operator is written.

Operators on integers take scales and zero points between their operands; norms may be written out.
"""

from __future__ import annotations

from collections.abc import Sequence

from netloupe.explorer.dataflow import find_operand
from netloupe.explorer.model import Node, Value
from netloupe.explorer.model.stored_tensors import find_stored_tensor


def list_operands(node: Node) -> tuple[Value | None, ...]:
    """Return the operands of a node as the operator on floats has them, without scales."""
    if not is_on_integers(node):
        return node.inputs
    roles = node.operator.operands
    return tuple(value for place, value in enumerate(node.inputs) if "." not in roles.at(place))


def is_on_integers(node: Node) -> bool:
    """Return whether an operator takes codes, and scales and zero points between its operands."""
    operator = node.operator
    has_scales = any("." in role for role in operator.operands.names)
    return has_scales and not operator.has("dequantizes", "quantizes", "simulates_quantization")


def list_norm_weights(nodes: Sequence[Node]) -> tuple[Value | None, Value | None] | None:
    """Return scale and shift of a norm, as one operator or written out.

    Written out, the last product with more than one constant number scales, or what divides such
    numbers, and the last sum with such behind it shifts; ε is one number.

    Returns
    -------
    tuple or None
        None for no value that is stored; None instead of both where there is no norm.
    """
    operators = [node.operator for node in nodes]
    if not any(one.weight_kind == "normalization" or one.has("averages") for one in operators):
        return None
    scale = shift = None
    for node in sorted(nodes, key=lambda node: node.index):
        operator = node.operator
        if operator.weight_kind == "normalization":
            scale, shift = (find_operand(node, role) for role in ("weight", "bias"))
        if not operator.has("adds", "divides", "multiplies_elements"):
            continue
        for place, value in enumerate(node.inputs):
            tensor = find_stored_tensor(value) if value is not None else None
            if tensor is None or tensor.size < 2:
                continue
            if operator.has("adds"):
                shift = value
            elif operator.has("multiplies_elements") or not place:
                scale, shift = value, None
    return scale, shift
