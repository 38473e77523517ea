"""The server on loopback: gives the page to who has the token, and talks with it.

Nobody else is answered. The page is refused to whoever calls this machine by another name than
its own, so that no foreign page can have one resolved to it, and the socket to pages of others.
"""

from __future__ import annotations

import asyncio
import contextlib
import hmac
import json
import logging
import os
import socket
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from tornado.httpserver import HTTPServer
from tornado.web import Application, HTTPError, RequestHandler
from tornado.websocket import WebSocketClosedError, WebSocketHandler

from netloupe.explorer.model import Model
from netloupe.explorer.overlays import Overlay
from netloupe.explorer.standalone.document import write_html
from netloupe.explorer.view import ViewOptions

from .client import Send
from .exploration import Exploration

_log = logging.getLogger(__name__)

HOST = "127.0.0.1"
_OWN_NAMES = ("127.0.0.1", "localhost", "::1")
#: a page asks with a few paths; many are selected together at most
_MOST_BYTES = 8 << 20
_NO_SCRIPT = "<p>The explorer needs a browser that runs scripts.</p>"
#: of which some browsers do not take the first for sockets
_REACH = "'self' ws://127.0.0.1:* ws://localhost:*"
_HEADERS = {
    "Cache-Control": "no-store",
    "Content-Security-Policy": "frame-ancestors 'none'",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
}


class LiveServer:
    """Serves the explorer of a model while an event loop runs.

    Parameters
    ----------
    model
        The model.
    options
        What is shown first, and how.
    token
        Who asks without it gets nothing.
    port
        The port; a free one where 0.
    overlays
        What boxes can be coloured by.

    Raises
    ------
    OSError
        Where the port cannot be had.
    """

    def __init__(
        self,
        model: Model,
        options: ViewOptions,
        token: str,
        port: int = 0,
        overlays: Sequence[Overlay] = (),
    ) -> None:
        self._token = token
        self._overlays = overlays
        self._model, self._options = model, options
        self._socket = _listen(port)
        self.port: int = self._socket.getsockname()[1]
        #: the sockets of those that are open
        self.pages: set[_SocketHandler] = set()
        routes = [
            (r"/", _PageHandler, {"server": self}),
            (r"/socket", _SocketHandler, {"server": self}),
        ]
        application = Application(
            routes,
            default_handler_class=_Nothing,
            default_handler_args={"server": self},
            websocket_max_message_size=_MOST_BYTES,
            log_function=lambda _handler: None,  # addresses have the token in them
        )
        self._server = HTTPServer(application)

    @property
    def address(self) -> str:
        """Where the page is, with the token."""
        return f"http://{HOST}:{self.port}/?token={self._token}"

    def start(self) -> None:
        """Begin to answer; a loop runs."""
        self._server.add_socket(self._socket)

    def stop(self) -> None:
        """Answer no more, and end what is under way."""
        self._server.stop()
        self._socket.close()
        for page in [*self.pages]:
            page.close(1001)
            page.on_close()

    def admits(self, token: str) -> bool:
        """Return whether a token is the right one."""
        return hmac.compare_digest(token.encode(), self._token.encode())

    def explore(self, send: Send) -> Exploration:
        """Begin an exploration for a page."""
        return Exploration(self._model, self._options, send, self._overlays)

    def write_page(self) -> str:
        """Return the page."""
        name = Path(self._model.source).name or self._model.source
        title = self._options.title
        data = {
            "live": "socket",
            "traits": {
                "title": f"Graph of {name}" if title in ("auto", "") else title,
                "file_name": name,
                "direction": self._options.direction,
                "theme": "dark" if self._options.theme == "dark" else "auto",
                "height": 0,
            },
        }
        return write_html(name, data, {}, _NO_SCRIPT, _REACH)


def _listen(port: int) -> socket.socket:
    """Return a socket that listens on a port of this machine alone.

    Raises
    ------
    OSError
        Where the port cannot be had.
    """
    listening = socket.socket()
    try:
        if os.name == "posix":  # what has ended a minute ago is not in the way
            listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.setblocking(False)
        listening.bind((HOST, port))
        listening.listen()
    except OSError:
        listening.close()
        raise
    return listening


class _Guarded(RequestHandler):
    """Answers who calls this machine by its own name and has the token."""

    def initialize(self, server: LiveServer) -> None:
        self._server = server

    def set_default_headers(self) -> None:
        for name, value in _HEADERS.items():
            self.set_header(name, value)
        self.clear_header("Server")

    def prepare(self) -> None:
        if urlsplit(f"//{self.request.host}").hostname not in _OWN_NAMES:
            raise HTTPError(403)
        if not self._server.admits(self.get_query_argument("token", "")):
            raise HTTPError(403)

    def write_error(self, status_code: int, **kwargs: Any) -> None:
        self.set_header("Content-Type", "text/plain; charset=utf-8")
        self.finish(
            "The address has no token, or not that of this server. Take the whole address that "
            "`netloupe open` has printed.\n"
            if status_code == 403
            else "There is nothing here.\n"
        )


class _Nothing(_Guarded):
    def prepare(self) -> None:
        super().prepare()
        raise HTTPError(404)


class _PageHandler(_Guarded):
    def get(self) -> None:
        self.finish(self._server.write_page())


class _SocketHandler(WebSocketHandler, _Guarded):
    _exploration: Exploration | None = None

    def check_origin(self, origin: str) -> bool:
        """Return whether a page of ours asks, whatever tunnel it came through."""
        return urlsplit(origin).netloc == self.request.host

    async def open(self, *_: str, **__: str) -> None:
        self.set_nodelay(True)
        loop = asyncio.get_running_loop()

        def send(frame: str | bytes) -> None:
            with contextlib.suppress(RuntimeError):  # the loop has ended
                loop.call_soon_threadsafe(self._send, frame)

        try:
            made = await loop.run_in_executor(None, self._server.explore, send)
        except Exception as error:
            _log.exception("an exploration could not be begun")
            self.close(1011, f"internal error: {error}"[:100])
            return
        if self.ws_connection is None or self.ws_connection.is_closing():  # it did not wait
            made.close()
        else:
            self._exploration = made
            self._server.pages.add(self)

    def on_message(self, message: str | bytes) -> None:
        try:
            frame = json.loads(message)
        except (ValueError, RecursionError):
            frame = {}
        if self._exploration is not None:
            self._exploration.receive(frame if isinstance(frame, dict) else {})

    def on_close(self) -> None:
        self._server.pages.discard(self)
        if self._exploration is not None:
            self._exploration.close()
            self._exploration = None

    def _send(self, frame: str | bytes) -> None:
        with contextlib.suppress(WebSocketClosedError):
            self.write_message(frame, binary=isinstance(frame, bytes))
