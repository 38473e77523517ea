"""Convolutions whose zeros are how a residual branch begins, and no idea of the network.

A norm at the end of a residual branch often begins with the scale 0, so that each block begins as
its shortcut (P. Goyal and others, Accurate, Large Minibatch SGD, 2017, section 5.1). An exporter
folds it into the convolution before it, and an untrained file then has a kernel of zeros there.
"""

from __future__ import annotations

from netloupe.explorer.dataflow import find_source
from netloupe.explorer.model import Node, Value, is_constant
from netloupe.explorer.operators import HANDING_TRAITS

#: a branch of more nodes is not looked through
_MOST_IN_BRANCH = 120
#: so many nodes are on a shortcut, which changes no more than width, size and scale
_MOST_ON_SHORTCUT = 6
_ON_SHORTCUT = (*HANDING_TRAITS, "convolves", "normalizes", "pads", "pools")


def ends_residual_branch(node: Node) -> bool:
    """Return whether what a convolution gives is added to what its branch begins with.

    What takes a sum itself is at the side of a stream, as the zero convolutions of L. Zhang and
    others, Adding Conditional Control to Text-to-Image Diffusion Models, 2023, equation 2.
    """
    taken = find_source(node.input(0), *HANDING_TRAITS)
    if taken is None or (taken.producer is not None and taken.producer.operator.has("adds")):
        return False
    given = _find_sum(node)
    if given is None:
        return False
    total, own = given
    others = [value for value in total.inputs if value is not None and value is not own]
    if len(others) != 1 or is_constant(others[0]):
        return False
    shortcut = _list_shortcut(others[0])
    return bool(shortcut & _list_behind(taken))


def _find_sum(node: Node) -> tuple[Node, Value] | None:
    """Return the sum that alone takes what a node gives, and which operand that is."""
    value = node.output(0)
    while value is not None and len(value.users) == 1 and not value.is_output:
        user = value.users[0]
        if user.operator.has("adds"):
            return user, value
        if not user.operator.has(*HANDING_TRAITS):
            return None
        value = user.output(0)
    return None


def _list_shortcut(value: Value) -> set[Value]:
    """Return a value, and what it was before it was made as wide and as small."""
    found = {value}
    one: Value | None = value
    for _ in range(_MOST_ON_SHORTCUT):
        node = one.producer if one is not None else None
        if node is None or not node.operator.has(*_ON_SHORTCUT):
            break
        one = node.input(0)
        if one is not None:
            found.add(one)
    return found


def _list_behind(value: Value) -> set[Value]:
    """Return a value, and those that it is computed of, the nearest ones."""
    found, pending = {value}, [value]
    for one in pending:
        if len(pending) > _MOST_IN_BRANCH:
            break
        for operand in one.producer.inputs if one.producer is not None else ():
            if operand is not None and operand not in found and not is_constant(operand):
                found.add(operand)
                pending.append(operand)
    return found
