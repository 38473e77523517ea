"""Where the bytes of a model lie while nobody needs them: in a file, or in memory.

Both kinds give ranges of bytes. A file is opened anew each time, and is refused where it is no
longer the one that the model was read from.
"""

from __future__ import annotations

import mmap
import os
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from netloupe.explorer.errors import TensorDataError

# above this size the file is mapped: a look at a histogram need not copy gigabytes
_MAP_THRESHOLD = 16 * 2**20


@dataclass(frozen=True, slots=True)
class StoredBytes:
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

    def read(self, offset: int, length: int, path: str) -> memoryview:
        """Return a range without copying it; ``path`` is not needed here."""
        return memoryview(self.data)[offset : offset + length]


@dataclass(frozen=True, slots=True)
class StoredFile:
    """A regular file as it was when the model was read.

    Parameters
    ----------
    file
        Absolute path.
    size
        Number of bytes.
    identity
        Device, inode and time of the last change (in ns): another file, or another content,
        has others.
    """

    file: Path
    size: int
    identity: tuple[int, int, int]

    @classmethod
    def at(cls, file: Path, status: os.stat_result) -> StoredFile:
        """Return a file whose status is known."""
        return cls(file.absolute(), status.st_size, _identity(status))

    @contextmanager
    def open(self) -> Iterator[Callable[[int, int], bytes]]:
        """Give a function ``read(length, offset)``; the file is open meanwhile.

        Raises
        ------
        OSError
            Where it cannot be opened or read, or is no longer the same file.
        """
        descriptor = self._open()
        try:
            if hasattr(os, "pread"):
                yield partial(os.pread, descriptor)
            else:
                yield lambda length, offset: bytes(_read_pieces(descriptor, offset, length))
        finally:
            os.close(descriptor)

    def read(self, offset: int, length: int, path: str) -> bytes | memoryview:
        """Return a range of the file; a read-only map of it where it is large.

        Parameters
        ----------
        offset, length
            In bytes.
        path
            The path of the tensor that is read, for messages.

        Raises
        ------
        TensorDataError
            Where the file is gone, changed, or cannot be read.
        """
        try:
            descriptor = self._open()
            try:
                return read_descriptor(descriptor, offset, length)
            finally:
                os.close(descriptor)
        except FileNotFoundError:
            raise TensorDataError(
                f"{path}: its data are gone with the file {self.file}. "
                "Put the file back, or load the model again."
            ) from None
        except (OSError, OverflowError, ValueError) as error:
            raise TensorDataError(
                f"{path}: its data cannot be read from {self.file} ({_reason(error)}). "
                "Load the model again."
            ) from error

    def _open(self) -> int:
        status = self.file.stat()  # asked before opening: a FIFO would block for ever
        if not stat.S_ISREG(status.st_mode):
            raise OSError("it is no regular file any more")
        flags = os.O_RDONLY | getattr(os, "O_BINARY", 0) | getattr(os, "O_NONBLOCK", 0)
        descriptor = os.open(self.file, flags)
        status = os.fstat(descriptor)
        if (status.st_size, _identity(status)) != (self.size, self.identity):
            os.close(descriptor)
            raise OSError("the file has changed since the model was loaded")
        return descriptor


def read_descriptor(descriptor: int, offset: int, length: int) -> bytes | memoryview:
    """Return exactly ``length`` bytes of an open file; a read-only map where they are many.

    Raises
    ------
    OSError
        Where the file cannot be read or holds fewer bytes.
    """
    if length > _MAP_THRESHOLD:
        start = offset - offset % mmap.ALLOCATIONGRANULARITY
        span = length + offset - start
        mapped = mmap.mmap(descriptor, span, access=mmap.ACCESS_READ, offset=start)
        return memoryview(mapped)[offset - start :]
    data = _read_pieces(descriptor, offset, length)
    if len(data) < length:
        raise OSError("the file became shorter while it was read")
    return data


def release_pages(data: object) -> None:
    """Give back the memory behind a map that :func:`read_descriptor` made; it can be read again.

    Does nothing with other data, and where the system has no such call.
    """
    mapped = data.obj if isinstance(data, memoryview) else None
    if isinstance(mapped, mmap.mmap) and hasattr(mmap, "MADV_DONTNEED"):
        mapped.madvise(mmap.MADV_DONTNEED)


def _read_pieces(descriptor: int, offset: int, length: int) -> bytes:
    os.lseek(descriptor, offset, os.SEEK_SET)
    pieces = []
    while length > 0:
        piece = os.read(descriptor, length)
        if not piece:
            break
        pieces.append(piece)
        length -= len(piece)
    return b"".join(pieces)


def _identity(status: os.stat_result) -> tuple[int, int, int]:
    return status.st_dev, status.st_ino, status.st_mtime_ns


def _reason(error: Exception) -> str:
    text = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
    return text[:1].lower() + text[1:]
