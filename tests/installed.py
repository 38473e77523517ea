"""Entry points as packages have them that are installed, for as long as a test runs."""

from __future__ import annotations

from importlib import metadata

import pytest


class EntryPoint:
    """What ``importlib.metadata`` gives for one; of an exception, that loading it raises."""

    def __init__(self, name: str, group: str, gives: object) -> None:
        self.name, self.value, self._gives = name, f"{name}:{group}", gives

    def load(self) -> object:
        if isinstance(self._gives, BaseException):
            raise self._gives
        return self._gives


def install_entry_points(monkeypatch: pytest.MonkeyPatch, group: str, **given: object) -> list[str]:
    """Install what entry points of a group give, by their names; return the groups asked for."""
    asked: list[str] = []

    def entry_points(*, group: str) -> list[EntryPoint]:
        asked.append(group)
        return [EntryPoint(name, group, gives) for name, gives in given.items()] * (group == ours)

    ours = group
    monkeypatch.setattr(metadata, "entry_points", entry_points)
    monkeypatch.setattr("netloupe.explorer.entry_points.may_be_named", lambda _: True)
    return asked
