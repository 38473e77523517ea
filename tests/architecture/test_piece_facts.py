"""What is so of some of several blocks is said of as many, and not of all."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from netloupe.explorer.architecture.layers import Layer
from netloupe.explorer.architecture.outline import Outline, OutlinePart
from netloupe.explorer.architecture.piece_words import name_piece, write_in_blocks, write_pieces
from netloupe.explorer.architecture.pieces import Piece

from .networks import Network


def make_outline() -> Outline:
    net = Network()
    graph = net.finish(net.linear(net.take("x", (1, 8)), 8, 8)).graph
    return Outline(graph, graph.nodes)


def make_piece(place: int, *facts: str) -> Piece:
    name = "Modulated convolution"
    part = OutlinePart("unit", frozenset({place}), place, name, place=place, facts=facts)
    return Piece("unit", name, [part])


@pytest.mark.parametrize(
    ("facts", "expected"),
    [
        ([("demodulated", "3×3")] * 2, "2 modulated convolutions (demodulated, 3×3)"),
        ([("3×3",), ("1×1",)], "2 modulated convolutions (3×3 and 1×1)"),
        (
            [("demodulated", "3×3"), ("1×1",), ("demodulated", "3×3")],
            "3 modulated convolutions (2 demodulated, 3×3; 1 of 1×1)",
        ),
    ],
)
def test_what_is_so_of_some_is_counted(facts: Sequence[tuple[str, ...]], expected: str) -> None:
    pieces = [make_piece(place, *one) for place, one in enumerate(facts)]
    assert write_pieces(make_outline(), pieces) == expected


@pytest.mark.parametrize(
    ("attentions", "expected"), [(1, "2 attentions with MLP"), (2, "2 transformer blocks")]
)
def test_layers_of_several_attentions_are_not_counted_as_attentions(
    attentions: int, expected: str
) -> None:
    """A layer may attend along rows and along columns (J. Jumper and others, AlphaFold, 2021)."""
    outline = make_outline()
    rows = []
    for block in range(2):
        row = []
        for place in range(2):
            parts = [OutlinePart("attention", frozenset({0}), 0) for _ in range(attentions)]
            parts.append(OutlinePart("mlp", frozenset({0}), 0, place=block + place))
            row.append(Piece("transformer", "", parts, Layer(parts)))
        rows.append(row)
    assert write_in_blocks(outline, rows, 2) == expected


@pytest.mark.parametrize(
    ("name", "told"),
    [("Autoregressive MLP", "autoregressive MLP"), ("MLP", "MLP"), ("SwiGLU", "SwiGLU")],
)
def test_kinds_of_mlp_have_capitals_where_they_are_names(name: str, told: str) -> None:
    piece = Piece("mlp", name, [OutlinePart("mlp", frozenset({0}), 0, name)])
    assert name_piece(make_outline(), [piece]) == told
