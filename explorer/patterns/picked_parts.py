"""Which part of a value a node takes, and whether several take all of it, side by side."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from netloupe.explorer.costs.facts import Dim, Dims
from netloupe.explorer.costs.polynomial import TooLargeError, divide_down
from netloupe.explorer.costs.value_facts import ValueFacts, find_value_facts
from netloupe.explorer.model import Node

from .readings import read_int, read_ints

#: a limit that is beyond all sizes, as exporters write "to the end": 10⁹, 2³¹ − 1, 2⁶³ − 1
ENDLESS = 10**9


class PickedPart(NamedTuple):
    """What a node takes along one axis.

    Parameters
    ----------
    axis
        Which one, counted from the first where that is known; None where it is not.
    start, end, step
        From where, to where and how far from one to the next. Counted from the first where the
        size is known; else limits below 0 count from the end. None for what is not known.
    size
        How long the axis is.
    """

    axis: int | None
    start: Dim
    end: Dim
    step: Dim
    size: Dim

    @property
    def is_to_end(self) -> bool:
        """Whether it reaches to the end of the axis."""
        if self.end is not None and self.end == self.size:
            return True
        return isinstance(self.end, int) and (
            self.end >= ENDLESS or (isinstance(self.size, int) and self.end >= self.size)
        )

    @property
    def is_reversal(self) -> bool:
        """Whether it is all of the axis, from the last place back to the first."""
        start, end, size = self.start, self.end, self.size
        if self.step != -1 or not isinstance(start, int) or not isinstance(end, int):
            return False
        # what lies before the first place is counted from the end
        if not isinstance(size, int):
            return (start == -1 or start >= ENDLESS) and end <= -ENDLESS
        return (start == -1 or start >= size - 1) and end < -size

    @property
    def length(self) -> Dim:
        """How many places it has; None where that is not known."""
        end = self.size if self.is_to_end else self.end
        if self.step != 1 or self.start is None or end is None:
            return None
        try:
            length = end - self.start
        except TooLargeError:
            return None
        return None if isinstance(length, int) and length < 0 else length


def read_parts(node: Node) -> tuple[PickedPart, ...]:
    """Return what a node that slices takes, by axis; nothing where not even axes are known.

    Those of Caffe2 are not looked at. Limits that a program computes from shapes are followed as
    far as those are.
    """
    if not node.graph.dialect.has_opsets:
        return ()  # there limits below 0 count from behind the last
    facts = find_value_facts(node.graph.model)
    axes = read_limits(node, "axes", facts)
    limits = [read_limits(node, role, facts) for role in ("starts", "ends")]
    if axes is None:  # the first ones
        axes = tuple(range(max(len(limit or ()) for limit in limits)))
    nothing: Dims = (None,) * len(axes)
    starts, ends = (nothing if limit is None else limit for limit in limits)
    steps = read_limits(node, "steps", facts) or (1,) * len(axes)
    if not len(axes) == len(starts) == len(ends) == len(steps):
        return ()
    dims = facts.find_dims(node.input(0))
    return tuple(
        _make_part(place_axis(axis, dims), start, end, step, dims)
        for axis, start, end, step in zip(axes, starts, ends, steps, strict=True)
    )


def _make_part(axis: int | None, start: Dim, end: Dim, step: Dim, dims: Dims | None) -> PickedPart:
    size = dims[axis] if dims is not None and axis is not None else None
    is_forwards = isinstance(step, int) and step > 0
    if isinstance(start, int) and start < 0 and isinstance(size, int) and is_forwards:
        start = max(0, start + size)
    if isinstance(end, int) and end < 0 and size is not None and is_forwards:
        end = size + end
    return PickedPart(axis, start, end, step, size)


def place_axis(axis: Dim, dims: Dims | None) -> int | None:
    """Return an axis counted from the first; None where it is not known which one it is."""
    if not isinstance(axis, int):
        return None
    if dims is None:
        return axis if axis >= 0 else None
    return axis % len(dims) if -len(dims) <= axis < len(dims) else None


def read_limits(node: Node, role: str, facts: ValueFacts) -> Dims | None:
    """Return limits, axes or steps, which are an operand or, in older files, an attribute."""
    place = node.operator.operands.find(role)
    value = None if place is None else node.input(place)
    if value is not None:
        return facts.find_elements(value)
    return read_ints(node, role) or None


def read_pick(node: Node) -> PickedPart | None:
    """Return the one place that a node takes by a fixed number; None where it takes others."""
    place = node.operator.operands.find("indices")
    if not node.operator.has("gathers") or place is None:
        return None
    facts = find_value_facts(node.graph.model)
    found, dims = facts.find_elements(node.input(place)), facts.find_dims(node.input(0))
    axis = place_axis(read_int(node, "axis") or 0, dims)
    if found is None or len(found) != 1 or not isinstance(found[0], int) or axis is None:
        return None
    size = dims[axis] if dims is not None else None
    index = found[0]
    if index < 0:
        if not isinstance(size, int):
            return None
        index += size
    return PickedPart(axis, index, index + 1, 1, size)


def read_split_parts(nodes: Sequence[Node]) -> tuple[PickedPart, ...]:
    """Return what each of some slices of one value takes, where these are all of it, in order.

    So ``chunk``, ``split`` and ``unbind`` are written, of equal parts or not. Limits that depend on
    symbols have to follow from one another: each part begins where the one before ends.

    Parameters
    ----------
    nodes
        Nodes that slice the same value, or take one place each.

    Returns
    -------
    tuple
        Nothing where parts overlap, or something is left out, or that is not known.
    """
    parts: list[PickedPart] = []
    for node in nodes:
        one = read_pick(node)
        found = read_parts(node) if one is None else (one,)
        if len(found) != 1 or found[0].step != 1 or found[0].axis is None:
            return ()
        parts.append(found[0])
    if len(parts) < 2 or len({part.axis for part in parts}) > 1:
        return ()
    by_start = {part.start: part for part in parts}
    ordered: list[PickedPart] = []
    following = by_start.pop(0, None)
    while following is not None and following.end is not None:
        ordered.append(following)
        following = by_start.pop(following.end, None)
    is_all = len(ordered) == len(parts) and _is_whole(ordered)
    return tuple(ordered) if is_all else ()


def _is_whole(ordered: Sequence[PickedPart]) -> bool:
    """Return whether parts that follow one another reach to the end.

    As ``chunk`` writes them, the last of n ends at n times what the first has, which is rounded up.
    """
    first, last = ordered[0], ordered[-1]
    if last.is_to_end:
        return True
    count, size = len(ordered), last.size
    if first.end is None or size is None or isinstance(size, int):
        return False
    try:
        is_equal_part = first.end == divide_down(size + (count - 1), count)
        return is_equal_part and last.end == first.end * count
    except TooLargeError:
        return False
