"""How chains of blocks meet, in a word."""

from __future__ import annotations

from collections.abc import Sequence

from .outline import Outline
from .pieces import CROSS_ATTENTION

_ATTENDING = frozenset({"attention", "transformer"})


def find_joint(outline: Outline, taken: Sequence[int], ways: Sequence[int]) -> str:
    """Return how streams meet, in a word; "" where they do in several ways."""
    operations = outline.operations
    words = set()
    for number, bits in enumerate(taken):
        if sum(bool(way & bits) for way in ways) < 2:
            continue
        before = [taken[giver] for giver in operations.givers(number)]
        if all(sum(bool(way & one) for way in ways) < 2 for one in before):
            words.add(_name_joint(outline, number))
    return words.pop() if len(words) == 1 else ""


def _name_joint(outline: Outline, number: int) -> str:
    part = outline.owner(number)
    operator = outline.operations.nodes[number].operator
    if part.kind in _ATTENDING:
        return "in cross-attention" if part.name == CROSS_ATTENTION else ""
    if operator.has("adds"):
        return "added"
    if operator.has("joins"):
        return "concatenated"
    return "multiplied" if operator.has("multiplies_elements") else ""
