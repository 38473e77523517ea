"""The file that notes are kept in: read line by line, and only ever appended to."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, NamedTuple

from netloupe.explorer.errors import NotesError
from netloupe.explorer.files.inputs import NOTES_ENDING
from netloupe.explorer.progress import step

from .event import LONGEST_LINE, Event, read_event
from .locking import locked

#: what is appended to the name of a model
ENDING = NOTES_ENDING
#: a file of so many bytes or events is not read
_LARGEST, _MOST_EVENTS = 2**28, 500_000
#: seconds that another process may be at the file
_PATIENCE = 10.0
#: so often it is opened again where it was replaced meanwhile, as git does
_MOST_TRIES = 20
#: so many lines that are no notes are told one by one
_MOST_TOLD = 20
_STEP = 1_000


class ForeignLine(NamedTuple):
    """A line that is no note of ours: it is left where it is.

    Parameters
    ----------
    number
        Of the line, from 1.
    reason
        Why it is none.
    """

    number: int
    reason: str


@dataclass(slots=True)
class SidecarContent:
    """What a file of notes holds.

    Parameters
    ----------
    events
        In the order of the lines.
    foreign
        The first lines that are none.
    foreign_count
        How many of these there are.
    """

    events: list[Event] = field(default_factory=list)
    foreign: list[ForeignLine] = field(default_factory=list)
    foreign_count: int = 0

    def leave(self, number: int, reason: str) -> None:
        """Note that a line is none of ours."""
        self.foreign_count += 1
        if len(self.foreign) < _MOST_TOLD:
            self.foreign.append(ForeignLine(number, reason))


def sidecar_of(model: Path) -> Path:
    """Return where the notes of a model file are: ``model.onnx.notes.jsonl``."""
    return model.with_name(model.name + ENDING)


def read_sidecar(path: Path, *, follow: bool = True) -> SidecarContent:
    """Return what a file of notes holds; nothing where there is no such file.

    Parameters
    ----------
    path
        The file.
    follow
        Whether it may be a link, as where the user names it.

    Raises
    ------
    NotesError
        Where it is no regular file, is too large, or cannot be read.
    """
    content = SidecarContent()
    try:
        handle = _open(path, os.O_RDONLY, follow=follow)
    except FileNotFoundError:
        return content
    except (OSError, ValueError) as error:
        raise _say_unreadable(path, error) from error
    try:
        with os.fdopen(handle, "rb") as file:
            size = os.fstat(file.fileno()).st_size
            if size > _LARGEST:
                raise NotesError(
                    f"{path}: has {size:,} bytes, too many for notes. Check what it is; "
                    "model.notes.open(FILE) keeps notes in another file."
                )
            number = 0
            while line := file.readline(LONGEST_LINE + 2):
                number += 1
                if not number % _STEP:
                    step("reading notes")
                if len(line) > LONGEST_LINE and not line.endswith(b"\n"):
                    _skip_line(file)
                _read_line(content, number, line)
                if len(content.events) > _MOST_EVENTS:
                    raise NotesError(
                        f"{path}: holds more than {_MOST_EVENTS:,} events, too many to be read. "
                        "model.notes.open(FILE) keeps notes in another file."
                    )
    except OSError as error:
        raise _say_unreadable(path, error) from error
    return content


def _read_line(content: SidecarContent, number: int, line: bytes) -> None:
    text = line.strip()
    if text:
        try:
            content.events.append(read_event(text))
        except ValueError as error:
            content.leave(number, str(error))


def _skip_line(file: IO[bytes]) -> None:
    while (rest := file.readline(2**20)) and not rest.endswith(b"\n"):
        step("reading notes")


def append_events(path: Path, events: Iterable[Event], *, follow: bool = True) -> None:
    """Append events to a file of notes, which is made where there is none.

    They are written in one piece, under a lock, and are on the disk when this returns. What the
    file holds stays as it is; a last line without an end, as of a process that was killed, gets
    one.

    Raises
    ------
    NotesError
        Where the file cannot be written, is no regular file, or another process holds it for
        long. None of the events is in the file then, or all are.
    """
    data = "".join(f"{event.write()}\n" for event in events).encode()
    if not data:
        return
    try:
        for _ in range(_MOST_TRIES):
            if _append(path, data, follow=follow):
                return
    except (OSError, ValueError) as error:
        reason = (getattr(error, "strerror", None) or str(error)).lower()
        raise NotesError(
            f"{path}: notes cannot be written ({reason}). They are kept in memory; "
            "model.notes.open(FILE) writes them to another file."
        ) from error
    raise NotesError(
        f"{path}: is replaced again and again, so notes cannot be written. They are kept in "
        "memory; model.notes.open(FILE) writes them to another file."
    )


def _append(path: Path, data: bytes, *, follow: bool) -> bool:
    """Append to a file; return whether it is still the one at that path."""
    handle = _open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND, follow=follow)
    try:
        with locked(handle, _PATIENCE) as is_alone:
            if not _is_at(handle, path):
                return False
            size = os.lseek(handle, 0, os.SEEK_END)
            if size:
                os.lseek(handle, size - 1, os.SEEK_SET)
                if os.read(handle, 1) != b"\n":
                    data = b"\n" + data
            try:
                _write_all(handle, data)
                os.fsync(handle)
            except OSError:
                if is_alone:
                    os.ftruncate(handle, size)  # a full disk: half a line would be no use
                raise
        return _is_at(handle, path)  # else the same lines go to the new file, too
    finally:
        os.close(handle)


def _write_all(handle: int, data: bytes) -> None:
    left = memoryview(data)
    while left:
        left = left[os.write(handle, left) :]


def _is_at(handle: int, path: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(handle), path.stat())
    except FileNotFoundError:
        return False


def _open(path: Path, flags: int, *, follow: bool) -> int:
    """Return a regular file, opened; no pipe is waited for, and no link followed unasked.

    Raises
    ------
    OSError, ValueError
        Where it cannot be opened, or is something else.
    """
    if not follow and path.is_symlink():
        raise ValueError("it is a link; model.notes.open(FILE) uses the file that it leads to")
    for name in ("O_CLOEXEC", "O_NONBLOCK", "O_BINARY"):
        flags |= getattr(os, name, 0)
    if not follow:
        flags |= getattr(os, "O_NOFOLLOW", 0)
    handle = os.open(path, flags, 0o666)
    if not stat.S_ISREG(os.fstat(handle).st_mode):
        os.close(handle)
        raise ValueError("it is no regular file")
    return handle


def _say_unreadable(path: Path, error: Exception) -> NotesError:
    reason = (getattr(error, "strerror", None) or str(error)).lower()
    return NotesError(
        f"{path}: notes cannot be read ({reason}). Nothing was changed; check the file, or keep "
        "notes in another one with model.notes.open(FILE)."
    )
