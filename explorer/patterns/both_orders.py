"""Sequences that are joined with themselves in reverse, so that one layer reads them both ways."""

from __future__ import annotations

from netloupe.explorer.model import Node, Value

from .picked_parts import read_parts
from .readings import read_int

_PAIR = 2


def reverses(node: Node) -> bool:
    """Return whether a node gives all of a sequence, from the last place back to the first."""
    if node.operator.has("reverses"):
        return True
    parts = read_parts(node) if node.operator.has("slices") else ()
    return len(parts) == 1 and parts[0].is_reversal


def joins_both_orders(node: Node) -> bool:
    """Return whether a node puts a sequence beside itself in reverse, as another of a batch.

    What reads both then is a recurrent layer of both directions that share its weights (M. Schuster
    and K. Paliwal, Bidirectional Recurrent Neural Networks, 1997; M. Ravanelli and others, Light
    Gated Recurrent Units for Speech Recognition, 2018, section 4).
    """
    values = [value for value in node.inputs if value is not None]
    if not node.operator.has("joins") or len(values) != _PAIR:
        return False
    axis = read_int(node, "axis")
    return axis is not None and any(
        _is_reverse(one, other, axis) for one, other in (values, values[::-1])
    )


def _is_reverse(value: Value, of: Value, axis: int) -> bool:
    """Return whether a value is another one in reverse, along another axis than they are joined."""
    node = value.producer
    if node is None or node.input(0) is not of or not reverses(node):
        return False
    if not node.operator.has("slices"):
        return axis != (read_int(node, "time_axis") or 0)
    return read_parts(node)[0].axis not in (axis, None) and axis >= 0
