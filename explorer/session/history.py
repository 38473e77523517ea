"""What was shown, one moment after the other, so that one can go back and forth."""

from __future__ import annotations

from itertools import count
from typing import NamedTuple

from netloupe.explorer.options import Grouping
from netloupe.explorer.view.open_state import OpenState

#: of more moments the first ones are forgotten
MOST_MOMENTS = 200


class Moment(NamedTuple):
    """What was shown.

    Parameters
    ----------
    graph
        Path of the graph.
    grouping
        How its nodes were grouped.
    focused
        Path and hops of the neighbourhood that alone was shown; None for the whole graph.
    unnamed
        Groups and kinds of block that were not told what they are.
    """

    graph: str
    grouping: Grouping
    focused: tuple[str, int] | None
    open_state: OpenState
    unnamed: tuple[str, ...] = ()


class Position(NamedTuple):
    """A history as it is at some time: all moments with their numbers, and which one is shown."""

    moments: tuple[tuple[int, Moment], ...] = ()
    at: int = -1


class History:
    """The moments up to the one that is shown, and those that were gone back from."""

    def __init__(self) -> None:
        self.position = Position()
        self._numbers = count(1)

    @property
    def number(self) -> int:
        """The number of the moment that is shown; no other one ever gets it."""
        position = self.position
        return position.moments[position.at][0] if position.moments else 0

    @property
    def moment(self) -> Moment | None:
        """The moment that is shown; None before any was noted."""
        position = self.position
        return position.moments[position.at][1] if position.moments else None

    @property
    def is_first(self) -> bool:
        """Whether what was opened at first is shown, whether or not it has been noted."""
        moments, at = self.position.moments, self.position.at
        return not moments or moments[at][1] == moments[0][1]

    @property
    def can_undo(self) -> bool:
        """Whether there is a moment before."""
        return self.position.at > 0

    @property
    def can_redo(self) -> bool:
        """Whether there is a moment that was gone back from."""
        return self.position.at + 1 < len(self.position.moments)

    def note(self, moment: Moment) -> None:
        """Add a moment, unless it is the one that is shown; those gone back from are dropped."""
        moments, at = self.position.moments, self.position.at
        if moments and moments[at][1] == moment:
            return
        kept = (*moments[: at + 1], (next(self._numbers), moment))[-MOST_MOMENTS:]
        self.position = Position(kept, len(kept) - 1)

    def go(self, by: int) -> Moment | None:
        """Go back (-1) or forth (1); return the moment there, None where there is none."""
        moments, at = self.position.moments, self.position.at + by
        if not 0 <= at < len(moments):
            return None
        self.position = Position(moments, at)
        return moments[at][1]
