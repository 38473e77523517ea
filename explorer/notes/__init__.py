"""Notes on the elements of a model, kept in a file beside it.

Texts and elements come in; :class:`Note` objects that say where their elements are now go out, and
lines of ``MODEL.notes.jsonl``. Nothing here knows pictures, or how notes are shown.
"""

from .note import AcceptedFinding, Anchored, Note
from .notes import Notes, open_notes

__all__ = ["AcceptedFinding", "Anchored", "Note", "Notes", "open_notes"]
