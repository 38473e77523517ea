"""Where a unit of a network begins: at a node with weights, to which norm and activation belong.

Exporters leave no sign of it in a chain such as ``Conv, Relu, Conv, Relu, Conv, Relu`` without
names. What repeats there may be cut before each activation as well, and then a first convolution
and a last activation would be left over that are parts of the same layers.
"""

from __future__ import annotations

from netloupe.explorer.model import Node, Value, is_constant

#: what stands behind a node with weights is followed back so far
_MOST_BEHIND = 6
#: what changes each element, or each channel, and has no weights of its own but scales
_TRIMMING = ("activates", "clips", "drops_out", "normalizes", "quantizes")
#: what does so with a stored operand, as where a bias is added
_ARITHMETIC = ("adds", "multiplies_elements", "subtracts", "divides")


def is_behind_weights(node: Node) -> bool:
    """Return whether a node is the norm, the activation or the bias of a node with weights.

    It takes what that one gives, by way of others of its kind or not, and nothing else does. A
    norm behind a sum or a pool is none, so where it comes before each convolution, it begins the
    unit.
    """
    for _ in range(_MOST_BEHIND):
        given = _find_trimmed(node)
        if given is None or given.producer is None or len(given.users) != 1 or given.is_output:
            return False
        node = given.producer
        if node.operator.weight_kind not in ("", "normalization"):
            return True
    return False


def _find_trimmed(node: Node) -> Value | None:
    """Return what a norm, an activation or a bias takes; None for any other node."""
    operator = node.operator
    if operator.has(*_TRIMMING):
        return node.input(0)
    if not operator.has(*_ARITHMETIC):
        return None
    computed = [value for value in node.inputs if value is not None and not is_constant(value)]
    return computed[0] if len(computed) == 1 and len(node.inputs) > 1 else None
