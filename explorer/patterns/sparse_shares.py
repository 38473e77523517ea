"""Shares of which many are 0, and trees whose branches are taken in part."""

from __future__ import annotations

from collections.abc import Iterator

from netloupe.explorer.costs.value_facts import find_value_facts

from .found_blocks import FoundBlock, FoundBlocks
from .operations import Operations
from .readings import read_axes
from .walks import keep_own, walk_back

_MOST_OF_THRESHOLD = 30
#: what may be beside it; a root is taken of other shares than those
_OF_THRESHOLD = frozenset(
    {"Add", "Gather", "GatherElements", "Greater", "GreaterOrEqual", "Less", "LessOrEqual"}
    | {"Max", "ReduceMax", "Sub", "Where"}
)
_LEAST_DEPTH, _MOST_DEPTH = 2, 12


def find_sparsemax(blocks: FoundBlocks) -> Iterator[FoundBlock]:
    """Find max(z - τ, 0), where τ follows from running sums of the sorted z.

    So the shares add up to 1, and small ones are 0 (A. Martins and R. Astudillo, From Softmax to
    Sparsemax, 2016, algorithm 1).
    """
    operations = blocks.operations
    for end, kind in enumerate(operations.kinds):
        owner = blocks.owner[end]
        if kind not in ("Clip", "Max", "Relu") or (owner is not None and len(owner.numbers) > 1):
            continue
        difference = operations.given_by(operations.operands[end][0], "Sub")
        taken = operations.operands[difference] if difference is not None else []
        if difference is None or len(taken) != 2:
            continue
        scores, threshold = taken
        numbers = walk_back(operations, threshold, {scores}, _MOST_OF_THRESHOLD)
        if numbers is None or not _is_threshold(operations, numbers):
            continue
        own = keep_own(operations, numbers | {difference}, end)
        if all(blocks.owner[number] is None for number in own - {end}):
            yield FoundBlock("sparsemax", "Sparsemax", frozenset(own), end)


def _is_threshold(operations: Operations, numbers: set[int]) -> bool:
    """Return whether sums of what is sorted are compared, counted, looked up and divided."""
    kinds = {operations.kinds[number] for number in numbers}
    compares = any(operations.nodes[n].operator.has("compares_order") for n in numbers)
    looks_up = any(operations.nodes[n].operator.has("gathers") for n in numbers)
    needed = {"CumSum", "Div", "Mul", "ReduceSum", "TopK"}
    return compares and looks_up and needed <= kinds <= needed | _OF_THRESHOLD


def find_soft_trees(blocks: FoundBlocks) -> Iterator[FoundBlock]:
    """Find products of how much each level of a tree leads to each of its 2ᵈ leaves.

    S. Popov and others, Neural Oblivious Decision Ensembles, 2020, equations 3 and 4; P.
    Kontschieder and others, Deep Neural Decision Forests, 2015, equation 2.
    """
    operations = blocks.operations
    for product, kind in enumerate(operations.kinds):
        if kind != "ReduceProd" or blocks.owner[product] is not None:
            continue
        value = operations.nodes[product].input(0)
        dims = find_value_facts(value.graph.model).find_dims(value) if value is not None else None
        axes = read_axes(operations.nodes[product])
        if dims is None or axes is None or len(axes) != 1 or not -len(dims) <= axes[0] < len(dims):
            continue
        depth = dims[axes[0]]
        leaves = [dim for at, dim in enumerate(dims) if at != axes[0] % len(dims)][-1:]
        if not isinstance(depth, int) or not _LEAST_DEPTH <= depth <= _MOST_DEPTH:
            continue
        if leaves != [2**depth]:
            continue
        numbers, end = {product}, product
        values = operations.only_user(product)
        if values is not None and _weighs(blocks, values):
            numbers.add(values)
            end = values
        facts = (f"depth {depth}",)
        yield FoundBlock("soft trees", "Soft decision trees", frozenset(numbers), end, facts)


def _weighs(blocks: FoundBlocks, number: int) -> bool:
    """Return whether an operation sums up what is stored of each leaf."""
    operations: Operations = blocks.operations
    is_product = operations.kinds[number] in ("Einsum", "Gemm")
    is_alone = blocks.owner[number] is None and len(operations.operands[number]) == 1
    return is_product and is_alone and len(operations.fixed(number)) == 1
