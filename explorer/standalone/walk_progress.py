"""How far a walk through everything that can be opened is."""

from __future__ import annotations

from netloupe.explorer.progress import step
from netloupe.explorer.view import Item

from .walk import OpenedItem


class WalkProgress:
    """Tells how far a walk is: what an item holds has as large a share as what is beside it.

    Parameters
    ----------
    what
        What is done, in a few words.
    """

    def __init__(self, what: str) -> None:
        #: by key of what is not opened yet where its share begins, and its size
        self._spans: dict[str, tuple[float, float]] = {}
        self._done = 0.0
        step(what, 0.0)
        self._what = what

    def report(self, opened: OpenedItem) -> None:
        """Tell that an item is open now; it comes before what is inside."""
        item, state = opened
        begin, size = self._spans.get(item.key, (0.0, 1.0))
        count = 1 if item.repeat is None else len(item.repeat.children) + 1
        size /= count
        begin += size * (state % count)
        self._done = max(self._done, begin)
        step(self._what, self._done)
        inside: list[Item] = [child for child in item.children if child.openable]
        for place, child in enumerate(inside):
            span = begin + size * place / len(inside), size / len(inside)
            self._spans.setdefault(child.key, span)
