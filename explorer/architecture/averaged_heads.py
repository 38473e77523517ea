"""Heads of several tokens of a vision transformer, which are averaged."""

from __future__ import annotations

from collections.abc import Sequence

from netloupe.explorer.patterns.operations import PICKING

from .outline import Outline, OutlinePart

_BOTH = 2


def read_averaged_heads(outline: Outline, parts: Sequence[OutlinePart]) -> int:
    """Return what the heads of two tokens give whose mean is the only output; 0 where it is not.

    H. Touvron and others, Training data-efficient image transformers & distillation through
    attention, 2021, section 4: a second token learns from a teacher, and both classify together.

    Parameters
    ----------
    parts
        What is behind the blocks, in order.
    """
    means = [outline.giver(value) for value in outline.graph.outputs]
    mean = means.pop() if parts and len(means) == 1 else None
    total = outline.givers(mean)[0] if mean is not None and _halves(outline, mean) else None
    heads = outline.givers(total) if total is not None and total.has("adds") else []
    tokens = [giver for head in heads for giver in outline.givers(head)]
    are_heads = len(heads) == _BOTH and all(head.kind == "linear" for head in heads)
    are_apart = len({id(token) for token in tokens}) == _BOTH == len(tokens)
    if not are_heads or not are_apart or not all(token.has(*PICKING) for token in tokens):
        return 0
    taken = {value for token in tokens for value in outline.operands(token)}
    given = {head.out_features for head in heads}
    return given.pop() if len(taken) == len(given) == 1 else 0


def _halves(outline: Outline, part: OutlinePart) -> bool:
    """Return whether a part makes the mean of a sum of two."""
    factor = outline.operations.scalar(part.end)
    if part.has("divides"):
        return factor == float(_BOTH)
    return part.has("multiplies_elements") and factor == 1 / _BOTH
