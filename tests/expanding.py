"""Opening a view as an option says, the first view included."""

from __future__ import annotations

from netloupe.explorer.layout import Composer, FirstView
from netloupe.explorer.render.labels import Labels
from netloupe.explorer.view import View, expand_view


def open_view(view: View, mode: str | int) -> str | None:
    """Open what ``expand`` says; return the notice of what could not be opened."""
    if mode == "auto":
        FirstView(Composer(), Labels()).open(view)
        return None
    return expand_view(view, mode)
