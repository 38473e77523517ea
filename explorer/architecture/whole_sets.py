"""The last set abstraction of a network of points, which takes all of them as one neighbourhood."""

from __future__ import annotations

from collections.abc import Iterator

from netloupe.explorer.patterns.details import NO_DETAILS

from .composites import Merge, make_part
from .outline import Outline, OutlinePart

SET_ABSTRACTION = "Set abstraction"
_LAYERS = frozenset({"conv", "linear", "mlp"})
_PASSED = frozenset({"activation", "norm"})
_MOST_STEPS = 16


def find_whole_sets(outline: Outline) -> Iterator[Merge]:
    """Find the largest over all points of what layers make of them behind a set abstraction.

    C. Qi and others, PointNet++, 2017, section 3.2 and figure 2: features of sampled points are
    joined to their places, and one neighbourhood holds all that are left.
    """
    if not any(part.name == SET_ABSTRACTION for part in outline.parts):
        return
    for total in outline.parts:
        is_largest = total.has("reduces", "pools_all") and "Max" in total.kind
        parts = _list_layers(outline, total) if is_largest else []
        if parts:
            yield parts, make_part(parts, "unit", SET_ABSTRACTION, NO_DETAILS)


def _list_layers(outline: Outline, total: OutlinePart) -> list[OutlinePart]:
    """Return layers that work on each point alone, and the maximum; nothing for all else."""
    parts = [total]
    for _ in range(_MOST_STEPS):
        givers = outline.givers(parts[0])
        before = givers[0] if len(givers) == 1 else None
        if before is None or outline.only_user(before) is not parts[0]:
            return []
        if before.has("joins"):
            starts = [one.name for one in outline.givers(before)]
            has_layers = any(part.kind in _LAYERS for part in parts)
            return parts if has_layers and SET_ABSTRACTION in starts else []
        is_pointwise = before.kind != "conv" or before.is_pointwise
        if before.kind not in _LAYERS | _PASSED or not is_pointwise:
            return []
        parts.insert(0, before)
    return []
