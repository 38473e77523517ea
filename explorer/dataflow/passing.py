"""What a value was before operators that only hand it on, and what takes what a node gives.

Which operators hand on is asked by their traits: ``LAYOUT_TRAITS`` for those that change order and
type alone, ``CONVERTING_TRAITS`` for type and precision, ``HANDING_TRAITS`` for both,
``PASSING_TRAITS`` for those that take parts as well (see
:mod:`netloupe.explorer.operators.vocabulary`). What hands on does so with its first operand.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Sequence

from netloupe.explorer.model import Node, Value, is_constant

#: so many operators that hand on are followed from one that computes to the next
MOST_PASSED = 64


def trace_back(value: Value | None, *traits: str, most: int = MOST_PASSED) -> Iterator[Value]:
    """Yield a value, and what it was before each node that hands it on.

    Parameters
    ----------
    value
        Any value; of None there is nothing.
    traits
        Those of operators that hand on.
    most
        So many values at most; nodes in a cycle end there.
    """
    return trace_back_where(value, lambda node: node.operator.has(*traits), most=most)


def trace_back_where(
    value: Value | None, hands_on: Callable[[Node], bool], *, most: int = MOST_PASSED
) -> Iterator[Value]:
    """Yield the same, where it is asked of each node whether it hands on."""
    for _ in range(most):
        if value is None:
            return
        yield value
        node = value.producer
        if node is None or not hands_on(node):
            return
        value = node.input(0)


def find_source(value: Value | None, *traits: str, most: int = MOST_PASSED) -> Value | None:
    """Return what a value was before all nodes that hand it on; None for None."""
    *_, source = (None, *trace_back(value, *traits, most=most))
    return source


def find_giver(
    value: Value | None, *traits: str, through: Sequence[str], most: int = MOST_PASSED
) -> Node | None:
    """Return the nearest node with any of some traits that gives a value, through others.

    Parameters
    ----------
    value
        Any value.
    traits
        Of the operator that is looked for.
    through
        Those of operators that hand on.
    most
        So many nodes are looked at.
    """
    for one in trace_back(value, *through, most=most):
        if one.producer is not None and one.producer.operator.has(*traits):
            return one.producer
    return None


def trace_on(value: Value, *traits: str, most: int = MOST_PASSED) -> Iterator[tuple[Node, Value]]:
    """Yield what takes a value, behind nodes that hand it on, and what it takes: the nearest first.

    Parameters
    ----------
    value
        Any value.
    traits
        Those of operators that hand on.
    most
        So many nodes that hand on stand one behind the other at most; the next is yielded.
    """
    waiting = deque([(value, 0)])
    seen = {value}
    while waiting:
        taken, passed = waiting.popleft()
        for user in taken.users:
            if passed < most and user.operator.has(*traits) and user.input(0) is taken:
                fresh = [one for one in user.outputs if one is not None and one not in seen]
                seen.update(fresh)
                waiting += [(one, passed + 1) for one in fresh]
            else:
                yield user, taken


def list_users(node: Node) -> list[Node]:
    """Return the nodes of any graph that take results of a node, once for each result."""
    return [user for value in node.outputs if value is not None for user in value.users]


def find_operand(node: Node, *roles: str) -> Value | None:
    """Return the operand with the first of some roles that its operator has; None for none."""
    place = node.operator.operands.find(*roles)
    return None if place is None else node.input(place)


def takes_computed(node: Node) -> bool:
    """Return whether any operand of a node is not stored."""
    return any(value is not None and not is_constant(value) for value in node.inputs)


def copies_stored(node: Node) -> bool:
    """Return whether a node gives a stored value as it is."""
    operands = [value for value in node.inputs if value is not None]
    return node.operator.has("copies") and bool(operands) and all(map(is_constant, operands))
