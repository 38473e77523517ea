"""What a cell shows while a large model is opened: how far it is, and how to end it."""

from __future__ import annotations

import html
import time
from collections.abc import Callable
from contextlib import ExitStack
from types import TracebackType
from typing import Any

import ipywidgets

from netloupe.explorer.steps import watched

#: nothing is shown of what is shorter
PATIENCE_SECONDS = 0.5
_SECONDS_BETWEEN_CHANGES = 0.15
#: how far the work is where each of these begins, by what they take for a large model
_SHARES = {
    "reading nodes": 0.15,
    "reading values": 0.25,
    "reading operators": 0.25,
    "grouping nodes": 0.5,
    "looking for repeats": 0.7,
    "reading edges": 0.9,
}


class Opening:
    """Shows a bar in the cell's output while a model is opened, if that takes long.

    The bar is gone when the model is open, or when opening was interrupted. The kernel is at
    work meanwhile and hears no button of its own; its interrupt ends the work.

    Parameters
    ----------
    name
        What is opened, as the user called it.

    Examples
    --------
    >>> with Opening("model.onnx"):
    ...     model = load("model.onnx")
    """

    def __init__(self, name: str) -> None:
        self._name = name
        self._what = "reading the file"
        self._share = 0.0
        self._begin = self._last = 0.0
        self._bar: Any = None
        self._text: Any = None
        self._box: Any = None
        self._watching = ExitStack()

    def __enter__(self) -> Opening:
        self._begin = time.monotonic()
        if _in_notebook():
            self._watching.enter_context(watched(self._note))
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._watching.close()
        if self._box is not None:
            for widget in (self._bar, self._text, self._box):
                widget.close()

    def _note(self, what: str) -> None:
        if what:
            self._what = what
            self._share = max(self._share, _SHARES.get(what, 0.0))
        now = time.monotonic()
        if now - self._begin < PATIENCE_SECONDS or now - self._last < _SECONDS_BETWEEN_CHANGES:
            return
        self._last = now
        if self._box is None:
            self._show()
        self._bar.value = self._share
        self._text.value = (
            f"{html.escape(self._name)}: {html.escape(self._what)} … "
            "<span style='opacity: 0.7'>(interrupt the kernel to cancel)</span>"
        )

    def _show(self) -> None:
        from IPython import display as ipython

        display: Callable[..., Any] = ipython.display
        self._bar = ipywidgets.FloatProgress(
            min=0.0, max=1.0, layout=ipywidgets.Layout(width="180px", flex="none")
        )
        self._text = ipywidgets.HTML(layout=ipywidgets.Layout(margin="0 0 0 8px"))
        self._box = ipywidgets.HBox(
            [self._bar, self._text], layout=ipywidgets.Layout(align_items="center")
        )
        display(self._box)


def _in_notebook() -> bool:
    """Return whether a kernel runs this, whose cell can show widgets."""
    from IPython.core.getipython import get_ipython

    shell = get_ipython()
    return shell is not None and getattr(shell, "kernel", None) is not None
