"""Where the bytes of a model lie while nobody needs them: in a file, or in memory.

Both kinds give ranges of bytes. A file is never mapped: what is read is a copy, so that nothing
that is held changes or vanishes with the file. It is opened anew for every range, and refused
where it is no longer the one that was opened first.
"""

from __future__ import annotations

import io
import os
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from netloupe.explorer.errors import SourceChangedError, TensorDataError
from netloupe.explorer.model import StoredRow

Bytes = npt.NDArray[np.uint8]

#: so many bytes are read at once where pieces are asked for one after the other
_AHEAD_BYTES = 2**20
_MOST_READ = 2**30  # a system call reads less than 2 GiB


class FileChangedError(OSError):
    """A file is not the one that was opened first; the message says in what it differs."""


class FileIdentity(NamedTuple):
    """What tells a file from another one, and its content from a later one."""

    device: int
    inode: int
    size: int
    mtime_ns: int

    @classmethod
    def of(cls, status: os.stat_result) -> FileIdentity:
        """Return the identity of a file with a status."""
        return cls(status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns)

    def compare(self, now: FileIdentity) -> str:
        """Return in words what has changed since; empty for the same file."""
        if now == self:
            return ""
        if now[:2] != self[:2]:
            return "another file is in its place"
        if now.size != self.size:
            return f"it has {now.size:,} bytes instead of {self.size:,}"
        return "it was written to"


class StoredBytes(NamedTuple):
    """Bytes in memory."""

    data: bytes

    @property
    def size(self) -> int:
        """Number of bytes."""
        return len(self.data)

    @contextmanager
    def open(self) -> Iterator[Callable[[int, int], bytes]]:
        """Give a function ``read(length, offset)``."""
        data = self.data
        yield lambda length, offset: data[offset : offset + length]

    def part(self, offset: int, length: int, path: str) -> StoredRow:
        """Return a range, which is not copied; ``path`` is not needed here."""
        return _MemoryPart(memoryview(self.data)[offset : offset + length])


class StoredFile(NamedTuple):
    """A regular file as it was when it was opened first.

    Parameters
    ----------
    file
        Absolute path.
    identity
        Another file, or another content, has another one.
    """

    file: Path
    identity: FileIdentity

    @classmethod
    def at(cls, file: Path, status: os.stat_result) -> StoredFile:
        """Return a file whose status is known."""
        return cls(file.absolute(), FileIdentity.of(status))

    @property
    def size(self) -> int:
        """Number of bytes."""
        return self.identity.size

    def find_change(self) -> str:
        """Return in words what has changed, as far as the system tells; empty where nothing has."""
        try:
            return self.identity.compare(FileIdentity.of(self.file.stat()))
        except FileNotFoundError:
            return "it is gone"
        except OSError as error:
            return (error.strerror or str(error)).lower()

    @contextmanager
    def open(self) -> Iterator[Callable[[int, int], bytes]]:
        """Give a function ``read(length, offset)``; the file is open meanwhile.

        Up to the end of the file it gives exactly as many bytes as it is asked for.

        Raises
        ------
        FileChangedError
            Where it is no longer the same file, also at the end of the block.
        OSError
            Where it cannot be opened or read.
        """
        with self._open() as file:
            descriptor, size, read_at = file.fileno(), self.size, _find_reader()

            def read(length: int, offset: int) -> bytes:
                data = read_at(descriptor, length, offset)
                end = offset + len(data)
                while len(data) < length and end < size:
                    more = read_at(descriptor, offset + length - end, end)
                    if not more:
                        raise FileChangedError("it became shorter while it was read")
                    data += more
                    end += len(more)
                return data

            yield read

    def read_into(self, target: Bytes, offset: int) -> None:
        """Fill an array with the bytes from an offset on; raises as :meth:`open` does."""
        with self._open() as file:
            file.seek(offset)
            view = target.data
            while view:
                count = file.readinto(view[:_MOST_READ])
                if not count:
                    raise FileChangedError("it became shorter while it was read")
                view = view[count:]

    def part(self, offset: int, length: int, path: str) -> StoredRow:
        """Return a range of the file, which is read piece by piece when it is asked for.

        Parameters
        ----------
        offset, length
            In bytes, within the file.
        path
            The path of the tensor that is read, for messages.
        """
        return _FilePart(self, offset, length, path)

    @contextmanager
    def _open(self) -> Iterator[io.FileIO]:
        try:
            status = self.file.stat()  # asked before opening: a FIFO would block for ever
            if not stat.S_ISREG(status.st_mode):
                raise FileChangedError("it is no regular file any more")
            flags = os.O_RDONLY | getattr(os, "O_BINARY", 0) | getattr(os, "O_NONBLOCK", 0)
            file = io.FileIO(os.open(self.file, flags))
        except (FileNotFoundError, NotADirectoryError):
            raise FileChangedError("it is gone") from None
        with file:
            self._check(file)
            yield file
            self._check(file)  # what was read meanwhile may be partly new

    def _check(self, file: io.FileIO) -> None:
        change = self.identity.compare(FileIdentity.of(os.fstat(file.fileno())))
        if change:
            raise FileChangedError(change)


