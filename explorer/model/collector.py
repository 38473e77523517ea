"""Python's garbage collector stands aside while something large is built."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def collector_paused() -> Iterator[None]:
    """Let no garbage be searched for inside, nor at once among what was made there.

    Who builds millions of objects and keeps them all would have them searched again and again,
    for up to half of the time. What is there at the end counts as old, which costs nothing
    (:func:`gc.freeze` and :func:`gc.unfreeze` move whole lists); a full collection, in its
    time, looks at it like at everything else.
    """
    if not gc.isenabled():
        yield
        return
    gc.disable()
    try:
        yield
    finally:
        if not gc.get_freeze_count():  # what others have frozen stays so
            gc.freeze()
            gc.unfreeze()
        gc.enable()
