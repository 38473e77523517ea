"""Servers of :mod:`netloupe.live` for browser tests, each with an event loop in a thread."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from netloupe.live.server import LiveServer

_SECONDS = 60.0


class RunningServer:
    """A server that answers until it is stopped.

    Parameters
    ----------
    make
        Makes the server; called where its loop runs.
    """

    def __init__(self, make: Callable[[], LiveServer]) -> None:
        self._loop = asyncio.new_event_loop()
        self._begun = threading.Event()
        self._make = make
        self._made: LiveServer | None = None
        self._thread = threading.Thread(target=self._turn)
        self._thread.start()
        assert self._begun.wait(_SECONDS)
        assert self._made is not None, "the server could not be made"
        self.server = self._made

    def stop(self) -> None:
        """End it, where it has not ended."""
        if self._thread.is_alive():
            self._loop.call_soon_threadsafe(self.server.stop)
            self._loop.call_soon_threadsafe(self._loop.stop)
            self._thread.join()

    def _turn(self) -> None:
        asyncio.set_event_loop(self._loop)
        begun = self._loop.create_task(self._begin())
        self._loop.run_until_complete(begun)
        self._loop.run_forever()
        self._loop.run_until_complete(self._end())
        self._loop.close()

    async def _end(self) -> None:
        """Close the connections that a browser keeps, and wait for what is under way."""
        await self.server._server.close_all_connections()
        left = asyncio.all_tasks() - {asyncio.current_task()}
        for task in left:
            task.cancel()
        await asyncio.gather(*left, return_exceptions=True)

    async def _begin(self) -> None:
        try:
            self._made = self._make()
            self._made.start()
        finally:
            self._begun.set()


@contextmanager
def live_servers() -> Iterator[Callable[[Callable[[], LiveServer]], RunningServer]]:
    """Run servers until the block ends; called with what makes one."""
    running: list[RunningServer] = []

    def run(make: Callable[[], LiveServer]) -> RunningServer:
        running.append(RunningServer(make))
        return running[-1]

    try:
        yield run
    finally:
        for each in running:
            each.stop()
