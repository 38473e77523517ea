"""Operators that installed packages register: entry points of the group ``netloupe.operators``."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from netloupe.explorer.entry_points import EntryPointGroup
from netloupe.explorer.errors import OperatorsError


def _accept(given: object, name: str) -> list[str]:
    from .accepting import accept_entries

    try:
        return [*accept_entries(_read(given), name, replaces=False)]
    except OperatorsError as error:
        return [f"{name}: {problem}" for problem in error.problems]


def _read(given: object) -> Mapping[str, Any]:
    from .accepting import read_operator_file

    if isinstance(given, Mapping):
        return given
    if isinstance(given, str | os.PathLike):
        return read_operator_file(given)
    raise TypeError(f"gives a {type(given).__name__}. Let it give a mapping, or the path of a file")


PLUGINS = EntryPointGroup("netloupe.operators", _accept)
