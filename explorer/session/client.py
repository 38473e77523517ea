"""Where the answers of a session go: what any canvas has to take in."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from typing import Any, Protocol, Unpack

from netloupe.explorer.options import Details, Share

from .messages import Reply, SceneFields


class Client(Protocol):
    """A canvas as a session knows it: it is sent scenes and messages, and told what is shown.

    ``widgets/canvas.py`` is one, whose attributes are traits.
    """

    #: path whose neighbourhood alone is shown, "" for the whole graph
    focus: str
    #: how many nodes away from ``focus`` the neighbourhood reaches, 0 without one
    hops: int
    #: how nodes are grouped
    grouping: str
    #: whether long pictures are cut into columns
    wrap: bool
    #: what stands on the boxes of nodes
    details: Details
    #: whose share of the model the bars on boxes show
    share: Share
    #: how an overlay paints the boxes of the scene, by path, as ``Paint.encode`` writes it
    coloured: dict[str, list[str | int]]
    #: names of what boxes can be coloured by, and the number of the one that is chosen, -1 for none
    overlays: list[str]
    overlay: int
    #: path and label of each graph from the main one to the one shown
    breadcrumb: list[list[str]]

    @property
    def log(self) -> logging.Logger:
        """Where failures are written that are ours."""

    def reply_scene(
        self,
        request_id: Any,
        header: Mapping[str, Any],
        buffers: Sequence[bytes],
        /,
        **fields: Unpack[SceneFields],
    ) -> None:
        """Answer a request with a scene as ``encode_scene`` gives it, shown as ``fields`` say."""

    def push_scene(
        self, header: Mapping[str, Any], buffers: Sequence[bytes], **fields: Unpack[SceneFields]
    ) -> None:
        """Show a scene that was not asked for, as ``fields`` say."""

    def reply(self, request_id: Any, message: Reply, /, *buffers: bytes) -> None:
        """Answer a request with a message that is no scene; without an id tell every view.

        The bytes of a file go with it.
        """

    def send_error(self, request_id: Any, message: str) -> None:
        """Show an error; with an id it also ends that request."""
