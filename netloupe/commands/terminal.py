"""How far a command is, told on a terminal when it takes long."""

from __future__ import annotations

import os
import sys
from contextlib import ExitStack
from threading import Lock, Timer
from types import TracebackType
from typing import TYPE_CHECKING, Any

from netloupe.explorer.progress import watched

if TYPE_CHECKING:
    from rich.progress import Progress

#: seconds before anything is shown: what is quick needs no word
QUIET_SECONDS = 0.5


class TerminalProgress:
    """A line on the standard error that says what is done and how far it is.

    Besides what it is told, it shows the steps of the work inside (see ``explorer.progress``).
    Nothing is written where the standard error is no terminal, nor in a notebook, and the line
    is gone when the work is done or ended with Ctrl-C.

    Examples
    --------
    >>> with TerminalProgress() as progress:
    ...     progress.step("reading model.onnx")
    ...     progress.step("laying out", 0.25)
    """

    def __init__(self) -> None:
        self._lock = Lock()
        self._what, self._share = "", 0.0
        self._is_over = False
        self._line: Progress | None = None
        self._task: Any = None
        self._watching = ExitStack()
        self._timer = Timer(QUIET_SECONDS, self._start)
        self._timer.daemon = True

    def step(self, what: str, share: float | None = None) -> None:
        """Say what is done now, and which share of it is done (0 to 1) where that is known."""
        with self._lock:
            self._what, self._share = what, share or 0.0
            if self._line is not None:
                self._tell(share)

    def __enter__(self) -> TerminalProgress:
        # what a notebook runs with `!` has a terminal too, but there every step would stay
        if sys.stderr is not None and sys.stderr.isatty() and "JPY_PARENT_PID" not in os.environ:
            self._timer.start()
        self._watching.enter_context(watched(self._note))
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._watching.close()
        self._timer.cancel()
        with self._lock:
            self._is_over = True
            if self._line is not None:
                self._line.stop()

    def _note(self, what: str, share: float | None) -> None:
        if what or share is not None:
            self.step(what or self._what, share)

    def _start(self) -> None:
        # here and not above: most commands end before it is needed
        from rich.console import Console
        from rich.progress import (
            BarColumn,
            Progress,
            SpinnerColumn,
            TaskProgressColumn,
            TextColumn,
            TimeElapsedColumn,
        )

        columns = (
            SpinnerColumn(),
            TextColumn("{task.description}", markup=False),
            BarColumn(bar_width=30),
            TaskProgressColumn(),
            TimeElapsedColumn(),
            TextColumn("Ctrl-C ends it", style="dim"),
        )
        line = Progress(*columns, console=Console(stderr=True), transient=True)
        with self._lock:
            if self._is_over:
                return
            self._line = line
            self._task = line.add_task("", total=None)
            self._tell(self._share or None)
            line.start()

    def _tell(self, share: float | None) -> None:
        if self._line is not None:
            total = None if share is None else 1.0
            self._line.update(
                self._task, description=self._what, total=total, completed=share or 0.0
            )
