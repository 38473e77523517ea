"""What colours the boxes of a picture once it is known which there are."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Protocol

from netloupe.explorer.view import Item, View

from .legend import Entry
from .paint import Paints


class Colouring(Protocol):
    """Colours boxes by numbers or words; :class:`netloupe.explorer.overlays.Overlay` is one."""

    def paint(self, view: View, items: Iterable[Item]) -> Paints:
        """Return how boxes of a view are painted, by path; costs what is asked for."""

    def list_legend(self) -> Sequence[Entry]:
        """Return what the legend says of the colours."""
