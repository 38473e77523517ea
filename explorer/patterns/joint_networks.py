"""Sums and pairs of each place of one sequence with each of another one."""

from __future__ import annotations

from collections.abc import Iterator

from netloupe.explorer.costs.value_facts import ValueFacts, find_value_facts
from netloupe.explorer.model import Value

from .details import FeatureDetails
from .found_blocks import FoundBlock, FoundBlocks
from .operations import Operations

_BOTH = 2
_LEAST_AXES = 3
#: so many nodes are looked at before each of two values
_MOST_BEFORE = 20_000


def find_joint_networks(blocks: FoundBlocks) -> Iterator[FoundBlock]:
    """Find W · tanh(f + g), f being of each place of one sequence, and g of each of another.

    A. Graves and others, Speech Recognition with Deep Recurrent Neural Networks, 2013, equations
    15 to 17: what an encoder gives for frames, and a prediction network for labels before. Some
    have ReLU for tanh.
    """
    operations = blocks.operations
    for total, kind in enumerate(operations.kinds):
        taken = operations.operands[total]
        if kind != "Add" or len(taken) != _BOTH or blocks.owner[total] is not None:
            continue
        bend = blocks.holding(operations.only_user(total), "activation")
        last = operations.only_user(bend.end) if bend is not None else None
        layer = blocks.holding(last, "linear")
        if bend is None or bend.name not in ("tanh", "ReLU") or layer is None:
            continue
        if last != min(layer.numbers) or layer.details.read_as(FeatureDetails).out_features == 1:
            continue
        if not is_outer_sum(operations, total):
            continue
        numbers = {total, *bend.numbers, *layer.numbers}
        sources = []
        for value in taken:
            before = blocks.ending(operations.giver(value), "linear")
            if before is not None and operations.only_user(before.end) == total:
                numbers |= before.numbers
                value = operations.operands[min(before.numbers)][0]
            sources.append(value)
        if are_independent(operations, sources[0], sources[1]):
            name = "Joint network"
            yield FoundBlock("unit", name, frozenset(numbers), layer.end, layer.facts)


def is_outer_sum(operations: Operations, total: int) -> bool:
    """Return whether each place of one value meets each of the other one, along two axes."""
    node = operations.nodes[total]
    facts = find_value_facts(node.graph.model)
    dims = facts.find_dims(node.output(0))
    if dims is None or len(dims) < _LEAST_AXES:
        return False
    wide = {axis for axis, dim in enumerate(dims[:-1]) if dim != 1}
    ones = [wide & _list_ones(operations, facts, value, len(dims)) for value in node.inputs]
    return len(ones) == _BOTH and all(len(axes) == 1 for axes in ones) and ones[0] != ones[1]


def _list_ones(
    operations: Operations, facts: ValueFacts, value: Value | None, rank: int
) -> set[int]:
    """Return the axes along which a value was 1 long before it was repeated there."""
    found: set[int] = set()
    before = [node.input(0) for node in operations.path(value)]
    for one in (value, *before):
        dims = facts.find_dims(one)
        if dims is None or len(dims) != rank:
            break
        found |= {axis for axis, dim in enumerate(dims) if dim == 1}
    return found


def are_independent(operations: Operations, one: Value, other: Value) -> bool:
    """Return whether nothing that is computed, or comes in, leads to both of two values."""
    seen = [_list_before(operations, value) for value in (one, other)]
    return None not in seen and not (seen[0] or set()) & (seen[1] or set())


def _list_before(operations: Operations, value: Value) -> set[Value] | None:
    found, pending = {value}, [value]
    while pending:
        node = pending.pop().producer
        for given in node.inputs if node is not None else ():
            if given is not None and given not in found and not operations.is_fixed(given):
                found.add(given)
                pending.append(given)
        if len(found) > _MOST_BEFORE:
            return None
    return found
