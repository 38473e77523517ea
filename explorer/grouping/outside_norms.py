"""Norms of a first block that stand elsewhere, as something else takes the same result."""

from __future__ import annotations

from collections.abc import Container, Sequence

from netloupe.explorer.dataflow import is_input_independent
from netloupe.explorer.model import Node, Value
from netloupe.explorer.patterns import Recognition

#: how far back a norm that is written in operators reaches
_MOST_STEPS = 12
#: how a fact of a norm begins
_NORM = "pre-norm"


def add_outside_norm(first: Recognition, nodes: Sequence[Node], second: Recognition) -> Recognition:
    """Return the first block of a stack as what the second is, if it lacks but a norm around it.

    That is where it takes a value and, besides, the norm of this value: an optimizer keeps one of
    two equal norms, wherever it stands, as of an embedding that two stacks share.
    """
    lacking = [fact for fact in second.facts if fact not in first.facts]
    others = [fact for fact in second.facts if fact in first.facts]
    if [*first.facts] != others or not lacking:
        return first
    if not all(fact.startswith(_NORM) for fact in lacking) or not takes_norm(nodes):
        return first
    return second


def takes_norm(nodes: Sequence[Node]) -> bool:
    """Return whether nodes take from outside a value and what is a norm of it."""
    inside = {*nodes}
    taken = dict.fromkeys(
        value
        for node in nodes
        for value in node.inputs
        if value is not None and value.producer not in inside and not is_input_independent(value)
    )
    return any(_is_norm(value, taken) for value in taken)


def _is_norm(value: Value, taken: Container[Value]) -> bool:
    """Return whether a value is a norm of another one of some, and of nothing else."""
    pending, seen, trail, starts = [value], {value}, set[Node](), set[Value]()
    while pending:
        one = pending.pop()
        if one is not value and one in taken:
            starts.add(one)
            continue
        node = one.producer
        if node is None or len(trail) > _MOST_STEPS:
            return False
        trail.add(node)
        for each in node.inputs:
            if each is not None and each not in seen and not is_input_independent(each):
                seen.add(each)
                pending.append(each)
    averages = any(node.operator.has("averages") for node in trail)
    is_norm = averages and any(node.operator.has("takes_root") for node in trail)
    is_norm = is_norm or any(node.operator.has("normalizes_last_axes") for node in trail)
    return is_norm and len(starts) == 1
