"""Which of the clauses on the parts of a block are told."""

from __future__ import annotations

from types import SimpleNamespace
from typing import cast

import pytest

from netloupe.explorer.architecture.clause import Clause, choose_telling
from netloupe.explorer.architecture.pieces import Piece


def _make(kind: str, size: int, name: str = "") -> Clause:
    """Return a clause on a block of a kind that has so many operations."""
    part = SimpleNamespace(numbers=range(size))
    piece = SimpleNamespace(kind=kind, name=name, uses=1, fold=(0, 1), parts=[part])
    return Clause(f"{kind} of {size}", (cast("Piece", piece),))


def _tell(*kinds: tuple[str, int] | tuple[str, int, str]) -> list[str]:
    return [one.text for one in choose_telling([_make(*kind) for kind in kinds], 2)]


@pytest.mark.parametrize("sizes", [(9, 5, 7), (5, 7, 9), (5, 9, 7)])
def test_attention_to_a_text_is_told_beside_that_of_a_block_itself(
    sizes: tuple[int, int, int],
) -> None:
    own, other, fed = sizes
    told = _tell(("attention", own), ("attention", other), ("residual", fed))
    assert told == [f"attention of {own}", f"attention of {other}", f"residual of {fed}"]


def test_what_does_not_attend_is_told_as_far_as_there_is_room() -> None:
    assert _tell(("conv", 5), ("residual", 9), ("mlp", 7)) == ["residual of 9", "mlp of 7"]
    told = _tell(("attention", 9), ("residual", 8), ("mlp", 7))
    assert told == ["attention of 9", "residual of 8"]


def test_a_small_step_is_not_told_before_what_it_is_a_step_to() -> None:
    """However many operations it is written in."""
    told = _tell(("unit", 9, "Token shift"), ("class", 4), ("mlp", 5))
    assert told == ["class of 4", "mlp of 5"]
    assert "unit of 9" in _tell(("unit", 9, "Gate"), ("class", 4), ("mlp", 5))
