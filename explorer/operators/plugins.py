"""Operators that installed packages register: entry points of the group ``netloupe.operators``."""

from __future__ import annotations

import logging
import os
from collections.abc import Mapping
from threading import RLock
from typing import Any

from netloupe.explorer.errors import OperatorsError

GROUP = "netloupe.operators"


class _Plugins:
    """Whether the entry points were asked for."""

    def __init__(self) -> None:
        self.lock = RLock()
        self.is_begun = False
        self.is_done = False


_PLUGINS = _Plugins()


def load_plugins() -> None:
    """Register what installed packages give, the first time that this is asked for.

    All entry points are loaded, whatever model asks for an operator; what is wrong with one is
    logged as a warning.
    """
    if _PLUGINS.is_done:
        return
    with _PLUGINS.lock:
        if _PLUGINS.is_begun:  # by an entry point that registers operators itself
            return
        _PLUGINS.is_begun = True
        try:
            for problem in _list_problems():
                logging.getLogger("netloupe").warning("netloupe: warning: %s", problem)
        finally:
            _PLUGINS.is_done = True


def forget_plugins(*, is_done: bool = False) -> None:
    """Let the entry points be asked for again, or take them for asked."""
    _PLUGINS.is_begun = _PLUGINS.is_done = is_done


def _list_problems() -> list[str]:
    """Register what the entry points give, and return what is wrong with them."""
    from importlib.metadata import entry_points

    problems: list[str] = []
    try:
        found = sorted(entry_points(group=GROUP), key=lambda each: (each.name, each.value))
    except Exception as error:  # whatever is wrong with what is installed
        return [f"entry points {GROUP}: {_explain(error)}"]
    if not found:  # as mostly
        return []

    from .accepting import accept_entries

    for each in found:
        name = f"entry point {each.name} of {GROUP}"
        try:
            problems += accept_entries(_read(each.load()), name, replaces=False)
        except OperatorsError as error:
            problems += [f"{name}: {problem}" for problem in error.problems]
        except Exception as error:  # it is the code of others
            problems.append(f"{name}: {_explain(error)}")
    return problems


def _read(given: object) -> Mapping[str, Any]:
    from .accepting import read_operator_file

    if isinstance(given, Mapping):
        return given
    if isinstance(given, str | os.PathLike):
        return read_operator_file(given)
    raise TypeError(f"gives a {type(given).__name__}. Let it give a mapping, or the path of a file")


def _explain(error: Exception) -> str:
    return " ".join(f"{error} ({type(error).__name__})"[:400].split())
