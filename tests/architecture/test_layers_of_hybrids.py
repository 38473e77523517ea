"""Layers of hybrids: state spaces and attention one behind the other are no one block."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from netloupe.explorer.architecture.pieces import _is_one_block


@pytest.mark.parametrize(
    ("names", "is_one"),
    [
        (["Mamba-2"], True),
        (["Grouped-query attention"], True),
        (["Self-attention", "Cross-attention"], True),
        (["Mamba-2", "Mamba-2"], True),
        (["Mamba-2", "Grouped-query attention"], False),
        (["Self-attention", "Mamba-2"], False),
    ],
)
def test_state_spaces_and_attention_are_not_one_block(names: list[str], is_one: bool) -> None:
    layer = SimpleNamespace(attentions=[SimpleNamespace(name=name) for name in names])
    assert _is_one_block(layer) is is_one  # type: ignore[arg-type]
