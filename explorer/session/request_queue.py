"""Requests of a browser: taken in, answered one by one in the background, cancelled.

While nothing is asked for, likely next pictures are laid out.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from typing import Any

from netloupe.explorer.errors import NetloupeError, ViewError
from netloupe.explorer.layout import LayoutEngine
from netloupe.explorer.progress import Cancelled

from .busy import Busy
from .client import Client
from .messages import Request
from .session import Session

#: answers a request, of which it is given the number and the message
Handler = Callable[[Any, Request], None]


class RequestQueue:
    """Lets requests be answered in the order in which they come, each with the lock held.

    Parameters
    ----------
    session
        What is shown.
    client
        Is told what fails, and how far what takes long has come.
    handlers
        By type of request what answers it.
    settle
        Called when something else is shown.
    look
        Called when the user has acted: the files may have changed.
    has_picture
        Returns whether the first picture is there; requests wait for it.

    Attributes
    ----------
    lock
        Held while what is shown is changed or read.
    pool
        The one thread in which all is answered.
    busy
        Tells what is under way.
    """

    def __init__(
        self,
        session: Session,
        client: Client,
        handlers: Mapping[str, Handler],
        settle: Callable[[], None],
        look: Callable[[], None],
        has_picture: Callable[[], bool],
    ) -> None:
        self._session = session
        self._client = client
        self._handlers = handlers
        self._settle = settle
        self._look = look
        self._has_picture = has_picture
        self.lock = threading.RLock()
        self.pool = ThreadPoolExecutor(max_workers=1, thread_name_prefix="netloupe")
        self.busy = Busy(self._report)
        #: requests on their way, and those of them that are not wanted any more
        self._waiting: list[Any] = []
        self._unwanted: set[Any] = set()
        self._ahead = LayoutEngine(niceness=10)

    def close(self) -> None:
        """End what is under way; nothing is answered any more."""
        self.pool.shutdown(wait=False, cancel_futures=True)
        self._session.cancel()
        self._ahead.stop()

    def receive(self, message: Request) -> None:
        """Take a request of the browser; it is answered later."""
        if message.get("type") == "cancel":
            self._cancel(message.get("target"))
            return
        self._waiting.append(message.get("id"))
        self.pool.submit(self._answer, message)

    def _cancel(self, target: Any) -> None:
        """End a request, now or when its turn comes; without a target what is under way."""
        if target is None or target == self.busy.number:
            self._session.cancel()
        elif target in self._waiting:
            self._unwanted.add(target)
            if not self._has_picture():  # it waits for the first picture
                self._session.cancel()

    def _answer(self, message: Request) -> None:
        """Answer one request; runs beside the kernel's own work."""
        number, client = message.get("id"), self._client
        asked = str(message.get("type"))
        handler = self._handlers.get(asked)
        try:
            self._look()
            if handler is None:
                raise ViewError(f"the request {asked!r} is unknown.")
            if number in self._unwanted and asked != "scene":
                raise Cancelled("the layout was cancelled")
            with self.lock, self.busy.during(number, asked), self._session.changing():
                self._session.resume()
                handler(number, message)
                self._settle()
        except Cancelled as error:
            client.reply(number, {"type": "error", "message": str(error), "cancelled": True})
        except NetloupeError as error:
            client.send_error(number, str(error))
        except Exception as error:
            client.log.exception("a request of the canvas failed")
            client.send_error(number, f"internal error: {error}")
        finally:
            self._waiting.remove(number)
            self._unwanted.discard(number)
            if asked != "scene":  # whose picture is painted first, which is told
                self._pool_prepare()

    @contextmanager
    def wanted(self) -> Iterator[None]:
        """Hold the lock; what is prepared in the background gives way."""
        mark = object()
        self._waiting.append(mark)
        try:
            with self.lock, self.busy.during(None), self._session.changing():
                self._session.resume()
                yield
                self._settle()
        finally:
            self._waiting.remove(mark)
            self._client.reply(None, {"type": "idle"})

    @contextmanager
    def looking(self) -> Iterator[None]:
        """Hold the lock to look at what is shown; what is prepared in the background gives way."""
        mark = object()
        self._waiting.append(mark)
        try:
            with self.lock:
                yield
        finally:
            self._waiting.remove(mark)

    def _report(self, number: Any, message: str, share: float | None) -> None:
        if number is None:
            number = next((each for each in self._waiting if isinstance(each, str)), None)
        self._client.reply(number, {"type": "busy", "message": message, "share": share})

    def _pool_prepare(self) -> None:
        with suppress(RuntimeError):  # the explorer was closed meanwhile
            self.pool.submit(self._prepare)

    def _prepare(self) -> None:
        """Lay out likely next pictures while nothing is asked for."""
        if self._waiting:
            return
        try:
            with self.lock:
                self._session.prepare(self._ahead, lambda: not self._waiting)
        except Exception:
            self._client.log.exception("preparing layouts failed")
