"""Axes that two nodes name, counted from the first or from the last."""

from __future__ import annotations

from netloupe.explorer.model import Node, TensorType

#: whose axes are those of the result
_OF_RESULT = ("Unsqueeze", "OneHot")


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
    if left.domain or right.domain:  # what others count their axes among is not known
        return one == other
    if len(ranks) != 1 or isinstance(one, tuple) != isinstance(other, tuple):
        return one == other
    rank = ranks.pop()
    sides = []
    for axes in (one, other):
        listed = axes if isinstance(axes, tuple) else (axes,)
        if not all(isinstance(axis, int) and -rank <= axis < rank for axis in listed):
            return one == other
        sides.append([axis % rank for axis in listed])
    return sides[0] == sides[1]


def _find_rank(node: Node) -> int | None:
    """Return how many axes those of a node's attributes are counted among; None if unknown."""
    operands = node.outputs if node.op_type in _OF_RESULT else node.inputs
    value = operands[0] if operands else None
    kind = None if value is None else value.type
    if isinstance(kind, TensorType) and kind.shape is not None:
        return len(kind.shape)
    return None
