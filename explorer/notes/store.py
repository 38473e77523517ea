"""Events of notes, those in the file and those that could not be written yet."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from netloupe.explorer.errors import NotesError, NotFoundError, advise_in_shell
from netloupe.explorer.notation import write_count

from .event import LONGEST_LINE, Event
from .record import Record, collect_records
from .sidecar import SidecarContent, append_events, read_sidecar

#: so many characters of an id are enough where no other begins so
_LEAST_OF_ID = 4


class NoteStore:
    """The notes of a model as events, kept in a file.

    Parameters
    ----------
    source
        What the user calls the model.
    file
        Where they are kept; None as long as nobody has said.
    """

    def __init__(self, source: str, file: Path | None) -> None:
        self._source = source
        self.file = file
        #: whether the file may be a link: where the user named it
        self._is_named = False
        self._content = SidecarContent()
        self._seen: object = None
        self._pending: list[Event] = []
        self._records: dict[str, Record] = {}

    @property
    def records(self) -> dict[str, Record]:
        """The notes by id, removed ones included; what others wrote meanwhile is read."""
        self.refresh()
        return self._records

    @property
    def lines(self) -> set[str]:
        """The lines of all events."""
        self.refresh()
        return {event.write() for event in (*self._content.events, *self._pending)}

    @property
    def unsaved(self) -> set[str]:
        """The ids of notes of which something is in memory only."""
        return {event.note for event in self._pending}

    @property
    def notices(self) -> tuple[str, ...]:
        """What is odd about the file, in sentences."""
        self.refresh()
        content, where = self._content, self.file
        told = [
            f"{where}, line {line.number}: left as it is, {line.reason}."
            for line in content.foreign
        ]
        if content.foreign_count > len(content.foreign):
            more = content.foreign_count - len(content.foreign)
            told.append(
                f"{where}: {write_count(more, 'more line')} "
                "beyond these: no notes, left as they are."
            )
        told += [
            f"{where}: two wrote the text of note {record.id} at once. Its history has both."
            for record in self._records.values()
            if not record.is_removed and record.has_rivals()
        ]
        if self._pending:
            told.append(f"{len(self._pending):,} changes of notes are in memory only.")
        return tuple(told)

    def find(self, note_id: str, *, with_removed: bool = False) -> Record:
        """Return the note with an id, or the only one whose id begins so.

        Raises
        ------
        NotFoundError
            Where there is none, or several begin so.
        """
        records, wanted = self.records, note_id.lower()
        record = records.get(wanted)
        found = [record] if record is not None else []
        if not found and len(wanted) >= _LEAST_OF_ID:
            found = [each for key, each in records.items() if key.startswith(wanted)]
        found = [each for each in found if with_removed or not each.is_removed]
        if len(found) == 1:
            return found[0]
        what = "several notes have ids that begin with" if found else "there is no note with the id"
        error = NotFoundError(
            f"{self._source}: {what} {wanted[:60]!r}. Give the id of one of the model's notes."
        )
        advise_in_shell(error, "`netloupe notes MODEL` lists them.")
        raise error

    def keep(self, events: Sequence[Event]) -> None:
        """Append events to the file; where that fails they stay in memory.

        Raises
        ------
        NotesError
            Where there is no file, or it cannot be written; where an event is too long, in which
            case none is kept.
        """
        for event in events:
            if len(event.write().encode()) >= LONGEST_LINE:
                raise NotesError(
                    f"{self._source}: no note: text and elements make more than "
                    f"{LONGEST_LINE:,} bytes. Write several notes."
                )
        self._pending += events
        self._collect()
        if self.file is None:
            raise NotesError(
                f"{self._source}: is in no file, so its notes have no place. They are kept in "
                "memory; model.notes.open('FILE.notes.jsonl') writes them to a file."
            )
        append_events(self.file, self._pending, follow=self._is_named)
        self._content.events += self._pending
        self._pending = []
        self.refresh()

    def open(self, path: Path) -> None:
        """Keep events in another file from now on; those in memory are written to it.

        Raises
        ------
        NotesError
            Where it cannot be read or written; nothing is changed then.
        """
        read_sidecar(path)
        append_events(path, self._pending)
        self.file, self._is_named = path, True
        self._pending, self._seen = [], None
        self.refresh()

    def list_new(self, events: Iterable[Event]) -> list[Event]:
        """Return those of some events that are not here, each once."""
        known = self.lines
        return [
            event for line, event in {e.write(): e for e in events}.items() if line not in known
        ]

    def refresh(self) -> None:
        """Read the file where it has changed.

        Raises
        ------
        NotesError
            Where it cannot be read.
        """
        if self.file is None:
            return
        try:
            status = self.file.stat()
            seen: object = (status.st_ino, status.st_size, status.st_mtime_ns)
        except OSError:
            seen = "missing"
        if seen != self._seen:
            self._content = read_sidecar(self.file, follow=self._is_named)
            self._seen = seen
            self._collect()

    def reload(self) -> None:
        """Read the file again, also where the system does not tell that it has changed."""
        self._seen = None
        self.refresh()

    def _collect(self) -> None:
        self._records = collect_records([*self._content.events, *self._pending])
