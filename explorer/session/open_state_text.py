"""What is open in a view as a text that the address of a page keeps.

Of each open item the text has the key, outer ones before inner ones, with ``~`` between: how many
characters it has in common with the one before; of a repeat ``.`` and the index of the repetition
that is shown, or ``*`` where all are; ``:`` and the rest of the key. ``!`` in that place stands for
shape arithmetic that is drawn, whose path is that of its group.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from netloupe.explorer.errors import ViewError
from netloupe.explorer.view.open_state import OpenState

#: characters of a text: no address has more
LONGEST = 60_000
#: characters of all keys that it stands for
_MOST_KEYS = 8_000_000

_ENTRY = r"(\d{1,9})(?:\.(\d{1,9})|([*!]))?:([^~]*)"
_ESCAPED = r"%([0-9a-f]{1,6});"
#: what has a meaning in the text, and what no address keeps: halves of surrogate pairs
_UNSAFE = "[%~\ud800-\udfff]"


class OpenPaths(NamedTuple):
    """What a text says to be open.

    Parameters
    ----------
    keys
        Of the open items, outer ones before inner ones.
    unrolled
        Those of repeats of which all repetitions are shown.
    shown
        By the key of a repeat the index of the repetition that is shown, where the text says it.
    shapes
        Paths of the groups of shape arithmetic that are drawn.
    """

    keys: tuple[str, ...]
    unrolled: frozenset[str]
    shown: dict[str, int]
    shapes: tuple[str, ...]


def write_open_state(open_state: OpenState) -> str | None:
    """Return what is open as a text; None where that would be longer than an address."""
    entries: list[str] = []
    before, length = "", 0
    for path, state in _list_states(open_state):
        common = _count_common(before, path)
        entries.append(f"{common}{state}:{_escape(path[common:])}")
        length += len(entries[-1]) + 1
        if length > LONGEST:
            return None
        before = path
    return "~".join(entries)


def _list_states(open_state: OpenState) -> Iterator[tuple[str, str]]:
    for groups in open_state.shown_shapes.values():
        for path in sorted(groups):
            yield path, "!"
    for key in open_state.keys:
        if key in open_state.unrolled:
            yield key, "*"
        else:
            yield key, f".{open_state.shown[key]}" if key in open_state.shown else ""


def read_open_paths(text: str) -> OpenPaths:
    """Return what a text says to be open, whether or not a model has it.

    Raises
    ------
    ViewError
        Where it is no such text, or too long.
    """
    if len(text) > LONGEST:
        raise ViewError("what it says to be open is too long")
    keys: list[str] = []
    shapes: list[str] = []
    unrolled: set[str] = set()
    shown: dict[str, int] = {}
    for path, index, sign in _read_entries(text.split("~") if text else ()):
        (shapes if sign == "!" else keys).append(path)
        if sign == "*":
            unrolled.add(path)
        if index is not None:
            shown[path] = int(index)
    return OpenPaths(tuple(keys), frozenset(unrolled), shown, tuple(shapes))


def _read_entries(entries: Iterable[str]) -> Iterator[tuple[str, str | None, str | None]]:
    before, length = "", 0
    for entry in entries:
        found = re.fullmatch(_ENTRY, entry)
        if found is None or int(found[1]) > len(before):
            raise ViewError("what it says to be open is damaged")
        before = before[: int(found[1])] + _unescape(found[4])
        length += len(before)
        if length > _MOST_KEYS:
            raise ViewError("what it says to be open is too long")
        yield before, found[2], found[3]


def _count_common(one: str, other: str) -> int:
    differs = (n for n, (a, b) in enumerate(zip(one, other, strict=False)) if a != b)
    return next(differs, min(len(one), len(other)))


def _escape(text: str) -> str:
    return re.sub(_UNSAFE, lambda found: f"%{ord(found[0]):x};", text)


def _unescape(text: str) -> str:
    def read(found: re.Match[str]) -> str:
        number = int(found[1], 16)
        return chr(number) if number <= 0x10FFFF else found[0]

    return re.sub(_ESCAPED, read, text)
