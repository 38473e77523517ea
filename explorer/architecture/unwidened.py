"""The first inverted residuals of a network, which do not widen: they are counted with the others.

M. Sandler and others, MobileNetV2, 2018, table 2: the first block has an expansion of 1, so that it
is a depthwise convolution and a 1×1 one that ends linearly.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from .composites import Merge
from .convolutional import is_separable
from .outline import Outline, OutlinePart

_NAME = "Inverted residual"
#: blocks that may be one, and of which kind one is then
_KINDS = {
    ("residual", "Residual block"): "residual",
    ("separable", "Depthwise-separable conv"): "inverted",
}
#: so many others follow, and so many are not widened at most
_LEAST_OTHERS, _MOST_EARLY = 4, 4


def find_unwidened(outline: Outline) -> Iterator[Merge]:
    """Find blocks before all inverted residuals that are as these but for what widens them."""
    others = [part for part in outline.parts if part.name == _NAME]
    if len(others) < _LEAST_OTHERS:
        return
    early = [
        part
        for part in outline.of_kind("residual", "separable")
        if part.place < others[0].place and others[0].follows(part)
    ]
    if len(early) > _MOST_EARLY:
        return
    for part in early:
        kind = _KINDS.get((part.kind, part.name))
        if kind is not None and is_separable(outline, part) and _ends_linearly(outline, part):
            yield [part], replace(part, kind=kind, name=_NAME)


def _ends_linearly(outline: Outline, part: OutlinePart) -> bool:
    operator = outline.operations.nodes[part.end].operator
    return operator.has("adds", "convolves", "normalizes")
