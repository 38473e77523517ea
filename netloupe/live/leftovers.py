"""Folders that a server which was killed has left among temporary files, removed by the next one.

Each folder has a file that its server holds a lock on; the system gives the lock back when the
process ends, however it ends. So what is locked belongs to somebody who is there, in whatever
container, and what is not is nobody's.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import stat
import tempfile
from collections.abc import Iterator
from pathlib import Path

PREFIX = "netloupe-sent-"
_LOCK = ".in-use"
#: so many folders are looked at
_MOST = 100


def hold(folder: Path) -> int | None:
    """Say that a folder is in use until the handle is closed; None where nothing can be locked."""
    try:
        import fcntl
    except ImportError:  # on Windows temporary files are removed by the system's own rules
        return None
    handle = os.open(folder / _LOCK, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:  # a drive without locks
        os.close(handle)
        return None
    return handle


def clean_up() -> None:
    """Remove the folders of servers that are no more."""
    with contextlib.suppress(OSError):
        for folder in _list_own():
            if _is_left(folder):
                shutil.rmtree(folder, ignore_errors=True)


def _list_own() -> Iterator[Path]:
    """Yield folders of that name that are the user's own, and no links."""
    found = sorted(Path(tempfile.gettempdir()).glob(f"{PREFIX}*"))
    for path in found[:_MOST]:
        with contextlib.suppress(OSError):
            status = path.lstat()
            if stat.S_ISDIR(status.st_mode) and status.st_uid == getattr(os, "getuid", int)():
                yield path


def _is_left(folder: Path) -> bool:
    """Return whether nobody holds the lock of a folder; one without its file may be just made."""
    try:
        import fcntl

        handle = os.open(folder / _LOCK, os.O_RDWR | os.O_NOFOLLOW)
    except (ImportError, OSError):
        return False
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    finally:
        os.close(handle)
    return True
