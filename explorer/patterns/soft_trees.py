"""Trees whose branches are taken in part."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from netloupe.explorer.costs.value_facts import find_value_facts
from netloupe.explorer.model import Value

from .found_blocks import FoundBlock, FoundBlocks
from .operations import PICKING, Operations
from .readings import read_axes

_BOTH = 2
_LEAST_DEPTH, _MOST_DEPTH = 2, 12
_MOST_OF_BRANCHES = 60
#: what makes shares of left and right of how far a feature is from a threshold
_BRANCHING = frozenset(
    {"Abs", "Add", "Clip", "Concat", "Div", "Einsum", "GreaterOrEqual", "LessOrEqual", "Max", "Min"}
    | {"Mul", "Neg", "Pow", "Relu", "Sigmoid", "Softmax", "Sqrt", "Sub", "Where"}
)


class _Leaves(NamedTuple):
    """Products over the levels of trees.

    Parameters
    ----------
    numbers
        The operations.
    end
        The last of them.
    levels
        What they are products of.
    depth
        How many levels there are.
    """

    numbers: frozenset[int]
    end: int
    levels: Value
    depth: int


def find_soft_trees(blocks: FoundBlocks) -> Iterator[FoundBlock]:
    """Find products of how much each level of a tree leads to each of its 2ᵈ leaves.

    S. Popov and others, Neural Oblivious Decision Ensembles, 2020, equations 3 and 4, with the
    choice of a feature for each level; P. Kontschieder and others, Deep Neural Decision Forests,
    2015, equation 2.
    """
    operations = blocks.operations
    for number, kind in enumerate(operations.kinds):
        if blocks.owner[number] is not None:
            continue
        leaves = _read_product(operations, number) if kind == "ReduceProd" else None
        if kind == "Mul":
            leaves = _read_chain(blocks, number)
        if leaves is None:
            continue
        numbers, end = {*leaves.numbers}, leaves.end
        values = operations.only_user(end)
        if values is not None and _weighs(blocks, values):
            numbers.add(values)
            end = values
        branches = _find_branches(blocks, leaves.levels)
        if branches is not None and operations.is_closed(numbers | branches, end):
            numbers |= branches
        facts = (*_count_trees(operations, leaves), f"depth {leaves.depth}")
        yield FoundBlock("soft trees", "Soft decision trees", frozenset(numbers), end, facts)


def _read_product(operations: Operations, number: int) -> _Leaves | None:
    """Return the product along the axis of levels; None for another product."""
    value = operations.nodes[number].input(0)
    dims = find_value_facts(value.graph.model).find_dims(value) if value is not None else None
    axes = read_axes(operations.nodes[number])
    if value is None or dims is None or axes is None or len(axes) != 1:
        return None
    if not -len(dims) <= axes[0] < len(dims):
        return None
    depth = dims[axes[0]]
    leaves = [dim for at, dim in enumerate(dims) if at != axes[0] % len(dims)][-1:]
    if not isinstance(depth, int) or not _is_depth(depth) or leaves != [2**depth]:
        return None
    return _Leaves(frozenset({number}), number, operations.operands[number][0], depth)


def _read_chain(blocks: FoundBlocks, end: int) -> _Leaves | None:
    """Return products of all levels one after the other, each picked from one value."""
    operations = blocks.operations
    numbers, picks, pending = {end}, list[int](), [*operations.operands[end]]
    while pending:
        number = operations.giver(pending.pop())
        if number is None or blocks.owner[number] is not None or len(numbers) > 2 * _MOST_DEPTH:
            return None
        numbers.add(number)
        if operations.kinds[number] == "Mul" and len(operations.operands[number]) == _BOTH:
            pending += operations.operands[number]
        elif operations.nodes[number].operator.has(*PICKING) and operations.operands[number]:
            picks.append(number)
        else:
            return None
    levels = {operations.operands[pick][0] for pick in picks}
    dims = _read_dims(operations, end)
    depth = len(picks)
    if len(levels) != 1 or len({*picks}) != depth or not _is_depth(depth):
        return None
    is_whole = bool(dims) and dims[-1] == 2**depth and operations.is_closed(numbers, end)
    return _Leaves(frozenset(numbers), end, levels.pop(), depth) if is_whole else None


def _is_depth(count: int) -> bool:
    return _LEAST_DEPTH <= count <= _MOST_DEPTH


def _read_dims(operations: Operations, number: int) -> tuple[object, ...]:
    value = operations.nodes[number].output(0)
    dims = find_value_facts(value.graph.model).find_dims(value) if value is not None else None
    return tuple(dims or ())


def _count_trees(operations: Operations, leaves: _Leaves) -> tuple[str, ...]:
    """Return how many trees there are: their axis stands before that of leaves."""
    dims = _read_dims(operations, leaves.end)
    count = dims[-2] if len(dims) > _BOTH else None
    return (f"{count:,} trees",) if isinstance(count, int) and count > 1 else ()


def _weighs(blocks: FoundBlocks, number: int) -> bool:
    """Return whether an operation sums up what is stored of each leaf."""
    operations = blocks.operations
    is_product = operations.kinds[number] in ("Einsum", "Gemm")
    is_alone = blocks.owner[number] is None and len(operations.operands[number]) == 1
    return is_product and is_alone and len(operations.fixed(number)) == 1


def _find_branches(blocks: FoundBlocks, levels: Value) -> set[int] | None:
    """Return what makes shares of branches, back to the one layer that chooses features."""
    operations = blocks.operations
    found, choices = set[int](), set[int]()
    pending = [operations.giver(levels)]
    while pending:
        number = pending.pop()
        if number is None or len(found) > _MOST_OF_BRANCHES:
            return None
        if number in found:
            continue
        owner = blocks.owner[number]
        if owner is not None and owner.kind == "linear":
            found |= owner.numbers
            choices.add(owner.end)
            continue
        if owner is not None and owner.kind != "activation":
            return None
        if operations.kinds[number] not in _BRANCHING:
            return None
        own = frozenset({number}) if owner is None else owner.numbers
        found |= own
        taken = {value for inner in own for value in operations.operands[inner]}
        pending += [giver for v in taken if (giver := operations.giver(v)) not in own]
    return found if len(choices) == 1 else None
