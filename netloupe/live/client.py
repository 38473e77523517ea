"""A page as a session knows it: its traits, and where its messages go."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Generic, TypeVar, Unpack

from netloupe.explorer.options import Details, Share
from netloupe.explorer.session.messages import (
    ErrorMessage,
    Reply,
    SceneFields,
    SceneMessage,
)

from .frames import write_frame

_log = logging.getLogger(__name__)
_Value = TypeVar("_Value")

#: takes a frame to the page; from any thread
Send = Callable[[str | bytes], None]


class _Trait(Generic[_Value]):
    """A trait that the page is told of when it is set."""

    def __set_name__(self, owner: type[LiveClient], name: str) -> None:
        self._name = name

    def __get__(self, client: LiveClient, owner: type[LiveClient] | None = None) -> _Value:
        value: _Value = client.traits[self._name]
        return value

    def __set__(self, client: LiveClient, value: _Value) -> None:
        client.set_traits({self._name: value})


class LiveClient:
    """A page at the other end of a socket; see ``widgets/frontend/src/host/traits.ts``.

    Parameters
    ----------
    send
        Takes a frame to the page.
    **traits
        Those that are not as a page has them at first.
    """

    focus = _Trait[str]()
    hops = _Trait[int]()
    grouping = _Trait[str]()
    wrap = _Trait[bool]()
    details = _Trait[Details]()
    share = _Trait[Share]()
    coloured = _Trait[dict[str, list[str | int]]]()
    overlays = _Trait[list[str]]()
    overlay = _Trait[int]()
    breadcrumb = _Trait[list[list[str]]]()
    changed = _Trait[str]()
    selection = _Trait[str]()
    selected_paths = _Trait[list[str]]()

    def __init__(self, send: Send, **traits: Any) -> None:
        self._send = send
        self.traits: dict[str, Any] = {"selection": "", "selected_paths": [], "changed": ""}
        self.set_traits(traits)

    @property
    def log(self) -> logging.Logger:
        """Where failures are written that are ours."""
        return _log

    def send(self, content: Mapping[str, Any], buffers: Sequence[bytes] = ()) -> None:
        """Send a frame."""
        self._send(write_frame(content, buffers))

    def set_traits(self, values: Mapping[str, Any]) -> None:
        """Set traits, and tell the page of those that are new to it."""
        new = {name: value for name, value in values.items() if self.traits.get(name) != value}
        self.traits.update(new)
        if new:
            self.send({"traits": new})

    def select(self, paths: Sequence[str]) -> None:
        """Mark what is at some paths, all at once; nothing where there are none."""
        self.set_traits({"selection": paths[0] if paths else "", "selected_paths": [*paths]})

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
        self.send({"message": {**message, "id": request_id}}, buffers)

    def push_scene(
        self, header: Mapping[str, Any], buffers: Sequence[bytes], **fields: Unpack[SceneFields]
    ) -> None:
        """Show a scene that the page did not ask for, as ``fields`` say."""
        message: SceneMessage = {**fields, "type": "scene", "header": header}
        self.send({"message": message}, buffers)

    def reply(self, request_id: Any, message: Reply, /, *buffers: bytes) -> None:
        """Answer a request with a message that is no scene, and the bytes that belong to it."""
        self.send({"message": {**message, "id": request_id}}, buffers)

    def send_error(self, request_id: Any, message: str) -> None:
        """Show an error; with an id it also ends that request."""
        self.reply(request_id, ErrorMessage(type="error", message=message))
