"""The server on loopback: gives pages to who has the token, and talks with them."""

from __future__ import annotations

import asyncio
import hmac
import socket
from collections.abc import Sequence
from typing import TYPE_CHECKING

from tornado.httputil import HTTPServerRequest
from tornado.web import Application

from netloupe.explorer.standalone.document import write_html

from .bounded import BoundedServer
from .handlers import NothingHandler, PageHandler, SocketHandler, StartHandler, call_soon
from .intake import MOST_BYTES
from .loopback import listen, write_address
from .naming import tell_apart
from .served import ReadyModel, ServedModel

if TYPE_CHECKING:
    from netloupe.explorer.layout import Window
    from netloupe.explorer.model import Model
    from netloupe.explorer.overlays import Overlay
    from netloupe.explorer.view import ViewOptions

    from .client import Send
    from .exploration import Exploration
    from .intake import Intake

#: what is longer ends the socket; what is shorter than this and too long is answered by an error
_MOST_MESSAGE_BYTES = 64 << 20
#: seconds between two steps that a page is told
_EVERY_SECONDS = 0.1
#: seconds in which a page comes that is to hear why there is nothing to show
_PAGE_SECONDS = 10.0
#: seconds in which a connection has to ask for something
_IDLE_SECONDS = 20.0
#: what is asked beside sockets names a path
_MOST_ASKED_BYTES = 64 << 10
_NO_SCRIPT = "<p>The explorer needs a browser that runs scripts.</p>"
#: of which some browsers do not take the first for sockets
_REACH = "'self' ws://127.0.0.1:* ws://localhost:*"


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
    intake
        Opens files that pages name or send; None where they may not.

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
        intake: Intake | None = None,
    ) -> None:
        self._token = token
        self.intake = intake
        self._options = options
        #: by the numbers that addresses give them
        self.models = [*shown] if isinstance(shown, Sequence) else [ServedModel.of(shown, overlays)]
        #: those that it was started with
        self._at_start = tuple(self.models)
        self._socket = listen(port) if isinstance(port, int) else port
        self.port: int = self._socket.getsockname()[1]
        #: whether any page has been here
        self.was_seen = False
        #: the sockets of those that are open
        self.pages: set[SocketHandler] = set()
        routes = [
            (r"/", PageHandler, {"server": self}),
            (r"/start", StartHandler, {"server": self}),
            (r"/socket", SocketHandler, {"server": self}),
        ]
        if intake is not None:
            from .intake_handlers import DropHandler, ForgetHandler, OpenHandler

            routes += [
                (r"/open", OpenHandler, {"server": self}),
                (r"/drop", DropHandler, {"server": self}),
                (r"/forget", ForgetHandler, {"server": self}),
            ]
        application = Application(
            routes,
            default_handler_class=NothingHandler,
            default_handler_args={"server": self},
            websocket_max_message_size=_MOST_MESSAGE_BYTES,
            log_function=lambda _handler: None,  # addresses have the token in them
        )
        self._server = BoundedServer(
            application,
            max_body_size=_MOST_ASKED_BYTES,
            max_header_size=_MOST_ASKED_BYTES,
            idle_connection_timeout=_IDLE_SECONDS,
        )

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
        if self.intake is not None:
            self.intake.close()
        for page in [*self.pages]:
            page.close(1001)
            page.on_close()

    def let_stay(self, request: HTTPServerRequest) -> None:
        """Keep the connection of who has the token."""
        self._server.let_stay(request.connection)

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

    def add(self, served: ServedModel) -> int:
        """Show one model more; return its number."""
        self.models.append(served)
        served.begin()
        return len(self.models) - 1

    @property
    def has_start_page(self) -> bool:
        """Whether the address without the number of a model is that of a list of them."""
        return len(self._at_start) != 1

    def write_start_page(self) -> str:
        """Return the page on which a model is chosen."""
        from .start_page import write_start_page

        return write_start_page(self.models, self.intake)

    def list_explorations(self, served: ServedModel) -> list[Exploration]:
        """Return what pages explore of a model."""
        pages = [page for page in self.pages if page.served is served]
        return [page.exploration for page in pages if page.exploration is not None]

    def explore(self, loaded: ReadyModel, send: Send, window: Window | None = None) -> Exploration:
        """Begin an exploration for a page; of what is not known the window is none."""
        from netloupe.explorer.view import ViewOptions

        from .exploration import Exploration

        options = self._options or ViewOptions.parse({"wrap": False})
        return Exploration(loaded.model, options, send, loaded.overlays, window)

    def write_page(self, served: ServedModel) -> str:
        """Return the page of a model."""
        title, direction, theme = "auto", "TB", "auto"
        if self._options is not None:
            title, direction, theme = (
                self._options.title,
                self._options.direction,
                self._options.theme,
            )
        name = tell_apart(self.models)[self.models.index(served)]
        # where nothing else was to be shown, the end of it is the end of this server
        is_alone = [*self._at_start] == [served]
        data = {
            "live": "socket",
            "start": "start" if self.intake is not None or len(self.models) > 1 else None,
            "ends_with_it": is_alone,
            "mark": served.mark,
            "most_dropped": None if self.intake is None else MOST_BYTES,
            "traits": {
                "title": f"Graph of {name}" if title in ("auto", "") else title,
                "file_name": served.name,
                "direction": direction,
                "theme": "dark" if theme == "dark" else "auto",
                "height": 0,
            },
        }
        return write_html(name, data, {}, _NO_SCRIPT, _REACH)

    async def wait_for_failure(self, *, page_comes: bool) -> None:
        """Wait until there is nothing to show, and a page has been told why.

        Parameters
        ----------
        page_comes
            Whether a page is on its way, so that it is waited for some seconds.
        """
        loop = asyncio.get_running_loop()
        changed = asyncio.Event()
        stops = [served.follow(lambda: call_soon(loop, changed.set)) for served in self._at_start]
        try:
            while not self._at_start or any(each.failure is None for each in self._at_start):
                await changed.wait()
                changed.clear()
        finally:
            for stop in stops:
                stop()
        end = loop.time() + _PAGE_SECONDS
        while page_comes and not self.pages and loop.time() < end:
            await asyncio.sleep(_EVERY_SECONDS)
        await asyncio.sleep(2 * _EVERY_SECONDS)  # what is told goes out
