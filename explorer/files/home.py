"""Paths that begin with ``~``: below a home folder, as in a shell."""

from __future__ import annotations

import os
from pathlib import Path


def expand_home(path: str | os.PathLike[str]) -> Path:
    """Return a path with a leading ``~`` or ``~user`` replaced; as it is where there is none."""
    given = Path(path)
    try:
        return given.expanduser()
    except RuntimeError:  # no such user, or no home: then it is the name of a file
        return given
