"""The canvas: the widget that draws a Scene in the browser and asks for the next one.

The browser's side is ``frontend/src/canvas.ts``, with traits of the same names. State is in
the traits; scenes, searches and errors travel as messages.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import anywidget
import traitlets

from netloupe.explorer.errors import NetloupeError
from netloupe.explorer.page import PAGE

_log = logging.getLogger(__name__)

Message = dict[str, Any]
RequestHandler = Callable[[Message, list[memoryview]], None]


class Canvas(anywidget.AnyWidget):
    """Draws a Scene; pans, zooms, selects, searches.

    Parameters
    ----------
    on_request
        Called with each request of the browser, ``{"id": …, "type": …}`` and its fields, and
        with the buffers that came with it. It answers through :meth:`reply_scene`,
        :meth:`reply` or :meth:`send_error`, at once or later. What it raises becomes an error
        message in the browser.
    **traits
        ``selection`` and ``hover``: paths, "" for nothing. ``selected_paths``: all that is
        selected, where that is more than one value; it counts only while ``selection`` is the
        first of it. ``focus`` and ``hops``: the path
        whose neighbourhood alone is shown, "" for the whole graph, and how far it reaches.
        ``grouping``: how nodes are grouped. ``wrap``: whether long pictures are cut into
        columns. ``theme``: ``auto``, ``light`` or ``dark``.
        ``direction``: ``TB`` or ``LR``. ``breadcrumb``: ``[path, label]`` of each graph from
        the main one to the one shown. ``height`` in pixels, 0 for that of the
        window; ``inspector_width`` in pixels and ``inspector_shown``, for the inspector beside
        the canvas: all three are set by the user's hand. ``changed``: what has changed in the
        model's files since they were read, "" for nothing; the browser offers to read them
        again. ``shown_theme``: what ``auto`` has come to, set by the browser. ``title``: the
        name that a screen reader speaks. ``static_id``: the static picture that the canvas
        replaces.

    Raises
    ------
    TypeError
        For a keyword that is no trait.
    """

    _esm = PAGE / "canvas.js"
    # where it stands in an explorer; its own style sheet is in the module
    _css = PAGE / "explorer.css"

    selection = traitlets.Unicode("").tag(sync=True)
    selected_paths = traitlets.List(traitlets.Unicode()).tag(sync=True)
    hover = traitlets.Unicode("").tag(sync=True)
    focus = traitlets.Unicode("").tag(sync=True)
    hops = traitlets.Int(0, min=0).tag(sync=True)
    grouping = traitlets.Unicode("auto").tag(sync=True)
    wrap = traitlets.Bool(False).tag(sync=True)
    theme = traitlets.Enum(("auto", "light", "dark"), "auto").tag(sync=True)
    direction = traitlets.Enum(("TB", "LR"), "TB").tag(sync=True)
    breadcrumb = traitlets.List(traitlets.List(traitlets.Unicode())).tag(sync=True)
    changed = traitlets.Unicode("").tag(sync=True)
    shown_theme = traitlets.Unicode("").tag(sync=True)
    height = traitlets.Int(560, min=0).tag(sync=True)
    inspector_width = traitlets.Int(360, min=0).tag(sync=True)
    inspector_shown = traitlets.Bool(True).tag(sync=True)
    title = traitlets.Unicode("").tag(sync=True)
    static_id = traitlets.Unicode("").tag(sync=True)

    def __init__(self, on_request: RequestHandler | None = None, **traits: Any) -> None:
        unknown = [name for name in traits if not self.has_trait(name)]
        if unknown:
            raise TypeError(f"Canvas has no trait {', '.join(map(repr, unknown))}")
        super().__init__(**traits)
        self.on_request = on_request
        self.on_msg(self._receive)

    def reply_scene(
        self,
        request_id: Any,
        header: Mapping[str, Any],
        buffers: Sequence[bytes],
        /,
        **extra: Any,
    ) -> None:
        """Answer a request with a scene as ``encode_scene`` gives it.

        ``extra`` may hold ``select`` and ``center`` (a path, or those of several elements),
        ``anchor`` (path of the box that stays where it is on the screen), ``fit`` (show the
        scene as when first opened), ``history`` (``moment``: which one the scene shows; ``undo``
        and ``redo``: whether there are others to go to) and ``restore`` (show it where it was
        when this moment was shown last).
        """
        self.send({**extra, "id": request_id, "type": "scene", "header": header}, list(buffers))

    def push_scene(self, header: Mapping[str, Any], buffers: Sequence[bytes], **extra: Any) -> None:
        """Show a scene that the browser did not ask for; ``extra`` as in :meth:`reply_scene`."""
        self.send({**extra, "type": "scene", "header": header}, list(buffers))

    def reply(self, request_id: Any, message_type: str, /, **content: Any) -> None:
        """Answer a request with a message of another type, such as ``hits`` or ``busy``."""
        self.send({**content, "id": request_id, "type": message_type})

    def send_error(self, request_id: Any, message: str) -> None:
        """Show an error; with an id it also ends that request."""
        self.send({"id": request_id, "type": "error", "message": message})

    def select(self, paths: Sequence[str]) -> None:
        """Mark what is at some paths, all at once; nothing where there are none."""
        with self.hold_sync(), self.hold_trait_notifications():
            self.selection = paths[0] if paths else ""
            self.selected_paths = list(paths)

    def list_selected(self) -> tuple[str, ...]:
        """Return the paths of all that is selected."""
        paths = tuple(self.selected_paths)
        if paths[:1] == (self.selection,):
            return paths
        return (self.selection,) if self.selection else ()

    def _receive(self, _widget: object, content: object, buffers: list[memoryview]) -> None:
        if not isinstance(content, dict) or self.on_request is None:
            return
        request: Message = content
        try:
            self.on_request(request, buffers)
        except NetloupeError as error:
            self.send_error(request.get("id"), str(error))
        except Exception as error:
            _log.exception("a request of the canvas failed: %s", request.get("type"))
            self.send_error(request.get("id"), f"internal error: {error}")
