"""What all pairs of objects are to each other, added up."""

from __future__ import annotations

from collections.abc import Iterator

from netloupe.explorer.costs.value_facts import find_value_facts
from netloupe.explorer.model import Value

from .found_blocks import FoundBlock, FoundBlocks
from .operations import Operations
from .readings import read_axes

_BOTH = 2
_MOST_REPEATS = 6
_LEAST_AXES = 3
_REPEATING = ("Expand", "Tile")
_SUMS = ("ReduceMean", "ReduceSum")


def find_pair_relations(blocks: FoundBlocks) -> Iterator[FoundBlock]:
    """Find Σ g(o, p) over all pairs of the same objects, g being an MLP, perhaps of more besides.

    A. Santoro and others, A Simple Neural Network Module for Relational Reasoning, 2017, equation
    1.
    """
    operations = blocks.operations
    for join, node in enumerate(operations.nodes):
        if not node.operator.has("joins") or blocks.owner[join] is not None:
            continue
        layers = blocks.holding(operations.only_user(join), "linear", "mlp")
        if layers is None:
            continue
        repeats: list[tuple[Value, int | None, set[int]]] = [
            _find_repeated(operations, value) for value in node.inputs if value is not None
        ]
        if not _is_of_pairs(repeats):
            continue
        last = layers.end
        bent = blocks.holding(operations.only_user(last), "activation")
        last = bent.end if bent is not None else last
        total = operations.only_user(last)
        if total is None or operations.kinds[total] not in _SUMS:
            continue
        if operations.operands[min(layers.numbers)] != [operations.nodes[join].output(0)]:
            continue
        axes = read_axes(operations.nodes[total])
        if axes is None or -1 in axes or blocks.owner[total] is not None:
            continue
        numbers = {join, *layers.numbers, *(bent.numbers if bent is not None else ()), total}
        for _, _, own in repeats:
            numbers |= {n for n in own if blocks.owner[n] is None}
        if operations.is_closed(numbers, total):
            name = "Relation network"
            details = layers.details
            yield FoundBlock("unit", name, frozenset(numbers), total, layers.facts[:1], details)


def _find_repeated(operations: Operations, value: Value) -> tuple[Value, int | None, set[int]]:
    """Return what a value repeats, along which axis one was put in for that, and by what."""
    numbers: set[int] = set()
    axis: int | None = None
    facts = find_value_facts(operations.context.graph.model)
    dims = facts.find_dims(value)
    for _ in range(_MOST_REPEATS):
        node = value.producer
        giver = operations.giver(value)
        first = node.input(0) if node is not None else None
        if node is None or first is None:
            break
        is_repeat = giver is not None and operations.kinds[giver] in _REPEATING
        if not is_repeat and operations.source(value) is value:
            break
        if is_repeat and giver is not None:
            numbers.add(giver)
        before = facts.find_dims(first)
        if dims is not None and before is not None and len(before) == len(dims):
            ones = {n for n, dim in enumerate(before) if dim == 1} - {
                n for n, dim in enumerate(dims) if dim == 1
            }
            axis = min(ones) if len(ones) == 1 else axis
        value = first
    return value, axis, numbers


def _is_of_pairs(repeats: list[tuple[Value, int | None, set[int]]]) -> bool:
    """Return whether one value is repeated twice, along axes next to each other."""
    axes: dict[Value, set[int]] = {}
    for value, axis, _ in repeats:
        if axis is not None:
            axes.setdefault(value, set()).add(axis)
    return any(axis + 1 in own for own in axes.values() for axis in own)
