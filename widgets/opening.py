"""Opening a model in a notebook, and what the cell shows while that takes long."""

from __future__ import annotations

import html
import time
from collections.abc import Callable
from contextlib import ExitStack
from os import PathLike
from pathlib import Path
from types import TracebackType
from typing import Any, Unpack
from uuid import uuid4

from netloupe.explorer.arguments import explain_arguments
from netloupe.explorer.compare import diff
from netloupe.explorer.layout import shared_engine
from netloupe.explorer.model import Model
from netloupe.explorer.progress import watched
from netloupe.explorer.readers.load import load
from netloupe.explorer.view import ViewKeywords, ViewOptions

from .cell_runner import find_kernel_shell
from .explorer import Explorer
from .saving import Saved, choose_saved

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
    "comparing nodes": 0.3,
    "comparing weights": 0.6,
    "merging the models": 0.8,
}
_BAR = (
    '<div data-netloupe="opening" style="display:flex;align-items:center;gap:10px">'
    '<progress max="1" value="{share:.3f}" style="flex:none;width:180px"></progress>'
    '<span>{name}: {what} … <span style="opacity:0.7">(interrupt the kernel to cancel)</span>'
    "</span></div>"
)
#: what takes the bar's place: an empty line would stay above the explorer
_NOTHING = '<div data-netloupe="opened" hidden></div>'


class Opening:
    """Shows a bar in the cell's output while a model is opened, if that takes long.

    The bar is gone when the model is open, or when opening was interrupted. The kernel is at
    work meanwhile and hears no button of its own; its interrupt ends the work.

    Parameters
    ----------
    name
        What is opened, as the user called it.

    Notes
    -----
    The bar is HTML that is changed in place. A widget would have to be closed in the end, and a
    page that comes to its output only then says that the widget was not found.

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
        #: by which the output is changed; "" before there is one
        self._display_id = ""
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
        if self._display_id:
            self._show(_NOTHING)

    def _note(self, what: str, _share: float | None) -> None:
        if what:
            self._what = what
            self._share = max(self._share, _SHARES.get(what, 0.0))
        now = time.monotonic()
        if now - self._begin < PATIENCE_SECONDS or now - self._last < _SECONDS_BETWEEN_CHANGES:
            return
        self._last = now
        name, what = html.escape(self._name), html.escape(self._what)
        self._show(_BAR.format(share=self._share, name=name, what=what))

    def _show(self, content: str) -> None:
        from IPython import display as ipython

        show: Callable[..., Any] = ipython.update_display if self._display_id else ipython.display
        self._display_id = self._display_id or uuid4().hex
        show({"text/html": content, "text/plain": ""}, raw=True, display_id=self._display_id)


def _in_notebook() -> bool:
    """Return whether a kernel runs this, whose cell can show what changes."""
    return find_kernel_shell() is not None


@explain_arguments
def explore(
    source: Any,
    *,
    against: Any = None,
    height: int = 560,
    saved: Saved | None = None,
    **view: Unpack[ViewKeywords],
) -> Explorer:
    """Explore a model in a notebook: returns at once, shows the picture beside an inspector.

    Parameters
    ----------
    source
        A path, bytes, a file object, an ``onnx.ModelProto`` or a Model.
    against
        Another model, the one before: both are shown as one picture, with what was added, removed
        and changed marked, and ``diff`` of the explorer says what differs.
    height
        Height in pixels; 0 for that of the window.
    saved
        What a saved notebook, or a page made of it, shows where no kernel runs: the
        ``"explorer"``, which takes up to a megabyte of the notebook, or its ``"picture"`` alone.
        Where it is not given, the environment variable ``NETLOUPE_SAVED`` says it, else it is the
        explorer.
    **view
        What is shown first and how: see :class:`~netloupe.ViewKeywords`. The canvas wraps only
        where ``wrap`` is given.

    Returns
    -------
    Explorer
        Read ``selection``; call ``select``, ``open``, ``close``, ``search``; ``observe``.

    Raises
    ------
    SourceError, ModelFormatError
        Where the source is no model that can be read.
    ViewError, NotFoundError
        For options that do not exist or do not fit.
    """
    options = ViewOptions.parse({"wrap": False, **view})
    kept = choose_saved(saved)
    shared_engine().start()
    with Opening(_name_source(source)):
        model = load(source)
        if against is not None:
            model = diff(load(against), model).merged
        return Explorer(model, options, height, kept)


def _name_source(source: Any) -> str:
    if isinstance(source, Model):
        return source.source
    return Path(source).name if isinstance(source, (str, PathLike)) else "the model"
