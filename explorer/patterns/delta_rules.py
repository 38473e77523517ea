"""Linear attention whose state takes up what it does not tell yet: the delta rule."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from netloupe.explorer.costs.value_facts import find_value_facts
from netloupe.explorer.model import Value
from netloupe.explorer.notation import write_count

from .found_blocks import FoundBlock, FoundBlocks
from .operations import OUTSIDE, Operations
from .transformer_details import AttentionDetails

_PRODUCTS = ("Einsum", "Gemm", "MatMul")
#: what may stand between a difference, the product that writes it, and the state
_STEPS = ("Add", "Gather", "Mul", "Slice", "Split")
_MOST_STEPS = 6
_MOST_BEFORE = 40
_MOST_OF_ATTENTION = 400
#: batch, heads, features of keys, features of values
_RANK_OF_STATES = 4


def find_delta_rules(blocks: FoundBlocks) -> Iterator[FoundBlock]:
    """Find linear attention whose state is corrected by v - S·k: the delta rule.

    A state S tells a value for each key, and what is added to it for a token is the key times the
    difference of the token's value and that (I. Schlag and others, Linear Transformers Are Secretly
    Fast Weight Programmers, 2021, equation 24). Gated where the state decays by an exponential
    before (S. Yang and others, Gated Delta Networks, 2024, equation 10). For one token after the
    other or in chunks, of which there are two at least, unless the state is added to.
    """
    operations = blocks.operations
    done: set[int] = set()
    for number, kind in enumerate(operations.kinds):
        if kind != "Sub" or number in done or blocks.owner[number] is not None:
            continue
        product = _find_product(operations, number)
        if product is None:
            continue
        state = _find_written(operations, number, product)
        if state is None:
            continue
        found = _find_around(blocks, number, state)
        if found is not None:
            done |= found.numbers
            yield found


def _find_product(operations: Operations, difference: int) -> int | None:
    """Return the product of two computed values that is taken from another one."""
    taken = operations.operands[difference]
    if len(taken) != 2 or taken[0] is taken[1]:
        return None
    number = operations.giver(taken[1])
    if number is not None and operations.kinds[number] == "ReduceSum":
        number = operations.giver(operations.operands[number][0])
        return number if _has_two(operations, number, "Mul") else None
    return number if _has_two(operations, number, *_PRODUCTS) else None


def _has_two(operations: Operations, number: int | None, *kinds: str) -> bool:
    """Return whether an operation is of some kinds, and takes two computed values."""
    if number is None or operations.kinds[number] not in kinds:
        return False
    return len({*operations.operands[number]}) == len(("key", "state"))


def _find_written(operations: Operations, difference: int, product: int) -> Value | None:
    """Return the state that a product reads, where such differences are written to it."""
    for state in operations.operands[product]:
        pending, seen = [operations.giver(state)], {product}
        while pending and len(seen) < _MOST_STEPS:
            number = pending.pop(0)
            if number is None or number in seen:
                continue
            seen.add(number)
            if _writes(operations, number):
                return state
            if operations.kinds[number] in _STEPS:
                pending += operations.givers(number)
        if _adds_to(operations, difference, state):
            return state
    return None


def _writes(operations: Operations, number: int) -> bool:
    """Return whether an operation is the product of a key and a difference from a product."""
    if not _has_two(operations, number, *_PRODUCTS, "Mul"):
        return False
    for value in operations.operands[number]:
        giver = operations.giver(value)
        for _ in range(_MOST_STEPS):
            if giver is None or operations.kinds[giver] not in ("Mul", *_STEPS[1:]):
                break
            taken = operations.operands[giver]
            before = [operations.given_by(value, "Sub", *_STEPS[1:]) for value in taken]
            giver = next((one for one in before if one is not None), None)
        if giver is not None and operations.kinds[giver] == "Sub":
            taken = operations.operands[giver]
            other = operations.giver(taken[-1]) if len(taken) > 1 else None
            if other is not None and operations.kinds[other] in (*_PRODUCTS, "ReduceSum"):
                return True
    return False


def _adds_to(operations: Operations, difference: int, state: Value) -> bool:
    """Return whether the product of a key and a difference is added to a state, decayed or not."""
    pending, seen = [difference], {difference}
    has_product = False
    while pending and len(seen) < _MOST_STEPS * 2:
        number = pending.pop(0)
        for user in operations.users[number]:
            if user == OUTSIDE or user in seen:
                continue
            seen.add(user)
            if operations.kinds[user] == "Add" and has_product:
                others = [v for v in operations.operands[user] if operations.giver(v) != number]
                if any(_is_of(operations, value, state) for value in others):
                    return True
            elif operations.kinds[user] in (*_PRODUCTS, "Mul"):
                has_product |= len(operations.operands[user]) > 1
                pending.append(user)
    return False


def _is_of(operations: Operations, value: Value, state: Value) -> bool:
    """Return whether a value is a state, or a multiple of it."""
    product = operations.given_by(value, "Mul")
    return value is state or (product is not None and state in operations.operands[product])


def _find_around(blocks: FoundBlocks, core: int, state: Value) -> FoundBlock | None:
    """Return all between what is projected and the projection of what the state tells."""
    operations = blocks.operations
    first = _find_projection(blocks, core)
    if first is None:
        return None
    start = operations.operands[min(first.numbers)][0]
    begin = operations.giver(start)
    least = begin + 1 if begin is not None else 0
    numbers: set[int] = set()
    for number in range(least, min(least + _MOST_OF_ATTENTION, len(operations))):
        taken = operations.operands[number]
        if number in numbers or not any(
            v is start or operations.giver(v) in numbers for v in taken
        ):
            continue
        owner = blocks.owner[number]
        if owner is None or owner.kind != "linear" or number < core or start in taken:
            numbers |= owner.numbers if owner is not None else {number}
            continue
        numbers |= owner.numbers
        if core in numbers and _is_closed(operations, numbers, owner.end):
            return _make(operations, frozenset(numbers), owner.end, state)
    return None


def _find_projection(blocks: FoundBlocks, core: int) -> FoundBlock | None:
    """Return the linear layer that the values of a difference are of."""
    number: int | None = core
    for _ in range(_MOST_BEFORE):
        givers = blocks.operations.givers(number) if number is not None else []
        if not givers:
            return None
        number = givers[0]
        found = blocks.ending(number, "linear")
        if found is not None:
            return found
    return None


def _is_closed(operations: Operations, numbers: set[int], end: int) -> bool:
    """Return whether nothing else takes what is inside, but for states that the model gives."""
    for number in numbers - {end}:
        for user in operations.users[number]:
            if user in numbers:
                continue
            outputs = operations.nodes[number].outputs
            if user != OUTSIDE or not any(one is not None and one.is_output for one in outputs):
                return False
    return True


def _decays(operations: Operations, state: Value) -> bool:
    """Return whether a state, or what it was before it was added to, is times an exponential."""
    pending = [operations.giver(state)]
    for _ in range(_MOST_STEPS):
        number = pending.pop(0) if pending else None
        if number is None:
            continue
        if operations.kinds[number] == "Add":
            pending += operations.givers(number)
        for factor in operations.givers(number) if operations.kinds[number] == "Mul" else ():
            for _ in range(len(_STEPS)):
                if operations.kinds[factor] == "Exp":
                    return True
                before = operations.givers(factor)
                if operations.kinds[factor] not in _STEPS[1:] or len(before) != 1:
                    break
                factor = before[0]
    return False


def _make(
    operations: Operations, numbers: frozenset[int], end: int, state: Value
) -> FoundBlock | None:
    kinds = {operations.kinds[number] for number in numbers}
    if "Softmax" in kinds:
        return None
    rule = "gated delta rule" if _decays(operations, state) else "delta rule"
    facts = [rule]
    dims = find_value_facts(operations.context.graph.model).find_dims(state) or ()
    heads, width = (dims[1], dims[3]) if len(dims) == _RANK_OF_STATES else (None, None)
    details = AttentionDetails(rule=rule, causal=True, attention="Linear attention")
    if isinstance(heads, int) and isinstance(width, int):
        details = replace(details, heads=heads, head_width=width)
        facts.append(f"{write_count(heads, 'head')} × {width}")
    facts.append("causal")
    return FoundBlock("attention", "Linear attention", numbers, end, tuple(facts), details)
