"""What nodes take, by the roles of their operands: whichever way an operator is written.

Operators on integers take scales and zero points between their operands; norms may be written out.
"""

from __future__ import annotations

from collections.abc import Sequence

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

    Written out, the last product with more than one constant number scales, and the last sum with
    such shifts; ε is one number.

    Returns
    -------
    tuple or None
        None for no value that is stored; None instead of both where there is no norm.
    """
    for node in nodes:
        operator = node.operator
        if operator.has("normalizes_last_axes"):
            places = (operator.operands.find(role) for role in ("weight", "bias"))
            scale, shift = (None if place is None else node.input(place) for place in places)
            return scale, shift
    if not any(node.operator.has("averages") for node in nodes):
        return None
    scale = shift = None
    for node in sorted(nodes, key=lambda node: node.index):
        if node.operator.has("adds", "multiplies_elements"):
            for value in node.inputs:
                tensor = find_stored_tensor(value) if value is not None else None
                if tensor is None or tensor.size < 2:
                    continue
                if node.operator.has("adds"):
                    shift = value
                else:
                    scale = value
    return scale, shift
