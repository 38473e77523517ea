"""Scales of integer products: the Mul behind MatMulInteger or ConvInteger tells them.

The operators have no operands for scales. What a quantizer writes is Cast(product) · (scale of
the activations · scale of the weights), or one Mul after the other.
"""

from __future__ import annotations

from netloupe.explorer.model import Node, Value, list_quantized_operands


def find_integer_scale(node: Node, index: int) -> Value | None:
    """Return the scale of one of the two factors of an integer product.

    Parameters
    ----------
    node
        A MatMulInteger or ConvInteger.
    index
        0 for the activations, 1 for the weights.

    Returns
    -------
    Value or None
        For the activations what gave them their scale. For the weights the one other factor of
        the product; None where the scale of the activations is unknown or no factor, or where
        more than one other is left: which of these is the scale cannot be told.
    """
    activations = node.input(0)
    scale = _find_given_scale(activations)
    if index == 0 or scale is None:
        return scale
    product = _skip_cast(node.output(0))
    factor, after = _find_factor(product)
    if factor is None:
        return None
    if factor is scale or not _multiplies(factor.producer):
        # one Mul after the other, in either order
        following, _ = _find_factor(after)
        if factor is scale:
            return following
        return factor if following is scale else None
    return _other(factor.producer, scale)


def _find_given_scale(value: Value | None) -> Value | None:
    """Return the scale that an operator quantized a value with."""
    producer = value.producer if value is not None else None
    if producer is None:
        return None
    for operand in list_quantized_operands(producer):
        if operand.is_output and producer.output(operand.index) is value:
            find = producer.output if operand.scale_is_output else producer.input
            return None if operand.scale is None else find(operand.scale)
    return None


def _skip_cast(value: Value | None) -> Value | None:
    user = _find_only_user(value)
    if user is not None and user.operator.has("casts") and user.outputs:
        return user.output(0)
    return value


def _find_factor(value: Value | None) -> tuple[Value | None, Value | None]:
    """Return what the only user of a value multiplies it by, and the product."""
    user = _find_only_user(value)
    if value is None or user is None or not _multiplies(user):
        return None, None
    return _other(user, value), user.output(0)


def _find_only_user(value: Value | None) -> Node | None:
    if value is None or value.is_output:
        return None
    return value.users[0] if len(value.users) == 1 else None


def _multiplies(node: Node | None) -> bool:
    if node is None or not node.operator.has("multiplies_elements"):
        return False
    return len(node.inputs) == 2


def _other(node: Node | None, value: Value) -> Value | None:
    """Return the operand of a Mul that is not this one."""
    if node is None or not _multiplies(node):
        return None
    first, second = node.inputs
    if first is value:
        return second if second is not value else None
    return first if second is value else None
