"""Which files the explorer may open: those that the Jupyter server itself would list."""

from __future__ import annotations

import os
import stat
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from jupyter_core.utils import ensure_async

from netloupe.explorer.errors import NetloupeError

#: how a message shows a path that somebody sent
_LONGEST_SHOWN = 200


class RefusedPathError(NetloupeError):
    """A path that is not opened.

    Parameters
    ----------
    message
        Why, and what to do.
    status
        What HTTP calls it: 403 for what may not be asked for, 404 for what is not there.
    """

    def __init__(self, message: str, status: int) -> None:
        super().__init__(message)
        self.status = status


async def find_file(
    path: str, contents: Any, linked_folders: Sequence[str] = ()
) -> tuple[Path, Path]:
    """Return the root folder of the Jupyter server, and the file in it that a path names.

    A link may lead to another place below the root folder, and to below those that are given.
    Notes are written beside a model, so the same holds for the folder that it is in.

    Parameters
    ----------
    path
        From the root folder, with "/" between its parts.
    contents
        The contents manager of the Jupyter server.
    linked_folders
        Where links may lead to beside the root folder.

    Raises
    ------
    RefusedPathError
        Where the path leads out of these folders, to a hidden file that the server does not show,
        or to no file; where the server's files are not on its disk.
    """
    shown = repr(path[:_LONGEST_SHOWN])
    root = getattr(contents, "root_dir", "")
    if not root or not Path(root).is_dir():
        raise RefusedPathError(
            f"{shown}: this Jupyter server does not keep its files in a folder of its disk. "
            "Copy the model to where a notebook runs and call netloupe.explore there.",
            403,
        )
    parts = _split(path, shown)
    try:
        is_hidden = await ensure_async(contents.is_hidden("/".join(parts)))
        if not is_hidden or contents.allow_hidden:
            _check(Path(root), parts, shown, linked_folders)
            return Path(root), Path(*parts)
    except (OSError, ValueError) as error:
        raise RefusedPathError(
            f"{shown}: is no path that a file can have ({error}). Check the name.", 404
        ) from error
    raise RefusedPathError(
        f"{shown}: is hidden, and this Jupyter server does not show hidden files "
        "(ContentsManager.allow_hidden). Rename it.",
        404,
    )


def _check(root: Path, parts: Sequence[str], shown: str, linked_folders: Sequence[str]) -> None:
    """Refuse what a link leads to outside, and what is no file."""
    found = root.joinpath(*parts)
    allowed = [os.path.realpath(folder) for folder in (str(root), *linked_folders)]
    for real in (os.path.realpath(found), os.path.realpath(found.parent)):
        if not any(Path(real).is_relative_to(folder) for folder in allowed):
            raise RefusedPathError(
                f"{shown}: is a link that leads out of the root folder of this Jupyter server. "
                "Copy the file into it, or have its folder added to NetloupeLab.linked_folders.",
                403,
            )
    status = _look(found)
    if status is None:
        raise RefusedPathError(f"{shown}: there is no such file. Check the name.", 404)
    if not stat.S_ISREG(status.st_mode):
        raise RefusedPathError(f"{shown}: is no regular file. Give a model file.", 404)


def _look(found: Path) -> os.stat_result | None:
    """Return what is at a path; None where nothing is."""
    try:
        return found.stat()
    except (FileNotFoundError, NotADirectoryError):
        return None


def _split(path: str, shown: str) -> list[str]:
    """Return the parts of a path that stays below its root."""
    if path.startswith("/") or Path(path).is_absolute() or os.path.splitdrive(path)[0]:
        raise RefusedPathError(
            f"{shown}: is an absolute path. Give one from the root folder of this Jupyter server.",
            403,
        )
    parts = [part for part in path.split("/") if part not in ("", ".")]
    if ".." in parts:
        raise RefusedPathError(
            f"{shown}: leads out of a folder. Give a path without '..' from the root folder of "
            "this Jupyter server.",
            403,
        )
    if not parts:
        raise RefusedPathError("No file was asked for. Give a path.", 404)
    is_foreign = any(os.sep != "/" and os.sep in part for part in parts)
    if is_foreign or not path.isprintable() or any("\ud800" <= each <= "\udfff" for each in path):
        raise RefusedPathError(f"{shown}: is no path that a file can have. Check the name.", 404)
    return parts
