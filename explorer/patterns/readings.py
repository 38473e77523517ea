"""Numbers and words that nodes and constants hold."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from netloupe.explorer.dataflow import find_source
from netloupe.explorer.errors import NetloupeError
from netloupe.explorer.model import Node, Tensor, Value, is_constant
from netloupe.explorer.model.constant import constant_tensor
from netloupe.explorer.roles import find_weight


def read_scalar(value: Value | None) -> float | None:
    """Return the number that a constant of one element is; None where it cannot be told."""
    value = find_source(value, "casts", "copies")
    if value is None:
        return None
    node = value.producer
    if node is not None and node.operator.has("dequantizes"):
        return read_quantized(node.inputs[:3])
    tensor = constant_tensor(value)
    if tensor is not None:
        if tensor.size != 1:
            return None
        numbers = read_numbers(tensor)
        return numbers[0] if numbers else None
    if value.producer is not None and is_constant(value):
        for name in ("value_float", "value_int"):
            attribute = value.producer.attributes.get(name)
            if attribute is not None and isinstance(attribute.value, (int, float)):
                return float(attribute.value)
    return None


def read_quantized(operands: Sequence[Value | None]) -> float | None:
    """Return what a number, its scale and its zero point amount to."""
    read = []
    for value in operands:
        tensor = constant_tensor(value) if value is not None else None
        numbers = read_numbers(tensor, 1) if tensor is not None else ()
        if not numbers:
            return None
        read.append(numbers[0])
    if len(read) < 2:
        return None
    quantized, scale, zero_point = (*read, 0.0)[:3]
    # a number that was quantized is only about what it was
    return float(f"{(quantized - zero_point) * scale:.2g}")


def read_numbers(tensor: object, most: int = 16) -> tuple[float, ...]:
    """Return the elements of a small tensor; nothing where it is large or cannot be read."""
    if not isinstance(tensor, Tensor) or not 0 < tensor.size <= most:
        return ()
    try:
        return tuple(float(element) for element in tensor.numpy().ravel().tolist())
    except (NetloupeError, TypeError, ValueError):
        return ()


def holds_ones(tensor: object, most: int) -> bool:
    """Return whether the elements of a tensor, of no more than some, are 1, each of them."""
    if not isinstance(tensor, Tensor) or not 0 < tensor.size <= most:
        return False
    try:
        return bool(np.all(tensor.numpy() == 1))
    except (NetloupeError, TypeError, ValueError):
        return False


def read_int(node: Node, name: str) -> int | None:
    """Return a node's attribute that is an integer; None where it has none."""
    attribute = node.attributes.get(name)
    value = attribute.value if attribute is not None else None
    return value if isinstance(value, int) else None


def finds_smallest(node: Node) -> bool:
    """Return whether a search for the best takes the smallest: ArgMin, or a TopK that says so.

    The largest are the default, and all that TopK knew before version 11 (ONNX operators, TopK).
    """
    return node.operator.form == "ArgMin" or read_int(node, "largest") == 0


def read_ints(node: Node, name: str) -> tuple[int, ...]:
    """Return a node's attribute that is a list of integers; nothing where it has none."""
    attribute = node.attributes.get(name)
    value = attribute.value if attribute is not None else None
    if isinstance(value, tuple) and all(isinstance(entry, int) for entry in value):
        return value
    return ()


def read_str(node: Node, name: str) -> str:
    """Return a node's attribute that is a text; "" where it has none."""
    attribute = node.attributes.get(name)
    value = attribute.value if attribute is not None else None
    return value if isinstance(value, str) else ""


def read_axes(node: Node) -> tuple[int, ...] | None:
    """Return the axes that a node is about, as an attribute or an operand tells; None if unknown.

    Those of a node that tells none are all, which are none here.
    """
    stated = node.attributes.get("axes")
    if stated is not None:
        return read_ints(node, "axes")
    place = node.operator.operands.find("axes")
    value = node.input(place) if place is not None else None
    if value is None:
        return ()
    numbers = read_numbers(constant_tensor(value))
    return tuple(map(int, numbers)) if numbers else None


def read_float(node: Node, name: str) -> float | None:
    """Return an attribute that is a number; None where there is none."""
    attribute = node.attributes.get(name)
    if attribute is None or not isinstance(attribute.value, (int, float)):
        return None
    return float(attribute.value)


def is_projection(node: Node) -> bool:
    """Return whether an Einsum multiplies features by a weight, all places by the same one.

    So is ``ibh,hnd->ibnd``; of ``ebh,ehd->ebd`` each ``e`` has a weight of its own.
    """
    if node.operator.form != "Einsum" or find_weight(node) is None:
        return False
    terms, arrow, result = (read_str(node, "equation") or "").replace(" ", "").partition("->")
    first, _, second = terms.partition(",")
    shared = {*first} & {*second} - {"."}
    return bool(arrow and shared) and shared.isdisjoint(result)
