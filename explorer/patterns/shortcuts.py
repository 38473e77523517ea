"""Projections: shortcuts that are convolutions, as the first block of a stage has them.

See K. He and others, Deep Residual Learning for Image Recognition, CVPR 2016, section 3.3: where
the dimensions grow, the shortcut is "used to match dimensions (done by 1×1 convolutions)".
"""

from __future__ import annotations

from collections.abc import Sequence

from netloupe.explorer.model import Node

from .wires import Wires

#: what may stand beside the convolution in a shortcut
_BESIDE = (
    *("adds", "copies", "dequantizes", "multiplies_elements", "normalizes", "pools", "quantizes"),
)
_MOST_STEPS = 8
_MOST_NODES = 400


def has_projection(nodes: Sequence[Node]) -> bool:
    """Return whether some nodes sum a value convolved on a shortcut and on a longer way.

    Parameters
    ----------
    nodes
        The nodes of one block, producers first. Of a very large one nothing is said.
    """
    if len(nodes) > _MOST_NODES:
        return False
    wires = Wires(nodes)
    among = frozenset(nodes)
    return any(
        wires.has(place, "adds")
        and len(wires.computed(place)) == 2
        and sum(_is_projection(wires, among, place, operand) for operand in range(2)) == 1
        for place in range(len(nodes))
    )


def _is_projection(wires: Wires, among: frozenset[Node], end: int, operand: int) -> bool:
    """Return whether an operand of a sum is a convolution of a value that is also used besides.

    Only scales, norms and pools may stand between: with an activation it is the other way.
    """
    value = wires.computed(end)[operand]
    inside = {end}
    convolutions = 0
    for _ in range(_MOST_STEPS):
        producer = wires.producer(value)
        if producer is None or not inside.issuperset(wires.users(producer)):
            break
        is_convolution = wires.has(producer, "convolves")
        if not is_convolution and not wires.has(producer, *_BESIDE):
            return False
        operands = wires.computed(producer)
        if len(operands) != 1:
            return False
        convolutions += is_convolution
        inside.add(producer)
        value = operands[0]
    users = sum(user in among for user in value.users)
    return convolutions == 1 and users > 1
