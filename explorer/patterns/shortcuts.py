"""Projections: shortcuts that are convolutions, as the first block of a stage has them.

See K. He and others, Deep Residual Learning for Image Recognition, CVPR 2016, section 3.3: where
the dimensions grow, the shortcut is "used to match dimensions (done by 1×1 convolutions)".
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from netloupe.explorer.model import Node, Value

from .graph_context import find_graph_context
from .operations import Operations

#: what may stand beside the convolution in a shortcut
_BESIDE = ("adds", "multiplies_elements", "normalizes", "pools")
_MOST_STEPS = 8
_MOST_NODES = 400


def has_projection(nodes: Sequence[Node]) -> bool:
    """Return whether some nodes sum a value convolved on a shortcut and on a longer way.

    Parameters
    ----------
    nodes
        The nodes of one block, producers first. Of a very large one nothing is said.
    """
    if not 0 < len(nodes) <= _MOST_NODES:
        return False
    operations = Operations(nodes, find_graph_context(nodes[0].graph))
    taken = Counter(value for operands in operations.operands for value in operands)
    return any(
        node.operator.has("adds")
        and len(operations.operands[number]) == 2
        and sum(_is_projection(operations, number, one, taken) for one in (0, 1)) == 1
        for number, node in enumerate(operations.nodes)
    )


def _is_projection(
    operations: Operations, end: int, operand: int, taken: Mapping[Value, int]
) -> bool:
    """Return whether an operand of a sum is a convolution of a value that is also used besides.

    Only scales, norms and pools may stand between: with an activation it is the other way.
    """
    value = operations.operands[end][operand]
    inside = {end}
    convolutions = 0
    for _ in range(_MOST_STEPS):
        giver = operations.giver(value)
        if giver is None or not inside.issuperset(operations.users[giver]):
            break
        operator = operations.nodes[giver].operator
        is_convolution = operator.has("convolves")
        operands = operations.operands[giver]
        if len(operands) != 1 or not (is_convolution or operator.has(*_BESIDE)):
            return False
        convolutions += is_convolution
        inside.add(giver)
        value = operands[0]
    return convolutions == 1 and taken[value] > 1
