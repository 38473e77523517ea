"""The text of a description, as one widget whose links are told to Python.

The browser's side is ``frontend/src/description_text.ts``.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

import traitlets

from netloupe.explorer.page.description_html import read_path
from netloupe.explorer.session.messages import DescriptionRequest

from .shared_code import SharedCodeWidget


class DescriptionText(SharedCodeWidget):
    """Shows HTML in which every text of the model is escaped already.

    Parameters
    ----------
    on_follow
        Called with the path of a link that is clicked.
    on_more
        Called with the number of the section whose next rows are wanted.
    **traits
        The trait below, and those of :class:`ipywidgets.DOMWidget`.

    Notes
    -----
    One widget for all links: each widget is a message when it is opened, and a page that has
    not yet read the state of all widgets waits two seconds for each one that it does not know.
    """

    code_file = "description_text.js"

    #: what is shown; set by Python
    html = traitlets.Unicode("").tag(sync=True)

    def __init__(
        self, on_follow: Callable[[str], None], on_more: Callable[[int], None], **traits: Any
    ) -> None:
        super().__init__(**traits)
        self._on_follow = on_follow
        self._on_more = on_more
        self.on_msg(self._receive)

    def _receive(self, _widget: object, content: object, _buffers: object) -> None:
        if not isinstance(content, dict):
            return
        request = cast("DescriptionRequest", content)
        path, section = request.get("follow"), request.get("more")
        if isinstance(path, str):
            self._on_follow(read_path(path))
        elif isinstance(section, int):
            self._on_more(section)
