"""What was found of a graph or a model, kept with it so that it is looked for once."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

Found = TypeVar("Found")


class Kept:
    """What rooms above the model found, by its type: one object of each."""

    __slots__ = ("_found",)

    def __init__(self) -> None:
        self._found: dict[type, Any] = {}

    def get(self, kind: type[Found]) -> Found | None:
        """Return the object of a type; None where it was not looked for yet."""
        return self._found.get(kind)

    def find(self, kind: type[Found], look: Callable[[], Found]) -> Found:
        """Return the object of a type; where there is none, look for it, and keep it."""
        found: Found | None = self._found.get(kind)
        if found is None:
            found = self._found[kind] = look()
        return found

    def put(self, found: Found) -> Found:
        """Keep an object, in place of one of its type, and return it."""
        self._found[type(found)] = found
        return found

    def drop(self, kind: type) -> None:
        """Forget the object of a type, if there is one."""
        self._found.pop(kind, None)
