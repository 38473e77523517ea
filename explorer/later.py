"""Rooms whose modules are imported when somebody asks for what is in them.

Who waits for a first picture waits for every import, and of a large room that picture may need
two modules of twenty.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from typing import Any


def import_later(room: str, names: Mapping[str, Sequence[str]]) -> Callable[[str], Any]:
    """Return the ``__getattr__`` of a room (PEP 562).

    Parameters
    ----------
    room
        The room's full name.
    names
        By module of the room which of its names are the room's own too. Type checkers read the
        same from imports beside it; ``tests/test_import_budget.py`` holds one to the other.
    """
    homes = {name: module for module, own in names.items() for name in own}

    def find(name: str) -> Any:
        home = homes.get(name)
        if home is None:
            raise AttributeError(f"module {room!r} has no attribute {name!r}")
        value = getattr(import_module(f"{room}.{home}"), name)
        setattr(sys.modules[room], name, value)
        return value

    return find
