"""Who is answered on loopback, and what is answered: pages, and sockets to talk with them.

Nobody but pages of ours is answered. The page is refused to whoever calls this machine by another
name than its own, so that no foreign page can have one resolved to it, and what changes anything
to pages of others.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
from collections.abc import Callable, Mapping, Sequence
from types import TracebackType
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from tornado.web import HTTPError, RequestHandler
from tornado.websocket import WebSocketClosedError, WebSocketHandler

from netloupe.explorer.errors import NetloupeError
from netloupe.explorer.progress import watched

from .served import ReadyModel, ServedModel, Step

if TYPE_CHECKING:
    from netloupe.explorer.layout import Window

    from .exploration import Exploration
    from .server import LiveServer

_log = logging.getLogger(__name__)

_OWN_NAMES = ("127.0.0.1", "localhost", "::1")
#: characters or bytes: a page asks with a few paths; many are selected together at most
_LONGEST_MESSAGE = 8 << 20
#: so many messages of a page wait for its model
_MOST_EARLY = 200
#: seconds between two steps that a page is told
_EVERY_SECONDS = 0.1
_HEADERS = {
    "Cache-Control": "no-store",
    "Content-Security-Policy": "frame-ancestors 'none'",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
}
_TO_STRANGERS = (
    "The address has no token, or not that of this server. Take the whole address that "
    "`netloupe open` has printed."
)


class RefusalError(HTTPError):
    """What is asked is refused; the page is told why.

    Parameters
    ----------
    status
        The status of the answer.
    told
        Why, as a sentence.
    """

    def __init__(self, status: int, told: str) -> None:
        super().__init__(status)
        self.told = told


def call_soon(loop: asyncio.AbstractEventLoop, work: Callable[[], object]) -> None:
    """Let a loop do something, from any thread; nothing where it has ended."""
    with contextlib.suppress(RuntimeError):
        loop.call_soon_threadsafe(work)


def _is_origin(origin: str, host: str) -> bool:
    """Return whether a page of an origin is one of a host's own."""
    try:
        return urlsplit(origin).netloc == host
    except ValueError:
        return False


def _find_window(frames: Sequence[Mapping[str, Any]]) -> Window | None:
    """Return the size of the window of a page that has asked for its first scene already."""
    from netloupe.explorer.session.requests import read_canvas_size

    asked = (frame.get("request") for frame in frames)
    windows = (read_canvas_size(request) for request in asked if isinstance(request, dict))
    return next(filter(None, windows), None)


def _forget(sent: asyncio.Future[None]) -> None:
    """Take note of what became of a message; that its page is gone is told elsewhere."""
    if not sent.cancelled():
        sent.exception()


class Guarded(RequestHandler):
    """Answers who calls this machine by its own name and has the token."""

    def initialize(self, server: LiveServer) -> None:
        """Take the server that is asked."""
        self._server = server

    def set_default_headers(self) -> None:
        """Let nothing be kept, framed or taken for something else."""
        for name, value in _HEADERS.items():
            self.set_header(name, value)
        self.clear_header("Server")

    def prepare(self) -> None:
        """Refuse whoever may not ask."""
        try:
            name = urlsplit(f"//{self.request.host}").hostname
        except ValueError:  # a bracket that is not closed
            raise RefusalError(400, "The name of the host is none.") from None
        if name not in _OWN_NAMES:
            raise RefusalError(403, _TO_STRANGERS)
        if not self._server.admits(self.get_query_argument("token", "")):
            raise RefusalError(403, _TO_STRANGERS)
        self._server.let_stay(self.request)

    def refuse_others(self) -> None:
        """Refuse what a page of others asks, whatever tunnel it came through."""
        if not _is_origin(self.request.headers.get("Origin", ""), self.request.host):
            raise RefusalError(403, "Only pages of this server may ask for that.")

    def find_model(self) -> ServedModel:
        """Return the model that the address names.

        Raises
        ------
        RefusalError
            Where there is none.
        """
        served = self._server.find(self.get_query_argument("model", ""))
        if served is None:
            raise RefusalError(404, "There is no such model here.")
        return served

    def log_exception(
        self,
        typ: type[BaseException] | None,
        value: BaseException | None,
        tb: TracebackType | None,
    ) -> None:
        """Log mistakes of ours alone, and never the address: it has the token in it."""
        if not isinstance(value, HTTPError):
            _log.error("a page could not be answered", exc_info=value)

    def write_error(self, status_code: int, **kwargs: Any) -> None:
        """Say why there is no answer."""
        _, error, _ = kwargs.get("exc_info", (None, None, None))
        told = error.told if isinstance(error, RefusalError) else "There is nothing here."
        self.set_header("Content-Type", "text/plain; charset=utf-8")
        self.finish(f"{told}\n")


