"""Canvas and inspector in one widget, for notebooks that show no widgets inside of widgets.

The browser's side is ``frontend/src/page_widget.ts``. What the inspector asks is answered as in a
page of its own: ``explorer/standalone/inspecting.py`` describes it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Any

from netloupe.explorer.page import PAGE
from netloupe.explorer.session import Views
from netloupe.explorer.session.overview import Overview
from netloupe.explorer.session.review_messages import ReviewMessage
from netloupe.explorer.standalone.inspecting import Inspecting

from .canvas import Canvas


class PageCanvas(Canvas):
    """A canvas that has its inspector in itself.

    Parameters
    ----------
    **traits
        Those of :class:`Canvas`.
    """

    # here every widget is given its module by an address, of which a page keeps what it has loaded
    code_file = ""
    _esm = PAGE / "page_widget.js"
    _css = PAGE / "explorer.css"

    #: called with what the inspector asks, as a dictionary
    on_inspect: Callable[[Mapping[str, Any]], None] | None = None

    def tell(self, content: Mapping[str, Any], buffers: Sequence[bytes] = ()) -> None:
        """Send a message to the inspector."""
        self.send(dict(content), list(buffers))

    def tell_review(self, message: ReviewMessage) -> None:
        """Send a message to the review tab."""
        self.tell({"review": message})

    def _receive(self, widget: object, content: object, buffers: list[memoryview]) -> None:
        if isinstance(content, dict) and "type" not in content:
            if self.on_inspect is not None:
                self.on_inspect(content)
            return
        super()._receive(widget, content, buffers)


class PageInspector:
    """The inspector inside of a :class:`PageCanvas`, which asks for itself what it shows.

    It takes the place of :class:`~netloupe.widgets.inspector.Inspector` and of
    :class:`~netloupe.widgets.details.Details`.

    Parameters
    ----------
    views
        The model and its views.
    looking
        Returns what is entered to look at views, which nobody changes meanwhile.
    """

    #: the canvas shows it in its own colours
    theme = "light"

    def __init__(
        self,
        canvas: PageCanvas,
        views: Views,
        looking: Callable[[], AbstractContextManager[object]],
    ) -> None:
        self._canvas = canvas
        self._views = views
        self._inspecting = Inspecting(views, looking, canvas.tell, canvas.log)
        self._grouping = views.current.grouping
        self.overview = self._outline()

    def receive(self, asked: Mapping[str, Any]) -> bool:
        """Take a question; return whether it is one."""
        return self._inspecting.receive(asked)

    def begin(self) -> None:
        """Nothing waits for the page."""

    def show_error(self, message: str) -> None:
        """Show an error."""
        self._canvas.send_error(None, message)

    def describe(self, paths: Sequence[str]) -> None:
        """Let what is at some paths be described, which no picture has to show."""
        if tuple(paths) != self._canvas.list_selected():
            self._canvas.select(paths)

    def inform(self, _paths: Sequence[str]) -> None:
        """Say that more is known of what is described."""
        self.overview.renew()
        self._inspecting.tell_more()

    def renew(self) -> bool:
        """Follow a model that was read again, or is grouped in another way."""
        grouping, self._grouping = self._grouping, self._views.current.grouping
        if self.overview.model is not self._views.model:
            self.overview.close()
            self._inspecting.forget()
            self.overview = self._outline()
            self.overview.read()
            self._inspecting.tell_more()
        elif grouping != self._grouping:
            self._inspecting.tell_more()
        return False

    def close(self) -> None:
        """Answer no more."""
        self.overview.close()
        self._inspecting.close()

    def _outline(self) -> Overview:
        overview = Overview(self._views.model, self._inspecting, lambda: True)
        overview.show()
        return overview
