"""The files that were opened last, kept for the user alone.

A file of them that is damaged, or cannot be read or written, counts as an empty one: nothing that
is remembered keeps a model from being shown.
"""

from __future__ import annotations

import contextlib
import json
import os
import stat
import tempfile
from pathlib import Path

from netloupe.explorer.files.state import find_state_folder

#: a variable that is set, to anything but 0, where none are to be kept
VARIABLE = "NETLOUPE_NO_RECENT"
_MOST = 12
_MOST_BYTES = 100_000
_NAME = "recent.json"


def find_recent() -> RecentFiles | None:
    """Return the files that were opened last; None where the user wants none kept."""
    if os.environ.get(VARIABLE, "0") not in ("", "0"):
        return None
    try:
        return RecentFiles(find_state_folder() / _NAME)
    except RuntimeError:  # the user has no home
        return None


class RecentFiles:
    """The files that were opened last, the last one first.

    Parameters
    ----------
    file
        Where they are kept.
    """

    def __init__(self, file: Path) -> None:
        self._file = file

    def read(self) -> list[str]:
        """Return their absolute paths, whether or not they still are there."""
        try:
            known = json.loads(_read_regular(self._file, _MOST_BYTES))
        except (OSError, ValueError, RecursionError):
            return []
        if not isinstance(known, list):
            return []
        return [path for path in known if isinstance(path, str) and path and _can_be_written(path)][
            :_MOST
        ]

    def add(self, path: str | os.PathLike[str]) -> None:
        """Remember a file."""
        absolute = os.path.abspath(path)  # noqa: PTH100 - links stay as the user gave them
        if not _can_be_written(absolute):
            return
        self._write([absolute, *(each for each in self.read() if each != absolute)][:_MOST])

    def clear(self) -> None:
        """Forget all."""
        with contextlib.suppress(OSError):
            self._file.unlink(missing_ok=True)

    def _write(self, paths: list[str]) -> None:
        with contextlib.suppress(OSError, UnicodeEncodeError):
            self._file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            # made for its owner's eyes only, and put in its place whole
            descriptor, made = tempfile.mkstemp(dir=self._file.parent, prefix=".recent-")
            try:
                with os.fdopen(descriptor, "wb") as file:
                    file.write(json.dumps(paths, indent=0).encode())
                Path(made).replace(self._file)
            except OSError:
                Path(made).unlink(missing_ok=True)
                raise


def _can_be_written(path: str) -> bool:
    """Return whether a path can be shown and sent: bytes that are no UTF-8 cannot."""
    try:
        path.encode()
    except UnicodeEncodeError:
        return False
    return True


def _read_regular(path: Path, most: int) -> bytes:
    """Return the beginning of a regular file; whatever else is there is not waited for.

    Raises
    ------
    OSError
        Where it is no regular file, or cannot be read.
    """
    handle = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0))
    with os.fdopen(handle, "rb") as file:
        if not stat.S_ISREG(os.fstat(handle).st_mode):
            raise OSError("it is no regular file")
        return file.read(most)
