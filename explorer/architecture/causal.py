"""Convolutions of what came before: of a sequence each place takes itself and earlier ones."""

from __future__ import annotations

from netloupe.explorer.model import Node
from netloupe.explorer.model.constant import constant_tensor
from netloupe.explorer.patterns.convolutions import read_convolution
from netloupe.explorer.patterns.readings import read_ints, read_numbers

from .outline import Outline, OutlinePart

_MOST_PADS = 16


def looks_back(outline: Outline, part: OutlinePart) -> bool:
    """Return whether all that a block convolves along a sequence is padded at its beginning alone.

    By as much as a kernel reaches, so that no place takes a later one (A. van den Oord and others,
    WaveNet, 2016, section 2.1; N. Kalchbrenner and others, Neural Machine Translation in Linear
    Time, 2016, section 3.1).
    """
    operations = outline.operations
    found = False
    for number in part.numbers:
        node = operations.nodes[number]
        if not node.operator.has("convolves"):
            continue
        details = read_convolution(operations, number)
        if max(details.kernel, default=1) == 1:
            continue
        if len(details.kernel) != 1 or details.transposed or details.stride is not None:
            return False
        reach = (details.kernel[0] - 1) * (details.dilation or 1)
        if _read_pads(node) != (reach, 0):
            return False
        found = True
    return found


def _read_pads(node: Node) -> tuple[int, int]:
    """Return by how many places a sequence is padded at both ends, also by an operator before."""
    begin, end = (*read_ints(node, "pads"), 0, 0)[:2]
    taken = node.input(0)
    before = taken.producer if taken is not None else None
    if before is None or not before.operator.has("pads"):
        return begin, end
    stated = [*read_ints(before, "pads")]
    given = before.input(1)
    if not stated and given is not None:
        stated = [int(one) for one in read_numbers(constant_tensor(given), _MOST_PADS) or ()]
    half = len(stated) // 2
    if not half or any(stated[: half - 1]) or any(stated[half:-1]):
        return -1, -1
    return begin + stated[half - 1], end + stated[-1]
