"""Experts whose tokens are sorted by the choice: each takes a part of the rows, of its own size."""

from __future__ import annotations

from collections.abc import Collection

from netloupe.explorer.dataflow import is_input_independent

from .details import FeatureDetails
from .found_blocks import FoundBlocks

#: a linear layer into the hidden width, one out of it
_LAYERS_OF_EXPERT = 2


def read_sorted_experts(
    blocks: FoundBlocks, numbers: Collection[int], count: int
) -> tuple[tuple[int, int, int], bool] | None:
    """Return the widths of experts, and whether each is gated; None where there are none.

    Rows are split by how many each expert was chosen for, a linear layer of each takes its part,
    and what they give is joined again (T. Gale and others, MegaBlocks, 2022, figure 3).
    """
    layers = [
        widths
        for number in sorted(numbers)
        if (widths := _read_layer(blocks, number, numbers, count)) is not None
    ]
    if len(layers) != _LAYERS_OF_EXPERT:
        return None
    (width, given), (hidden, out) = layers
    is_gated = given == 2 * hidden
    return ((width, hidden, out), is_gated) if is_gated or given == hidden else None


def _read_layer(
    blocks: FoundBlocks, joining: int, numbers: Collection[int], count: int
) -> tuple[int, int] | None:
    """Return what one layer of all experts takes and gives, where an operation joins its parts."""
    operations = blocks.operations
    givers = operations.givers(joining)
    if operations.kinds[joining] != "Concat" or len(givers) != count:
        return None
    linears = [blocks.ending(giver, "linear") for giver in givers]
    parts = {
        operations.giver(operations.operands[min(linear.numbers)][0])
        for linear in linears
        if linear is not None
    }
    details = {
        (read.in_features, read.out_features)
        for linear in linears
        if linear is not None and (read := linear.details.read_as(FeatureDetails)) is not None
    }
    if None in linears or len(parts) != 1 or len(details) != 1:
        return None
    split = parts.pop()
    if split is None or split not in numbers or operations.kinds[split] != "Split":
        return None
    sizes = operations.nodes[split].input(1)
    if sizes is None or is_input_independent(sizes):
        return None
    taken, given = details.pop()
    return (taken, given) if taken is not None and given is not None else None
