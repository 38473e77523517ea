"""What long work is at: it tells whoever watches, who may end it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

#: gets what is begun, "" where the work only goes on; what it raises ends the work
Watch = Callable[[str], None]

_watch: ContextVar[Watch | None] = ContextVar("netloupe_watch", default=None)


@contextmanager
def watched(watch: Watch) -> Iterator[None]:
    """Watch the steps of the work that this thread does inside.

    Whoever watched before is told as well, and first.

    Parameters
    ----------
    watch
        Called at each step: several times a second, in the thread of the work.
    """
    outer = _watch.get()

    def both(what: str) -> None:
        if outer is not None:
            outer(what)
        watch(what)

    token = _watch.set(both)
    try:
        yield
    finally:
        _watch.reset(token)


def step(what: str = "") -> None:
    """Tell that something is begun or, without words, that the work goes on.

    Called at least every few tenths of a second where work is long. It raises whatever the
    watcher raises: callers leave nothing half done that would be used again.
    """
    watch = _watch.get()
    if watch is not None:
        watch(what)
