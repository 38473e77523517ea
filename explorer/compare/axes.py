"""Axes that two nodes name, counted from the first or from the last."""

from __future__ import annotations

from netloupe.explorer.model import Node, TensorType, Value
from netloupe.explorer.model.stored_tensors import find_stored_tensor

#: the attributes that name axes of one operand or result
AXES = frozenset({"axis", "axes", "gather_axis", "quantize_axis"})
#: what gives as many axes as its first operand has, or as that operand which has most
_KEEPING = (
    *("accumulates", "activates", "casts", "convolves", "copies", "drops_out", "elementwise"),
    *("joins", "normalizes", "pads", "permutes", "picks", "pools"),
)
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
    """Return whether it counts which axes a node names, not in which order."""
    return node.operator.has("normalizes", "reduces", "reshapes")


def _sort(axes: object) -> object:
    if isinstance(axes, tuple) and all(isinstance(axis, int) for axis in axes):
        return (*sorted(axes),)
    return axes


def _find_rank(node: Node) -> int | None:
    """Return how many axes those of a node's attributes are counted among; None if unknown."""
    operator = node.operator
    if node.function is not None or not node.graph.dialect.has_opsets or not operator.is_known:
        return None  # what others count their axes among is not known
    if operator.has("inserts_axes"):
        return count_axes(node.output(0))
    return count_axes(node.input(operator.operands.find("data") or 0))


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
    operator, order = node.operator, node.attributes.get("perm")
    if operator.has("permutes") and order is not None:
        return len(order.value) if isinstance(order.value, tuple) else None
    if operator.form == "Reshape":
        taken = node.input(1)
        shape = None if taken is None else find_stored_tensor(taken)
        return shape.dims[0] if shape is not None and len(shape.dims) == 1 else None
    is_reduced = operator.has("reduces") and _keeps_axes(node)
    if not is_reduced and not operator.has(*_KEEPING):
        return None
    kinds = ("choice", "data") if operator.has("elementwise") else ()  # else the first one
    operands = [
        value
        for place, value in enumerate(node.inputs)
        if not place or operator.operands.kind_at(place) in kinds
    ]
    counts = [None if one is None else _count_axes(one, left) for one in operands]
    known = [count for count in counts if count is not None]
    return max(known) if len(known) == len(counts) > 0 else None


def _keeps_axes(node: Node) -> bool:
    stated = node.attributes.get("keepdims")
    return stated is None or stated.value == 1
