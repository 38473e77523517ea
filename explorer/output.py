"""Write files whole or not at all."""

from __future__ import annotations

import contextlib
import os
import tempfile
from pathlib import Path

from netloupe.explorer.errors import OutputError


def check_place(target: Path) -> None:
    """Raise OutputError where a file cannot be put: no such folder, or a folder of that name."""
    try:
        folder_exists, is_folder = target.parent.is_dir(), target.is_dir()
    except OSError:  # a name that is too long, or a folder that may not be looked into
        return
    if not folder_exists:
        raise OutputError(f"{target}: the folder {target.parent} does not exist. Create it first.")
    if is_folder:
        raise OutputError(f"{target}: is a directory. Give a file name.")


def write_file(path: str | Path, data: bytes) -> None:
    """Write a file under a temporary name beside its place, then rename it.

    Raises
    ------
    OutputError
        Where the folder does not exist or may not be written to; nothing is left behind.
    """
    if not str(path):
        raise OutputError("the path to write to is empty. Give the name of a file.")
    target = Path(path)
    check_place(target)
    temporary = ""
    try:
        handle, temporary = tempfile.mkstemp(prefix=f".{target.name[:40]}.", dir=target.parent)
        with os.fdopen(handle, "wb") as file:
            file.write(data)
        mask = os.umask(0)
        os.umask(mask)
        Path(temporary).chmod(0o666 & ~mask)  # mkstemp gives none but the owner any right
        Path(temporary).replace(target)
    except (OSError, ValueError) as error:  # ValueError: a name that no file can have
        if temporary:
            with contextlib.suppress(OSError):
                Path(temporary).unlink(missing_ok=True)
        reason = (getattr(error, "strerror", None) or str(error)).lower()
        raise OutputError(
            f"{target}: cannot be written ({reason}). Choose another place."
        ) from error
