"""Half of the features of each token, gated by the other half of all tokens."""

from __future__ import annotations

from collections.abc import Iterator

from netloupe.explorer.costs.value_facts import find_value_facts
from netloupe.explorer.model import Node, Value
from netloupe.explorer.notation import write_count
from netloupe.explorer.roles import find_weight

from .convolutions import read_convolution
from .found_blocks import FoundBlock, FoundBlocks
from .operations import Operations
from .readings import read_str
from .token_mixing import swaps_last
from .walks import find_whole

_BOTH = 2
#: of examples, tokens and features
_OF_TOKENS = 3


def find_spatial_gates(blocks: FoundBlocks) -> Iterator[FoundBlock]:
    """Find a part of features times a layer over the tokens of another part of them.

    H. Liu and others, Pay Attention to MLPs, 2021, equations 2 and 3: a spatial gating unit; what
    a small attention gives may be added to the gate (section 5 and figure 6: aMLP).
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
    whole = find_whole(operations, kept)
    attended = _find_attended(blocks, gate)
    mixing = _find_mixing(blocks, gate if attended is None else attended[1])
    if mixing is None or whole is None:
        return None
    numbers = {product, *mixing[0], *(attended or ())[:1]}
    value = mixing[1]
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
    told = [write_count(count, "token")] if count else []
    facts = (*told, *(["attention added"] if attended is not None else []))
    return FoundBlock("unit", "Spatial gating unit", frozenset(numbers), product, facts)


def _find_attended(blocks: FoundBlocks, gate: Value) -> tuple[int, Value] | None:
    """Return the sum of a gate and what an attention gives, and the gate; None for no such sum."""
    operations = blocks.operations
    number = operations.given_by(gate, "Add")
    if number is None or blocks.owner[number] is not None:
        return None
    taken = operations.operands[number]
    for one, two in (taken, taken[::-1]) if len(taken) == _BOTH else ():
        if blocks.ending(operations.giver(two), "attention") is not None:
            return number, one
    return None


def _find_mixing(blocks: FoundBlocks, gate: Value) -> tuple[frozenset[int], Value] | None:
    """Return the layer over tokens that a gate is, and what it takes; None for other values."""
    operations = blocks.operations
    number = operations.giver(gate)
    layer = blocks.ending(number, "linear", "conv")
    if layer is not None:
        value = operations.operands[min(layer.numbers)][0]
        return (layer.numbers, value) if _is_over_tokens(operations, layer) else None
    numbers: set[int] = set()
    if number is not None and operations.kinds[number] == "Add":  # what is stored for each token
        numbers.add(number)
        taken = operations.operands[number]
        number = operations.giver(taken[0]) if len(taken) == 1 else None
    if number is None or not _sums_over_tokens(operations.nodes[number]):
        return None
    numbers.add(number)
    is_free = all(blocks.owner[one] is None for one in numbers)
    value = operations.operands[number][0]
    return (frozenset(numbers), value) if is_free else None


def _sums_over_tokens(node: Node) -> bool:
    """Return whether an Einsum multiplies by a stored square matrix along what is no feature.

    Features are along the last axis of what it takes and gives.
    """
    weight = find_weight(node)
    terms, arrow, result = read_str(node, "equation").replace(" ", "").partition("->")
    pair = terms.split(",")
    if weight is None or not arrow or len(pair) != _BOTH or weight.index not in (0, 1):
        return False
    stored, taken = pair if weight.index == 0 else reversed(pair)
    summed = {*stored} & {*taken} - {*result}
    new = {*stored} - {*taken}
    if len(summed) != 1 or len(new) != 1 or not taken or taken[-1:] != result[-1:]:
        return False
    dims = dict(zip(stored, weight.dims or (), strict=False))
    size = dims.get(summed.pop())
    return taken[-1] not in stored and size is not None and size == dims.get(new.pop())


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
