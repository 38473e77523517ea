"""Whether the operands of a formula lie beside one another as it says: along the same axes.

``x − mean(x)`` is what is computed only where each mean stands beside the elements that it is of. A
reduction that drops axes, or a Transpose on the way, may put it elsewhere.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import zip_longest

from netloupe.explorer.costs.facts import Dims
from netloupe.explorer.costs.value_facts import ValueFacts, find_value_facts
from netloupe.explorer.model import Node, Value

from .operations import Operations
from .picked_parts import place_axis, read_limits
from .readings import read_int, read_ints

#: by axis of a value, which axis of a formula it is, counted from the last; None for one of one
#: place that something added
AxisNumbers = tuple[int | None, ...]


class UnwrittenError(Exception):
    """A part of a formula has no sign."""


class FormulaAxes:
    """The axes of what is computed within a formula."""

    def __init__(self, operations: Operations) -> None:
        graph = operations.context.graph
        self._operations = operations
        self._facts: ValueFacts = find_value_facts(graph.model)
        #: what is reduced along, the same everywhere in one formula
        self._reduced: frozenset[int | None] | None = None

    def start(self, value: Value) -> AxisNumbers | None:
        """Return the axes of a value that a formula begins with; None where they are not known."""
        dims = self._facts.find_dims(value)
        return None if dims is None else tuple(range(len(dims) - 1, -1, -1))

    def arrange(self, axes: AxisNumbers | None, value: Value) -> AxisNumbers | None:
        """Return what the axes of an operation's result become on the way to where it is taken.

        Raises
        ------
        UnwrittenError
            A number becomes another, or an axis cannot be followed.
        """
        for node in reversed(self._operations.path(value)):
            axes = self._pass(node, axes)
        return axes

    def list_arranging(self, value: Value) -> list[Node]:
        """Return the nodes on the way to a value that change more than types."""
        path = self._operations.path(value)
        self._check_types(path)
        return [node for node in path if node.operator.has("permutes", "reshapes", "broadcasts")]

    def combine(self, taken: Sequence[AxisNumbers | None]) -> AxisNumbers | None:
        """Return the axes of what is computed of some operands, each element with its like."""
        known = [axes for axes in taken if axes is not None]
        if len(known) < len(taken):
            if self._reduced is not None:
                raise UnwrittenError
            return None
        combined: list[int | None] = []
        for beside in zip_longest(*(reversed(axes) for axes in known)):
            found = {axis for axis in beside if axis is not None}
            if len(found) > 1:
                raise UnwrittenError
            combined.insert(0, found.pop() if found else None)
        told = [axis for axis in combined if axis is not None]
        if len({*told}) < len(told):
            raise UnwrittenError  # each with each
        return tuple(combined)

    def reduce(self, node: Node, axes: AxisNumbers | None) -> AxisNumbers:
        """Return the axes of what a node gives that makes one element of those along some."""
        if axes is None:
            raise UnwrittenError
        places = self._read_reduced(node, len(axes))
        reduced = frozenset(axes[place] for place in places)
        if None in reduced or (self._reduced is not None and reduced != self._reduced):
            raise UnwrittenError
        self._reduced = reduced
        if read_int(node, "keepdims") == 0:
            return tuple(axis for place, axis in enumerate(axes) if place not in places)
        return axes

    def check_real(self, node: Node) -> None:
        """Raise where a node computes with whole numbers, as of which a quotient is another."""
        value = node.output(0)
        fact = self._facts.find(value) if value is not None else None
        if fact is not None and fact.dtype is not None and not fact.dtype.is_float:
            raise UnwrittenError

    def _read_reduced(self, node: Node, rank: int) -> tuple[int, ...]:
        place = node.operator.operands.find("axes")
        is_given = place is not None and node.input(place) is not None
        found = read_limits(node, "axes", self._facts)
        if not found:
            if (is_given and found is None) or read_int(node, "noop_with_empty_axes"):
                raise UnwrittenError
            return tuple(range(rank))
        nothing: Dims = (None,) * rank
        places = [place_axis(axis, nothing) for axis in found]
        known = [place for place in places if place is not None]
        if len(known) < len(places):
            raise UnwrittenError
        return tuple(known)

    def _check_types(self, nodes: Sequence[Node]) -> None:
        for node in nodes:
            if not node.operator.has("casts"):
                continue
            before, after = (
                None if value is None else self._facts.find(value).dtype
                for value in (node.input(0), node.output(0))
            )
            if after is None or before is None or (before.is_float and not after.is_float):
                raise UnwrittenError

    def _pass(self, node: Node, axes: AxisNumbers | None) -> AxisNumbers | None:
        operator = node.operator
        if not operator.has("permutes", "reshapes", "broadcasts"):
            self._check_types([node])
            return axes
        result = node.output(0)
        before, after = (self._facts.find_dims(value) for value in (node.input(0), result))
        if axes is None or before is None or after is None or len(before) != len(axes):
            raise UnwrittenError
        if operator.has("permutes"):
            order = read_ints(node, "perm") or tuple(range(len(axes) - 1, -1, -1))
            return tuple(axes[place] for place in order)
        if operator.has("broadcasts"):
            return (*[None] * (len(after) - len(axes)), *axes)
        return _reshape(axes, before, after)


def _reshape(axes: AxisNumbers, before: Dims, after: Dims) -> AxisNumbers:
    """Return the axes behind a node that only adds and takes away some of one place."""
    kept = [place for place, dim in enumerate(before) if dim != 1]
    stay = [place for place, dim in enumerate(after) if dim != 1]
    same = [(before[one], after[other]) for one, other in zip(kept, stay, strict=False)]
    if len(kept) != len(stay) or any(one is None or one != other for one, other in same):
        raise UnwrittenError
    found: list[int | None] = [None] * len(after)
    for one, other in zip(kept, stay, strict=True):
        found[other] = axes[one]
    return tuple(found)
