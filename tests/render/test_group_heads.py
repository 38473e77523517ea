"""A stack says the heads of all its blocks, also where the first has others."""

from __future__ import annotations

import pytest

from netloupe.explorer.render.group_faces import _tell_heads

_FACTS = "8 heads × 32 · MLP 256 → 1024 → 256"


@pytest.mark.parametrize(
    ("heads", "told"),
    [
        ([(8,), (8,), (8,)], _FACTS),
        ([(), (8,), (8,)], _FACTS),
        ([(4,), (8,), (8,)], f"4, then {_FACTS}"),
        ([(4,), (8,), (2,)], "MLP 256 → 1024 → 256"),
        ([(8,), (8,), (4,)], "MLP 256 → 1024 → 256"),
        ([(4, 2), (8,), (8,)], "MLP 256 → 1024 → 256"),
    ],
)
def test_heads_are_those_of_each_block(heads: list[tuple[int, ...]], told: str) -> None:
    assert _tell_heads(_FACTS, heads) == told


def test_what_has_no_heads_is_told_as_it_is() -> None:
    assert _tell_heads("3×3 · 8 → 16", [(4,), (8,)]) == "3×3 · 8 → 16"
