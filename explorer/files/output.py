"""Write files whole or not at all."""

from __future__ import annotations

import contextlib
import os
import stat
import tempfile
from pathlib import Path

from netloupe.explorer.errors import OutputError

from .home import expand_home
from .inputs import refuse_input


def check_place(path: str | os.PathLike[str]) -> None:
    """Raise OutputError where a file cannot be put.

    There is no such folder, or a folder of that name, or a command would write over what it reads.
    """
    if not os.fspath(path):
        raise OutputError("the path to write to is empty. Give the name of a file.")
    target = expand_home(path)
    try:
        folder_exists, is_folder = target.parent.is_dir(), target.is_dir()
    except OSError:  # a name that is too long, or a folder that may not be looked into
        return
    if not folder_exists:
        raise OutputError(f"{target}: the folder {target.parent} does not exist. Create it first.")
    if is_folder:
        raise OutputError(f"{target}: is a directory. Give a file name.")
    refuse_input(target)


#: how the names of files end, by what is written to them
ENDINGS: dict[str, tuple[str, ...]] = {
    "svg": (".svg",),
    "html": (".html", ".htm"),
    "pdf": (".pdf",),
    "png": (".png",),
    "dot": (".dot", ".gv"),
}
#: what a picture can be written as
FORMATS = tuple(ENDINGS)
#: other pictures, which netloupe does not write
_OTHERS = frozenset(
    (".bmp", ".eps", ".gif", ".jpeg", ".jpg", ".ps", ".svgz", ".tif", ".tiff", ".webp")
)


def check_ending(path: str | os.PathLike[str], format: str) -> None:
    """Raise OutputError where the ending of a file's name promises another format."""
    ending = Path(path).suffix.lower()
    if format not in ENDINGS or ending in ENDINGS[format]:
        return
    for other, endings in ENDINGS.items():
        if ending in endings:
            raise OutputError(
                f"{path}: to_{format}() writes {format.upper()}, which no {ending} is. "
                f"Call to_{other}({str(path)!r}) instead."
            )
    if ending in _OTHERS:
        choices = ", ".join(f"to_{name}()" for name in ENDINGS)
        raise OutputError(
            f"{path}: to_{format}() writes {format.upper()}, and netloupe draws no {ending}. "
            f"Give {Path(path).stem + ENDINGS[format][0]!r}, or choose among {choices}."
        )


def write_file(path: str | os.PathLike[str], data: bytes) -> None:
    """Write a file under a temporary name beside its place, then rename it.

    A file that is replaced keeps its permissions; where the path is a symbolic link, the file
    that it leads to is replaced and the link stays. What is no regular file (a FIFO, a terminal,
    /dev/null) is written to as it is.

    Raises
    ------
    OutputError
        Where the folder does not exist or may not be written to; nothing is left behind.
    """
    check_place(path)
    target = expand_home(path)
    try:
        mode = _mode_of(target)
        if mode is not None and not stat.S_ISREG(mode):
            with target.open("wb", buffering=0) as stream:
                _write_all(stream.fileno(), data)
        else:
            _replace(Path(os.path.realpath(target)), mode, data)
    except (OSError, ValueError) as error:  # ValueError: a name that no file can have
        reason = (getattr(error, "strerror", None) or str(error)).lower()
        raise OutputError(
            f"{target}: cannot be written ({reason}). Choose another place."
        ) from error


def _mode_of(target: Path) -> int | None:
    """Return kind and permissions of what is there; None where nothing is."""
    try:
        return target.stat().st_mode
    except FileNotFoundError:
        return None


def _replace(target: Path, mode: int | None, data: bytes) -> None:
    """Put a file in the place of one with this mode; nothing is left where that fails."""
    handle, name = tempfile.mkstemp(prefix=f".{target.name[:40]}.", dir=target.parent)
    temporary = Path(name)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
        # mkstemp gives none but the owner any right
        temporary.chmod(_new_mode() if mode is None else stat.S_IMODE(mode))
        temporary.replace(target)
    except BaseException:
        with contextlib.suppress(OSError):
            temporary.unlink(missing_ok=True)
        raise


def _new_mode() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return 0o666 & ~mask


def _write_all(handle: int, data: bytes) -> None:
    left = memoryview(data)
    while left:
        left = left[os.write(handle, left) :]
