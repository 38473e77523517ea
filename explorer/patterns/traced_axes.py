"""Which axes of an earlier value an axis is of."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod
from typing import NamedTuple

from netloupe.explorer.costs.value_facts import ValueFacts, find_value_facts
from netloupe.explorer.model import Node, Value

from .operations import Operations
from .readings import read_int, read_ints

_MOST_STEPS = 400
#: what gives each element at the place of the one that it is made of, or a part of an axis
_KEEPING = (
    *("activates", "adds", "clips", "converts", "divides", "elementwise", "joins", "masks"),
    *("multiplies_elements", "negates", "normalizes", "pads", "slices", "splits", "subtracts"),
)


class TracedAxis(NamedTuple):
    """Axes of a value.

    Parameters
    ----------
    value
        The value.
    axes
        The axes, counted from the first one.
    rank
        How many axes it has.
    """

    value: Value
    axes: frozenset[int]
    rank: int


def trace_axis(
    operations: Operations,
    value: Value | None,
    axis: int,
    is_end: Callable[[Node], bool] = lambda node: node.operator.has("convolves", "multiplies"),
) -> TracedAxis | None:
    """Return of which axes an axis is in the first value back that an end gives.

    Reshapes put axes together and take them apart. None where an axis is made of parts of several,
    or where that is not known.

    Parameters
    ----------
    operations
        The operations, for what is fixed.
    value
        The value whose axis is meant.
    axis
        Which one, from the last one where negative.
    is_end
        What stops at the result of a node.
    """
    facts = find_value_facts(operations.context.graph.model)
    dims = facts.find_dims(value)
    if value is None or not dims:
        return None
    found = TracedAxis(value, frozenset({axis % len(dims)}), len(dims))
    for _ in range(_MOST_STEPS):
        node = found.value.producer
        if node is None or is_end(node):
            return found
        before = step_back(operations, facts, node, found)
        if before is None:
            return None
        found = before
    return None


def step_back(
    operations: Operations, facts: ValueFacts, node: Node, given: TracedAxis
) -> TracedAxis | None:
    """Return the axes of what a node takes that some axes of its result are of."""
    taken = next((v for v in node.inputs if v is not None and not operations.is_fixed(v)), None)
    dims, given_dims = facts.find_dims(taken), facts.find_dims(given.value)
    if taken is None or dims is None or given_dims is None:
        return None
    axes: frozenset[int] | None = None
    operator = node.operator
    if operator.has("permutes"):
        perm = read_ints(node, "perm") or tuple(reversed(range(len(dims))))
        axes = frozenset(perm[axis] for axis in given.axes)
    elif operator.has("reshapes", "squeezes", "unsqueezes") or operator.form in _RESHAPING:
        axes = _undo_reshape(dims, given_dims, given.axes)
    elif operator.form == "Gather":
        axes = _undo_gather(operations, node, dims, given)
    elif operator.has("convolves"):
        axes = given.axes if min(given.axes) > 1 else None
    elif operator.has("multiplies"):
        axes = given.axes if max(given.axes) < len(dims) - 1 else None
    elif operator.has(*_KEEPING) and len(dims) == given.rank:
        axes = given.axes
    return None if axes is None else TracedAxis(taken, axes, len(dims))


_RESHAPING = frozenset({"Flatten", "Reshape", "Squeeze", "Unsqueeze"})


def _undo_gather(
    operations: Operations, node: Node, dims: Sequence[object], given: TracedAxis
) -> frozenset[int] | None:
    """Return the axes before one place of an axis was taken; None where more was done."""
    if given.rank != len(dims) - 1:
        return given.axes if given.rank == len(dims) else None
    gone = (read_int(node, "axis") or 0) % len(dims)
    return frozenset(axis + (axis >= gone) for axis in given.axes)


def _undo_reshape(
    taken: Sequence[object], given: Sequence[object], axes: frozenset[int]
) -> frozenset[int] | None:
    """Return the axes that some axes of a reshaped value are of.

    Neighbouring axes whose sizes have the same product hold the same elements.
    """
    found: set[int] = set()
    before, behind = ([n for n, size in enumerate(dims) if size != 1] for dims in (taken, given))
    left = set(axes)
    while before and behind and left:
        one, two = [before.pop(0)], [behind.pop(0)]
        sizes = [taken[one[0]], given[two[0]]]
        if None in sizes and not _are_as_many(
            [taken[n] for n in before], [given[n] for n in behind]
        ):
            return None  # two that are not known need not be the same
        while sizes[0] != sizes[1]:
            if not all(isinstance(size, int) for size in sizes):
                return None
            small = 0 if sizes[0] < sizes[1] else 1  # type: ignore[operator]
            group, rest, dims = ((one, before, taken), (two, behind, given))[small]
            if not rest or not isinstance(dims[rest[0]], int):
                return None
            sizes[small] *= dims[rest[0]]  # type: ignore[operator]
            group.append(rest.pop(0))
        inside = left.intersection(two)
        if inside:
            if len(one) > 1 and inside != {*two}:
                return None
            found.update(one)
            left -= inside
    return frozenset(found) if found and not left else None


def _are_as_many(one: Sequence[object], other: Sequence[object]) -> bool:
    """Return whether as many elements are along some axes as along others, all of known sizes."""
    sizes = [[size for size in each if isinstance(size, int)] for each in (one, other)]
    return (
        len(sizes[0]) == len(one)
        and len(sizes[1]) == len(other)
        and prod(sizes[0]) == prod(sizes[1])
    )
