"""The tabs beside the picture in a notebook: one widget for all items of a review.

The browser's side is ``frontend/src/review_panel.ts``; what travels is described in
``explorer/session/review_messages.py``.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from netloupe.explorer.session.review_messages import ReviewMessage

from .shared_code import SharedCodeWidget


class ReviewPanel(SharedCodeWidget):
    """Shows tabs, and in one of them the list of a review.

    Parameters
    ----------
    on_request
        Called with each request of the browser.
    **traits
        Those of :class:`ipywidgets.DOMWidget`.
    """

    code_file = "review_panel.js"

    def __init__(self, on_request: Callable[[object], object], **traits: Any) -> None:
        super().__init__(_dom_classes=("nl-review-holder",), **traits)
        self._on_request = on_request
        self.on_msg(self._receive)

    def tell_review(self, message: ReviewMessage) -> None:
        """Send a message to every view."""
        self.send(message)

    def _receive(self, _widget: object, content: object, _buffers: object) -> None:
        self._on_request(content)
