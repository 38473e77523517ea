"""Attention of several heads that share one value, by the mean of their shares."""

from __future__ import annotations

from collections.abc import Iterator

from netloupe.explorer.costs.value_facts import find_value_facts

from .found_blocks import FoundBlock, FoundBlocks
from .operations import Operations
from .readings import read_axes

_BOTH = 2
_MOST_STEPS = 5
_BEFORE_SHARES = ("Add", "Div", "Mul", "Where")
#: examples, heads, queries, keys
_AXES = 4


def find_averaged_heads(blocks: FoundBlocks) -> Iterator[FoundBlock]:
    """Find the mean of shares of several heads, times one value for all, and a layer behind.

    B. Lim and others, Temporal Fusion Transformers, 2021, equations 13 to 16 (interpretable
    multi-head attention).
    """
    operations = blocks.operations
    for softmax, kind in enumerate(operations.kinds):
        mean = operations.only_user(softmax) if kind == "Softmax" else None
        product = operations.only_user(mean) if mean is not None else None
        if mean is None or product is None or operations.kinds[mean] != "ReduceMean":
            continue
        if operations.kinds[product] != "MatMul":
            continue
        scored = _find_scores(blocks, softmax)
        heads = _count_heads(operations, mean)
        if scored is None or not heads or blocks.owner[product] is not None:
            continue
        numbers = {softmax, mean, product, *scored}
        values = [v for v in operations.operands[product] if operations.giver(v) != mean]
        layers = [v for n in scored for v in operations.operands[n]] + values
        for value in layers:
            layer = blocks.ending(operations.giver(value), "linear")
            if layer is not None and operations.only_user(layer.end) in numbers:
                numbers |= layer.numbers
        end = product
        out = blocks.holding(operations.only_user(product), "linear")
        if out is not None and min(out.numbers) == operations.only_user(product):
            numbers |= out.numbers
            end = out.end
        name = "Interpretable multi-head attention"
        yield FoundBlock("attention", name, frozenset(numbers), end, (f"{heads} heads",))


def _find_scores(blocks: FoundBlocks, softmax: int) -> set[int] | None:
    """Return the product of queries and keys, and what scales and hides it."""
    operations = blocks.operations
    numbers: set[int] = set()
    number = operations.giver(operations.operands[softmax][0])
    for _ in range(_MOST_STEPS):
        if number is None or blocks.owner[number] is not None:
            return None
        if operations.only_user(number) is None:
            return None
        numbers.add(number)
        if operations.kinds[number] == "MatMul":
            return numbers
        if operations.kinds[number] not in _BEFORE_SHARES:
            return None
        givers = operations.givers(number)
        number = givers[-1] if givers else None
    return None


def _count_heads(operations: Operations, mean: int) -> int:
    """Return over how many heads a mean is; 0 where it is none over the second axis of four."""
    node = operations.nodes[mean]
    dims = find_value_facts(node.graph.model).find_dims(node.input(0))
    axes = read_axes(node)
    if dims is None or axes is None or len(dims) != _AXES or len(axes) != 1:
        return 0
    count = dims[1]
    is_heads = axes[0] % _AXES == 1
    return count if is_heads and isinstance(count, int) and count >= _BOTH else 0
