"""Half of the features of each token, gated by the other half of all tokens."""

from __future__ import annotations

from collections.abc import Iterator

from netloupe.explorer.costs.value_facts import find_value_facts
from netloupe.explorer.model import Value
from netloupe.explorer.notation import write_count
from netloupe.explorer.roles import find_weight

from .convolutions import read_convolution
from .found_blocks import FoundBlock, FoundBlocks
from .operations import Operations
from .token_mixing import swaps_last
from .walks import find_whole

_BOTH = 2
#: of examples, tokens and features
_OF_TOKENS = 3


def find_spatial_gates(blocks: FoundBlocks) -> Iterator[FoundBlock]:
    """Find a part of features times a layer over the tokens of another part of them.

    H. Liu and others, Pay Attention to MLPs, 2021, equations 2 and 3: a spatial gating unit.
    """
    operations = blocks.operations
    for product, kind in enumerate(operations.kinds):
        taken = operations.operands[product]
        if kind != "Mul" or len(taken) != _BOTH or blocks.owner[product] is not None:
            continue
        for kept, gate in (taken, taken[::-1]):
            found = _read_gate(blocks, kept, gate, product)
            if found is not None:
                yield found
                break


def _read_gate(blocks: FoundBlocks, kept: Value, gate: Value, product: int) -> FoundBlock | None:
    """Return a unit whose gate a layer over tokens gives."""
    operations = blocks.operations
    numbers = {product}
    layer = blocks.ending(operations.giver(gate), "linear", "conv")
    whole = find_whole(operations, kept)
    if layer is None or whole is None or not _is_over_tokens(operations, layer):
        return None
    numbers |= layer.numbers
    value = operations.operands[min(layer.numbers)][0]
    norm = blocks.ending(operations.giver(value), "norm")
    if norm is not None:
        numbers |= norm.numbers
        value = operations.operands[min(norm.numbers)][0]
    other = find_whole(operations, value)
    if other is None or other[0] is not whole[0] or value is kept:
        return None
    numbers |= {whole[1], other[1]}
    if not operations.is_closed(numbers, product):
        return None
    count = _count_tokens(operations, product)
    facts = (write_count(count, "token"),) if count else ()
    return FoundBlock("unit", "Spatial gating unit", frozenset(numbers), product, facts)


def _is_over_tokens(operations: Operations, layer: FoundBlock) -> bool:
    """Return whether a layer takes tokens as features: of rows, or of what is turned before."""
    number = min(layer.numbers)
    node = operations.nodes[number]
    if operations.kinds[number] == "Conv":
        dims = find_value_facts(operations.context.graph.model).find_dims(node.input(0))
        is_of_places = {*read_convolution(operations, number).kernel} == {1}
        is_turned = any(swaps_last(one) for one in operations.path(node.input(0)))
        return is_of_places and bool(dims) and len(dims or ()) == _OF_TOKENS and not is_turned
    weight = find_weight(node)
    if weight is not None and weight.is_left:
        return True
    return any(swaps_last(one) for one in operations.path(node.input(0)))


def _count_tokens(operations: Operations, product: int) -> int:
    facts = find_value_facts(operations.context.graph.model)
    dims = facts.find_dims(operations.nodes[product].output(0))
    count = dims[1] if dims and len(dims) == _OF_TOKENS else None
    return count if isinstance(count, int) else 0
