"""Notes out of events: what each says now, whatever the order of the events.

Of each field the latest event counts: that of the highest turn, then of the latest time, then of
the greater id. A turn is greater than those that its author knew, so that wrong clocks do not
matter for what one wrote after having read the other. A note is removed where the removal came
after everything else; what somebody wrote meanwhile, not knowing of it, keeps the note.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime
from itertools import groupby
from typing import Any

from .event import Event

_Rank = tuple[int, datetime, str]


@dataclass(slots=True)
class Record:
    """What is known of one note.

    Parameters
    ----------
    id
        Of the note.
    events
        All of them, the earliest first.
    """

    id: str
    events: list[Event] = field(default_factory=list)

    @property
    def turn(self) -> int:
        """The highest turn so far."""
        return max(event.turn for event in self.events)

    @property
    def is_removed(self) -> bool:
        """Whether it was removed after all else."""
        if len(self.events) == 1:
            return self.events[0].is_removal
        removed = max((e.turn for e in self.events if e.is_removal), default=0)
        kept = max((e.turn for e in self.events if not e.is_removal), default=0)
        return removed > kept

    @property
    def writings(self) -> list[Event]:
        """The events that are no removals, the earliest first; all where it has no others."""
        return [event for event in self.events if not event.is_removal] or self.events

    def find(self, name: str, otherwise: Any = None) -> Any:
        """Return what a field was set to last."""
        for event in reversed(self.events):
            if name in event.changes:
                return event.changes[name]
        return otherwise

    def has_rivals(self) -> bool:
        """Whether two wrote its text without knowing of each other."""
        if len(self.events) == 1:
            return False
        texts = [event for event in self.events if "text" in event.changes]
        last = [event.changes["text"] for event in texts if event.turn == texts[-1].turn]
        return len({*last}) > 1


def rank_event(event: Event) -> _Rank:
    """Return by what events are ordered; those of one rank are ordered by how they are written."""
    return event.turn, event.at, event.id


def collect_records(events: Iterable[Event]) -> dict[str, Record]:
    """Return the notes that events are about, removed ones included, by id.

    They are in the order in which they were written first; the order of the events does not
    matter, nor how often each occurs.
    """
    records: dict[str, Record] = {}
    # what is in a row already is not put in order again; hashes of times would take longer
    for _, ranked in groupby(sorted(events, key=rank_event), rank_event):
        alike = [*ranked]
        if len(alike) > 1:  # read twice, or changed by hand
            written = {event.write(): event for event in alike}
            alike = [written[text] for text in sorted(written)]
        for event in alike:
            record = records.get(event.note)
            if record is None:
                record = records[event.note] = Record(event.note)
            record.events.append(event)
    return dict(sorted(records.items(), key=lambda entry: (entry[1].events[0].at, entry[0])))
