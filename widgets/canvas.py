"""The canvas: the widget that draws a Scene in the browser and asks for the next one.

The browser's side is ``frontend/src/canvas.ts``. State is in the traits, which have the same
names in ``frontend/src/host/traits.ts``; scenes, searches and errors travel as messages, which
``explorer/session/messages.py`` describes field by field.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Unpack, cast, get_args

import traitlets

from netloupe.explorer.errors import NetloupeError
from netloupe.explorer.options import Details, Direction, Share, ThemeName
from netloupe.explorer.session.lookup import list_selected
from netloupe.explorer.session.messages import (
    ErrorMessage,
    Reply,
    Request,
    SceneFields,
    SceneMessage,
)

from .shared_code import SharedCodeWidget

_log = logging.getLogger(__name__)

RequestHandler = Callable[[Request, list[memoryview]], None]


class Canvas(SharedCodeWidget):
    """Draws a Scene; pans, zooms, selects, searches.

    Parameters
    ----------
    on_request
        Called with each request of the browser, ``{"id": …, "type": …}`` and its fields, and
        with the buffers that came with it. It answers through :meth:`reply_scene`,
        :meth:`reply` or :meth:`send_error`, at once or later. What it raises becomes an error
        message in the browser.
    **traits
        Any of the traits below.

    Raises
    ------
    TypeError
        For a keyword that is no trait.
    """

    code_file = "canvas.js"

    #: path of what is selected, of several elements the first, "" for nothing; set by the
    #: browser when the user selects, by Python when its user does
    selection = traitlets.Unicode("").tag(sync=True)
    #: paths of all that is selected, where that is more than one element; it counts only while
    #: its first is ``selection``; set with it, by both
    selected_paths = traitlets.List(traitlets.Unicode()).tag(sync=True)
    #: path of what the pointer is on, "" for nothing; set by the browser, and marked in every
    #: view of the widget
    hover = traitlets.Unicode("").tag(sync=True)
    #: path whose neighbourhood alone is shown, "" for the whole graph; set by Python
    focus = traitlets.Unicode("").tag(sync=True)
    #: how many nodes away from ``focus`` the neighbourhood reaches, 0 without one; set by Python
    hops = traitlets.Int(0, min=0).tag(sync=True)
    #: how nodes are grouped: ``auto``, ``names``, ``modules``, ``repeats`` or ``none``; set by
    #: Python
    grouping = traitlets.Unicode("auto").tag(sync=True)
    #: whether long pictures are cut into columns; set by Python
    wrap = traitlets.Bool(False).tag(sync=True)
    #: what stands on the boxes of nodes: ``facts`` or ``all``; set by Python
    details = traitlets.Enum(get_args(Details), "facts").tag(sync=True)
    #: whose share of the model the bars on boxes show, ``none`` for no bars; set by Python
    share = traitlets.Enum(get_args(Share), "parameters").tag(sync=True)
    #: the colours asked for, ``auto`` for those of the page; set by Python at the start, then by
    #: the browser's menu
    theme = traitlets.Enum(("auto", *get_args(ThemeName)), "auto").tag(sync=True)
    #: where the graph runs to: down (``TB``) or to the right (``LR``); set by Python at the
    #: start, then by the browser, whereupon Python sends the scene anew
    direction = traitlets.Enum(get_args(Direction), "TB").tag(sync=True)
    #: ``[path, label]`` of each graph from the main one to the one shown; set by Python
    breadcrumb = traitlets.List(traitlets.List(traitlets.Unicode())).tag(sync=True)
    #: how boxes and edges are painted, by path, as ``Paint.encode`` writes it; set by Python
    paints = traitlets.Dict(value_trait=traitlets.List()).tag(sync=True)
    #: what a review marks, which is laid over the paints, in the same form; set by Python
    marks = traitlets.Dict(value_trait=traitlets.List()).tag(sync=True)
    #: how an overlay colours the boxes of the scene, below all else, likewise; set by Python
    coloured = traitlets.Dict(value_trait=traitlets.List()).tag(sync=True)
    #: names of what boxes can be coloured by; set by Python
    overlays = traitlets.List(traitlets.Unicode()).tag(sync=True)
    #: the number of the one that they are coloured by, -1 for none; set by Python
    overlay = traitlets.Int(-1, min=-1).tag(sync=True)
    #: what has changed in the model's files since they were read, "" for nothing: the browser
    #: offers to read them again; set by Python
    changed = traitlets.Unicode("").tag(sync=True)
    #: the colours that ``theme`` has come to, ``light`` or ``dark``, "" before the first
    #: picture; set by the browser
    shown_theme = traitlets.Unicode("").tag(sync=True)
    #: height of the canvas in pixels, 0 for that of the window; set by Python at the start, then
    #: by the browser when the user drags its lower edge
    height = traitlets.Int(560, min=0).tag(sync=True)
    #: width of the inspector beside the canvas in pixels; set by the browser when the user drags
    #: the handle between them
    inspector_width = traitlets.Int(360, min=0).tag(sync=True)
    #: whether the inspector beside the canvas is to be seen; set by the browser
    inspector_shown = traitlets.Bool(True).tag(sync=True)
    #: the name that a screen reader speaks, "" for a general one; set by Python
    title = traitlets.Unicode("").tag(sync=True)
    #: name of the model's file without its folder: what is saved is called after it; set by Python
    file_name = traitlets.Unicode("").tag(sync=True)
    #: id of the static picture that the canvas replaces, "" for none; set by Python
    static_id = traitlets.Unicode("").tag(sync=True)
    #: the first scene, where it is made unasked and nobody has been shown one: ``message`` and the
    #: ``buffers`` that belong to it, or ``coming``; set by Python
    first = traitlets.Dict().tag(sync=True)

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
        **fields: Unpack[SceneFields],
    ) -> None:
        """Answer a request with a scene as ``encode_scene`` gives it, shown as ``fields`` say."""
        message: SceneMessage = {**fields, "type": "scene", "header": header}
        self.send({**message, "id": request_id}, list(buffers))

    def push_scene(
        self, header: Mapping[str, Any], buffers: Sequence[bytes], **fields: Unpack[SceneFields]
    ) -> None:
        """Show a scene that the browser did not ask for, as ``fields`` say."""
        message: SceneMessage = {**fields, "type": "scene", "header": header}
        self.send(message, list(buffers))

    def reply(self, request_id: Any, message: Reply, /, *buffers: bytes) -> None:
        """Answer a request with a message that is no scene, and the bytes that belong to it.

        Without an id it is told to every view, as one that nobody asked for.
        """
        self.send({**message, "id": request_id}, list(buffers))

    def send_error(self, request_id: Any, message: str) -> None:
        """Show an error; with an id it also ends that request."""
        self.reply(request_id, ErrorMessage(type="error", message=message))

    def offer_scene(
        self, header: Mapping[str, Any], buffers: Sequence[bytes], **fields: Unpack[SceneFields]
    ) -> None:
        """Have a scene ready for whoever comes, who so need not ask for it."""
        message: SceneMessage = {**fields, "type": "scene", "header": header}
        self.first = {"message": message, "buffers": list(buffers)}

    def select(self, paths: Sequence[str]) -> None:
        """Mark what is at some paths, all at once; nothing where there are none."""
        with self.hold_sync(), self.hold_trait_notifications():
            self.selection = paths[0] if paths else ""
            self.selected_paths = list(paths)

    def list_selected(self) -> tuple[str, ...]:
        """Return the paths of all that is selected."""
        return list_selected(self.selection, self.selected_paths)

    def _receive(self, _widget: object, content: object, buffers: list[memoryview]) -> None:
        if not isinstance(content, dict) or self.on_request is None or "type" not in content:
            return
        request = cast("Request", content)
        try:
            self.on_request(request, buffers)
        except NetloupeError as error:
            self.send_error(request.get("id"), str(error))
        except Exception as error:
            _log.exception("a request of the canvas failed: %s", request.get("type"))
            self.send_error(request.get("id"), f"internal error: {error}")
