"""The page of a model, and the socket behind it, for who is logged in at the Jupyter server.

``netloupe/page?path=…`` is the same for all models: nothing is read for it. JupyterLab asks for it
with a header, which no link and no frame can send, and puts it into a frame of its own: so it is
also where pages may not be framed, as behind a JupyterHub. ``netloupe/socket`` wants the ticket of
the page. It takes the model from a :class:`~netloupe.lab.processes.ModelProcess` and passes on the
frames that ``netloupe/live/frames.py`` describes. A last one, ``ended``, says why no more come.
"""

from __future__ import annotations

import asyncio
import json
import re
from contextlib import suppress
from datetime import UTC, datetime
from typing import Any
from urllib.parse import urlencode

from jupyter_core.utils import ensure_async
from jupyter_server.auth.decorator import authorized
from jupyter_server.base.handlers import JupyterHandler
from jupyter_server.base.websocket import WebSocketMixin
from jupyter_server.utils import url_path_join
from tornado.httpclient import HTTPRequest
from tornado.web import HTTPError, authenticated
from tornado.websocket import (
    WebSocketClientConnection,
    WebSocketClosedError,
    WebSocketHandler,
    websocket_connect,
)

from netloupe.explorer.errors import NetloupeError
from netloupe.explorer.standalone.document import write_html

from .confinement import RefusedPathError, find_file
from .processes import ModelProcess, ModelProcesses
from .settings import NetloupeLab
from .tickets import Tickets

#: a header of what asks for a page, and of the page
ASKED_BY = "X-Netloupe"
#: from a page, which asks with a few paths
_MOST_BYTES = 8 << 20
#: from a model's process: the picture of a large model
_MOST_ANSWER_BYTES = 1 << 30
#: what a page may ask before its model is read
_MOST_EARLY_BYTES = 1 << 20
#: seconds until it is known why a process has ended
_PATIENCE = 3.0
_NO_SCRIPT = "<p>The explorer needs a browser that runs scripts.</p>"
#: the name of a host and its port: nothing else gets into a content policy
_HOST = re.compile(r"[A-Za-z0-9.\-\[\]:]+")
_WORDS = {
    "lost": "The connection to the Jupyter server has ended. Press Reload to go on.",
    "renew": "press Reload",
}


class PageHandler(JupyterHandler):
    """Gives the page of a model."""

    auth_resource = "contents"

    def initialize(self, settings: NetloupeLab, tickets: Tickets) -> None:
        """Take what an administrator has set, and the tickets of the server."""
        self._lab, self._tickets = settings, tickets

    @authenticated
    @authorized
    async def get(self) -> None:
        """Write the page, or why there is none."""
        if self.request.headers.get(ASKED_BY) != "netloupe":
            raise HTTPError(403, "a page of a model is given to JupyterLab only")
        path = self.get_query_argument("path", "")
        name = path.rpartition("/")[2] or path
        data: dict[str, Any]
        try:
            await find_file(path, self.contents_manager, self._lab.linked_folders)
        except RefusedPathError as error:
            self.set_status(error.status)
            data = {"refused": str(error)}
        else:
            traits = {
                "title": f"Graph of {name}",
                "file_name": name,
                "theme": "auto",
                "height": 0,
            }
            ticket = self._tickets.issue(path)
            query = urlencode({"path": path, "ticket": ticket})
            address = url_path_join(self.base_url, "netloupe", "socket")
            data = {"live": f"{address}?{query}", "traits": traits, "words": _WORDS}
        self.set_header(ASKED_BY, "netloupe")  # which a login page in its place has not
        self.set_header("Cache-Control", "no-store")
        self.set_header("Referrer-Policy", "same-origin")
        await self.finish(write_html(name, data, {}, _NO_SCRIPT, self._reach()))

    def _reach(self) -> str:
        """Return what the page may ask; not all browsers take 'self' for sockets."""
        host = self.request.host
        if not _HOST.fullmatch(host):
            return "'self'"
        return f"'self' ws://{host} wss://{host}"


class SocketHandler(WebSocketMixin, WebSocketHandler, JupyterHandler):
    """Passes on what a page and the process of its model say."""

    auth_resource = "contents"

    def initialize(
        self, settings: NetloupeLab, tickets: Tickets, processes: ModelProcesses
    ) -> None:
        """Take what an administrator has set, and the tickets and processes of the server."""
        self._lab, self._tickets = settings, tickets
        self._processes = processes
        self._forwarding: asyncio.Task[None] | None = None
        self._model: WebSocketClientConnection | None = None
        self._early: list[str | bytes] = []
        self._early_bytes = 0

    @property
    def max_message_size(self) -> int:
        """The most bytes of one frame from a page."""
        return _MOST_BYTES

    async def get(self, *args: Any, **kwargs: Any) -> None:
        """Open the socket for who may read and write files: notes are written beside a model."""
        user = self.current_user
        if user is None:
            raise HTTPError(403)
        for action in ("read", "write"):
            if not await ensure_async(
                self.authorizer.is_authorized(self, user, action, self.auth_resource)
            ):
                raise HTTPError(403)
        ticket, path = (self.get_query_argument(name, "") for name in ("ticket", "path"))
        if not self._tickets.redeem(ticket, path):
            raise HTTPError(403)
        await super().get(*args, **kwargs)

    async def open(self, *_: Any, **__: Any) -> None:
        """Begin to forward."""
        super().open()
        self.set_nodelay(True)
        self._forwarding = asyncio.create_task(self._forward())

    async def on_message(self, message: str | bytes) -> None:
        """Take a frame of the page."""
        self.settings.setdefault("last_activity_times", {})["netloupe"] = datetime.now(UTC)
        if self._model is not None:
            with suppress(WebSocketClosedError):
                await self._model.write_message(message, binary=isinstance(message, bytes))
            return
        self._early_bytes += len(message)
        if self._early_bytes > _MOST_EARLY_BYTES:
            self.close(1009, "too much was asked before the model was read")
        else:
            self._early.append(message)

    def on_close(self) -> None:
        """End what is under way."""
        if self._forwarding is not None:
            self._forwarding.cancel()
        super().on_close()

    async def _forward(self) -> None:
        """Hand frames of the model's process to the page, until there are no more."""
        try:
            reason = await self._talk()
        except (NetloupeError, OSError) as error:
            reason = str(error)
        except Exception as error:
            self.log.exception("netloupe: forwarding has failed")
            reason = f"internal error: {error}"
        with suppress(WebSocketClosedError):
            await self.write_message(json.dumps({"ended": reason}))
        self.close()

    async def _talk(self) -> str:
        """Forward frames; return why there are no more."""
        path = self.get_query_argument("path", "")
        found = await find_file(path, self.contents_manager, self._lab.linked_folders)
        process = self._processes.take(*found)
        try:
            model = await self._connect(process)
            try:
                while self._early:
                    message = self._early.pop(0)
                    await model.write_message(message, binary=isinstance(message, bytes))
                self._model = model
                while (frame := await model.read_message()) is not None:
                    await self.write_message(frame, binary=isinstance(frame, bytes))
            finally:
                model.close()
            return model.close_reason or await process.explain_end(_PATIENCE)
        finally:
            self._processes.give_back(process)

    async def _connect(self, process: ModelProcess) -> WebSocketClientConnection:
        """Connect with the process of a model, once the model is read."""
        host = f"127.0.0.1:{await process.find_port()}"
        request = HTTPRequest(
            f"ws://{host}/socket?token={process.token}", headers={"Origin": f"http://{host}"}
        )
        return await websocket_connect(request, max_message_size=_MOST_ANSWER_BYTES)
