"""Layers of Fourier neural operators: weights of frequencies beside a shortcut."""

from __future__ import annotations

from collections.abc import Iterator

from netloupe.explorer.patterns.readings import read_int

from .composites import Merge, make_part
from .outline import Outline, OutlinePart

FOURIER_LAYER = "Fourier layer"
_TRANSFORM = "DFT"


def merge_spectral_layers(outline: Outline) -> Iterator[Merge]:
    """Find blocks that weigh frequencies, beside a linear layer or a shortcut.

    Z. Li and others, Fourier Neural Operator for Parametric Partial Differential Equations, 2021,
    figure 2 (b): the inverse transform of what weights make of the lowest frequencies, and W·x.
    """
    for part in outline.of_kind("residual"):
        if _weighs_frequencies(outline, part):
            merged = make_part([part], "group", FOURIER_LAYER, part.details)
            merged.end = part.end
            yield [part], merged


def _weighs_frequencies(outline: Outline, part: OutlinePart) -> bool:
    """Return whether stored weights stand between a transform and its inverse in a block."""
    operations = outline.operations
    ways = {
        bool(read_int(operations.nodes[number], "inverse")): number
        for number in sorted(part.numbers)
        if operations.kinds[number] == _TRANSFORM
    }
    if len(ways) < 2:  # one there and one back
        return False
    return any(
        operations.nodes[number].operator.has("multiplies")  # a matrix for each frequency
        and any(operations.fixed(number))
        for number in part.numbers
        if ways[False] < number < ways[True]
    )
