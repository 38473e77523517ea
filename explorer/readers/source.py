"""Sources: where a model's bytes come from."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from netloupe.explorer.errors import SourceChangedError, SourceError
from netloupe.explorer.tensors import FileChangedError, ModelFiles, StoredBytes, StoredFile

# up to this size a file is read at once and parsed whole; above, the scanner reads it. Measured:
# 20 tensors of 200 KB take 0.2 ms instead of 3; where nothing large can be left behind (nodes
# only, tensors of 4 KB) scanning costs 7 to 25 % more
WHOLE_BYTES = 4 * 2**20

_HEAD_BYTES = 4096
_STEP_BYTES = 2**28  # a system call reads less than 2 GiB


class Source:
    """The bytes of a model and what to call them.

    Parameters
    ----------
    name
        For messages and titles: the path as the user gave it, or ``<bytes>``.
    data
        The whole content, or the file that holds it and is not yet read.
    files
        The files that the bytes come from; None where they come from none.
    """

    __slots__ = ("_head", "files", "name", "stored")

    def __init__(
        self, name: str, data: bytes | StoredFile, files: ModelFiles | None = None
    ) -> None:
        self.name = name
        self.files = files or ModelFiles()
        self.stored = StoredBytes(data) if isinstance(data, bytes) else data
        self._head: bytes | None = None

    @property
    def size(self) -> int:
        """Number of bytes."""
        return self.stored.size

    @property
    def head(self) -> bytes:
        """The first 4096 bytes, enough to tell what the content is."""
        if isinstance(self.stored, StoredBytes):
            return self.stored.data[:_HEAD_BYTES]
        if self._head is None:
            with self.open() as read:
                self._head = read(_HEAD_BYTES, 0)
        return self._head

    @property
    def data(self) -> bytes:
        """The whole content; a file is read anew each time.

        Raises
        ------
        SourceError
            Where the file cannot be read.
        SourceChangedError
            Where it is no longer the same.
        """
        if isinstance(self.stored, StoredBytes):
            return self.stored.data
        with self.open() as read:
            steps = range(0, self.size, _STEP_BYTES)
            return b"".join(read(min(_STEP_BYTES, self.size - at), at) for at in steps)

    @contextmanager
    def open(self) -> Iterator[Callable[[int, int], bytes]]:
        """Give a function ``read(length, offset)`` for ranges of the content.

        Raises
        ------
        SourceError
            Where the file cannot be read.
        SourceChangedError
            Where it is no longer the same.
        """
        try:
            with self.stored.open() as read:
                yield read
        except OSError as error:
            raise _unreadable(self.name, error) from error


def open_source(source: Any) -> Source:
    """Read a path, bytes, a binary file object or an in-memory protobuf message.

    Parameters
    ----------
    source
        ``str`` or ``os.PathLike`` (a path), ``bytes``-like, an object with ``read()``, or one
        with ``SerializeToString()`` such as ``onnx.ModelProto``.

    Raises
    ------
    SourceError
        Where there is no such file, it is no regular file, it may not be read, or the object
        is of none of these kinds.
    """
    if isinstance(source, (str, os.PathLike)):
        return _read_file(os.fspath(source))
    if isinstance(source, (bytes, bytearray, memoryview)):
        return Source("<bytes>", bytes(source))
    if hasattr(source, "SerializeToString"):
        return Source(f"<{type(source).__name__}>", source.SerializeToString())
    if hasattr(source, "read"):
        return _read_file_object(source)
    raise SourceError(
        f"a {type(source).__name__} is no model source. Give a path, bytes, a file object "
        "opened in binary mode, or an onnx.ModelProto."
    )


def _read_file(name: str | bytes) -> Source:
    shown = os.fsdecode(name)
    path = Path(shown)
    try:
        status = path.stat()  # asked before opening: a FIFO would block for ever
    except ValueError:
        raise SourceError(f"{shown!r}: is no path that a file can have. Check the name.") from None
    except FileNotFoundError:
        raise SourceError(f"{shown}: there is no such file. Check the name.") from None
    except OSError as error:
        raise SourceError(f"{shown}: {_reason(error)}. Check the name.") from error
    if stat.S_ISDIR(status.st_mode):
        raise SourceError(f"{shown}: is a directory. Give the model file inside it.")
    if not stat.S_ISREG(status.st_mode):
        raise SourceError(f"{shown}: is no regular file. Copy its content to a file first.")
    folder = Path(os.path.realpath(path)).parent  # as Path.resolve, with less work
    own = StoredFile.at(path, status)
    source = Source(shown, own, ModelFiles(folder, own))
    return source if own.size > WHOLE_BYTES else Source(shown, source.data, source.files)


def _read_file_object(file: Any) -> Source:
    given = getattr(file, "name", None)
    name = given if isinstance(given, str) else f"<{type(file).__name__}>"
    try:
        data = file.read()
    except UnicodeDecodeError:
        data = ""  # a text file already fails here where the bytes are no text
    except (OSError, ValueError) as error:
        raise SourceError(f"{name}: cannot be read ({error}). Open it again.") from error
    if isinstance(data, str):
        raise SourceError(f"{name}: the file was opened as text. Open it with mode 'rb'.")
    if not isinstance(data, (bytes, bytearray, memoryview)):
        raise SourceError(
            f"{name}: read() gives a {type(data).__name__} instead of bytes. "
            "Give a file object opened in binary mode."
        )
    folder = Path(name).resolve().parent if Path(name).is_file() else None
    return Source(name, bytes(data), ModelFiles(folder))


def _unreadable(name: str, error: OSError) -> SourceError:
    if isinstance(error, FileChangedError):
        return SourceChangedError(
            f"{name}: has changed since it was opened ({error}). Load it again."
        )
    return SourceError(f"{name}: cannot be read ({_reason(error)}). Check its permissions.")


def _reason(error: OSError) -> str:
    return (error.strerror or str(error)).lower()
