"""The files that a model is read from, and the bytes of tensors beside it (ONNX: external data).

A model may name any path; only regular files inside the model's own folder are opened.
"""

from __future__ import annotations

import os
import stat
from pathlib import Path, PureWindowsPath

from netloupe.explorer.errors import SourceChangedError, TensorDataError
from netloupe.explorer.model import ExternalLocation, StoredRow

from .pointers import MOST_POINTER_BYTES, find_pointer
from .stored import FileIdentity, StoredFile

_FILE_KINDS = (
    (stat.S_ISDIR, "a directory"),
    (stat.S_ISFIFO, "a named pipe"),
    (stat.S_ISSOCK, "a socket"),
    (stat.S_ISCHR, "a device"),
    (stat.S_ISBLK, "a device"),
)


class ModelFiles:
    """The files that one model is read from, each as it was when it was opened first.

    Parameters
    ----------
    folder
        Where external data may lie; None where the model did not come from a file.
    own
        The model's file; None where it did not come from one.
    """

    def __init__(self, folder: Path | None = None, own: StoredFile | None = None) -> None:
        self.folder = folder
        self._own = [] if own is None else [own]
        #: files of external data that were used, by their location as the model states it
        self._external: dict[str, StoredFile] = {}

    @property
    def own(self) -> list[Path]:
        """The model's own file and that of its init net, as far as it came from files."""
        return [file.file for file in self._own]

    @property
    def own_size(self) -> int:
        """Bytes of the model's own file, 0 where it did not come from one."""
        return self._own[0].size if self._own else 0

    def find_external_size(self, location: ExternalLocation) -> int:
        """Return the bytes of the file that external data are in; 0 where it is not read."""
        if self.folder is None or self.judge_external(location, None):
            return 0
        try:
            return _resolve(self.folder, location.location).lstat().st_size
        except (_RefusalError, OSError):
            return 0

    def add(self, others: ModelFiles) -> None:
        """Count the files of another model as this one's too: those of an init net."""
        self._own += others._own

    def find_changed(self) -> dict[Path, str]:
        """Return which files are no longer as they were, each with what has changed.

        Only names, sizes and times are looked at; no file is opened.
        """
        files = dict.fromkeys((*self._own, *self._external.values()))
        changes = {file.file: file.find_change() for file in files}
        return {path: change for path, change in changes.items() if change}

    def open_external(
        self, location: ExternalLocation, expected_bytes: int | None, path: str
    ) -> StoredRow:
        """Return the bytes of an external tensor, which are read when they are asked for.

        Parameters
        ----------
        location
            Path, offset and length as the model states them.
        expected_bytes
            What the tensor's type and dimensions need; None where that is unknown. Where the
            model states no length, it is this.
        path
            The tensor's path in the model, for messages.

        Raises
        ------
        TensorDataError
            Where the location is not a regular file inside the model's folder once links are
            resolved, or offset and length are no numbers or do not lie within the file.
        SourceChangedError
            Where the file is no longer as it was when one of its tensors was first read.
        """
        name = location.location
        try:
            return self._open_location(location, expected_bytes, path)
        except _RefusalError as refusal:
            self._refuse_change(name, path)
            shown = repr(name if len(name) <= 120 else name[:120] + "…")
            raise TensorDataError(
                f"{path}: external data {shown} is not read: {refusal.reason}. {refusal.advice}."
            ) from refusal.__cause__

    def judge_external(self, location: ExternalLocation, expected_bytes: int | None) -> str:
        """Return why external data will not be read, as :meth:`open_external` judges, or nothing.

        Names and sizes are looked at; only files that may be pointers, of less than 1,024 bytes,
        are opened. Without a folder only what the model states is judged.
        """
        try:
            offset = _judge_statement(location)
            if self.folder is None:
                return ""
            file = _resolve(self.folder, location.location)
            status = file.lstat()
            if not stat.S_ISREG(status.st_mode):
                return "it is no regular file"
            if status.st_size < MOST_POINTER_BYTES:
                _open_regular(file)
            _judge_length(offset, location.length, expected_bytes, status.st_size)
        except _RefusalError as refusal:
            return refusal.reason
        except OSError as error:
            return (error.strerror or str(error)).lower()
        return ""

    def _open_location(
        self, location: ExternalLocation, expected_bytes: int | None, path: str
    ) -> StoredRow:
        offset = _judge_statement(location)
        file = StoredFile(*_open_regular(_resolve(self.folder, location.location)))
        held = self._external.setdefault(location.location, file)
        if held != file:
            self._refuse_change(location.location, path)
        length = _judge_length(offset, location.length, expected_bytes, file.size)
        return held.part(offset, length, path)

    def _refuse_change(self, location: str, path: str) -> None:
        """Raise SourceChangedError where a file is not the one that was used before."""
        held = self._external.get(location)
        change = held.find_change() if held is not None else ""
        if held is not None and change:
            raise SourceChangedError(
                f"{path}: its data cannot be read: {held.file} has changed since it was opened "
                f"({change}). Load the model again."
            )


