"""What a session says of the files of its model."""

from __future__ import annotations

from netloupe.explorer.model import Model

#: of more files that have changed only these are named
_MOST_CHANGED = 3


def say_changes(model: Model) -> str:
    """Return which files are no longer as they were read, and how; "" for none."""
    changed = model.files.find_changed() if model.files is not None else {}
    return "; ".join(
        f"{path.name} has changed since it was opened: {what}"
        for path, what in [*changed.items()][:_MOST_CHANGED]
    )
