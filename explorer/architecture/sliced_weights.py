"""Layers whose weights are slices of one stored tensor, as those of experts are."""

from __future__ import annotations

from collections.abc import Sequence

from netloupe.explorer.model import Value

from .outline import Outline
from .pieces import Piece

#: what takes one weight of several that are stored as one
_TAKING = ("gathers", "slices", "splits", "picks")
_MOST_STEPS = 4


def are_slices(outline: Outline, pieces: Sequence[Piece]) -> bool:
    """Return whether any weights of layers are slices of one that is stored.

    An author's module has these together, as the layers of all experts.
    """
    found: set[Value] = set()
    for piece in pieces:
        for node in outline.nodes(piece.parts):
            stored = _find_whole(node.input(1)) if node.operator.has("multiplies") else None
            if stored is not None and stored in found:
                return True
            if stored is not None:
                found.add(stored)
    return False


def _find_whole(value: Value | None) -> Value | None:
    """Return the stored tensor of which a weight is a slice; None where it is no slice."""
    is_slice = False
    for _ in range(_MOST_STEPS):
        if value is None or value.initializer is not None:
            break
        node = value.producer
        if node is None or not node.inputs:
            return None
        is_slice |= node.operator.has(*_TAKING)
        value = node.input(0)
    return value if is_slice and value is not None and value.initializer is not None else None
