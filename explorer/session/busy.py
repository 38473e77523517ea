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

#: what is said of a request before the work itself says anything, by its type
_WORDS = {
    "close": "closing",
    "fold": "closing",
    "command": "writing the command",
    "enter": "opening",
    "expand": "opening",
    "legend": "making the legend",
    "open": "opening",
    "overlay": "colouring",
    "picture": "drawing",
    "reload": "reading",
    "reveal": "opening",
    "search": "searching",
    "toggle": "opening",
    "unroll": "opening",
}
_OTHER = "laying out"

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
        self._what = _OTHER
        self._share: float | None = None

    def _note(self, what: str, share: float | None) -> None:
        if what:
            self._what = what
        if what or share is not None:
            self._share = share

    @contextmanager
    def during(self, number: Any, asked: str = "") -> Iterator[None]:
        """Report while what is inside goes on, beginning after half a second.

        Parameters
        ----------
        number
            The id of the request that is answered; None for what Python asked for.
        asked
            The type of the request, which is named until the work itself says what it does.
        """
        self.number = number
        self._what, self._share = _WORDS.get(asked, _OTHER), None
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
