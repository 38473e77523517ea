"""Write files whole or not at all."""

from __future__ import annotations

import contextlib
import os
import tempfile
from pathlib import Path

from netloupe.explorer.errors import OutputError


def write_file(path: str | Path, data: bytes) -> None:
    """Write a file under a temporary name beside its place, then rename it.

    Raises
    ------
    OutputError
        Where the folder does not exist or may not be written to; nothing is left behind.
    """
    target = Path(path)
    folder = target.parent
    if not folder.is_dir():
        raise OutputError(f"{target}: the folder {folder} does not exist. Create it first.")
    if target.is_dir():
        raise OutputError(f"{target}: is a directory. Give a file name.")
    temporary = ""
    try:
        handle, temporary = tempfile.mkstemp(prefix=f".{target.name[:40]}.", dir=folder)
        with os.fdopen(handle, "wb") as file:
            file.write(data)
        mask = os.umask(0)
        os.umask(mask)
        Path(temporary).chmod(0o666 & ~mask)  # mkstemp gives none but the owner any right
        Path(temporary).replace(target)
    except OSError as error:
        if temporary:
            with contextlib.suppress(OSError):
                Path(temporary).unlink(missing_ok=True)
        reason = (error.strerror or str(error)).lower()
        raise OutputError(
            f"{target}: cannot be written ({reason}). Choose another place."
        ) from error
