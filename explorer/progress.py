"""How far long work is: it tells whoever watches, who may end it.

The one way for all work that can take long: reading, grouping, opening, layout, statistics. It
says with :func:`step` what it is at, and whoever called it listens with :func:`watched`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from .errors import ArgumentError

#: gets what is begun ("" where the work only goes on), and the share of it that is done, 0 to 1
#: (None where that is not known); what it raises ends the work
Watch = Callable[[str, float | None], object]

_watch: ContextVar[Watch | None] = ContextVar("netloupe_watch", default=None)


class Cancelled(Exception):  # noqa: N818 - it is no error: somebody wanted it so
    """Ends work that nobody waits for any more; raised by who watches it."""


@contextmanager
def watched(watch: Watch) -> Iterator[None]:
    """Watch the work that this thread does inside.

    Whoever watched before is told as well, and first.

    Parameters
    ----------
    watch
        Called as ``watch(what, share)`` several times a second, in the thread of the work:
        with what is begun, such as ``"grouping nodes"``, or ``""`` while that goes on; and with
        the share of it that is done, from 0 to 1, or None where that is not known. What it
        raises ends the work and comes out of it; :class:`Cancelled` is meant for that.

    Raises
    ------
    ArgumentError
        Where it is no function.

    Examples
    --------
    >>> with watched(lambda what, share: print(what, share)):
    ...     step("reading", 0.5)
    reading 0.5
    """
    if not callable(watch):
        raise ArgumentError(f"watched: watch is a {type(watch).__name__}. Give a function.")
    outer = _watch.get()

    def both(what: str, share: float | None) -> None:
        if outer is not None:
            outer(what, share)
        watch(what, share)

    token = _watch.set(both)
    try:
        yield
    finally:
        _watch.reset(token)


@contextmanager
def part(begin: float, end: float) -> Iterator[None]:
    """Let the work inside be a part of more: its shares run from ``begin`` to ``end``."""
    outer = _watch.get()
    if outer is None:
        yield
        return

    def scale(what: str, share: float | None) -> None:
        outer(what, None if share is None else begin + (end - begin) * share)

    token = _watch.set(scale)
    try:
        yield
    finally:
        _watch.reset(token)


def is_watched() -> bool:
    """Return whether anybody watches the work of this thread."""
    return _watch.get() is not None


def step(what: str = "", share: float | None = None) -> None:
    """Tell that something is begun or, without words, that the work goes on.

    Called at least every few tenths of a second where work is long. It raises whatever the
    watcher raises: callers leave nothing half done that would be used again.

    Parameters
    ----------
    what
        What is begun, in a few words.
    share
        How much of it is done, from 0 to 1; None where that is not known.
    """
    watch = _watch.get()
    if watch is not None:
        watch(what, share)


def is_ending(error: BaseException) -> bool:
    """Return whether a watcher raised an error to end the work, of whatever kind it is."""
    trace = error.__traceback__
    while trace is not None:
        if trace.tb_frame.f_code is step.__code__:
            return True
        trace = trace.tb_next
    return False