class _RefusalError(Exception):
    """Why a location is refused, and what to do."""

    def __init__(self, reason: str, advice: str) -> None:
        super().__init__(reason)
        self.reason = reason
        self.advice = advice


def _resolve(folder: Path | None, location: str) -> Path:
    if folder is None:
        raise _RefusalError(
            "the model was not loaded from a file, so it has no folder",
            "Load the model by its path",
        )
    if not location:
        raise _RefusalError("no location is given", "Write the model again")
    if "://" in location:
        raise _RefusalError(
            "it is an address, and there is no network access",
            "Put the file beside the model and name it by a relative path",
        )
    windows = PureWindowsPath(location)  # the drive and root of either system
    if Path(location).is_absolute() or windows.drive or windows.root:
        raise _RefusalError(
            "the path is absolute", "Put the file beside the model and name it by a relative path"
        )
    outside = _RefusalError(
        "it leads out of the model's folder", "Put the file itself into the model's folder"
    )
    # as written, even where a part of it does not exist; links are judged below
    if Path(os.path.normpath(location)).parts[:1] == (os.pardir,):
        raise outside
    try:
        root = folder.resolve(strict=True)
        file = (root / location).resolve(strict=True)
    except FileNotFoundError as error:
        raise _RefusalError("there is no such file", "Put the file beside the model") from error
    except (OSError, RuntimeError, ValueError) as error:  # link loops, NUL bytes, long names
        raise _RefusalError(
            "the path cannot be followed", "Put the file beside the model under a plain name"
        ) from error
    if not file.is_relative_to(root):
        raise outside
    return file


def _judge_statement(location: ExternalLocation) -> int:
    """Return the offset that is stated, where it and the length are numbers."""
    if location.misstated:
        raise _RefusalError(location.misstated, "Write the model again")
    offset = location.offset or 0
    if offset < 0:
        raise _RefusalError(f"its offset is negative ({offset})", "Write the model again")
    return offset


def _open_regular(file: Path) -> tuple[Path, FileIdentity]:
    """Open a file for a moment, to see that it can be read, and is no pointer to another one.

    Return it with its identity.
    """
    advice = "Put a regular file in its place"
    try:
        before = os.lstat(file)
        for is_kind, kind in _FILE_KINDS:
            if is_kind(before.st_mode):
                raise _RefusalError(f"it is {kind}", advice)
        if not stat.S_ISREG(before.st_mode):
            raise _RefusalError("it is no regular file", advice)
        # what was judged may have been exchanged since: neither follow a link nor wait
        flags = os.O_RDONLY | getattr(os, "O_BINARY", 0)
        flags |= getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
        descriptor = os.open(file, flags)
    except OSError as error:
        raise _RefusalError(
            f"it cannot be opened ({error.strerror})", "Check its permissions"
        ) from error
    try:
        after = os.fstat(descriptor)
        # what stands for the data is not taken for them, as far as their length would allow it
        is_small = after.st_size < MOST_POINTER_BYTES
        pointer = find_pointer(os.read(descriptor, MOST_POINTER_BYTES)) if is_small else None
    except OSError as error:
        raise _RefusalError(f"it cannot be read ({error.strerror})", "Try again") from error
    finally:
        os.close(descriptor)
    if pointer is not None:
        raise _RefusalError(f"it is {pointer.what}, not the data themselves", pointer.advice)
    if (after.st_dev, after.st_ino) != (before.st_dev, before.st_ino):
        raise _RefusalError("it was exchanged while it was opened", "Try again")
    return file, FileIdentity.of(after)


def _judge_length(offset: int, length: int | None, expected: int | None, size: int) -> int:
    if length is not None and length < 0:
        raise _RefusalError(f"its length is negative ({length})", "Write the model again")
    if length is not None and expected is not None and length != expected:
        raise _RefusalError(
            f"its stated length is {length} bytes, but type and dimensions need {expected}",
            "Write the model again",
        )
    needed = length if length is not None else expected
    if needed is None:
        needed = max(size - offset, 0)
    if offset + needed > size:
        raise _RefusalError(
            f"{needed} bytes at offset {offset} are asked for, but the file has {size}",
            "Get the file again: it is cut short or belongs to another model",
        )
    return needed
