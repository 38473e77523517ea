"""Shares of neighbours that a layer makes of each place alone."""

from __future__ import annotations

from collections.abc import Iterator

from .found_blocks import FoundBlock, FoundBlocks
from .leading import find_leading

_BOTH = 2
_LEADING = ("distributes", "gathers", "multiplies_elements", "pads", "pools")


def find_outlook_attentions(blocks: FoundBlocks) -> Iterator[FoundBlock]:
    """Find neighbourhoods mixed by shares that a layer gives, and added up where they overlap.

    No places are compared: a linear layer of the features at the middle of each window gives the
    shares, softmax of which mixes the values in it, and what windows give for the same place is
    summed up by ``Col2Im`` (L. Yuan and others, VOLO: Vision Outlooker for Visual Recognition,
    2021, equations 3 to 5).
    """
    operations = blocks.operations
    given = [operations.nodes[b.end].output(0) for b in blocks.owner if b and b.kind == "norm"]
    normal = {value for value in given if value is not None}
    for fold, kind in enumerate(operations.kinds):
        if kind != "Col2Im":
            continue
        product = operations.given_by(operations.operands[fold][0], "MatMul")
        if product is None or len(operations.operands[product]) != _BOTH:
            continue
        shares, values = (operations.giver(v) for v in operations.operands[product])
        if shares is None or values is None or operations.kinds[shares] != "Softmax":
            continue
        if not operations.nodes[values].operator.has("gathers"):
            continue
        taken = operations.operands[product]
        leading = find_leading(operations, {fold, product}, taken, normal)
        if leading is None or len(leading.sources) != 1:
            continue
        if not all(_may_lead(blocks, number) for number in leading.numbers):
            continue
        layers = {
            id(owner)
            for number in leading.numbers
            if (owner := blocks.holding(number, "linear", "conv")) is not None
        }
        if len(layers) != len(("values", "shares")):
            continue
        numbers, end = {fold, product, *leading.numbers}, fold
        last = blocks.holding(operations.only_user(fold), "linear")
        if last is not None and operations.only_user(fold) == min(last.numbers):
            numbers |= last.numbers
            end = last.end
        sides = operations.context.read_list(operations.nodes[fold].input(2))
        size = "×".join(map(str, sides)) if all(isinstance(one, int) for one in sides) else ""
        facts = (size,) if size else ()
        yield FoundBlock("attention", "Outlook attention", frozenset(numbers), end, facts)


def _may_lead(blocks: FoundBlocks, number: int) -> bool:
    """Return whether an operation is in a layer, scales or pools, or looks up neighbours."""
    operator = blocks.operations.nodes[number].operator
    return blocks.holding(number, "linear", "conv") is not None or operator.has(*_LEADING)
