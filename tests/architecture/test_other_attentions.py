"""Attentions between layers of transformers are others than those in these."""

from __future__ import annotations

import pytest

from netloupe.explorer.architecture.clause import Clause
from netloupe.explorer.architecture.layers import Layer
from netloupe.explorer.architecture.outline import OutlinePart
from netloupe.explorer.architecture.pieces import Piece
from netloupe.explorer.architecture.remainders import tell_other_attentions


def make_pieces(kind: str, places: tuple[int, ...]) -> tuple[Piece, ...]:
    parts = [OutlinePart(kind, frozenset({place}), place, place=place) for place in places]
    layers = [Layer([part]) if kind == "transformer" else None for part in parts]
    return tuple(Piece(kind, "", [part], one) for part, one in zip(parts, layers, strict=True))


@pytest.mark.parametrize(
    ("blocks", "attentions", "text", "expected"),
    [
        ((0, 2), (1, 3, 4), "3 attentions of 4 heads × 8", "3 other attentions of 4 heads × 8"),
        ((0, 2), (1, 3), "two attentions", "two other attentions"),
        ((0, 1), (2, 3), "2 attentions", "2 attentions"),  # behind all of them
        ((), (1, 2), "2 attentions", "2 attentions"),
        ((0, 2), (1,), "attention of 4 heads × 8", "attention of 4 heads × 8"),
        ((0, 2), (1, 3), "2 attentions with MLP", "2 other attentions with MLP"),
    ],
)
def test_what_stands_between_layers_is_told_as_other(
    blocks: tuple[int, ...], attentions: tuple[int, ...], text: str, expected: str
) -> None:
    clauses = [Clause("2 transformer blocks", make_pieces("transformer", blocks))] if blocks else []
    clauses.append(Clause(text, make_pieces("attention", attentions)))
    assert [one.text for one in tell_other_attentions(clauses)][-1] == expected
    named = [*clauses[:-1], Clause(text, clauses[-1].scope, "decoder")]
    assert [one.text for one in tell_other_attentions(named)][-1] == text
