"""Attention whose keys and values are stored: a memory that is learned."""

from __future__ import annotations

from collections.abc import Iterator

from netloupe.explorer.costs.value_facts import find_value_facts
from netloupe.explorer.notation import write_count

from .details import FeatureDetails
from .found_blocks import FoundBlock, FoundBlocks
from .operations import Operations
from .readings import read_axes, read_int

_BOTH = 2
_LEAST_ENTRIES = 2


def find_learned_memories(blocks: FoundBlocks) -> Iterator[FoundBlock]:
    """Find softmax(x · K) · V, where keys K and values V are weights.

    H. Ramsauer and others, Hopfield Networks is All You Need, 2021, section 3: stored patterns. In
    external attention shares are of tokens first, and of entries then (M. Guo and others, Beyond
    Self-Attention: External Attention Using Two Linear Layers, 2021, equations 5 to 8).
    """
    operations = blocks.operations
    for softmax, kind in enumerate(operations.kinds):
        owner = blocks.owner[softmax]
        if kind != "Softmax" or (owner is not None and owner.kind != "activation"):
            continue
        numbers, scores = {softmax}, operations.giver(operations.operands[softmax][0])
        if scores is not None and operations.kinds[scores] in ("Div", "Mul"):
            if operations.scalar(scores) is None or blocks.owner[scores] is not None:
                continue
            numbers.add(scores)
            scores = operations.giver(operations.operands[scores][0])
        keys = blocks.ending(scores, "linear")
        shared = _find_shared(operations, softmax)
        values = blocks.holding(operations.only_user(shared[-1]), "linear")
        if keys is None or values is None or keys is values:
            continue
        if operations.only_user(shared[-1]) != min(values.numbers):
            continue
        entries = keys.details.read_as(FeatureDetails).out_features
        taken = values.details.read_as(FeatureDetails).in_features
        is_plain = len(keys.numbers) == len(values.numbers) == 1
        # layers with biases are layers, and one that gives fewer entries than 2 has none to choose
        if not entries or entries != taken or entries < _LEAST_ENTRIES or not is_plain:
            continue
        is_external = len(shared) > 1
        axis = read_int(operations.nodes[softmax], "axis")
        if not is_external and axis not in (-1, None) and not _is_last(operations, softmax, axis):
            continue
        numbers |= {*shared, *keys.numbers, *values.numbers}
        if operations.is_closed(numbers, values.end):
            name = "External attention" if is_external else "Attention to a learned memory"
            facts = (write_count(entries, "entry", "entries"),)
            yield FoundBlock("attention", name, frozenset(numbers), values.end, facts)


def _is_last(operations: Operations, softmax: int, axis: int) -> bool:
    node = operations.nodes[softmax]
    dims = find_value_facts(node.graph.model).find_dims(node.output(0))
    return dims is not None and axis % len(dims) == len(dims) - 1


def _find_shared(operations: Operations, softmax: int) -> list[int]:
    """Return a Softmax, and what divides its shares by their sums over the last axis, if that."""
    users = [user for user in operations.users[softmax] if user >= 0]
    for total in users:
        quotient = operations.only_user(total)
        if operations.kinds[total] != "ReduceSum" or quotient is None or len(users) != _BOTH:
            continue
        axes = read_axes(operations.nodes[total])
        if operations.kinds[quotient] == "Div" and axes is not None and len(axes) == 1:
            return [softmax, total, quotient]
    return [softmax]
