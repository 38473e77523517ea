"""Notes as a table."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from netloupe.explorer.dataframes import make_dataframe

from .note import Note

if TYPE_CHECKING:
    import pandas


def make_table(notes: Iterable[Note]) -> pandas.DataFrame:
    """Return a table with a row for each note; see :meth:`Notes.to_dataframe`.

    Raises
    ------
    MissingPackageError
        Where pandas is not installed.
    """
    notes = list(notes)
    table = make_dataframe(
        {
            "id": [note.id for note in notes],
            "path": [next(iter(note.paths), "") for note in notes],
            "paths": [note.paths for note in notes],
            "state": [note.state for note in notes],
            "text": [note.text for note in notes],
            "author": [note.author for note in notes],
            "tags": [note.tags for note in notes],
            "created": [note.created for note in notes],
            "edited": [note.edited for note in notes],
            "accepts": [note.accepts.rule if note.accepts else "" for note in notes],
        }
    )
    import pandas

    for column in ("created", "edited"):
        table[column] = pandas.to_datetime(table[column], utc=True)
    return table
