"""Notes as JSON and as text for a terminal."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator
from typing import Any

from netloupe.explorer.notation import write_count
from netloupe.explorer.notes import Anchored, Note, Notes

from .encoding import encode_json
from .file_text import write_line, write_text

_SCHEMA = 1
_WIDTH = 100
#: so many characters of an id are shown: enough to name it
_SHOWN_ID = 8
_LONGEST_PATH = 300


def encode_notes(source: str, notes: Notes, *, most: int | None = None) -> dict[str, Any]:
    """Return the notes of a model as JSON can hold them, as ``netloupe notes --json`` prints them.

    Parameters
    ----------
    source
        What the user calls the model.
    notes
        Its notes.
    most
        So many entries of each list are written; all of them where None.
    """
    told = {
        "schema": _SCHEMA,
        "source": source,
        "file": None if notes.file is None else str(notes.file),
        "notes": [encode_note(note) for note in notes],
        "notices": list(notes.notices),
    }
    return encode_json(told, most=most)


def encode_note(note: Note) -> dict[str, Any]:
    """Return a note as JSON can hold it."""
    accepts = note.accepts
    return {
        "id": note.id,
        "text": note.text,
        "author": note.author,
        "tags": list(note.tags),
        "state": note.state,
        "elements": [
            {
                "noted": each.noted,
                "state": each.state,
                "path": each.path or None,
                "candidates": list(each.candidates),
                "reason": each.reason,
            }
            for each in note.elements
        ],
        "created": note.created.isoformat(),
        "edited": note.edited.isoformat(),
        "accepts": None
        if accepts is None
        else {"rule": accepts.rule, "fingerprint": accepts.fingerprint, "count": accepts.count},
    }


def format_notes(source: str, notes: Notes) -> str:
    """Return the notes of a model as lines of text, the earliest first."""
    listed = list(notes)
    lines = [f"{write_line(source, _LONGEST_PATH)}: {write_count(len(listed), 'note')}"]
    for note in listed:
        lines += ["", *format_note(note)]
    for notice in notes.notices:
        lines += ["", *textwrap.wrap(write_line(notice, 1_000), _WIDTH, subsequent_indent="  ")]
    return "\n".join(lines) + "\n"


def format_note(note: Note) -> Iterator[str]:
    """Yield the lines of one note."""
    about = [note.id[:_SHOWN_ID], f"{note.edited:%Y-%m-%d %H:%M} UTC"]
    if note.author:
        about.append(write_line(note.author))
    about += [f"#{write_line(tag)}" for tag in note.tags]
    if note.accepts is not None:
        about.append(f"accepts {write_line(note.accepts.rule)}")
    yield "  ".join(about)
    for element in note.elements:
        yield f"  {_describe_place(element)}"
    for line in write_text(note.text).split("\n"):
        yield from textwrap.wrap(line, _WIDTH, initial_indent="    ", subsequent_indent="    ") or [
            ""
        ]


def _describe_place(element: Anchored) -> str:
    noted, path = (write_line(text, _LONGEST_PATH) for text in (element.noted, element.path))
    if element.state == "exact":
        return path
    reason = write_line(element.reason)
    if element.state == "moved":
        return f"{path}  moved: was {noted} ({reason})"
    if element.state == "uncertain":
        near = ", ".join(write_line(each, _LONGEST_PATH) for each in element.candidates)
        return f"{noted}  uncertain ({reason}): perhaps {near}"
    return f"{noted}  orphaned ({reason})"
