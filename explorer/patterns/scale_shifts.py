"""Features that are scaled and shifted by stored numbers, and normalized by none."""

from __future__ import annotations

from collections.abc import Iterator

from .found_blocks import FoundBlock, FoundBlocks
from .weight_sizes import read_dims, read_width

#: what it is called
SCALE_SHIFT = "Scale and shift"
_BOTH = 2


def find_scale_shifts(blocks: FoundBlocks) -> Iterator[FoundBlock]:
    """Find x · w + b, a stored number of each for every feature, and no statistics.

    So norms are replaced where they cost too much (Z. Sun and others, MobileBERT, 2020, section
    3.3: NoNorm; H. Touvron and others, ResMLP, 2021, equation 1).
    """
    operations = blocks.operations
    if operations.kinds != ["Mul", "Add"] or operations.only_user(0) != 1:
        return
    stored = [operations.fixed(number) for number in range(_BOTH)]
    widths = {read_width(value) for values in stored for value in values}
    if any(len(values) != 1 for values in stored) or len(widths) != 1:
        return
    (width,) = widths
    # a table of numbers for each of several features is no scale: it makes vectors of numbers
    is_row = all(
        sum(dim > 1 for dim in read_dims(value)) == 1 for values in stored for value in values
    )
    if width > 1 and is_row:
        facts = (f"{width:,}",)
        yield FoundBlock("scale and shift", SCALE_SHIFT, frozenset({0, 1}), 1, facts)
