"""What installed packages add: entry points of one group, loaded when first asked for."""

from __future__ import annotations

import logging
import sys
from collections.abc import Callable
from pathlib import Path
from threading import RLock


class EntryPointGroup:
    """The entry points of one group.

    All of them are loaded the first time that one is needed. What is wrong with one is logged as a
    warning, one line for each problem, and the others hold.

    Parameters
    ----------
    group
        Its name, as packages write it: ``netloupe.operators``.
    accept
        Takes what an entry point gives, and how messages call that entry point; returns what is
        wrong with it.
    """

    def __init__(self, group: str, accept: Callable[[object, str], list[str]]) -> None:
        self.group = group
        self._accept = accept
        self._lock = RLock()
        self._is_begun = False
        self._is_done = False

    def load(self) -> None:
        """Load the entry points, unless that was done."""
        if self._is_done:
            return
        with self._lock:
            if self._is_begun:  # by an entry point that asks for what they add itself
                return
            self._is_begun = True
            try:
                for problem in self._list_problems():
                    logging.getLogger("netloupe").warning("netloupe: warning: %s", problem)
            finally:
                self._is_done = True

    def forget(self, *, is_done: bool = False) -> None:
        """Let the entry points be loaded again, or take them for loaded."""
        self._is_begun = self._is_done = is_done

    def _list_problems(self) -> list[str]:
        """Take in what the entry points give, and return what is wrong with them."""
        if not may_be_named(self.group):
            return []
        from importlib.metadata import entry_points

        try:
            given = entry_points(group=self.group)
            found = sorted(given, key=lambda each: (each.name, each.value))
        except Exception as error:  # whatever is wrong with what is installed
            return [f"entry points {self.group}: {explain_in_line(error)}"]
        problems: list[str] = []
        for each in found:
            name = f"entry point {each.name} of {self.group}"
            try:
                problems += self._accept(each.load(), name)
            except Exception as error:  # it is the code of others
                problems.append(f"{name}: {explain_in_line(error)}")
        return problems


def may_be_named(group: str) -> bool:
    """Return whether an installed package may name a group of entry points.

    Files beside packages are looked into: most have none, and what reads them in full
    (``importlib.metadata``) takes longer to import than a small model takes to draw.
    """
    wanted = group.encode()
    for folder in map(Path, sys.path):
        if folder.is_file():  # an archive, which has to be asked in full
            return True
        for pattern in ("*.dist-info", "*.egg-info"):
            for package in folder.glob(pattern):
                try:
                    if wanted in (package / "entry_points.txt").read_bytes():
                        return True
                except OSError:
                    continue
    return False


def explain_in_line(error: Exception) -> str:
    """Return what an error of somebody else's code says, in one line."""
    return " ".join(f"{error} ({type(error).__name__})"[:400].split())
