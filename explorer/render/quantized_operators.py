"""Operators on quantized numbers, drawn as what they compute: ``QLinearAdd`` as an addition.

What stands for them where a model keeps quantization beside its operators is the operator between
DequantizeLinear and QuantizeLinear (ONNX's QDQ format), with what is quantized in a pill.
"""

from __future__ import annotations

from collections.abc import Sequence

from netloupe.explorer.model import Node, Value
from netloupe.explorer.view.item import ConstantRow


def name_computed(node: Node) -> str:
    """Return the operator of real numbers that a node computes; its own name for most."""
    return node.operator.form if keeps_quantized(node) else node.op_type


def keeps_quantized(node: Node) -> bool:
    """Return whether a node does the work of another operator, from quantized to quantized."""
    operator = node.operator
    is_scaled = operator.is_quantized and operator.operands.find("result.scale") is not None
    return is_scaled and not operator.has("quantizes", "dequantizes") and bool(operator.form)


def list_computed_with(node: Node, constants: Sequence[ConstantRow]) -> list[ConstantRow]:
    """Return the constants of a node that are no scales and zero points, which its pill tells."""
    return [row for row in constants if not _is_scale(node, row.index)]


def list_computed_operands(node: Node) -> list[Value]:
    """Return what a node computes with: its operands but scales and zero points."""
    return [
        value
        for place, value in enumerate(node.inputs)
        if value is not None and not _is_scale(node, place)
    ]


def _is_scale(node: Node, place: int) -> bool:
    """Return whether an operand is the scale or zero point of another one, or of the result."""
    return keeps_quantized(node) and "." in (node.operator.operands.at(place) or "")
