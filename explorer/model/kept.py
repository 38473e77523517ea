"""What was found of a graph or a model, kept with it so that it is looked for once."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol, TypeVar

Found = TypeVar("Found")
#: by type, one object of each
KeptFindings = dict[type, Any]


class Keeping(Protocol):
    """A graph or a model."""

    _kept: KeptFindings


def get_kept(owner: Keeping, kind: type[Found]) -> Found | None:
    """Return the object of a type that was found of a graph or model; None where there is none."""
    return owner._kept.get(kind)


def find_kept(owner: Keeping, kind: type[Found], look: Callable[[], Found]) -> Found:
    """Return the object of a type; where there is none, look for it, and keep it."""
    found: Found | None = owner._kept.get(kind)
    if found is None:
        found = owner._kept[kind] = look()
    return found


def keep(owner: Keeping, found: Found) -> Found:
    """Keep an object with a graph or model, in place of one of its type, and return it."""
    owner._kept[type(found)] = found
    return found


def forget_kept(owner: Keeping, kind: type) -> None:
    """Forget the object of a type, if there is one."""
    owner._kept.pop(kind, None)
