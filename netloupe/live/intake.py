"""Files that pages have opened beside those that the server was started with.

A page may send a file, which is kept in a private folder until the server ends. A page may name a
path only where the server was started without a model: otherwise nothing but what was given is
read.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import tempfile
from pathlib import Path
from typing import IO, TYPE_CHECKING, Protocol

from netloupe.explorer.errors import OutputError, SourceError
from netloupe.explorer.files.home import expand_home

from .leftovers import PREFIX as _PREFIX
from .leftovers import clean_up, hold
from .served import ServedModel

if TYPE_CHECKING:
    from .recent import RecentFiles

#: bytes of a file that a page sends: more has no protobuf message; and of all of them together
MOST_BYTES = 2 << 30
MOST_BYTES_TOGETHER = 8 << 30
#: characters of the name of such a file
_LONGEST_NAME = 120


class MakesModel(Protocol):
    """Makes a model to be shown."""

    def __call__(self, path: Path, name: str, *, is_sent: bool) -> ServedModel:
        """Return it, not yet read."""


class Intake:
    """Opens what pages ask for.

    Parameters
    ----------
    make
        Makes a model to be shown of a path, of what pages call it, and of whether a page has
        sent it.
    takes_paths
        Whether pages may name paths.
    recent
        The files that were opened last; None where none are kept.
    """

    def __init__(
        self,
        make: MakesModel,
        *,
        takes_paths: bool = False,
        recent: RecentFiles | None = None,
    ) -> None:
        self._make = make
        self.takes_paths = takes_paths
        self.recent = recent
        self._folder: Path | None = None
        self._room = Room(MOST_BYTES_TOGETHER)
        self._lock: int | None = None

    def open_path(self, given: str) -> ServedModel:
        """Return the model of a path, not yet read.

        Raises
        ------
        SourceError
            Where paths are not taken, or there is no such file.
        """
        if not self.takes_paths:
            raise SourceError(
                "this server shows the models that it was started with alone. Run `netloupe open` "
                "without a model to choose files on a page."
            )
        text = given.strip()
        path = Path(expand_home(text))
        try:
            is_file = bool(text) and path.is_file()
        except (OSError, ValueError):  # too long a name, or one with a zero byte
            is_file = False
        if not is_file:
            raise SourceError(f"{text[:300]!r} is no file. Give the path of a model file.")
        return self._make(path, path.name, is_sent=False)

    def begin_drop(self, name: str) -> DroppedFile:
        """Return a file that takes what a page sends.

        Raises
        ------
        OutputError
            Where it cannot be kept.
        """
        try:
            if self._folder is None:
                clean_up()
                self._folder = Path(tempfile.mkdtemp(prefix=_PREFIX))  # for the user alone
                self._lock = hold(self._folder)
            folder = Path(tempfile.mkdtemp(dir=self._folder))
            return DroppedFile(folder / _clean_name(name), MOST_BYTES, self._room)
        except OSError as error:
            raise OutputError(f"the file cannot be kept: {error.strerror}.") from error

    def take(self, dropped: DroppedFile) -> ServedModel:
        """Return the model of a file that a page has sent, not yet read."""
        return self._make(dropped.path, dropped.path.name, is_sent=True)

    def close(self) -> None:
        """Remove what pages have sent."""
        if self._folder is not None:
            shutil.rmtree(self._folder, ignore_errors=True)
            self._folder = None
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None


class Room:
    """How many bytes files that are sent may still have, those under way together.

    Parameters
    ----------
    most
        Bytes of all together.
    """

    def __init__(self, most: int) -> None:
        #: what nobody has taken yet
        self.left = most


class DroppedFile:
    """A file that a page sends, piece by piece.

    Parameters
    ----------
    path
        Where it is kept.
    most
        Bytes that it may have.
    room
        What it shares with others.

    Raises
    ------
    OSError
        Where it cannot be kept.
    """

    def __init__(self, path: Path, most: int, room: Room) -> None:
        self.path = path
        self._room = room
        self.size = 0
        #: why it cannot be kept; "" where it can
        self.problem = ""
        self._most = most
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        self._file: IO[bytes] | None = os.fdopen(descriptor, "wb")

    def write(self, piece: bytes) -> None:
        """Keep a piece; one that cannot be kept is a problem."""
        if self._file is None:
            return
        most = min(self._most, self.size + self._room.left)
        if self.size + len(piece) > most:
            self.abandon(
                f"The file is larger than {most:,} bytes, the most that is taken. "
                "Give its path to `netloupe open` instead."
            )
            return
        self._room.left -= len(piece)
        self.size += len(piece)
        try:
            self._file.write(piece)
        except OSError as error:
            self.abandon(f"The file cannot be kept: {error.strerror}.")

    def finish(self) -> None:
        """End what is written."""
        if self._file is not None:
            try:
                self._file.close()
            except OSError as error:
                self.abandon(f"The file cannot be kept: {error.strerror}.")
            self._file = None

    def abandon(self, problem: str = "The file did not come whole.") -> None:
        """Remove what has come."""
        if self._file is not None:
            with contextlib.suppress(OSError):
                self._file.close()
            self._file = None
        self.problem = self.problem or problem
        self._room.left += self.size  # what is removed takes no room
        self.size = 0
        shutil.rmtree(self.path.parent, ignore_errors=True)


def _clean_name(name: str) -> str:
    """Return the name of a file as one that every system takes."""
    last = name.replace("\\", "/").rpartition("/")[2]
    kept = "".join(
        letter if letter.isprintable() and letter not in ':*?"<>|' else "_" for letter in last
    )
    kept = kept.encode("utf-8", "replace").decode().strip(" .")
    stem, dot, ending = kept.rpartition(".")
    kept = f"{stem[: _LONGEST_NAME - 20]}{dot}{ending[:19]}"
    while len(kept.encode()) > 2 * _LONGEST_NAME:
        kept = kept[1:]
    return kept or "model"
