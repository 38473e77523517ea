"""Scores that are kept within limits by a tangent."""

from __future__ import annotations

from collections.abc import Iterator

from netloupe.explorer.notation import write_number

from .found_blocks import FoundBlock, FoundBlocks
from .operations import Operations

#: numbers in a narrow type are rounded by less
_ROUNDING = 2e-3


def find_soft_caps(blocks: FoundBlocks) -> Iterator[FoundBlock]:
    """Find c · tanh(x / c): what is small stays as it is, and nothing becomes larger than c.

    Gemma Team, Gemma 2: Improving Open Language Models at a Practical Size, 2024, section 2; I.
    Bello and others, Neural Combinatorial Optimization, 2017, equation 16, has it with c = 10.
    """
    operations = blocks.operations
    for tanh, kind in enumerate(operations.kinds):
        if kind != "Tanh" or not _is_free(blocks, tanh):
            continue
        divided = operations.giver(operations.operands[tanh][0])
        product = operations.only_user(tanh)
        if divided is None or product is None or operations.only_user(divided) != tanh:
            continue
        if blocks.owner[divided] is not None or blocks.owner[product] is not None:
            continue
        inner, outer = _read_factor(operations, divided), _read_factor(operations, product)
        if inner is None or outer is None or outer <= 0 or abs(inner * outer - 1) > _ROUNDING:
            continue
        facts = (write_number(float(f"{outer:.4g}")),)
        numbers = frozenset({divided, tanh, product})
        yield FoundBlock("soft cap", "Soft cap", numbers, product, facts)


def _is_free(blocks: FoundBlocks, number: int) -> bool:
    """Return whether nothing larger than an activation holds an operation."""
    owner = blocks.owner[number]
    return owner is None or (owner.kind == "activation" and len(owner.numbers) == 1)


def _read_factor(operations: Operations, number: int) -> float | None:
    """Return by which number one value is multiplied; None where something else is done."""
    kind = operations.kinds[number]
    if kind not in ("Div", "Mul") or len(operations.operands[number]) != 1:
        return None
    factor = operations.scalar(number)
    if not factor:
        return None
    if kind == "Mul":
        return factor
    return None if operations.is_fixed(operations.nodes[number].input(0)) else 1 / factor
