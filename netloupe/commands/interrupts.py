"""Ctrl+C ends a command, also where Python loses it.

An exception that a signal raises is lost where it comes in a finalizer, and where something else
goes wrong on its way; whoever works on for long asks here whether there was one.
"""

from __future__ import annotations

import signal
import threading
from types import FrameType

_interrupted = threading.Event()


def heed_interrupts() -> None:
    """Note from now on that Ctrl+C was pressed; it raises KeyboardInterrupt as ever.

    Nothing changes where somebody else deals with the signal, or outside of the main thread.
    """
    _interrupted.clear()
    is_main = threading.current_thread() is threading.main_thread()
    if is_main and signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, _note)


def _note(number: int, frame: FrameType | None) -> None:
    _interrupted.set()
    signal.default_int_handler(number, frame)


def was_interrupted() -> bool:
    """Return whether Ctrl+C was pressed since :func:`heed_interrupts`."""
    return _interrupted.is_set()


def check_interrupt() -> None:
    """Raise KeyboardInterrupt where Ctrl+C was pressed, and that was lost."""
    if was_interrupted():
        raise KeyboardInterrupt
