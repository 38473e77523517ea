"""Notes as Python sees them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

#: whether an element that was noted is still there: where it was, elsewhere for certain, perhaps
#: there or elsewhere, nowhere
State = Literal["exact", "moved", "uncertain", "orphaned"]
STATES: tuple[State, ...] = ("exact", "moved", "uncertain", "orphaned")


@dataclass(frozen=True, slots=True)
class Anchored:
    """An element that a note is about, and where it is now.

    Parameters
    ----------
    noted
        Its path when it was noted.
    state
        ``exact``: it is there still. ``moved``: it has another path now. ``uncertain``: nothing
        tells for certain; ``candidates`` may be it. ``orphaned``: nothing is like it.
    path
        Its path now; "" where that is not certain.
    candidates
        Of what is uncertain, the paths that it may have, the likeliest first.
    reason
        What tells so.
    """

    noted: str
    state: State
    path: str = ""
    candidates: tuple[str, ...] = ()
    reason: str = ""


@dataclass(frozen=True, slots=True)
class AcceptedFinding:
    """A finding of a check that a note accepts.

    Parameters
    ----------
    rule
        Its rule: ``NL-G02``.
    fingerprint
        As the finding has it.
    count
        At how many places it was accepted.
    message
        What it said.
    """

    rule: str
    fingerprint: str
    count: int = 1
    message: str = ""


@dataclass(frozen=True, slots=True)
class Note:
    """What somebody wrote of elements of a model.

    Parameters
    ----------
    id
        A UUID, by which notes of several files are told apart.
    text
        What was written.
    author
        Who wrote it first.
    tags
        Words to find it by.
    elements
        What it is about, several for a region.
    created, edited
        When it was written, and changed last; UTC.
    accepts
        The finding that it accepts; the text says why. None for other notes.
    is_saved
        Whether it is in the file; where that cannot be written, it is in memory only.
    """

    id: str
    text: str
    author: str
    tags: tuple[str, ...]
    elements: tuple[Anchored, ...]
    created: datetime
    edited: datetime
    accepts: AcceptedFinding | None = None
    is_saved: bool = True

    @property
    def paths(self) -> tuple[str, ...]:
        """Where its elements are now, as far as that is certain."""
        return tuple(each.path for each in self.elements if each.path)

    @property
    def state(self) -> State:
        """The worst state of its elements."""
        return max((each.state for each in self.elements), key=STATES.index, default="orphaned")

    def __str__(self) -> str:
        return f"{write_places(self.elements)}: {self.text}"


def write_places(elements: Sequence[Anchored]) -> str:
    """Return where the elements of a note are, in words: ``main/Conv_1, main/Relu_2 (moved)``."""
    return ", ".join(_write_place(each) for each in elements) or "no element"


def _write_place(element: Anchored) -> str:
    if element.state == "exact":
        return element.path
    if element.state == "moved":
        return f"{element.path} (was {element.noted})"
    if element.state == "uncertain":
        return f"{element.noted} (uncertain: perhaps {', '.join(element.candidates)})"
    return f"{element.noted} (orphaned)"
