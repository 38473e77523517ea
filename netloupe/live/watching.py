"""Looks whether the files of a model change, and reads them again when they have."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from netloupe.explorer.errors import NetloupeError

from .served import ReadyModel, ServedModel

if TYPE_CHECKING:
    from netloupe.explorer.model import Model

    from .exploration import Exploration

#: seconds between two looks; what is written is read once it has not changed between two of them
_EVERY_SECONDS = 0.5

#: sizes and times of files, by which a change is known; None for one that is not there
_Stamp = tuple[tuple[int, int, int] | None, ...]


class Watching:
    """Reads a model again when its files have changed.

    A file that is gone or damaged is said; what is shown stays until there is a model again.

    Parameters
    ----------
    served
        The model.
    read
        Reads it anew.
    find_explorations
        Returns what pages explore of it; called from a thread.
    """

    def __init__(
        self,
        served: ServedModel,
        read: Callable[[], ReadyModel],
        find_explorations: Callable[[], Sequence[Exploration]],
    ) -> None:
        self._served = served
        self._read = read
        self._find_explorations = find_explorations
        self._is_over = threading.Event()
        self._thread = threading.Thread(target=self._watch, name="netloupe-watching", daemon=True)

    def start(self) -> None:
        """Begin to look."""
        self._thread.start()

    def close(self) -> None:
        """Look no more."""
        self._is_over.set()

    def _watch(self) -> None:
        known: _Stamp | None = None
        before: _Stamp | None = None
        while not self._is_over.wait(_EVERY_SECONDS):
            loaded = self._served.loaded
            if loaded is None:
                continue
            now = _stamp(_list_files(loaded.model))
            if known is None:
                known = before = now
                if not _has_changed(loaded.model):
                    continue
            elif now == known and before == now:
                continue
            is_still, before = now == before, now
            if is_still and not self._is_over.is_set():
                known = now
                self._renew()

    def _renew(self) -> None:
        loaded = self._served.loaded
        if loaded is None or not _has_changed(loaded.model):
            for each in self._find_explorations():
                each.tell_changed("")
            return
        try:
            renewed = self._read()
        except (NetloupeError, OSError, MemoryError) as error:
            for each in self._find_explorations():
                told = str(error).rstrip(".")
                each.tell_changed(f"The file has changed and cannot be read now ({told})")
            return
        self._served.loaded = renewed
        for each in self._find_explorations():
            each.tell_changed("")
            each.show_again(renewed.model)


def _list_models(model: Model) -> list[Model]:
    """Return the model, or the two that it was made of."""
    found = model.comparison
    return [model] if found is None else [found.left, found.right]


def _list_files(model: Model) -> list[Path]:
    return [
        path for each in _list_models(model) if each.files is not None for path in each.files.own
    ]


def _has_changed(model: Model) -> bool:
    return any(each.files is not None and each.files.find_changed() for each in _list_models(model))


def _stamp(paths: Sequence[Path]) -> _Stamp:
    stamps: list[tuple[int, int, int] | None] = []
    for path in paths:
        try:
            found = path.stat()
        except OSError:
            stamps.append(None)
        else:
            stamps.append((found.st_size, found.st_mtime_ns, found.st_ino))
    return tuple(stamps)
