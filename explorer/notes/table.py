"""Notes as a table."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from netloupe.explorer.errors import NotesError

from .note import Note

if TYPE_CHECKING:
    import pandas


def make_table(notes: Iterable[Note]) -> pandas.DataFrame:
    """Return a table with a row for each note; see :meth:`Notes.to_dataframe`.

    Raises
    ------
    NotesError
        Where pandas is not installed.
    """
    try:
        import pandas
    except ImportError as error:
        raise NotesError(
            "tables need pandas, which is not installed. `pip install pandas`."
        ) from error
    notes = list(notes)
    return pandas.DataFrame(
        {
            "id": [note.id for note in notes],
            "path": [next(iter(note.paths), "") for note in notes],
            "paths": [note.paths for note in notes],
            "state": [note.state for note in notes],
            "text": [note.text for note in notes],
            "author": [note.author for note in notes],
            "tags": [note.tags for note in notes],
            "created": pandas.to_datetime([note.created for note in notes], utc=True),
            "edited": pandas.to_datetime([note.edited for note in notes], utc=True),
            "accepts": [note.accepts.rule if note.accepts else "" for note in notes],
        }
    )
