"""What stands in one model where the other has something else, by the names of operators."""

from __future__ import annotations

from collections.abc import Sequence

from netloupe.explorer.model import Node
from netloupe.explorer.model.stored_tensors import find_stored_tensor

from .pair import Pair
from .roles import is_on_integers

#: what is stored with fewer axes is a bias, a scale or a number
_MATRIX_AXES = 2


def name_both_operators(left: Sequence[Node], right: Sequence[Node]) -> tuple[str, str]:
    """Return the operators of both sides; with their domains where only these tell them apart."""
    names = [{node.op_type: node.domain for node in nodes} for nodes in (left, right)]
    alike = {name for name, domain in names[0].items() if names[1].get(name, domain) != domain}
    first, second = (
        " + ".join(
            f"{node.domain}::{node.op_type}"
            if node.domain and node.op_type in alike
            else node.op_type
            for node in side
        )
        for side in (left, right)
    )
    return first, second


def name_quantized(pair: Pair) -> tuple[str, str] | None:
    """Return the operators where one became another on quantized numbers; None for anything else.

    Such as MatMul, and MatMulInteger with a Mul behind it: the name of the one is part of that of
    the other, which takes a weight. An operator on integers may have others inside, such as
    QLinearConv a Conv and the Relu behind it.
    """
    sides = pair.left, pair.right
    for one, other, is_turned in ((*sides, False), (*sides[::-1], True)):
        if len(one) != 1:
            continue
        name = one[0].op_type
        for node in other:
            if name in node.op_type and name != node.op_type and _takes_weight(node):
                return (node.op_type, name) if is_turned else (name, node.op_type)
        if is_on_integers(one[0]) and any(node.op_type in name for node in other):
            return name_both_operators(pair.left, pair.right)
    return None


def _takes_weight(node: Node) -> bool:
    stored = (None if value is None else find_stored_tensor(value) for value in node.inputs)
    return any(tensor is not None and len(tensor.dims) >= _MATRIX_AXES for tensor in stored)
