"""Attention of which a half of the heads is taken from the other one."""

from __future__ import annotations

from collections.abc import Iterator

from netloupe.explorer.model import Value

from .attention_cores import find_scores
from .found_blocks import FoundBlock, FoundBlocks
from .layers_around import add_layers_around
from .operations import Operations

_BOTH = 2
_MOST_HALVES = 4


def find_differential_heads(blocks: FoundBlocks) -> Iterator[FoundBlock]:
    """Find what attention gives, in two halves of its heads, one less the other times a number.

    As libraries compute it whose attention is one operation (T. Ye and others, Differential
    Transformer, 2025, equation 1 and section 2.2).
    """
    operations = blocks.operations
    for end, kind in enumerate(operations.kinds):
        sides = operations.operands[end]
        if kind != "Sub" or len(sides) != _BOTH or blocks.owner[end] is not None:
            continue
        product = operations.given_by(sides[1], "Mul")
        if product is None or blocks.owner[product] is not None:
            continue
        for scaled in operations.operands[product]:
            whole = _find_whole(operations, sides[0], scaled)
            found = _find_attention(blocks, whole[0]) if whole is not None else None
            if whole is not None and found is not None:
                attention, numbers = found
                yield _make(blocks, attention, numbers | whole[1] | {product, end}, end)
                break


def _find_whole(operations: Operations, one: Value, other: Value) -> tuple[Value, set[int]] | None:
    """Return what two values are parts of, and the operations that part it; None for others."""
    numbers = {giver for v in (one, other) if (giver := operations.giver(v)) is not None}
    wholes = {operations.operands[number][0] for number in numbers}
    are_parts = all(operations.nodes[n].operator.has("slices", "splits") for n in numbers)
    if not numbers or not are_parts or len(wholes) != 1 or one is other:
        return None
    return wholes.pop(), numbers


def _find_attention(blocks: FoundBlocks, value: Value) -> tuple[FoundBlock, set[int]] | None:
    """Return the attention that gives a value, and what mixes other values by the same scores."""
    operations = blocks.operations
    number = operations.giver(value)
    if number is None:
        return None
    numbers, ends = set[int](), [number]
    if operations.kinds[number] == "Concat" and blocks.owner[number] is None:
        numbers, ends = {number}, operations.givers(number)
    owners = [blocks.ending(each, "attention") for each in ends]
    first = next(filter(None, owners), None)
    if first is None or len(ends) > _MOST_HALVES:
        return None
    for each, owner in zip(ends, owners, strict=True):
        if owner is first:
            continue
        core = _find_core(operations, each)
        if core is None or not core & first.numbers:
            return None
        numbers |= core
    return first, numbers | first.numbers


def _find_core(operations: Operations, product: int) -> set[int] | None:
    """Return the core of the attention that ends in a product; None where it is no such."""
    for giver in operations.givers(product):
        number: int | None = giver
        while number is not None and operations.kinds[number] in ("IsNaN", "Where"):
            number = operations.givers(number)[-1] if operations.givers(number) else None
        if number is not None and operations.kinds[number] == "Softmax":
            found = find_scores(operations, number)
            if found is not None and found[1] == product:
                return found[0]
    return None


def _make(blocks: FoundBlocks, attention: FoundBlock, numbers: set[int], end: int) -> FoundBlock:
    """Return the difference with the projections of all values, its norm and what projects it."""
    operations = blocks.operations
    last, user = end, operations.only_user(end)
    norm = blocks.holding(operations.users[end][0], "norm") if operations.users[end] else None
    if norm is not None and norm.numbers.issuperset(operations.users[end]):
        numbers |= norm.numbers
        last, user = norm.end, operations.only_user(norm.end)
    is_product = user is not None and operations.kinds[user] == "Mul"
    if user is not None and is_product and operations.scalar(user) is not None:
        numbers, last = numbers | {user}, user
    numbers, last = add_layers_around(blocks, numbers, last)
    name = "Differential attention"
    return FoundBlock(
        "attention", name, frozenset(numbers), last, attention.facts, attention.details
    )
