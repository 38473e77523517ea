"""How features of pairs are updated: outer products of sequences, and multiplications in triangles.

J. Jumper and others, Highly accurate protein structure prediction with AlphaFold, 2021,
supplementary information.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from netloupe.explorer.model import Value

from .found_blocks import FoundBlock, FoundBlocks

_PRODUCTS = ("Einsum", "MatMul")
_MOST_STEPS = 3


class _Gated(NamedTuple):
    """A linear layer times a sigmoid of one: what both take, and the operations."""

    gate: Value
    content: Value
    numbers: frozenset[int]


def find_outer_products(blocks: FoundBlocks) -> Iterator[FoundBlock]:
    """Find the mean of outer products of two projections, and its projection.

    J. Jumper and others, AlphaFold, 2021, supplementary algorithm 10: features of a pair are what
    the features of its two ends are together, all by all.
    """
    operations = blocks.operations
    for product, kind in enumerate(operations.kinds):
        taken = operations.operands[product]
        if kind not in _PRODUCTS or len(taken) != 2 or blocks.owner[product] is not None:
            continue
        left, right = (blocks.ending(operations.giver(value), "linear") for value in taken)
        if left is None or right is None or left is right:
            continue
        if _source(blocks, left) is not _source(blocks, right):
            continue
        numbers, number = {product}, operations.only_user(product)
        while (
            number is not None
            and operations.kinds[number] in ("Div", "Mul")
            and blocks.owner[number] is None
            and len(numbers) < _MOST_STEPS
        ):
            numbers.add(number)
            number = operations.only_user(number)
        last = blocks.holding(number, "linear")
        if last is None or min(last.numbers) != number:
            continue
        one, other, result = left.details.in_out, right.details.in_out, last.details.in_out
        if one is None or other is None or result is None:
            continue
        # all by all: what is projected behind has as many features as there are pairs of them
        if one[1] < 2 or other[1] < 2 or one[1] * other[1] != result[0]:
            continue
        name = "Outer product mean" if len(numbers) > 1 else "Outer product"
        numbers |= last.numbers
        for side in (left, right):
            if operations.only_user(side.end) == product:
                numbers |= side.numbers
        facts = (f"{one[1]} × {other[1]} → {result[1]}",)
        yield FoundBlock("outer product", name, frozenset(numbers), last.end, facts)


def find_triangles(blocks: FoundBlocks) -> Iterator[FoundBlock]:
    """Find the product of two gated projections of pairs, which is normalized and gated again.

    J. Jumper and others, AlphaFold, 2021, supplementary algorithms 11 and 12: a pair is updated by
    the two other edges of each triangle that it is in.
    """
    operations = blocks.operations
    for product, kind in enumerate(operations.kinds):
        taken = operations.operands[product]
        if kind not in _PRODUCTS or len(taken) != 2 or blocks.owner[product] is not None:
            continue
        left, right = (_read_gated(blocks, operations.giver(value)) for value in taken)
        norm = blocks.holding(operations.only_user(product), "norm")
        if left is None or right is None or norm is None:
            continue
        start = operations.only_user(norm.end)
        last = next((one for one in _list_linears(blocks, start) if start in one.numbers), None)
        end = operations.only_user(last.end) if last is not None else None
        gated = _read_gated(blocks, end)
        if gated is None or end is None or operations.giver(gated.content) != norm.end:
            continue
        if {left.gate, left.content, right.gate, right.content} != {gated.gate}:
            continue
        numbers = frozenset({product}).union(
            norm.numbers, *(each.numbers for each in (left, right, gated))
        )
        yield FoundBlock("triangle", "Triangle multiplication", numbers, end)


def _read_gated(blocks: FoundBlocks, number: int | None) -> _Gated | None:
    """Return what a product of a linear layer and a sigmoid of one takes, with a mask perhaps."""
    operations = blocks.operations
    masks: set[int] = set()
    for _ in range(_MOST_STEPS):
        if number is None or operations.kinds[number] != "Mul":
            return None
        taken = operations.operands[number]
        for gate, content in (taken, taken[::-1]) if len(taken) == 2 else ():
            sigmoid = operations.given_by(gate, "Sigmoid")
            if sigmoid is None:
                continue
            layers = [
                _find_linear(blocks, operations.operands[sigmoid][0]),
                _find_linear(blocks, content),
            ]
            known = [layer for layer in layers if layer is not None]
            if len(known) == len(layers):
                numbers = known[0].numbers | known[1].numbers | {number, sigmoid} | masks
                return _Gated(_source(blocks, known[0]), _source(blocks, known[1]), numbers)
        masks.add(number)
        inner = [operations.given_by(value, "Mul") for value in taken]
        number = next((one for one in inner if one is not None), None)
    return None


def _find_linear(blocks: FoundBlocks, value: Value) -> FoundBlock | None:
    """Return the linear layer that gives a value, also where a gate has it."""
    number = blocks.operations.giver(value)
    return next((one for one in _list_linears(blocks, number) if one.end == number), None)


def _list_linears(blocks: FoundBlocks, number: int | None) -> list[FoundBlock]:
    owner = blocks.owner[number] if number is not None and number >= 0 else None
    return [one for one in (owner, *owner.parts) if one.kind == "linear"] if owner else []


def _source(blocks: FoundBlocks, layer: FoundBlock) -> Value:
    return blocks.operations.operands[min(layer.numbers)][0]