class _FilePart:
    """Some bytes of a file; each reading gives a copy.

    Raises
    ------
    SourceChangedError
        Where the file is gone, or no longer the same.
    TensorDataError
        Where it cannot be read.
    """

    dtype: np.dtype[Any] = np.dtype(np.uint8)

    def __init__(self, file: StoredFile, offset: int, size: int, path: str) -> None:
        self._file = file
        self._offset = offset
        self._size = size
        self._path = path

    def __len__(self) -> int:
        return self._size

    def read(self, start: int, stop: int) -> Bytes:
        """Return the bytes from one position up to another, which become the caller's."""
        name = self._file.file
        if self._offset + stop > self._file.size:
            raise TensorDataError(
                f"{self._path}: its data lie behind the end of {name}. Load the model again."
            )
        data = np.empty(stop - start, np.uint8)
        try:
            self._file.read_into(data, self._offset + start)
        except FileChangedError as change:
            raise SourceChangedError(
                f"{self._path}: its data cannot be read: {name} has changed since it was opened "
                f"({change}). Load the model again."
            ) from None
        except (OSError, OverflowError, ValueError) as error:
            raise TensorDataError(
                f"{self._path}: its data cannot be read from {name} ({_reason(error)}). "
                "Check the disk, or load the model again."
            ) from error
        return data


class _MemoryPart:
    """Some bytes in memory; readings are views that cannot be written to."""

    dtype: np.dtype[Any] = np.dtype(np.uint8)

    def __init__(self, data: memoryview) -> None:
        self._data = data

    def __len__(self) -> int:
        return len(self._data)

    def read(self, start: int, stop: int) -> Bytes:
        """Return the bytes from one position up to another."""
        return np.frombuffer(self._data[start:stop], np.uint8)


class ReadAhead:
    """Reads a row piece by piece, and more at once where one piece follows the other.

    Parameters
    ----------
    row
        What is read.
    """

    def __init__(self, row: StoredRow) -> None:
        self._row = row
        self._step = max(_AHEAD_BYTES // row.dtype.itemsize, 1)
        #: where what was read last begins, and what it is
        self._held: tuple[int, npt.NDArray[Any]] | None = None

    def read(self, start: int, stop: int) -> npt.NDArray[Any]:
        """Return the elements from one position up to another, perhaps as a view."""
        held = self._held
        end = stop
        if held is not None:
            first, content = held
            if first <= start and stop <= first + len(content):
                return content[start - first : stop - first]
            if first <= start <= first + len(content):
                end = max(stop, min(start + self._step, len(self._row)))
        content = self._row.read(start, end)
        self._held = start, content
        return content[: stop - start]


def _find_reader() -> Callable[[int, int, int], bytes]:
    """Return the system's ``pread``, or what does the same; called for every window."""
    if hasattr(os, "pread"):
        return os.pread

    def read_at(descriptor: int, length: int, offset: int) -> bytes:
        os.lseek(descriptor, offset, os.SEEK_SET)
        return os.read(descriptor, length)

    return read_at


def _reason(error: Exception) -> str:
    text = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
    return text[:1].lower() + text[1:]
