"""Notes on elements of a model as items of a review."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from netloupe.explorer.notation import clip_text
from netloupe.explorer.notes import Note
from netloupe.explorer.notes.note import write_places

from .item import ReviewItem
from .wording import write_message, write_where

_ID = "note"
_LONGEST_TITLE = 120


def list_note_items(notes: Iterable[Note]) -> Iterator[ReviewItem]:
    """Yield notes; one that accepts a finding is told with that finding too."""
    for note in notes:
        text = write_message(note.text)
        first, _, _ = text.partition("\n")
        evidence = [("note", text), ("by", f"{write_message(note.author)}, {_write_time(note)}")]
        if note.tags:
            evidence.append(("tags", write_message(", ".join(note.tags))))
        if note.accepts is not None:
            evidence.append(("accepts", write_message(note.accepts.rule)))
        if note.state != "exact":
            evidence.append(("is about", write_message(write_places(note.elements))))
            reasons = dict.fromkeys(each.reason for each in note.elements if each.reason)
            evidence.append((note.state, write_message("; ".join(reasons))))
        if not note.is_saved:
            evidence.append(("kept", "in memory only: the file of the notes cannot be written"))
        paths = note.paths
        yield ReviewItem(
            "note",
            "noted",
            clip_text(f"“{first}”", _LONGEST_TITLE),
            write_where(paths or tuple(each.noted for each in note.elements), len(note.elements)),
            _ID,
            paths,
            tuple((label, told) for label, told in evidence if told),
            count=max(1, len(note.elements)),
            fingerprint=note.id,
        )


def _write_time(note: Note) -> str:
    written = f"{note.created:%d %b %Y %H:%M} UTC"
    return written if note.edited == note.created else f"{written}, edited {note.edited:%d %b %Y}"
