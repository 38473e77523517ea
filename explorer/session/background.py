"""Work beside the kernel's own: tells how far it is, and ends when it is cancelled."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from contextlib import suppress

from netloupe.explorer.progress import Cancelled, watched

_SECONDS_BETWEEN_REPORTS = 0.15


class Background:
    """Runs a function in a thread of its own.

    Parameters
    ----------
    work
        Called in the thread; at one of its steps it is ended, once it is cancelled.
    report
        Called from the thread with the share that is done, 0 to 1, a few times a second.
    """

    def __init__(self, work: Callable[[], object], report: Callable[[float], object]) -> None:
        self._work = work
        self._report = report
        self._cancelled = threading.Event()
        self._last = 0.0
        self._thread = threading.Thread(target=self._run, name="netloupe-tensor", daemon=True)

    def start(self) -> None:
        """Start the work."""
        self._thread.start()

    def cancel(self) -> None:
        """Let the work end at the next piece; returns at once."""
        self._cancelled.set()

    def wait(self, seconds: float | None = None) -> bool:
        """Wait until the work is over; return whether it is."""
        self._thread.join(seconds)
        return not self._thread.is_alive()

    def _run(self) -> None:
        with suppress(Cancelled), watched(self._note):
            self._work()

    def _note(self, _what: str, share: float | None) -> None:
        if self._cancelled.is_set():
            raise Cancelled
        if share is None:
            return
        now = time.monotonic()
        if now - self._last >= _SECONDS_BETWEEN_REPORTS or share >= 1:
            self._last = now
            self._report(share)
