"""Work beside the kernel's own: tells how far it is, and ends when it is cancelled."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

from netloupe.explorer.tensors import Progress

_SECONDS_BETWEEN_REPORTS = 0.15


class CancelledError(Exception):
    """Ends work that nobody waits for any more."""


class Background:
    """Runs a function in a thread of its own.

    Parameters
    ----------
    work
        Called with a function that is to be told the share that is done, 0 to 1; that
        function raises :class:`CancelledError` once the work is cancelled.
    report
        Called from the thread with the share that is done, a few times a second.
    """

    def __init__(self, work: Callable[[Progress], object], report: Progress) -> None:
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
        try:
            self._work(self._tell)
        except CancelledError:
            return

    def _tell(self, share: float) -> None:
        if self._cancelled.is_set():
            raise CancelledError
        now = time.monotonic()
        if now - self._last >= _SECONDS_BETWEEN_REPORTS or share >= 1:
            self._last = now
            self._report(share)
