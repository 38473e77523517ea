"""Keys that are made of all places of a sequence by a weight: fewer than there are queries."""

from __future__ import annotations

from typing import NamedTuple

from netloupe.explorer.costs.value_facts import find_value_facts
from netloupe.explorer.model import Node, Value

from .operations import Operations
from .readings import read_str
from .traced_axes import TracedAxis, step_back

_MOST_STEPS = 12


class ProjectedPlaces(NamedTuple):
    """What a weight makes of the places of a sequence before they are compared.

    Parameters
    ----------
    taken, given
        How many there are before and behind.
    node
        What multiplies.
    value
        What it takes that is computed.
    is_one_head
        Whether all heads share what it gives.
    """

    taken: int
    given: int
    node: Node
    value: Value
    is_one_head: bool


def find_projected_places(
    operations: Operations, value: Value | None, place: int | None
) -> ProjectedPlaces | None:
    """Return how keys or values are projected along the sequence; None where they are not.

    S. Wang and others, Linformer: Self-Attention with Linear Complexity, 2020, equation 7.

    Parameters
    ----------
    value
        What a product takes of them.
    place
        Which of its axes counts them, from the last.
    """
    facts = find_value_facts(operations.context.graph.model)
    dims = facts.find_dims(value)
    if place is None or value is None or not dims or len(dims) < -place:
        return None
    found = TracedAxis(value, frozenset({len(dims) + place}), len(dims))
    is_one_head = False
    for _ in range(_MOST_STEPS):
        node = found.value.producer
        if node is None or len(found.axes) != 1:
            return None
        (axis,) = found.axes
        if node.operator.has("multiplies"):
            return _read(operations, node, found, axis, is_one_head=is_one_head)
        taken, given = facts.find_dims(node.input(0)), facts.find_dims(found.value)
        if node.operator.has("broadcasts") and taken and given and len(taken) == len(given):
            if taken[axis] != given[axis]:
                return None
            heads = [n for n, size in enumerate(taken) if size != given[n]]
            is_one_head = is_one_head or (len(heads) == 1 and taken[heads[0]] == 1)
            before = node.input(0)
            found = TracedAxis(before, found.axes, found.rank) if before is not None else found
            continue
        moved = step_back(operations, facts, node, found)
        if moved is None:
            return None
        found = moved
    return None


def _read(
    operations: Operations, node: Node, found: TracedAxis, axis: int, *, is_one_head: bool
) -> ProjectedPlaces | None:
    """Return what a product makes of places, if a weight counts those that it gives."""
    facts = find_value_facts(operations.context.graph.model)
    fixed = [n for n, value in enumerate(node.inputs[:2]) if operations.is_fixed(value)]
    if len(fixed) != 1 or len(node.inputs) < 2:
        return None
    value, weight = node.input(1 - fixed[0]), node.input(fixed[0])
    dims, matrix = facts.find_dims(value), facts.find_dims(weight)
    if value is None or not dims or not matrix or len(matrix) != 2:
        return None
    if node.operator.form == "Einsum":
        terms, _, result = read_str(node, "equation").replace(" ", "").partition("->")
        both = terms.split(",")
        letter = result[axis] if axis < len(result) and "." not in terms else ""
        summed = [one for one in both[fixed[0]] if one != letter and one in both[1 - fixed[0]]]
        if not letter or letter not in both[fixed[0]] or len(summed) != 1:
            return None
        before = dims[both[1 - fixed[0]].index(summed[0])]
    elif node.operator.form == "MatMul" and axis == found.rank - 1 - (fixed[0] == 0):
        before = dims[-1] if fixed[0] else dims[-2]
    else:
        return None
    after = (facts.find_dims(found.value) or ())[axis]
    if not isinstance(before, int) or not isinstance(after, int) or after >= before:
        return None
    return ProjectedPlaces(before, after, node, value, is_one_head)
