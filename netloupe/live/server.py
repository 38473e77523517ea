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
import socket
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from tornado.httpserver import HTTPServer
from tornado.web import Application, HTTPError, RequestHandler
from tornado.websocket import WebSocketClosedError, WebSocketHandler

from netloupe.explorer.errors import NetloupeError
from netloupe.explorer.progress import watched
from netloupe.explorer.standalone.document import write_html

from .loopback import listen, write_address
from .served import ReadyModel, ServedModel, Step

if TYPE_CHECKING:
    from netloupe.explorer.model import Model
    from netloupe.explorer.overlays import Overlay
    from netloupe.explorer.view import ViewOptions

    from .client import Send
    from .exploration import Exploration

_log = logging.getLogger(__name__)

_OWN_NAMES = ("127.0.0.1", "localhost", "::1")
#: a page asks with a few paths; many are selected together at most
_MOST_BYTES = 8 << 20
#: so many messages of a page wait for its model
_MOST_EARLY = 200
#: seconds between two steps that a page is told
_EVERY_SECONDS = 0.1
#: seconds in which a page comes that is to hear why there is nothing to show
_PAGE_SECONDS = 10.0
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
    """Serves explorers of models while an event loop runs.

    Parameters
    ----------
    shown
        The model; or models that are read while their pages are loaded.
    options
        What is shown first, and how; None for what a window shows.
    token
        Who asks without it gets nothing.
    port
        The port, a free one where 0; or the socket that listens there already.
    overlays
        What boxes can be coloured by, of a model that is read.

    Raises
    ------
    OSError
        Where the port cannot be had.
    """

    def __init__(
        self,
        shown: Model | Sequence[ServedModel],
        options: ViewOptions | None,
        token: str,
        port: int | socket.socket = 0,
        overlays: Sequence[Overlay] = (),
    ) -> None:
        self._token = token
        self._options = options
        #: by the numbers that addresses give them
        self.models = [*shown] if isinstance(shown, Sequence) else [ServedModel.of(shown, overlays)]
        self._socket = listen(port) if isinstance(port, int) else port
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
        return write_address(self.port, self._token)

    def start(self) -> None:
        """Begin to answer; a loop runs."""
        self._server.add_socket(self._socket)

    def stop(self) -> None:
        """Answer no more, and end what is under way."""
        self._server.stop()
        self._socket.close()
        for served in self.models:
            served.give_up()
        for page in [*self.pages]:
            page.close(1001)
            page.on_close()

    def admits(self, token: str) -> bool:
        """Return whether a token is the right one."""
        return hmac.compare_digest(token.encode(), self._token.encode())

    def find(self, number: str) -> ServedModel | None:
        """Return the model of a number in an address, the first where it has none."""
        if number == "":
            return self.models[0] if self.models else None
        if not number.isdecimal() or len(number) > 9 or int(number) >= len(self.models):
            return None
        return self.models[int(number)]

    def explore(self, loaded: ReadyModel, send: Send) -> Exploration:
        """Begin an exploration for a page."""
        from netloupe.explorer.view import ViewOptions

        from .exploration import Exploration

        options = self._options or ViewOptions.parse({"wrap": False})
        return Exploration(loaded.model, options, send, loaded.overlays)

    def write_page(self, served: ServedModel) -> str:
        """Return the page of a model."""
        title, direction, theme = "auto", "TB", "auto"
        if self._options is not None:
            title, direction, theme = (
                self._options.title,
                self._options.direction,
                self._options.theme,
            )
        data = {
            "live": "socket",
            "traits": {
                "title": f"Graph of {served.name}" if title in ("auto", "") else title,
                "file_name": served.name,
                "direction": direction,
                "theme": "dark" if theme == "dark" else "auto",
                "height": 0,
            },
        }
        return write_html(served.name, data, {}, _NO_SCRIPT, _REACH)

    async def wait_for_failure(self, *, page_comes: bool) -> None:
        """Wait until there is nothing to show, and a page has been told why.

        Parameters
        ----------
        page_comes
            Whether a page is on its way, so that it is waited for some seconds.
        """
        loop = asyncio.get_running_loop()
        changed = asyncio.Event()
        stops = [served.follow(lambda: _call_soon(loop, changed.set)) for served in self.models]
        try:
            while not self.models or any(served.failure is None for served in self.models):
                await changed.wait()
                changed.clear()
        finally:
            for stop in stops:
                stop()
        end = loop.time() + _PAGE_SECONDS
        while page_comes and not self.pages and loop.time() < end:
            await asyncio.sleep(_EVERY_SECONDS)
        await asyncio.sleep(2 * _EVERY_SECONDS)  # what is told goes out


