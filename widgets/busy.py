"""Tells the browser what takes long, and how far it is."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

#: nothing is said of what is shorter
PATIENCE_SECONDS = 0.5
_EVERY_SECONDS = 0.2

#: gets the id of a request, a message, and how much of how much is done (0: unknown)
Report = Callable[[Any, str, int, int], None]


class Busy:
    """What is under way.

    Parameters
    ----------
    report
        Called from a thread of its own while something takes long.
    """

    def __init__(self, report: Report) -> None:
        self._report = report
        #: the request that is being answered; None for what Python asked for
        self.number: Any = None
        self._done = self._total = 0

    def progress(self, done: int, total: int) -> None:
        """Note how far the layout is."""
        self._done, self._total = done, total

    @contextmanager
    def during(self, number: Any) -> Iterator[None]:
        """Report while what is inside goes on, beginning after half a second."""
        self.number = number
        self._done = self._total = 0
        finished = threading.Event()
        thread = threading.Thread(target=self._tell, args=(finished,), daemon=True)
        thread.start()
        try:
            yield
        finally:
            finished.set()
            thread.join()
            self.number = None

    def _tell(self, finished: threading.Event) -> None:
        wait = PATIENCE_SECONDS
        while not finished.wait(wait):
            wait = _EVERY_SECONDS
            done, total = self._done, self._total
            message = "Laying out" if total else "Opening"
            self._report(self.number, message, done, total)
