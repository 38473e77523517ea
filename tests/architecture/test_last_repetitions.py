"""A last repetition that lacks its end is one of its repeat."""

from __future__ import annotations

from collections.abc import Sequence
from types import SimpleNamespace
from typing import cast

import pytest

from netloupe.explorer.architecture.modules import Module, join_last
from netloupe.explorer.architecture.outline import OutlinePart
from netloupe.explorer.architecture.pieces import Piece
from netloupe.explorer.grouping.group import Group
from netloupe.explorer.patterns.details import NO_DETAILS


def _make(label: str, kind: str = "scope", inner: Sequence[Module] = ()) -> Module:
    group = cast(Group, SimpleNamespace(kind=kind, type_name="", children=inner))
    part = OutlinePart("conv", frozenset(), 0, details=NO_DETAILS)
    pieces = [piece for one in inner for piece in one.pieces] or [Piece("conv", "", [part])]
    return Module(group if label else None, label, pieces, [*inner])


def _repeat(count: int) -> Module:
    blocks = [
        _make(f"down.{n}", "block", [_make(f"down.{n}"), _make(f"up.{n}"), _make("")])
        for n in range(count)
    ]
    return _make(f"down.0 … down.{count - 1}", "repeat", blocks)


@pytest.mark.parametrize("behind", [["down.3"], ["down.3", "up.3"], ["down.3", "up.3", "head"]])
def test_what_stands_behind_a_repeat_is_its_last_repetition(behind: list[str]) -> None:
    joined = join_last([_repeat(3), *map(_make, behind)])
    assert [len(one.inner) for one in joined] == [4] + [0] * behind.count("head")
    assert joined[0].inner[-1].label == "down.3"
    assert len(joined[0].pieces) == 9 + len([one for one in behind if one != "head"])


@pytest.mark.parametrize(
    "behind",
    [
        ["down.3", "up.3", ""],  # a whole repetition that the picture does not fold differs
        ["down.2", "up.2"],
        ["up.3"],
        ["head.3"],
        [],
    ],
)
def test_what_else_stands_behind_is_none(behind: list[str]) -> None:
    modules = [_repeat(3), *map(_make, behind)]
    assert join_last(modules) == modules