def _call_soon(loop: asyncio.AbstractEventLoop, work: Callable[[], object]) -> None:
    """Let a loop do something, from any thread; nothing where it has ended."""
    with contextlib.suppress(RuntimeError):
        loop.call_soon_threadsafe(work)


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
        served = self._server.find(self.get_query_argument("model", ""))
        if served is None:
            raise HTTPError(404)
        self.finish(self._server.write_page(served))


class _SocketHandler(WebSocketHandler, _Guarded):
    _exploration: Exploration | None = None
    _served: ServedModel
    _is_told_at = 0.0
    _is_begun = False

    def check_origin(self, origin: str) -> bool:
        """Return whether a page of ours asks, whatever tunnel it came through."""
        return urlsplit(origin).netloc == self.request.host

    def prepare(self) -> None:
        super().prepare()
        served = self._server.find(self.get_query_argument("model", ""))
        if served is None:
            raise HTTPError(404)
        self._served = served

    def open(self, *_: str, **__: str) -> None:
        self.set_nodelay(True)
        self._server.pages.add(self)
        self._loop = loop = asyncio.get_running_loop()
        #: what has come before there is anything to ask; None once there is
        self._early: list[dict[str, Any]] | None = []
        self._stop_following = self._served.follow(lambda: _call_soon(loop, self._follow))
        self._served.begin()
        self._follow()

    def _follow(self) -> None:
        """Tell how far the model is; begin to explore it, or say why there is none."""
        served = self._served
        if not served.is_settled:
            self._tell_step(served.step)
            return
        self._stop_following()
        if served.loaded is not None:
            if not self._is_begun:
                self._is_begun = True
                self._loop.create_task(self._explore(served.loaded))
        else:
            self._send(json.dumps({"failed": served.explain()}))

    async def _explore(self, loaded: ReadyModel) -> None:
        loop = self._loop

        def send(frame: str | bytes) -> None:
            _call_soon(loop, lambda: self._send(frame))

        def look(what: str, share: float | None) -> None:
            now = loop.time()
            if now >= self._is_told_at + _EVERY_SECONDS:
                self._is_told_at = now
                _call_soon(loop, lambda: self._tell_step(Step(what or "opening", share)))

        def begin() -> Exploration:
            with watched(look):
                return self._server.explore(loaded, send)

        try:
            made = await loop.run_in_executor(None, begin)
        except Exception as error:
            if not isinstance(error, NetloupeError):
                _log.exception("an exploration could not be begun")
            self._send(json.dumps({"failed": f"{self._served.name}: {error}"}))
            return
        if self.ws_connection is None or self.ws_connection.is_closing():  # it did not wait
            made.close()
            return
        self._exploration = made
        early, self._early = self._early or [], None
        for frame in early:
            made.receive(frame)

    def _tell_step(self, step: Step) -> None:
        if self._exploration is None:
            message = f"Opening {self._served.name}: {step.what} …"
            self._send(json.dumps({"step": {"message": message, "share": step.share}}))

    def on_message(self, message: str | bytes) -> None:
        try:
            frame = json.loads(message)
        except (ValueError, RecursionError):
            frame = {}
        frame = frame if isinstance(frame, dict) else {}
        if self._exploration is not None:
            self._exploration.receive(frame)
        elif self._early is not None:
            self._early.append(frame)
            if len(self._early) > _MOST_EARLY:
                self._early = None
                self.close(1008, "too many messages")

    def on_close(self) -> None:
        self._server.pages.discard(self)
        self._stop_following()
        if self._exploration is not None:
            self._exploration.close()
            self._exploration = None

    def _send(self, frame: str | bytes) -> None:
        with contextlib.suppress(WebSocketClosedError):
            self.write_message(frame, binary=isinstance(frame, bytes))
