"""Shares of pairs that are made 1 together along rows and columns in turn: optimal transport."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from netloupe.explorer.model import Value
from netloupe.explorer.notation import write_count

from .found_blocks import FoundBlock, FoundBlocks
from .operations import Operations
from .readings import read_axes, read_int

#: of rows and columns, twice each
_LEAST_STEPS = 4
_MOST_STEPS = 400
_BOTH = 2
_SUMS = {"Sub": "ReduceLogSumExp", "Div": "ReduceSum"}


class _Step(NamedTuple):
    """One normalization.

    Parameters
    ----------
    numbers
        Its operations, of which the last one gives the result.
    end
        That one.
    before
        What it takes, of the step before.
    axis
        Along which axis.
    pairs
        The scores that are the same in all steps; None where each step gives new ones.
    """

    numbers: frozenset[int]
    end: int
    before: Value | None
    axis: int
    pairs: Value | None


def find_sinkhorns(blocks: FoundBlocks) -> Iterator[FoundBlock]:
    """Find scores of pairs that are divided by their sums along rows and columns in turn.

    Or logarithms of which those of the sums are taken, also where only what is taken is kept (R.
    Sinkhorn and P. Knopp, Concerning nonnegative matrices and doubly stochastic matrices, 1967; M.
    Cuturi, Sinkhorn Distances, 2013, algorithm 1; P. Sarlin and others, SuperGlue, 2020, section
    3.2).
    """
    operations = blocks.operations
    steps: dict[int, _Step] = {}
    for number in range(len(operations)):
        step = _read_step(operations, number)
        if step is not None:
            steps[number] = step
    following = {step.before: step for step in steps.values() if step.before is not None}
    for step in steps.values():
        before = operations.giver(step.before) if step.before is not None else None
        if before in steps and steps[before].axis != step.axis:
            continue  # it is not the first one
        row = [step]
        for _ in range(_MOST_STEPS):
            result = operations.nodes[row[-1].end].output(0)
            after = following.get(result) if result is not None else None
            is_fit = after is not None and after.axis != row[-1].axis
            if after is None or not is_fit or after.pairs is not row[0].pairs:
                break
            row.append(after)
        if len(row) < _LEAST_STEPS or len({one.axis for one in row}) != _BOTH:
            continue
        numbers = set[int]().union(*(one.numbers for one in row))
        end = row[-1].end
        user = operations.only_user(end)
        if row[0].pairs is None and user is not None and operations.kinds[user] == "Exp":
            numbers.add(user)
            end = user
        if row[0].pairs is not None and user is not None and operations.kinds[user] == "Add":
            # the scores with what was taken in both directions
            within = [
                v is row[0].pairs or operations.giver(v) in numbers
                for v in operations.operands[user]
            ]
            if all(within):
                numbers.add(user)
                end = user
        facts = (write_count(len(row) // _BOTH, "iteration"),)
        yield FoundBlock("unit", "Sinkhorn normalization", frozenset(numbers), end, facts)


def _read_step(operations: Operations, end: int) -> _Step | None:
    """Return one normalization that ends in an operation."""
    kind, node = operations.kinds[end], operations.nodes[end]
    taken = operations.operands[end]
    if kind == "LogSoftmax" and taken:
        axis = read_int(node, "axis")
        return _Step(frozenset({end}), end, taken[0], -1 if axis is None else axis, None)
    wanted = _SUMS.get(kind, "")
    if not wanted or not taken:
        return None
    total = operations.giver(taken[-1])
    numbers = {end}
    if total is not None and operations.kinds[total] in ("Add", "Clip", "Max"):
        numbers.add(total)  # what keeps a sum from 0
        total = next(iter(operations.givers(total)), None)
    if total is None or operations.kinds[total] != wanted or operations.only_user(total) is None:
        return None
    axes = read_axes(operations.nodes[total])
    of = operations.operands[total]
    if axes is None or len(axes) != 1 or len(of) != 1:
        return None
    numbers.add(total)
    if len(taken) == _BOTH and taken[0] is of[0]:
        return _Step(frozenset(numbers), end, of[0], axes[0], None)
    if len(taken) == 1 and kind == "Sub" and operations.is_fixed(node.input(0)):
        return _read_moved(operations, frozenset(numbers), end, axes[0], of[0])
    return None


def _read_moved(
    operations: Operations, numbers: frozenset[int], end: int, axis: int, of: Value
) -> _Step | None:
    """Return a normalization of scores, to which what the step before gives is added."""
    total = operations.given_by(of, "Add")
    if total is None:
        return None
    values = operations.operands[total]
    moved = [v for v in values if operations.given_by(v, "Sub") is not None]
    pairs = [v for v in values if v not in moved]
    if len(pairs) != 1 or len(moved) > 1:
        return None
    return _Step(numbers | {total}, end, moved[0] if moved else None, axis, pairs[0])
