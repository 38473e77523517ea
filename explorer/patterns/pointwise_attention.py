"""Attention whose scores go through an activation each, in place of a softmax over all of them."""

from __future__ import annotations

from collections.abc import Iterator

from netloupe.explorer.costs.value_facts import find_value_facts
from netloupe.explorer.model import Value
from netloupe.explorer.notation import write_count

from .attention_extent import add_feeders
from .found_blocks import FoundBlock, FoundBlocks
from .operations import OUTSIDE, PICKING, Operations
from .transformer_details import AttentionDetails

_PRODUCTS = ("Einsum", "MatMul")
#: what scores may go through besides an activation: scales, biases, masks, squares
_OF_SCORES = frozenset({"Add", "Div", "Mul", "Pow", "Sub", "Where"})
#: what stands in a softmax's place, as it is written
_IN_PLACE = {"ReLU": "ReLU", "SiLU": "SiLU", "Sigmoid": "sigmoid"}
_MOST_STEPS = 8
_MOST_BEFORE = 12
#: batch, heads, queries, keys
_WITH_HEADS = 4


def find_pointwise_attentions(blocks: FoundBlocks) -> Iterator[FoundBlock]:
    """Find φ(q·kᵀ)·v of one value, where φ takes each score alone and no softmax is there.

    With SiLU, the scores divided by how many tokens there are, it is pointwise aggregated attention
    (J. Zhai and others, Actions Speak Louder than Words, 2024, equation 2); with a sigmoid, sigmoid
    attention (J. Ramapuram and others, Theory, Analysis, and Best Practices for Sigmoid
    Self-Attention, 2024). Where a squared ReLU is in its place, queries and keys are scaled and
    shifted forms of one projection, and the result is gated, it is a gated attention unit (W. Hua
    and others, Transformer Quality in Linear Time, 2022, figure 2).
    """
    operations = blocks.operations
    for end, kind in enumerate(operations.kinds):
        taken = operations.operands[end]
        if kind not in _PRODUCTS or len(taken) != 2 or blocks.owner[end] is not None:
            continue
        for weights, values in (taken, taken[::-1]):
            scored = _read_scores(blocks, weights)
            if scored is None:
                continue
            numbers, product, word = scored
            operands = [*operations.operands[product], values]
            traced = [_trace(blocks, value) for value in operands]
            known = [one for one in traced if one is not None]
            starts = {operations.operands[min(layer.numbers)][0] for layer, _ in known}
            if len(known) < len(operands) or len(starts) != 1:
                continue
            yield _make(blocks, {*numbers, product, end}, end, product, word, starts.pop(), known)
            break


def _read_scores(blocks: FoundBlocks, value: Value) -> tuple[set[int], int, str] | None:
    """Return what stands between weights and a product of two computed values, and that product.

    And what is in a softmax's place; None where nothing is, or no such product.
    """
    operations = blocks.operations
    numbers: set[int] = set()
    word, is_square = "", False
    number = operations.giver(value)
    for _ in range(_MOST_STEPS):
        if number is None:
            return None
        taken = operations.operands[number]
        activation = blocks.ending(number, "activation")
        if activation is not None:
            name = activation.name.removeprefix("squared ")
            if word or name not in _IN_PLACE:
                return None
            word = _IN_PLACE[name]
            is_square |= name != activation.name
            numbers |= activation.numbers
            taken = operations.operands[min(activation.numbers)]
        elif operations.kinds[number] in _PRODUCTS and len({*taken}) == 2:
            if not word or blocks.owner[number] is not None:
                return None
            return numbers, number, f"squared {word}" if is_square else word
        elif blocks.owner[number] is not None or operations.kinds[number] not in _OF_SCORES:
            return None
        else:
            is_same = len(taken) == 2 and taken[0] is taken[1]
            is_twice = operations.kinds[number] == "Mul" and is_same
            is_power = operations.kinds[number] == "Pow" and operations.scalar(number) == 2.0
            is_square |= (is_twice or is_power) and not word
            numbers.add(number)
        givers = [one for v in taken if (one := operations.giver(v)) is not None]
        number = _choose(operations, givers)
    return None


def _choose(operations: Operations, givers: list[int]) -> int | None:
    """Return where scores come from, and not what is added to them, as biases of positions."""
    if len({*givers}) == 1:
        return givers[0]
    return next((one for one in givers if operations.kinds[one] in _PRODUCTS), None)


