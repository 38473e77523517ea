"""What queries, keys and values come from, and what attention is called by that."""

from __future__ import annotations

from netloupe.explorer.model import Node, Value
from netloupe.explorer.model.constant import constant_tensor

from .found_blocks import FoundBlock, FoundBlocks
from .operations import ARRANGING, PICKING, Operations
from .readings import read_int, read_numbers

_MOST_STEPS = 14


def trace_projection(
    blocks: FoundBlocks, value: Value | None, whole: set[int]
) -> tuple[Value | None, FoundBlock | None]:
    """Return the value that an operand is a projection of, and the projection."""
    operations = blocks.operations
    projection: FoundBlock | None = None
    for _ in range(40):
        if value is None:
            return None, projection
        value = operations.source(value)
        giver = operations.giver(value)
        if giver is None or giver not in whole:
            return value, projection
        linear = blocks.ending(giver, "linear")
        if linear is not None:
            projection = projection or linear
            # positions may be added before, or a norm of fewer features be there
            value = operations.source(operations.operands[min(linear.numbers)][0])
            if operations.giver(value) in whole:
                continue
            return value, projection
        taken = operations.operands[giver]
        if not taken:
            return value, projection
        kind = operations.kinds[giver]
        if kind == "Concat":
            # what was cached comes first, what is new behind it; of features those come first that
            # tell no position
            joins_features = read_int(operations.nodes[giver], "axis") in (-1, 3)
            value = taken[0] if joins_features else taken[-1]
            continue
        inside = [v for v in taken if operations.giver(v) in whole]
        value = (inside or taken)[0]
    return None, projection


def find_uncut(operations: Operations, value: Value | None) -> Value | None:
    """Return what a value is cut out of, as queries are of one projection for all three."""
    for _ in range(4):
        node = value.producer if value is not None else None
        taken = node.inputs if node is not None else ()
        if node is None or not node.operator.has(*PICKING) or taken[0] is None:
            break
        if any(one is not None and not operations.is_fixed(one) for one in taken[1:]):
            break
        value = operations.source(taken[0])
    return value


def name_by_sources(sources: list[Value | None]) -> str:
    query, key, content = (*sources, None, None, None)[:3]
    if query is None or key is None:
        return "Attention"
    if query is key or _is_sampled_from(query, key):
        return "Self-attention"
    if key is content or _is_sum_with(key, content):
        return "Cross-attention"
    return "Attention"


def _is_sampled_from(query: Value, key: Value) -> bool:
    """Return whether queries are every second place of what keys are of, or pooled from it.

    B. Graham and others, LeViT, 2021, section 4.2: attention that subsamples takes its queries of
    fewer places than keys and values.
    """
    samples, value = False, query
    for _ in range(_MOST_STEPS):
        if value is key:
            return samples
        node = value.producer
        data = node.input(0) if node is not None else None
        if node is None or data is None:
            break
        if _subsamples(node):
            samples = True
        elif not node.operator.has(*ARRANGING):
            break
        value = data
    return False


def _subsamples(node: Node) -> bool:
    """Return whether a node picks every second place or the like, as it says."""
    if node.operator.has("pools") and not node.operator.has("pools_all"):
        return True
    steps = constant_tensor(value) if (value := node.input(4)) is not None else None
    return node.operator.has("picks") and any(step > 1 for step in read_numbers(steps))


def _is_sum_with(value: Value, other: Value | None) -> bool:
    """Return whether a value is another one with positions added."""
    node = value.producer
    return other is not None and node is not None and node.op_type == "Add" and other in node.inputs
