"""A lock on an open file, which the system takes back from a process that ends."""

from __future__ import annotations

import errno
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager

#: seconds between two tries
_PAUSE = 0.02
#: what systems say of a file that somebody else has locked
_TAKEN = (errno.EACCES, errno.EAGAIN, errno.EDEADLK)
#: and of a place where files cannot be locked, as some network drives
_UNKNOWN = (errno.ENOLCK, errno.ENOSYS, errno.ENOTSUP, errno.EOPNOTSUPP, errno.EINVAL)

if sys.platform == "win32":
    import msvcrt
    import os

    #: a byte far behind what a file holds: others can read meanwhile
    _LOCKED_BYTE = 2**30

    def _try_to_lock(handle: int) -> None:
        os.lseek(handle, _LOCKED_BYTE, os.SEEK_SET)
        msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)

    def _unlock(handle: int) -> None:
        os.lseek(handle, _LOCKED_BYTE, os.SEEK_SET)
        msvcrt.locking(handle, msvcrt.LK_UNLCK, 1)
else:
    import fcntl

    def _try_to_lock(handle: int) -> None:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)

    def _unlock(handle: int) -> None:
        fcntl.flock(handle, fcntl.LOCK_UN)


@contextmanager
def locked(handle: int, patience: float) -> Iterator[bool]:
    """Hold the only lock on an open file during the block.

    There is no file for it that a process that was killed would leave behind. Where a drive knows
    no locks the block runs without one, and is given False: what it appends in one piece is still
    not mixed with what others append, as far as the drive keeps that.

    Parameters
    ----------
    handle
        The file.
    patience
        So many seconds another process may hold it.

    Raises
    ------
    TimeoutError
        Where it holds it longer.
    """
    end = time.monotonic() + patience
    while True:
        try:
            _try_to_lock(handle)
            break
        except OSError as error:
            if error.errno in _UNKNOWN:
                yield False
                return
            if error.errno not in _TAKEN:
                raise
        if time.monotonic() > end:
            raise TimeoutError("another process holds its lock")
        time.sleep(_PAUSE)
    try:
        yield True
    finally:
        _unlock(handle)
