"""Which operands of a node are quantized, and which tell their scales and zero points."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from netloupe.explorer.operators import Operator, kept_with_catalogue

if TYPE_CHECKING:
    from .node import Node

#: what says how values are quantized that QuantizeLinear gives and DequantizeLinear takes
_PAIRS = "QuantizeLinear/DequantizeLinear"
_PARTS = ("scale", "zero_point")


@dataclass(frozen=True, slots=True)
class QuantizedOperand:
    """Where an operator has a quantized operand, and the operand's scale and zero point.

    Parameters
    ----------
    index
        Which input it is, or which output where ``is_output``.
    scale, zero_point
        Which inputs these are, or outputs where ``scale_is_output``; None for none.
    axis
        The axis that the operator's definition fixes for scales that differ.
    quantized, quantized_is_output
        Where the stored numbers are, if not in the operand itself.
    scales_product
        Whether no operand is the scale, but what multiplies the product of two integer operands.
    every
        Where positive, the same holds again for each further input so many places on.
    source
        What says so, where the operator's name does not.
    """

    index: int
    scale: int | None
    zero_point: int | None
    is_output: bool = False
    axis: int | None = None
    quantized: int | None = None
    quantized_is_output: bool = False
    scale_is_output: bool = False
    scales_product: bool = False
    every: int = 0
    source: str = ""

    def shift(self, places: int) -> QuantizedOperand:
        """Return the same some inputs further on."""
        scale = None if self.scale is None else self.scale + places
        zero_point = None if self.zero_point is None else self.zero_point + places
        return replace(self, index=self.index + places, scale=scale, zero_point=zero_point)


def list_quantized_operands(node: Node) -> Iterator[QuantizedOperand]:
    """Yield the quantized operands of a node, going by the roles of its operator's operands."""
    operator = node.operator
    if not operator.is_quantized:
        return
    for operand in _read_operator(operator):
        yield operand
        if operand.every:
            for shift in range(operand.every, len(node.inputs) - operand.index, operand.every):
                yield operand.shift(shift)


def find_quantized_bias(operator: Operator) -> int | None:
    """Return the operand that is a bias in integers, whose scale is the product of two others."""
    if not operator.is_quantized or operator.operands.find("result.scale") is None:
        return None
    return operator.operands.find("bias")


@kept_with_catalogue(maxsize=1024)
def _read_operator(operator: Operator) -> tuple[QuantizedOperand, ...]:
    """Return what the roles say: ``weight weight.scale weight.zero_point``."""
    if operator.has("quantizes", "dequantizes"):
        return _read_converting(operator)
    names = operator.operands.names
    first_repeated = len(names) - operator.operands.repeated
    found: list[QuantizedOperand] = []
    for place, role in enumerate(names):
        if "." in role:
            continue
        ends = [other for other in range(place + 1, len(names)) if names[other] == role]
        places = range(place, ends[0] if ends else len(names))
        scale, zero_point = (_find_part(names, places, role, part) for part in _PARTS)
        if scale is None and zero_point is None:
            continue
        found.append(
            QuantizedOperand(
                place,
                scale,
                zero_point,
                axis=operator.scale_axes.get(role),
                scales_product=operator.has("scales_product"),
                every=operator.operands.repeated if place >= first_repeated else 0,
            )
        )
    scale, zero_point = (operator.operands.find(f"result.{part}") for part in _PARTS)
    if scale is not None:
        found.append(QuantizedOperand(0, scale, zero_point, is_output=True))
    return tuple(found)


def _find_part(names: tuple[str, ...], places: range, role: str, part: str) -> int | None:
    return next((place for place in places if names[place] == f"{role}.{part}"), None)


def _read_converting(operator: Operator) -> tuple[QuantizedOperand, ...]:
    """Return what is quantized where an operator makes quantized elements, or numbers of them."""
    find = operator.operands.find
    if operator.has("dequantizes"):
        scale, zero_point = find("data.scale"), find("data.zero_point")
        return (
            QuantizedOperand(0, scale, zero_point, source=_PAIRS),
            QuantizedOperand(0, scale, zero_point, is_output=True, quantized=0, source=_PAIRS),
        )
    given = operator.results
    if (scale := given.find("data.scale")) is not None:
        zero_point = given.find("data.zero_point")
        return (QuantizedOperand(0, scale, zero_point, is_output=True, scale_is_output=True),)
    scale, zero_point = find("result.scale"), find("result.zero_point")
    inside = QuantizedOperand(
        0, scale, zero_point, quantized=0, quantized_is_output=True, source=_PAIRS
    )
    return (QuantizedOperand(0, scale, zero_point, is_output=True, source=_PAIRS), inside)
