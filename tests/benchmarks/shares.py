"""Which share of some work is done inside of rooms of the package."""

from __future__ import annotations

import inspect
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from importlib import import_module
from typing import Any


class RoomTimer:
    """The processor time between entering some rooms and leaving them again.

    Parameters
    ----------
    rooms
        Modules such as ``netloupe.explorer.patterns``. Their doors are the functions that they
        list in ``__all__``.
    """

    def __init__(self, *rooms: str) -> None:
        self.seconds = 0.0
        self._rooms = rooms
        self._is_inside = False

    @contextmanager
    def watching(self) -> Iterator[None]:
        """Count calls of the doors while this lasts, wherever they were imported to."""
        modules = [import_module(room) for room in self._rooms]
        found = [getattr(module, name) for module in modules for name in module.__all__]
        doors = {id(door): self._wrap(door) for door in found if inspect.isfunction(door)}
        replaced = [
            (module, name, value)
            for module in [*sys.modules.values()]
            if module.__name__.startswith("netloupe") and not self._holds(module.__name__)
            for name, value in [*vars(module).items()]
            if id(value) in doors
        ]
        try:
            for module, name, value in replaced:
                setattr(module, name, doors[id(value)])
            yield
        finally:
            for module, name, value in replaced:
                setattr(module, name, value)

    def _holds(self, name: str) -> bool:
        return any(name.startswith(f"{room}.") for room in self._rooms)

    def _wrap(self, door: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(door)
        def counted(*arguments: Any, **keywords: Any) -> Any:
            result = self._count(lambda: door(*arguments, **keywords))
            return self._step_through(result) if inspect.isgenerator(result) else result

        return counted

    def _step_through(self, generator: Iterator[Any]) -> Iterator[Any]:
        end = object()
        while (value := self._count(lambda: next(generator, end))) is not end:
            yield value

    def _count(self, action: Callable[[], Any]) -> Any:
        if self._is_inside:
            return action()
        self._is_inside = True
        start = time.process_time()
        try:
            return action()
        finally:
            self.seconds += time.process_time() - start
            self._is_inside = False
