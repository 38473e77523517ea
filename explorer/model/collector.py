"""Python's garbage collector stands aside while something large is built."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager

#: so many objects are made before what is old is searched for garbage: about 250 MB of a model
MOST_MADE = 500_000
#: so many may be made for pictures of one model, whose first takes six for each node
MOST_DRAWN = 5_000_000


class _Made:
    """How many objects were made with the collector standing aside and may be garbage by now."""

    def __init__(self) -> None:
        self._searches = 0
        #: whether what was there is frozen, see :func:`old_spared`
        self.is_old_spared = False
        #: since all objects were searched, and since a model was read, which is not garbage at once
        self._all = self._since_model = 0

    def search(self, *, for_model: bool) -> None:
        """Search all objects for garbage where so many were made that it is worth it."""
        if (searches := _count_searches()) != self._searches:  # Python has done it meanwhile
            self._searches, self._all, self._since_model = searches, 0, 0
        if self._all >= MOST_MADE if for_model else self._since_model >= MOST_DRAWN:
            gc.collect()
            self._searches, self._all, self._since_model = _count_searches(), 0, 0

    def add(self, count: int, *, of_model: bool) -> None:
        """Note that objects were made."""
        self._all += count
        self._since_model = 0 if of_model else self._since_model + count


_made = _Made()


@contextmanager
def collector_paused(*, reads_model: bool = False) -> Iterator[None]:
    """Let no garbage be searched for inside, nor at once among what was made there.

    Who builds millions of objects and keeps them all would have them searched again and again,
    for up to half of the time. What is there at the end counts as old, which costs nothing
    (:func:`gc.freeze` and :func:`gc.unfreeze` move whole lists). Python would not search the old
    on account of what was made so: that is done here at the begin of the next pause, once there
    is enough, so that a model or a picture that nobody has any more takes no memory for long.

    Parameters
    ----------
    reads_model
        Whether a model is read: what was made for the one before counts as well. It is left alone
        while pictures of it are made.
    """
    if not gc.isenabled():
        yield
        return
    _made.search(for_model=reads_model)
    gc.disable()
    before = gc.get_count()[0]  # goes on while the collector is off
    try:
        yield
    finally:
        _made.add(max(0, gc.get_count()[0] - before), of_model=reads_model)
        # counting the frozen takes as long as there are many of them
        if not _made.is_old_spared and not gc.get_freeze_count():
            gc.freeze()  # what others have frozen stays so
            gc.unfreeze()
        gc.enable()


@contextmanager
def old_spared() -> Iterator[None]:
    """Let only what is made inside be searched for garbage there, not what there is already.

    A model of a million values is not searched again and again while much is made, and dropped
    again, of its parts one by one. What others have frozen stays so.
    """
    if gc.get_freeze_count():
        yield
        return
    gc.freeze()
    _made.is_old_spared = True
    try:
        yield
    finally:
        _made.is_old_spared = False
        gc.unfreeze()


def _count_searches() -> int:
    """Return how often all objects were searched."""
    return int(gc.get_stats()[-1]["collections"])
