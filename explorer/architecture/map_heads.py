"""The convolutions that give the maps of a graph's outputs, and at which resolution each does."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import NamedTuple

from netloupe.explorer.model import Value
from netloupe.explorer.patterns import read_convolution
from netloupe.explorer.roles import find_weight

from .outline import Outline
from .resolutions import Resolutions, is_crop

#: so many outputs are looked at, and so many operations before all of them
_MOST_OUTPUTS = 40
_MOST_BEFORE = 4_000


class MapHead(NamedTuple):
    """A convolution behind which nothing with weights stands.

    Parameters
    ----------
    number
        Its operation.
    features
        How many channels it gives; 0 where that is not known.
    factor
        So many places of the input are one of its own.
    is_wider
        Whether it gives another number of channels than it takes.
    """

    number: int
    features: int
    factor: Fraction
    is_wider: bool


class MapHeads(NamedTuple):
    """What gives the outputs of a graph.

    Parameters
    ----------
    heads
        By output, the convolutions that give it; nothing where anything else does.
    crops
        Whether regions of maps are cut out on the way.
    """

    heads: tuple[tuple[MapHead, ...], ...]
    crops: bool

    @property
    def by_factor(self) -> dict[Fraction, list[MapHead]]:
        """All of them by resolution, the finest first, each once."""
        every = dict.fromkeys(head for heads in self.heads for head in heads)
        factors = sorted({head.factor for head in every})
        return {factor: [one for one in every if one.factor == factor] for factor in factors}


def find_map_heads(outline: Outline, resolutions: Resolutions) -> MapHeads:
    """Return the convolutions that give the outputs of a graph, back through what has no weights.

    Ones that lead to others are none.
    """
    found: list[tuple[MapHead, ...]] = []
    crops = False
    left = _MOST_BEFORE
    for output in outline.graph.outputs[:_MOST_OUTPUTS]:
        heads, cut, steps = _walk(outline, resolutions, output, left)
        crops |= cut
        left -= steps
        found.append(tuple(heads))
    every = {head.number for heads in found for head in heads}
    leading = {
        one for one in every for other in every if outline.owner(other).follows(outline.owner(one))
    }
    kept = tuple(() if any(one.number in leading for one in heads) else heads for heads in found)
    return MapHeads(kept, crops)


def _walk(
    outline: Outline, resolutions: Resolutions, output: Value, most: int
) -> tuple[Sequence[MapHead], bool, int]:
    """Return the heads of one output, whether regions are cut out, and how many steps it took."""
    operations = outline.operations
    pending = [operations.giver(operations.source(output))]
    seen: set[int] = set()
    heads: list[MapHead] = []
    is_whole, crops = True, False
    while pending:
        number = pending.pop()
        if number is None or number in seen:
            continue
        seen.add(number)
        if len(seen) > most:
            return [], crops, len(seen)
        node = operations.nodes[number]
        taken = operations.operands[number]
        before = resolutions.of_value(taken[0]) if taken else None
        if node.operator.has("convolves") and before is not None and before.factor is not None:
            factor = resolutions[number].factor
            details = read_convolution(operations, number)
            width = details.out_features or 0
            if factor is None:
                is_whole = False
                continue
            heads.append(MapHead(number, width, factor, width != details.in_features))
            continue
        crops |= is_crop(node)
        if node.operator.has("recurrent", "attends") or (
            node.operator.weight_kind in ("linear", "embedding") and find_weight(node) is not None
        ):
            is_whole = False
            continue
        pending += [operations.giver(value) for value in taken]
    return (heads if is_whole else []), crops, len(seen)
