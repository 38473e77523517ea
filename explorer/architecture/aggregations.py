"""Layers in a row of which all results are joined at once."""

from __future__ import annotations

from itertools import pairwise

from .outline import Outline, OutlinePart

_LAYERS = frozenset({"conv", "separable"})
#: what is taken, and so many layers
_LEAST_JOINED = 4
_LEAST_TIMES = 2


def tell_aggregations(outline: Outline) -> str:
    """Return in how many places all results of layers in a row are joined; "" for fewer than two.

    Y. Lee and others, An Energy and GPU-Computation Efficient Backbone Network for Real-Time Object
    Detection, 2019, figure 2b: what the first one takes and what each gives, for one convolution of
    single places.
    """
    found = [part for part in outline.parts if part.has("joins") and _joins_row(outline, part)]
    counts = {len(outline.operations.operands[part.end]) - 1 for part in found}
    if len(found) < _LEAST_TIMES:
        return ""
    layers = f" of {counts.pop()} layers" if len(counts) == 1 else ""
    return f"one-shot aggregation{layers} in {len(found):,} places"


def _joins_row(outline: Outline, join: OutlinePart) -> bool:
    """Return whether each value but the first is given by a layer of the one before."""
    values = outline.operations.operands[join.end]
    givers = [outline.giver(value) for value in values]
    if len(values) < _LEAST_JOINED or len({*givers}) < len(givers):
        return False
    user = outline.only_user(join)
    if user is None or not user.is_pointwise:
        return False
    for number, (before, layer) in enumerate(pairwise(givers)):
        if layer is None or layer.kind not in _LAYERS:
            return False
        taken = outline.givers(layer)
        # the first may take fewer features, which a layer of single places makes
        if number == 0 and len(taken) == 1 and taken[0] is not before and taken[0].is_pointwise:
            taken = outline.givers(taken[0])
        if before is not None and taken != [before]:
            return False
    return True
