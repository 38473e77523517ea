"""Tells the browser what takes long, and how far it is."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from netloupe.explorer.progress import watched

#: nothing is said of what is shorter
PATIENCE_SECONDS = 0.5
_EVERY_SECONDS = 0.2

#: what is said before the work itself says anything
_FIRST = "opening"

#: gets the id of a request, what is under way, and the share of it that is done, 0 to 1 or None
Report = Callable[[Any, str, float | None], None]


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
        self._what = _FIRST
        self._share: float | None = None

    def _note(self, what: str, share: float | None) -> None:
        if what:
            self._what = what
        if what or share is not None:
            self._share = share

    @contextmanager
    def during(self, number: Any) -> Iterator[None]:
        """Report while what is inside goes on, beginning after half a second."""
        self.number = number
        self._what, self._share = _FIRST, None
        finished = threading.Event()
        thread = threading.Thread(target=self._tell, args=(finished,), daemon=True)
        thread.start()
        try:
            with watched(self._note):
                yield
        finally:
            finished.set()
            thread.join()
            self.number = None

    def _tell(self, finished: threading.Event) -> None:
        wait = PATIENCE_SECONDS
        while not finished.wait(wait):
            wait = _EVERY_SECONDS
            self._report(self.number, self._what.capitalize(), self._share)
