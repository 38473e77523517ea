"""How long is waited for layouts that come to nothing, in all pictures of one page together.

A level that took too long would do so again: in the other direction, with left and right exchanged,
or in the second of two panes. What is quick does not count, however much there is of it.
"""

from __future__ import annotations

import math

from .level import Level

#: of processor time for one layout; those of real models that hang together in hundreds of boxes
#: take less than one
SECONDS = 4.0


class Patience:
    """Gives each layout the same time, and less to less after one that was stopped.

    Parameters
    ----------
    seconds
        Of processor time, after which the first layout is stopped.

    Notes
    -----
    After each layout that was stopped the time is halved, and what is larger than half of that
    level is not asked for any more. All that are stopped take less than twice the seconds
    together, whatever a model holds, and small levels keep their layouts.
    """

    def __init__(self, seconds: float = SECONDS) -> None:
        self.seconds = seconds
        self._most = math.inf

    def allows(self, level: Level) -> bool:
        """Return whether a level is to be laid out."""
        return _measure_size(level) <= self._most

    def note_stopped(self, level: Level) -> None:
        """Remember that a level took more than :attr:`seconds`, or too much memory."""
        self._most = min(self._most, _measure_size(level) / 2)
        self.seconds /= 2


def _measure_size(level: Level) -> int:
    return len(level.children) + len(level.wires)
