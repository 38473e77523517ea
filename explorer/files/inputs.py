"""The files that a command reads, so that it does not write over one of them.

A command line names its inputs and its output in one breath, and a slip (``-o model.onnx``) would
lose a model. In a notebook the file that is written is named by itself: there nothing is noted.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterable
from pathlib import Path

from netloupe.explorer.errors import OutputError

from .home import expand_home

#: what notes on a model are kept in, behind the name of its file
NOTES_ENDING = ".notes.jsonl"

#: names of inputs by device and number of the file; None where they are not noted
_inputs: dict[tuple[int, int], str] | None = None
#: lists further ones: what belongs to a model is looked for where something is to be replaced
_later: Callable[[], Iterable[Path]] | None = None


def start_noting_inputs() -> None:
    """Begin to note what is read, for the command that this process now runs."""
    global _inputs, _later
    _inputs, _later = {}, None


def stop_noting_inputs() -> None:
    """Forget what was read: the command is over."""
    global _inputs, _later
    _inputs = _later = None


def note_inputs_later(find: Callable[[], Iterable[Path]]) -> None:
    """Note what lists further files that are read; it is called where one might be replaced.

    Only the last is kept, which may hold a model: those before it are asked now.
    """
    global _later
    if _inputs is not None:
        _note_later()
        _later = find


def _note_later() -> None:
    global _later
    found, _later = _later, None
    for path in found() if found is not None else ():
        note_input(path)


def note_input(path: str | os.PathLike[str]) -> None:
    """Note that a file is read, as a command names it; what is not there is none."""
    if _inputs is None:
        return
    key = _identify(path)
    if key is not None:
        _inputs.setdefault(key, os.fsdecode(path))


def refuse_input(target: Path) -> None:
    """Raise OutputError where a file to be written is one that the command reads, by any name."""
    key = None if _inputs is None else _identify(target)
    if key is None or _inputs is None:
        return
    _note_later()
    name = _inputs.get(key)
    if name is not None:
        same = "" if os.fspath(target) == name else f", which is {name}"
        raise OutputError(
            f"{target}: is read by this command{same}, and would be lost. Write to another file."
        )


def _identify(path: str | os.PathLike[str]) -> tuple[int, int] | None:
    """Return what tells a file from others whatever links lead to it; None for none."""
    try:
        found = expand_home(path).stat()
    except (OSError, ValueError):
        return None
    return (found.st_dev, found.st_ino) if stat.S_ISREG(found.st_mode) else None
