"""Couplings of normalizing flows whose networks are too large to be one block with them."""

from __future__ import annotations

from collections.abc import Iterator

from netloupe.explorer.patterns.details import NO_DETAILS
from netloupe.explorer.patterns.flows import find_wide_couplings

from .composites import Merge, make_part
from .outline import Outline


def merge_couplings(outline: Outline) -> Iterator[Merge]:
    """Find what is scaled and shifted by two parts of what a network gives, as one part.

    L. Dinh and others, Density Estimation Using Real NVP, 2017, equations 7 and 8; undone where a
    flow goes from noise to data (R. Prenger and others, WaveGlow, 2018, equations 4 to 7).
    """
    for numbers in find_wide_couplings(outline.operations):
        parts = list(dict.fromkeys(map(outline.owner, sorted(numbers))))
        if all(part.numbers <= numbers for part in parts):
            yield parts, make_part(parts, "coupling", "Affine coupling", NO_DETAILS)
