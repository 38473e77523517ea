"""ScoreShares that scores become: a Softmax, or its exponentials divided by their sum."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from netloupe.explorer.dataflow import find_source
from netloupe.explorer.model import Node, Value

from .found_blocks import FoundBlocks
from .readings import read_axes, read_int, read_scalar

_BOTH = 2
#: a sum may be kept from being nothing by a number, or by a limit
_KEEPING = ("Add", "Clip", "Max")
_COMPARING = ("Greater", "GreaterOrEqual", "Less", "LessOrEqual")


class ScoreShares(NamedTuple):
    """ScoreShares of scores.

    Parameters
    ----------
    numbers
        The operations, from the one that takes the scores to the one that gives the shares.
    scores
        What the shares are of.
    end
        The operation that gives the shares.
    axis
        Along which they add up to 1; None where that is not said.
    window
        To so many places in a row they are limited; 0 where they are not, or to others.
    """

    numbers: frozenset[int]
    scores: Value
    end: int
    axis: int | None
    window: int = 0


def list_shares(blocks: FoundBlocks) -> Iterator[ScoreShares]:
    """Find each Softmax, and each exp(x - max x) · mask / (Σ exp(x - max x) · mask + ε).

    J. Bridle, Probabilistic Interpretation of Feedforward Classification Network Outputs, 1990; the
    largest may be left out, and the mask. S. Mousavi and others, Earthquake Transformer, 2020,
    limit shares to a window by such a mask.
    """
    operations = blocks.operations
    for number, kind in enumerate(operations.kinds):
        owner = blocks.owner[number]
        if kind == "Softmax" and (owner is None or owner.kind == "activation"):
            taken = operations.operands[number]
            axis = read_int(operations.nodes[number], "axis")
            if taken:
                yield ScoreShares(frozenset({number}), taken[0], number, axis)
        elif kind == "Div" and owner is None:
            written = _read_written(blocks, number)
            if written is not None:
                yield written


def _read_written(blocks: FoundBlocks, end: int) -> ScoreShares | None:
    """Return the shares that a division gives; None for another division."""
    operations = blocks.operations
    if len(operations.operands[end]) != _BOTH:
        return None
    parts, total = operations.operands[end]
    numbers, number = {end}, operations.giver(total)
    while number is not None and operations.kinds[number] in _KEEPING:
        numbers.add(number)
        taken = operations.operands[number]
        number = operations.giver(taken[0]) if len(taken) == 1 else None
    if number is None or operations.kinds[number] != "ReduceSum":
        return None
    axes = read_axes(operations.nodes[number])
    if operations.operands[number] != [parts] or axes is None or len(axes) != 1:
        return None
    numbers.add(number)
    source, window = parts, 0
    masking = operations.given_by(source, "Mul")
    if masking is not None and len(operations.operands[masking]) == 1:
        numbers.add(masking)
        source = operations.operands[masking][0]
        window = _read_window(operations.fixed(masking)[0])
    exponential = operations.given_by(source, "Exp")
    if exponential is None:
        return None
    numbers.add(exponential)
    scores = operations.operands[exponential][0]
    shift = operations.given_by(scores, "Sub")
    if shift is not None:
        taken = operations.operands[shift]
        largest = operations.given_by(taken[1], "ReduceMax") if len(taken) == _BOTH else None
        if largest is not None and operations.operands[largest] == taken[:1]:
            numbers |= {shift, largest}
            scores = taken[0]
    is_own = all(blocks.owner[number] is None for number in numbers)
    if not is_own or not operations.is_closed(numbers, end):
        return None
    return ScoreShares(frozenset(numbers), scores, end, axes[0], window)


def _read_window(mask: Value) -> int:
    """Return how many places in a row a mask lets pass that lie between two bounds; 0 if unknown.

    Such a mask says where ``low ≤ place`` and ``place < low + 3``.
    """
    given = find_source(mask, "casts", "copies")
    both = given.producer if given is not None else None
    if both is None or both.operator.form != "And":
        return 0
    bounds = [_read_bound(value) for value in both.inputs]
    if len(bounds) != _BOTH or None in bounds:
        return 0
    low, high = sorted((bound for bound in bounds if bound is not None), key=lambda one: one.is_top)
    start, count = _take_apart(high.bound)
    is_pair = low.is_top != high.is_top and low.place is high.place and start is low.bound
    return count - low.leaves_out + (not high.leaves_out) if is_pair and count > 0 else 0


class _Bound(NamedTuple):
    """What a place is compared with.

    Parameters
    ----------
    place, bound
        The two values.
    is_top
        Whether the place is at most the bound.
    leaves_out
        Whether it may not be the bound itself.
    """

    place: Value | None
    bound: Value | None
    is_top: bool
    leaves_out: bool


def _read_bound(value: Value | None) -> _Bound | None:
    """Return a comparison whose places are those of a row; None for what is none."""
    node = value.producer if value is not None else None
    if node is None or node.operator.form not in _COMPARING:
        return None
    one, other = node.input(0), node.input(1)
    is_less = node.operator.form.startswith("Less")
    leaves_out = not node.operator.form.endswith("Equal")
    for place, bound, is_top in ((one, other, is_less), (other, one, not is_less)):
        if place is not None and _counts(place):
            return _Bound(place, bound, is_top, leaves_out)
    return None


def _counts(value: Value) -> bool:
    """Return whether a value counts places from 0 on."""
    source = find_source(value, "casts", "copies", "reshapes")
    node: Node | None = source.producer if source is not None else None
    return node is not None and node.operator.form == "Range" and read_scalar(node.input(0)) == 0


def _take_apart(value: Value | None) -> tuple[Value | None, int]:
    """Return what a number was added to, and that number; 0 for no such sum."""
    node = value.producer if value is not None else None
    if node is None or node.operator.form != "Add":
        return None, 0
    for place in range(_BOTH):
        number = read_scalar(node.input(place))
        if number is not None:
            return node.input(1 - place), int(number)
    return None, 0