class NothingHandler(Guarded):
    """Answers everything that is not there."""

    def prepare(self) -> None:
        """Refuse it, whoever asks."""
        super().prepare()
        raise RefusalError(404, "There is nothing here.")


class PageHandler(Guarded):
    """Gives the page of a model, or where none is named and there are several the list of them."""

    def get(self) -> None:
        """Give the page."""
        self._server.was_seen = True
        if self.get_query_argument("model", "") == "" and self._server.has_start_page:
            self.finish(self._server.write_start_page())
        else:
            self.finish(self._server.write_page(self.find_model()))


class StartHandler(Guarded):
    """Gives the page on which a model is chosen, whatever is shown at first."""

    def get(self) -> None:
        """Give the page."""
        self._server.was_seen = True
        self.finish(self._server.write_start_page())


class SocketHandler(WebSocketHandler, Guarded):
    """Talks with one page of a model."""

    _exploration: Exploration | None = None
    _served: ServedModel
    _is_told_at = 0.0
    _is_begun = False

    def check_origin(self, origin: str) -> bool:
        """Return whether a page of ours asks, whatever tunnel it came through."""
        return _is_origin(origin, self.request.host)

    def prepare(self) -> None:
        """Refuse whoever may not ask, and what is not there."""
        super().prepare()
        self._served = self.find_model()

    def open(self, *_: str, **__: str) -> None:
        """Begin to explore, now or when the model is read."""
        self.set_nodelay(True)
        self._server.pages.add(self)
        self._loop = loop = asyncio.get_running_loop()
        #: what has come before there is anything to ask; None once there is
        self._early: list[dict[str, Any]] | None = []
        self._stop_following = self._served.follow(lambda: call_soon(loop, self._follow))
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
            call_soon(loop, lambda: self._send(frame))

        def look(what: str, share: float | None) -> None:
            now = loop.time()
            if now >= self._is_told_at + _EVERY_SECONDS:
                self._is_told_at = now
                call_soon(loop, lambda: self._tell_step(Step(what or "opening", share)))

        def begin() -> Exploration:
            with watched(look):
                window = _find_window(self._early or ())
                return self._server.explore(loaded, send, window)

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

    @property
    def served(self) -> ServedModel:
        """The model that the page shows."""
        return self._served

    @property
    def exploration(self) -> Exploration | None:
        """What is shown; None until the model is read."""
        return self._exploration

    def on_message(self, message: str | bytes) -> None:
        """Take what the page asks."""
        if len(message) > _LONGEST_MESSAGE:
            told = "What this page has asked for is too long."
            error = {"type": "error", "message": told, "id": None}
            self._send(json.dumps({"message": error}))
            return
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
        """End what is under way; the page is gone."""
        self._server.pages.discard(self)
        self._stop_following()
        if self._exploration is not None:
            self._exploration.close()
            self._exploration = None

    def _send(self, frame: str | bytes) -> None:
        with contextlib.suppress(WebSocketClosedError):
            sent = self.write_message(frame, binary=isinstance(frame, bytes))
            sent.add_done_callback(_forget)
