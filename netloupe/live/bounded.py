"""A server that strangers cannot lock up: few connections wait without having shown the token."""

from __future__ import annotations

from typing import Any

from tornado.httpserver import HTTPServer
from tornado.iostream import IOStream

#: connections that have not shown the token: of more the oldest is closed
MOST_WAITING = 48


class BoundedServer(HTTPServer):
    """Answers as its base does, and closes the oldest of too many connections of strangers.

    Whoever runs a program on this machine can connect, and each connection takes a descriptor. A
    page asks at once when it has connected, so that what has waited longest is no page's.
    """

    def initialize(self, *args: Any, **kwargs: Any) -> None:
        """Take what the base takes."""
        super().initialize(*args, **kwargs)
        #: open connections without a token, the oldest first
        self._waiting: dict[IOStream, None] = {}

    def handle_stream(self, stream: IOStream, address: tuple[Any, ...]) -> None:
        """Begin to answer a connection."""
        while len(self._waiting) >= MOST_WAITING:
            oldest = next(iter(self._waiting))
            del self._waiting[oldest]
            oldest.close()
        self._waiting[stream] = None
        super().handle_stream(stream, address)

    def on_close(self, server_conn: object) -> None:
        """Forget a connection that is over."""
        super().on_close(server_conn)
        self._forget(server_conn)

    def let_stay(self, connection: object) -> None:
        """Keep a connection: who is there has the token."""
        self._forget(connection)

    def _forget(self, connection: object) -> None:
        stream = getattr(connection, "stream", None)
        if stream is not None:
            self._waiting.pop(stream, None)
        for closed in [one for one in self._waiting if one.closed()]:
            del self._waiting[closed]
