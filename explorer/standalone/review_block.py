"""What there is to review, in a page.

The block (see :mod:`.blocks`) has four columns: ``review`` as :mod:`netloupe.explorer.review.wire`
writes it; ``places``: by path the numbers of the items that are marked there, as
:class:`~netloupe.explorer.review.ItemPlaces` has them, the pairs of repeats one behind the other;
``structure``: the digest of the model that notes have in their anchors; and ``notes``: of each note
what an event has to come after to change or remove it. ``frontend/src/standalone/item_marks.ts``
reads the places, ``file_notes.ts`` beside it the last two.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import Any

from netloupe.explorer.errors import NotesError
from netloupe.explorer.model import Model
from netloupe.explorer.notes import Note, Notes
from netloupe.explorer.notes.event import Event, write_time
from netloupe.explorer.review import ItemPlaces, Review, ReviewItem, encode_review
from netloupe.explorer.review.wording import write_message

from .blocks import write_block


def write_review(model: Model, review: Review, places: ItemPlaces) -> bytes:
    """Return the block of a review of a model, and of where the picture shows it."""
    # of two models that are shown as one, notes are on the newer
    noted = model if model.comparison is None else model.comparison.right
    notes: list[dict[str, Any]] = []
    with suppress(NotesError):  # of a file that cannot be read nothing can be changed
        notes += _tell_notes(noted.notes, review)
    columns = {
        "review": encode_review(review),
        "places": encode_places(places),
        "structure": noted.notes.structure,
        "notes": notes,
    }
    return write_block({}, columns)


def encode_places(places: ItemPlaces) -> dict[str, dict[str, list[int]]]:
    """Return where a picture shows items as JSON can hold it: pairs stand one behind the other."""
    return {
        "marked": places.marked,
        "holders": places.holders,
        "repeats": {
            path: [number for pair in pairs for number in pair]
            for path, pairs in places.repeats.items()
        },
    }


def _tell_notes(notes: Notes, review: Review) -> Iterator[dict[str, Any]]:
    """Yield what is known of the notes of a review, and of those that were removed."""
    for note_id in notes.removed:
        yield _tell_note(note_id, notes.history(note_id))
    listed = {item.fingerprint for item in review if item.kind == "note"}
    accepted = [item for item in review if item.accepted and item.kind != "note"]
    for note in notes if listed else ():
        if note.id in listed:
            told = _tell_note(note.id, notes.history(note.id))
            findings = [] if note.accepts is None else accepted
            told["author"] = note.author
            told["accepts"] = [
                [item.id, item.fingerprint] for item in findings if _accepts(note, item)
            ]
            yield told


def _accepts(note: Note, item: ReviewItem) -> bool:
    """Return whether a note is what accepts a finding: it says why in the note's words."""
    accepts = note.accepts
    by = f"{note.author}: " if note.author else ""
    return (
        accepts is not None
        and accepts.rule == item.id
        and item.accepted == write_message(f"{by}{note.text.strip()}")
    )


def _tell_note(note_id: str, events: Sequence[Event]) -> dict[str, Any]:
    kept = max((event.turn for event in events if not event.is_removal), default=0)
    removed = max((event.turn for event in events if event.is_removal), default=0)
    texts = [event for event in events if "text" in event.changes]
    said = [texts[-1].turn, write_time(texts[-1].at), texts[-1].id] if texts else [0, "", ""]
    return {
        "id": note_id,
        "kept": kept,
        "removed": removed,
        "text": said,
        "author": "",
        "accepts": [],
    }
