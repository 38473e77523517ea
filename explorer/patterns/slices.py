"""Attention among a few sums of tokens, whose results are given back to the tokens."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from netloupe.explorer.costs.value_facts import find_value_facts
from netloupe.explorer.model import Value
from netloupe.explorer.notation import write_count

from .found_blocks import FoundBlock, FoundBlocks
from .operations import Operations
from .transformer_details import AttentionDetails

_PRODUCTS = ("Einsum", "MatMul")
_MOST_BEFORE = 12


def find_slice_attentions(blocks: FoundBlocks) -> Iterator[FoundBlock]:
    """Find tokens summed up into slices by soft shares, attention among these, and the way back.

    The same shares give what a slice has become to each token (H. Wu and others, Transolver, 2024,
    equations 1 to 4: physics attention).
    """
    operations = blocks.operations
    for inner in blocks.list_outermost():
        if not isinstance(inner, FoundBlock) or inner.kind != "attention":
            continue
        outer = {
            value
            for number in inner.numbers
            for value in operations.operands[number]
            if operations.giver(value) not in inner.numbers
        }
        product = operations.only_user(inner.end)
        if len(outer) != 1 or product is None or operations.kinds[product] not in _PRODUCTS:
            continue
        shares = [v for v in operations.operands[product] if operations.giver(v) != inner.end]
        softmax = operations.given_by(shares[0], "Softmax") if len(shares) == 1 else None
        summed = _find_sums(operations, outer.pop(), shares[0]) if softmax is not None else None
        if softmax is None or summed is None or blocks.owner[product] is not None:
            continue
        numbers, end = {*inner.numbers, product, softmax, *summed}, product
        behind = blocks.holding(operations.only_user(product), "linear")
        if behind is not None and operations.only_user(product) == min(behind.numbers):
            numbers |= behind.numbers
            end = behind.end
        _add_before(blocks, numbers)
        if not operations.is_closed(numbers, end):
            continue
        dims = find_value_facts(operations.context.graph.model).find_dims(
            operations.nodes[softmax].output(0)
        )
        count = dims[-1] if dims else None
        facts = (
            *inner.facts,
            *([write_count(count, "slice")] if isinstance(count, int) else []),
        )
        known = inner.details.read_as(AttentionDetails)
        details = replace(known, attention="Physics attention")
        yield FoundBlock(
            "attention", "Physics attention", frozenset(numbers), end, facts, details, (inner,)
        )


def _find_sums(operations: Operations, value: Value, shares: Value) -> set[int] | None:
    """Return what sums tokens up by some shares, and divides that by the sums of these."""
    numbers: set[int] = set()
    number = operations.giver(value)
    if number is not None and operations.kinds[number] == "Div":
        first, *others = operations.operands[number]
        numbers.add(number)
        at = operations.giver(others[0]) if others else None
        for _ in range(_MOST_BEFORE):
            if at is None or operations.kinds[at] not in ("Add", "Clip", "ReduceSum"):
                return None
            numbers.add(at)
            if operations.operands[at] == [shares]:
                break
            givers = operations.givers(at)
            at = givers[0] if len(givers) == 1 else None
        number = operations.giver(first)
    if number is None or operations.kinds[number] not in _PRODUCTS:
        return None
    taken = operations.operands[number]
    return {*numbers, number} if len({*taken}) > 1 and shares in taken else None


def _add_before(blocks: FoundBlocks, numbers: set[int]) -> None:
    """Add the layers that alone give what is summed up, and what shares are of."""
    operations = blocks.operations
    pending = sorted({g for n in numbers for g in operations.givers(n)} - numbers, reverse=True)
    for _ in range(_MOST_BEFORE):
        if not pending:
            break
        number = pending.pop(0)
        owner = blocks.owner[number]
        own = owner.numbers if owner is not None else frozenset({number})
        is_layer = owner is not None and owner.kind in ("linear", "mlp", "conv")
        is_scale = owner is None and operations.kinds[number] in ("Add", "Clip", "Div", "Mul")
        users = {user for one in own for user in operations.users[one]}
        if number in numbers or not (is_layer or is_scale) or not numbers | own >= users:
            continue
        numbers |= own
        pending += sorted({g for one in own for g in operations.givers(one)} - numbers)