def _trace(blocks: FoundBlocks, value: Value) -> tuple[FoundBlock, set[int]] | None:
    """Return the linear layer that a value is of, each feature scaled at most, and what is between.

    With an activation at most.
    """
    operations = blocks.operations
    between: set[int] = set()
    number = operations.giver(value)
    for _ in range(_MOST_BEFORE):
        layer = blocks.ending(number, "linear")
        if layer is not None:
            return layer, between
        if number is None:
            return None
        owner = blocks.owner[number]
        if owner is not None and owner.kind == "activation" and owner.end == number:
            between |= owner.numbers
            number = operations.giver(operations.operands[min(owner.numbers)][0])
            continue
        node, taken = operations.nodes[number], operations.operands[number]
        is_step = node.operator.has(*PICKING, "splits", "adds", "multiplies_elements", "divides")
        if owner is not None or not is_step or len({*taken}) != 1:
            return None
        between.add(number)
        number = operations.giver(taken[0])
    return None


def _make(
    blocks: FoundBlocks,
    numbers: set[int],
    end: int,
    product: int,
    word: str,
    start: Value,
    traced: list[tuple[FoundBlock, set[int]]],
) -> FoundBlock:
    operations = blocks.operations
    gated = _find_gate(blocks, end, start)
    last = end
    if gated is not None:
        numbers |= gated[0]
        last = gated[1]
    for layer, between in (*traced, *([gated[2]] if gated is not None else [])):
        numbers |= between | layer.numbers
    behind = blocks.holding(operations.only_user(last), "linear")
    if behind is not None and operations.only_user(last) == min(behind.numbers):
        numbers |= behind.numbers
        last = behind.end
    add_feeders(blocks, {*numbers}, numbers)
    # what others take, too, stays outside, with all before it
    while leaking := [n for n in numbers - {last} if not numbers.issuperset(operations.users[n])]:
        numbers -= {*leaking}
        if end not in numbers:
            numbers = {end}
            break
    (query, _), (key, _) = traced[:2]
    shares_base = query is key and _is_of_one_part(operations, product)
    is_unit = word == "squared ReLU" and gated is not None and shares_base
    name = "Gated attention unit" if is_unit else "Pointwise attention"
    dims = find_value_facts(operations.context.graph.model).find_dims(
        operations.nodes[product].output(0)
    )
    facts = [] if is_unit else [f"{word} in place of softmax"]
    heads = dims[1] if dims is not None and len(dims) == _WITH_HEADS else None
    if isinstance(heads, int) and heads > 1:
        facts.insert(0, write_count(heads, "head"))
    if gated is not None and not is_unit:
        facts.append("gated")
    details = AttentionDetails(heads=heads if isinstance(heads, int) else None, attention=name)
    return FoundBlock("attention", name, frozenset(numbers), last, tuple(facts), details)


def _is_of_one_part(operations: Operations, product: int) -> bool:
    """Return whether queries and keys are forms of the same features, scaled and shifted."""
    parts: list[set[Value]] = []
    for value in operations.operands[product]:
        seen = {value}
        for _ in range(_MOST_BEFORE):
            giver = operations.giver(value)
            taken = operations.operands[giver] if giver is not None else []
            if giver is None or len({*taken}) != 1:
                break
            has_scaled = operations.nodes[giver].operator.has("multiplies_elements", "adds")
            value = taken[0]
            if has_scaled:
                seen.add(value)
        parts.append(seen)
    return bool(parts[0] & parts[1])


def _find_gate(
    blocks: FoundBlocks, end: int, start: Value
) -> tuple[set[int], int, tuple[FoundBlock, set[int]]] | None:
    """Return what multiplies a result, perhaps normalized, by another projection of its value."""
    operations = blocks.operations
    numbers: set[int] = set()
    user = operations.only_user(end)
    norm = blocks.holding(user, "norm")
    last = end
    if norm is not None:
        numbers |= norm.numbers
        last = norm.end
        user = operations.only_user(last)
    if user is None or user == OUTSIDE or operations.kinds[user] != "Mul":
        return None
    others = [v for v in operations.operands[user] if operations.giver(v) != last]
    traced = _trace(blocks, others[0]) if len(others) == 1 and blocks.owner[user] is None else None
    if traced is None or operations.operands[min(traced[0].numbers)][0] is not start:
        return None
    return {*numbers, user}, user, traced
