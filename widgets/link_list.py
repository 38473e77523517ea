"""A list of links of any length: as many as a page holds, and a button for the next ones."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import ipywidgets

from netloupe.explorer.describe import Row

#: each link is a widget of its own in the browser, so that not all are made at once
PAGE = 40


class LinkList(ipywidgets.VBox):  # type: ignore[misc] # ipywidgets has no types
    """Shows rows as links, a page at a time.

    Parameters
    ----------
    rows
        What the links say and lead to; those that lead nowhere are text.
    make_row
        Makes the widget for one row.
    """

    def __init__(
        self, rows: Sequence[Row], make_row: Callable[[Row], ipywidgets.Widget], **traits: Any
    ) -> None:
        super().__init__(**traits)
        self.add_class("nl-inspector-links")
        self._rows = rows
        self._make_row = make_row
        self._more = ipywidgets.Button(layout=ipywidgets.Layout(width="auto"))
        self._more.add_class("nl-inspector-link")
        self._more.add_class("nl-inspector-more")
        self._more.on_click(lambda _button: self.show_more())
        self._shown: tuple[ipywidgets.Widget, ...] = ()
        self.show_more()

    def show_more(self) -> None:
        """Show another page of links."""
        start = len(self._shown)
        self._shown += tuple(self._make_row(row) for row in self._rows[start : start + PAGE])
        left = len(self._rows) - len(self._shown)
        of_all = f" of {left:,}" if left > PAGE else ""
        self._more.description = f"Show {min(left, PAGE):,} more{of_all}"
        self.children = (*self._shown, self._more) if left else self._shown

    def close(self) -> None:
        """Close the links too, so that the page forgets them."""
        for widget in (*self._shown, self._more):
            widget.close()
        super().close()
