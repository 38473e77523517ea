"""Read a tensor's bytes from a file beside the model (ONNX: external data).

A model may name any path; only regular files inside the model's own folder are opened.
"""

from __future__ import annotations

import os
import stat
from pathlib import Path, PureWindowsPath

from netloupe.explorer.errors import TensorDataError
from netloupe.explorer.model import ExternalLocation

from .stored import read_descriptor

_FILE_KINDS = (
    (stat.S_ISDIR, "a directory"),
    (stat.S_ISFIFO, "a named pipe"),
    (stat.S_ISSOCK, "a socket"),
    (stat.S_ISCHR, "a device"),
    (stat.S_ISBLK, "a device"),
)


def read_external(
    folder: Path | None, location: ExternalLocation, expected_bytes: int | None, path: str
) -> bytes | memoryview:
    """Read the bytes of an external tensor.

    Parameters
    ----------
    folder
        The model's folder; None where the model did not come from a file.
    location
        Path, offset and length as the model states them.
    expected_bytes
        What the tensor's type and dimensions need; None where that is unknown. Where the
        model states no length, this many are read.
    path
        The tensor's path in the model, for messages.

    Returns
    -------
    bytes or memoryview
        Exactly the tensor's bytes; a read-only map of the file where they are many.

    Raises
    ------
    TensorDataError
        Where the location is not a regular file inside ``folder`` once links are resolved,
        or offset and length do not lie within the file.
    """
    try:
        return _read_location(folder, location, expected_bytes)
    except _RefusalError as refusal:
        name = location.location
        shown = repr(name if len(name) <= 120 else name[:120] + "…")
        raise TensorDataError(
            f"{path}: external data {shown} is not read: {refusal.reason}. {refusal.advice}."
        ) from refusal.__cause__


def judge_location(
    folder: Path | None, location: ExternalLocation, expected_bytes: int | None
) -> str:
    """Return why external data will not be read, as `read_external` judges; empty where they will.

    Only names and sizes are looked at; no file is opened. Without a folder nothing is judged.
    """
    if folder is None:
        return ""
    try:
        offset = location.offset or 0
        if offset < 0:
            return f"its offset is negative ({offset})"
        file = _resolve(folder, location.location)
        status = file.lstat()
        if not stat.S_ISREG(status.st_mode):
            return "it is no regular file"
        _judge_length(offset, location.length, expected_bytes, status.st_size)
    except _RefusalError as refusal:
        return refusal.reason
    except OSError as error:
        return (error.strerror or str(error)).lower()
    return ""


def _read_location(
    folder: Path | None, location: ExternalLocation, expected_bytes: int | None
) -> bytes | memoryview:
    offset = location.offset or 0
    if offset < 0:
        raise _RefusalError(f"its offset is negative ({offset})", "Write the model again")
    descriptor = _open_regular(_resolve(folder, location.location))
    try:
        size = os.fstat(descriptor).st_size
        length = _judge_length(offset, location.length, expected_bytes, size)
        return read_descriptor(descriptor, offset, length)
    except (OSError, OverflowError, ValueError) as error:
        raise _RefusalError(f"it cannot be read ({error})", "Check the disk") from error
    finally:
        os.close(descriptor)


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


def _open_regular(file: Path) -> int:
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
    after = os.fstat(descriptor)
    if (after.st_dev, after.st_ino) != (before.st_dev, before.st_ino):
        os.close(descriptor)
        raise _RefusalError("it was exchanged while it was opened", "Try again")
    return descriptor


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
