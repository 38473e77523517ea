"""The notes of a model: written, edited, removed, found, and kept in a file beside it."""

from __future__ import annotations

import uuid
from collections.abc import Iterable, Iterator
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

from netloupe.explorer.arguments import explain_methods
from netloupe.explorer.checks import Finding
from netloupe.explorer.errors import NotesError
from netloupe.explorer.files.home import expand_home
from netloupe.explorer.model import Model
from netloupe.explorer.model.kept import find_kept

from .anchor import AnchorMaker, find_path
from .carry import carry_anchors
from .clues import ClueIndex
from .event import (
    LONGEST_TEXT,
    MOST_ANCHORS,
    Anchor,
    Event,
    check_tags,
    check_text,
    make_event,
    read_author,
)
from .locate import Locator
from .note import AcceptedFinding, Anchored, Note
from .record import Record
from .sidecar import read_sidecar, sidecar_of
from .store import NoteStore
from .table import make_table

if TYPE_CHECKING:
    import pandas

    from netloupe.explorer.readers.load import ModelSource


@explain_methods()
class Notes:
    """The notes on the elements of a model; iterating gives them, the earliest first.

    They are kept in ``MODEL.notes.jsonl`` beside the model's file, to which lines are only ever
    appended, so that several people and processes can write, and git can merge. What others have
    written meanwhile is read when notes are asked for next.

    Parameters
    ----------
    model
        The model.

    Examples
    --------
    >>> note = model.notes.add("main/Conv_1", "why is this one not quantized?", tags=["int8"])
    >>> model.notes.edit(note, text="left in float on purpose: see the calibration report")
    >>> for note in model.notes:
    ...     print(note.paths, note.state, note.text)
    """

    def __init__(self, model: Model) -> None:
        self._model = model
        own = [] if model.files is None else model.files.own
        self._store = NoteStore(model.source, sidecar_of(own[0]) if own else None)
        self._index = ClueIndex(model)
        self._locator = Locator(self._index)
        self._located: dict[str, Anchored] = {}

    @property
    def file(self) -> Path | None:
        """Where the notes are kept; None for a model that is in no file until :meth:`open`."""
        return self._store.file

    @property
    def structure(self) -> str:
        """A digest of the model's names, operators and wiring, as anchors have it.

        ``docs/notes_format.md`` says what it is for.
        """
        return self._index.structure

    @property
    def notices(self) -> tuple[str, ...]:
        """What is odd about the file: lines that are no notes, texts that two wrote at once."""
        return self._store.notices

    @property
    def removed(self) -> tuple[str, ...]:
        """The ids of notes that were removed; :meth:`history` tells what they were."""
        return tuple(record.id for record in self._store.records.values() if record.is_removed)

    def __iter__(self) -> Iterator[Note]:
        kept = [record for record in self._store.records.values() if not record.is_removed]
        return iter([self._make_note(record) for record in kept])

    def __len__(self) -> int:
        return sum(not record.is_removed for record in self._store.records.values())

    def __getitem__(self, note_id: str) -> Note:
        """Return the note with an id, of which the beginning is enough.

        Raises
        ------
        NotFoundError
            Where there is none, or several begin so.
        """
        return self._make_note(self._find(note_id))

    def at(self, place: object) -> list[Note]:
        """Return the notes on an element: a path, a name, a node, a value or a group.

        Parameters
        ----------
        place
            The element, or its path or name.

        Raises
        ------
        NotFoundError
            Where the model has no such element.
        """
        path = find_path(self._model, place)
        return [note for note in self if path in note.paths]

    def list_accepting(self) -> list[Note]:
        """Return the notes that accept findings; what others are about is not looked for."""
        kept = (record for record in self._store.records.values() if not record.is_removed)
        return [self._make_note(record) for record in kept if record.find("accepts") is not None]

    def add(
        self,
        place: object,
        text: str,
        *,
        author: str | None = None,
        tags: Iterable[str] = (),
    ) -> Note:
        """Write a note.

        Parameters
        ----------
        place
            What it is about: a path or name, a node, a value, a group; several in a list for a
            region.
        text
            What to write.
        author
            Who writes; None for the name of the user.
        tags
            Words to find it by.

        Raises
        ------
        NotFoundError
            Where the model has no such element.
        NotesError
            For a text or tags that are none; where the model is in no file and :meth:`open` was
            not called; where the file cannot be written. In the last two cases the note is kept
            in memory, and :meth:`open` writes it.
        """
        changes = self._read_changes(place, text, tags)
        return self._write(str(uuid.uuid4()), 1, author, changes)

    def accept(
        self,
        finding: Finding,
        justification: str,
        *,
        author: str | None = None,
        tags: Iterable[str] = (),
    ) -> Note:
        """Write a note that accepts a finding of :func:`netloupe.check`.

        The next check marks the finding as accepted, as long as it is at no more places and at no
        others, and ``--fail-on`` passes it over. SARIF has it as a suppression.

        Parameters
        ----------
        finding
            What was found.
        justification
            Why it is well so.
        author, tags
            As :meth:`add` takes them, with the same errors.
        """
        if not isinstance(justification, str):
            kind = type(justification).__name__
            raise NotesError(f"{finding.id}: justification is no text, but of type {kind}.")
        if not justification.strip():
            raise NotesError(f"{finding.id}: an accepted finding needs a justification.")
        changes = self._read_changes(list(finding.paths), justification, tags)
        changes["accepts"] = {
            "rule": finding.id,
            "fingerprint": finding.fingerprint,
            "count": finding.count,
            "message": finding.message[:LONGEST_TEXT],
        }
        return self._write(str(uuid.uuid4()), 1, author, changes)

    def edit(
        self,
        note: Note | str,
        *,
        text: str | None = None,
        tags: Iterable[str] | None = None,
        place: object = None,
        author: str | None = None,
    ) -> Note:
        """Change a note; what is None stays as it is. Its :meth:`history` keeps what it was.

        Parameters
        ----------
        note
            The note, or its id.
        text, tags
            New ones.
        place
            What it is about instead: also to attach a note of which the element is uncertain.
        author
            Who changes it.

        Raises
        ------
        NotFoundError
            Where there is no such note or element.
        NotesError
            As for :meth:`add`; and where nothing is changed.
        """
        record = self._find(note)
        changes = self._read_changes(place, text, tags)
        if not changes:
            raise NotesError(f"note {record.id}: nothing is changed. Give text, tags or place.")
        return self._write(record.id, record.turn + 1, author, changes)

    def remove(self, note: Note | str, *, author: str | None = None) -> None:
        """Remove a note; its lines stay in the file, with one that says that it is removed.

        Parameters
        ----------
        note
            The note, its id, or as many first characters of the id as no other has.
        author
            Who removes it; the user where None.

        Raises
        ------
        NotFoundError, NotesError
            As for :meth:`edit`.
        """
        record = self._find(note)
        event = make_event(record.id, record.turn + 1, read_author(author), {}, is_removal=True)
        self._store.keep([event])

    def history(self, note: Note | str) -> list[Event]:
        """Return what was done to a note, the earliest first; also to one that was removed.

        Parameters
        ----------
        note
            The note, its id, or as many first characters of the id as no other has.
        """
        return list(self._find(note, with_removed=True).events)

    def open(self, file: str | PathLike[str]) -> None:
        """Keep notes in a file from now on; those in memory are written to it.

        Parameters
        ----------
        file
            A file of notes, or a name for one that is not there yet.

        Raises
        ------
        NotesError
            Where it cannot be read or written; nothing is changed then.
        """
        path = expand_home(file).absolute()
        if not path.parent.is_dir():
            raise NotesError(f"{path}: the folder {path.parent} does not exist. Create it first.")
        self._store.open(path)

    def merge(self, file: str | PathLike[str]) -> int:
        """Add what another file of notes has: of a colleague, or downloaded from a page.

        Parameters
        ----------
        file
            What is read; it is left as it is.

        Returns
        -------
        int
            How many events were new.

        Raises
        ------
        NotesError
            Where it is not there or cannot be read, or this model's file cannot be written.
        """
        path = expand_home(file).absolute()
        if not path.exists():
            raise NotesError(f"{file}: there is no such file. Check the name.")
        new = self._store.list_new(read_sidecar(path).events)
        self._store.keep(new)
        return len(new)

    def carry_from(self, older: ModelSource) -> int:
        """Take over the notes of another version of the model, whose elements are paired first.

        Notes on elements that are paired for certain are attached to their partners; others come
        with what tells their element, and may be uncertain or orphaned.

        Parameters
        ----------
        older
            The other version, with its notes beside it: a model, or anything that :func:`load`
            takes.

        Returns
        -------
        int
            How many notes there were.

        Raises
        ------
        NotesError
            Where the notes of the other cannot be read or these not be written.
        SourceError
            Where the other version cannot be read.
        ModelFormatError
            Where it is no model.
        """
        from netloupe.explorer.readers.load import load  # which notes need for nothing else

        older = load(older)
        others, own_records = older.notes, self._store.records
        stored = others._store.records.values()  # noqa: SLF001 - another object of this class
        records = [each for each in stored if not each.is_removed]
        events = self._store.list_new(event for record in records for event in record.events)
        located = [others._locate_all(record) for record in records]  # noqa: SLF001 - as above
        carried = carry_anchors(older, self._model, located, self._locator)
        maker = AnchorMaker(self._index)
        for record, paths in zip(records, carried, strict=True):
            old = record.find("anchors", [])
            own = own_records.get(record.id)
            if own is not None and own.find("anchors") != old:
                continue  # they were attached here before
            anchors = [maker.make(p) if p else a for p, a in zip(paths, old, strict=True)]
            if anchors != old:
                author = record.events[-1].author
                events.append(make_event(record.id, record.turn + 1, author, {"anchors": anchors}))
        self._store.keep(events)
        return len(records)

    def to_dataframe(self) -> pandas.DataFrame:
        """Return a table with a row for each note.

        Returns
        -------
        pandas.DataFrame
            Columns ``id``, ``path`` (where its first element is now, "" where that is not
            certain), ``paths``, ``state``, ``text``, ``author``, ``tags``, ``created`` and
            ``edited`` (datetime64, UTC), ``accepts`` (the rule of a finding, "" for none).

        Raises
        ------
        MissingPackageError
            Where pandas is not installed.
        """
        return make_table(self)

    def reload(self) -> None:
        """Read the file again, also where the system does not tell that it has changed."""
        self._store.reload()

    def __repr__(self) -> str:
        where = "no file yet" if self.file is None else repr(str(self.file))
        return f"<Notes: {len(self):,} in {where}>"

    # within

    def _read_changes(
        self, place: object, text: str | None, tags: Iterable[str] | None
    ) -> dict[str, Any]:
        """Return the fields that an event sets; None sets nothing.

        Raises
        ------
        NotFoundError, NotesError
            For what is no element, text or list of tags.
        """
        source, changes = self._model.source, dict[str, Any]()
        try:
            if text is not None:
                changes["text"] = check_text("text", text, LONGEST_TEXT)
                if not changes["text"].strip():
                    raise ValueError("text is empty")
            if tags is not None and tags != ():
                given = [tags] if isinstance(tags, str) else [*tags]
                changes["tags"] = [*check_tags(given)]
        except ValueError as error:
            raise NotesError(f"{source}: no note: {error}.") from None
        if place is not None:
            changes["anchors"] = self._make_anchors(place)
        return changes

    def _make_anchors(self, place: object) -> list[Anchor]:
        places = list(place) if isinstance(place, list | tuple | set) else [place]
        paths = dict.fromkeys(find_path(self._model, each) for each in places)
        if not 0 < len(paths) <= MOST_ANCHORS:
            raise NotesError(
                f"{self._model.source}: a note is on 1 to {MOST_ANCHORS:,} elements, and not on "
                f"{len(paths):,}."
            )
        maker = AnchorMaker(self._index)
        return [maker.make(path) for path in paths]

    def _write(self, note: str, turn: int, author: str | None, changes: dict[str, Any]) -> Note:
        event = make_event(note, turn, read_author(author), changes)
        self._store.keep([event])
        return self._make_note(self._store.records[note])

    def _find(self, note: Note | str, *, with_removed: bool = False) -> Record:
        note_id = note.id if isinstance(note, Note) else str(note)
        return self._store.find(note_id, with_removed=with_removed)

    def _locate_all(self, record: Record) -> tuple[Anchored, ...]:
        return tuple(self._locate(anchor) for anchor in record.find("anchors", []))

    def _locate(self, anchor: Anchor) -> Anchored:
        key = repr(anchor)
        if key not in self._located:
            self._located[key] = self._locator.locate(anchor)
        return self._located[key]

    def _make_note(self, record: Record) -> Note:
        told = record.find("accepts")
        accepts = None
        if told is not None:
            message = told.get("message", "")
            message = message if isinstance(message, str) else ""
            accepts = AcceptedFinding(
                told["rule"], told["fingerprint"], told.get("count", 1), message
            )
        writings = record.writings
        return Note(
            record.id,
            record.find("text", ""),
            writings[0].author,
            tuple(record.find("tags", ())),
            self._locate_all(record),
            writings[0].at,
            max(event.at for event in writings),
            accepts,
            record.id not in self._store.unsaved,
        )


def open_notes(model: Model) -> Notes:
    """Return the notes of a model: one object for each model."""
    return find_kept(model, Notes, lambda: Notes(model))
