"""Spectra that are cut into bands, each with layers of its own."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from netloupe.explorer.model import Value

from .found_blocks import FoundBlock, FoundBlocks
from .picked_parts import PickedPart, read_parts

_LEAST_BANDS = 3


def find_band_splits(blocks: FoundBlocks) -> Iterator[FoundBlock]:
    """Find all parts of a value along one axis, each with a layer of its own, perhaps after a norm.

    The results have the same width and stand side by side (Y. Luo and J. Yu, Music Source
    Separation with Band-Split RNN, 2023, section 3.1).
    """
    operations = blocks.operations
    for join, node in enumerate(operations.nodes):
        taken = operations.operands[join]
        if not node.operator.has("joins") or blocks.owner[join] is not None:
            continue
        if len(taken) < _LEAST_BANDS or len({*taken}) != len(taken):
            continue
        numbers = {join}
        parts: list[PickedPart] = []
        wholes: set[Value] = set()
        for value in taken:
            band = _read_band(blocks, value, join)
            if band is None:
                break
            own, part, whole = band
            numbers |= own
            parts.append(part)
            wholes.add(whole)
        if len(parts) == len(taken) and len(wholes) == 1 and _are_all(parts):
            facts = (f"{len(parts)} bands",)
            yield FoundBlock("unit", "Band split", frozenset(numbers), join, facts)


def _read_band(
    blocks: FoundBlocks, value: Value, user: int
) -> tuple[set[int], PickedPart, Value] | None:
    """Return the operations of a band, which part of what it is."""
    operations = blocks.operations
    layer = blocks.ending(operations.giver(value), "conv", "linear")
    if layer is None or operations.only_user(layer.end) != user:
        return None
    numbers, first = {*layer.numbers}, min(layer.numbers)
    norm = blocks.ending(operations.giver(operations.operands[first][0]), "norm")
    if norm is not None and operations.only_user(norm.end) == first:
        numbers |= norm.numbers
        first = min(norm.numbers)
    cut = operations.giver(operations.operands[first][0])
    if cut is None or blocks.owner[cut] is not None or operations.only_user(cut) is None:
        return None
    slicing = operations.nodes[cut]
    parts = read_parts(slicing) if slicing.operator.has("slices") else ()
    if len(parts) != 1 or not operations.operands[cut]:
        return None
    return {*numbers, cut}, parts[0], operations.operands[cut][0]


def _are_all(parts: list[PickedPart]) -> bool:
    """Return whether parts are one behind the other along one axis, the last of them to its end."""
    starts_at_first = parts[0].start in (0, None) and parts[-1].is_to_end
    return starts_at_first and all(
        one.axis == two.axis and one.end is not None and one.end == two.start and two.step == 1
        for one, two in pairwise(parts)
    )
